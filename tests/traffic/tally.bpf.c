// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the frames that arrive behind the XDP program, and drops them there: no socket could
 * sustain a flood. Sources that no flow has are counted together, in the last entry.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "tally.h"

#define SOURCE4_AT 26
#define SOURCE6_AT 22

char gpl[] SEC("license") = "GPL";

const volatile struct tally_flow flows[TALLY_FLOWS_MOST];
const volatile __u32 flows_n;
const volatile __u32 others; /* key */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

static __always_inline __u32 key_of(__u64 source, __u32 is_ipv6)
{
	__u32 before = 0;

	for (__u32 i = 0; i < TALLY_FLOWS_MOST && i < flows_n; i++) {
		if (flows[i].is_ipv6 == is_ipv6 && source - flows[i].first < flows[i].sources)
			return before + (source - flows[i].first);
		before += flows[i].sources;
	}
	return others;
}

SEC("tc")
int tally(struct __sk_buff *skb)
{
	__u32 key = others;
	__be64 upper = 0;
	__be32 whole = 0;
	__u64 *count;

	if (skb->protocol == bpf_htons(ETH_P_IP) &&
	    !bpf_skb_load_bytes(skb, SOURCE4_AT, &whole, sizeof(whole)))
		key = key_of(bpf_ntohl(whole), 0);
	else if (skb->protocol == bpf_htons(ETH_P_IPV6) &&
		 !bpf_skb_load_bytes(skb, SOURCE6_AT, &upper, sizeof(upper)))
		key = key_of(bpf_be64_to_cpu(upper), 1);
	count = bpf_map_lookup_elem(&counts, &key);
	if (count)
		(*count)++;
	return TC_ACT_SHOT;
}
