// SPDX-License-Identifier: GPL-2.0
/*
 * The least work of a program that knows sources at all: it reads an entry of an array, as large as
 * one of ringfence's leases. It compares nothing, limits nothing and drops every packet. With many
 * sources it costs one cache miss a packet, which no limiter can avoid.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "ringfence/lease_place.h"
#include "ringfence/packet.h"

char gpl[] SEC("license") = "GPL";

#define BITS_MOST 21 /* log2 of the entries, twice as many as a million sources */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << BITS_MOST);
	__type(key, __u32);
	__type(value, struct rf_lease);
} entries SEC(".maps");

/* As many entries as the leases that the bench configures for a CPU. */
static __always_inline int touch_entry(struct xdp_md *ctx, int bits)
{
	const __u64 key[3] = {0x9e3779b97f4a7c15ULL, 1, 0xda942042e4dd58b5ULL};
	struct rf_packet packet;
	struct rf_lease *entry;
	__u32 index;

	if (rf_packet_parse((void *)(long)ctx->data, (void *)(long)ctx->data_end, &packet) !=
	    RF_PARSED_SOURCE)
		return XDP_PASS;
	index = rf_lease_hash(packet.source[0] | (__u64)packet.source[1] << 32, key) >> (64 - bits);
	entry = bpf_map_lookup_elem(&entries, &index);
	if (!entry)
		return XDP_PASS;
	entry->packets++;
	return XDP_DROP;
}

SEC("xdp")
int sketch_64k(struct xdp_md *ctx)
{
	return touch_entry(ctx, 16);
}

SEC("xdp")
int sketch_256k(struct xdp_md *ctx)
{
	return touch_entry(ctx, 18);
}

SEC("xdp")
int sketch_2M(struct xdp_md *ctx)
{
	return touch_entry(ctx, BITS_MOST);
}
