/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The maps of the rules as they were in the map ABIs 5 to 8, and a program that uses them, so that
 * the kernel reports them as the program's. It passes every packet. The structures come from
 * abiN.h, which is included first.
 */
#ifndef RINGFENCE_TESTS_PAST_MAPS_H
#define RINGFENCE_TESTS_PAST_MAPS_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

const volatile struct rf_rodata rf_rodata = {.magic = RF_ABI_MAGIC, .abi = RF_ABI_VERSION};

struct rf_config config;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct rf_ports);
} ports SEC(".maps");

struct prefix_trie4 {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(key_size, sizeof(struct rf_prefix_key4));
	__uint(value_size, sizeof(struct rf_prefix_value));
};

struct prefix_trie6 {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(key_size, sizeof(struct rf_prefix_key6));
	__uint(value_size, sizeof(struct rf_prefix_value));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 2);
	__type(key, __u32);
	__array(values, struct prefix_trie4);
} prefixes4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 2);
	__type(key, __u32);
	__array(values, struct prefix_trie6);
} prefixes6 SEC(".maps");

SEC("xdp")
int ringfence(struct xdp_md *ctx)
{
	__u32 key = 0;

	(void)ctx;
	if (rf_rodata.injected_clock || bpf_map_lookup_elem(&prefixes4, &key) ||
	    bpf_map_lookup_elem(&prefixes6, &key) || !bpf_map_lookup_elem(&ports, &key))
		return XDP_PASS;
	config.base.jiffies = bpf_jiffies64();
	config.base.ktime_ns = bpf_ktime_get_ns();
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "GPL";

#endif /* RINGFENCE_TESTS_PAST_MAPS_H */
