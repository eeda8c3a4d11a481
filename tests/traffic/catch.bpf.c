// SPDX-License-Identifier: GPL-2.0
/*
 * Counts and drops frames to the listed destinations: responses to forged sources. Other frames
 * pass. XDP_TX on the peer of this veth interface requires that this interface has a program, too.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "forge.h"

#define DNS_TRUNCATED 0x02 /* in the third byte of the message */

char gpl[] SEC("license") = "GPL";

const volatile struct catch_range ranges[CATCH_RANGES_MOST];
const volatile __u32 ranges_n;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, CATCH_KINDS);
	__type(key, __u32);
	__type(value, struct catch_count);
} counts SEC(".maps");

static __always_inline int is_caught(__u64 destination, __u32 is_ipv6)
{
	for (__u32 i = 0; i < CATCH_RANGES_MOST && i < ranges_n; i++)
		if (ranges[i].is_ipv6 == is_ipv6 &&
		    destination - ranges[i].first < ranges[i].sources)
			return 1;
	return 0;
}

static __always_inline enum catch_kind kind_of(const __u8 *l4, const __u8 *end, __u8 protocol)
{
	const struct tcphdr *tcp = (const void *)l4;

	if (protocol == IPPROTO_UDP)
		return l4 + 11 <= end && l4[10] & DNS_TRUNCATED ? CATCH_TRUNCATED : CATCH_OTHER;
	if (protocol != IPPROTO_TCP || (const __u8 *)(tcp + 1) > end)
		return CATCH_OTHER;
	if (tcp->rst)
		return CATCH_RESET;
	return tcp->syn && tcp->ack ? CATCH_SYNACK : CATCH_OTHER;
}

static __always_inline int count(__u32 kind, __u64 bytes)
{
	struct catch_count *count = bpf_map_lookup_elem(&counts, &kind);

	if (count) {
		count->frames++;
		if (bytes > count->longest)
			count->longest = bytes;
	}
	return XDP_DROP;
}

SEC("xdp")
int catch_responses(struct xdp_md *ctx)
{
	const __u8 *frame = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	const struct ethhdr *ethernet = (const void *)frame;
	const struct iphdr *ip4 = (const void *)(ethernet + 1);
	const struct ipv6hdr *ip6 = (const void *)(ethernet + 1);

	if ((const __u8 *)(ethernet + 1) > end)
		return XDP_PASS;
	if (ethernet->h_proto == bpf_htons(ETH_P_IP)) {
		if ((const __u8 *)(ip4 + 1) > end || !is_caught(bpf_ntohl(ip4->daddr), 0))
			return XDP_PASS;
		return count(kind_of((const __u8 *)(ip4 + 1), end, ip4->protocol), end - frame);
	}
	if (ethernet->h_proto != bpf_htons(ETH_P_IPV6) || (const __u8 *)(ip6 + 1) > end ||
	    !is_caught((__u64)bpf_ntohl(ip6->daddr.in6_u.u6_addr32[0]) << 32 |
			       bpf_ntohl(ip6->daddr.in6_u.u6_addr32[1]),
		       1))
		return XDP_PASS;
	return count(kind_of((const __u8 *)(ip6 + 1), end, ip6->nexthdr), end - frame);
}
