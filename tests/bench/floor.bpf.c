// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of any XDP program: the programs that ringfence is compared with, and the price of each
 * building block of a limiter, on top of the same parsing.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include <bpf/bpf_helpers.h>

#include "ringfence/packet.h"

char gpl[] SEC("license") = "GPL";

/* Prevents the value from being optimised away, without a store that two CPUs would share. */
#define KEEP(x) __asm__ volatile("" : : "r"(x))

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u64[8]); /* a line */
} lines SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __be32);
	__type(value, __u64);
} hash SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __be32);
	__type(value, __u64);
} lru SEC(".maps");

/* Bounds, type and source of an IPv4 frame: the minimum that a limiter must read. */
static __always_inline int parse4(struct xdp_md *ctx, __be32 *source)
{
	const void *end = (void *)(long)ctx->data_end;
	const struct ethhdr *eth = (void *)(long)ctx->data;
	const struct iphdr *ip = (const void *)(eth + 1);

	if ((const void *)(ip + 1) > end || eth->h_proto != RF_BE16(ETH_P_IP))
		return 0;
	*source = ip->saddr;
	return 1;
}

SEC("xdp")
int bare_drop(struct xdp_md *ctx)
{
	(void)ctx;
	return XDP_DROP;
}

SEC("xdp")
int parse4_drop(struct xdp_md *ctx)
{
	__be32 source;

	if (!parse4(ctx, &source))
		return XDP_PASS;
	KEEP(source);
	return XDP_DROP;
}

SEC("xdp")
int parse6_drop(struct xdp_md *ctx)
{
	const void *end = (void *)(long)ctx->data_end;
	const struct ethhdr *eth = (void *)(long)ctx->data;
	const struct ipv6hdr *ip = (const void *)(eth + 1);

	if ((const void *)(ip + 1) > end || eth->h_proto != RF_BE16(ETH_P_IPV6))
		return XDP_PASS;
	for (int i = 0; i < 4; i++)
		KEEP(ip->saddr.in6_u.u6_addr32[i]);
	return XDP_DROP;
}

SEC("xdp")
int array_drop(struct xdp_md *ctx)
{
	__be32 source;
	__u64 *line;
	__u32 index;

	if (!parse4(ctx, &source))
		return XDP_PASS;
	index = source >> 16;
	line = bpf_map_lookup_elem(&lines, &index);
	if (!line)
		return XDP_PASS;
	KEEP(*line);
	return XDP_DROP;
}

SEC("xdp")
int atomic_drop(struct xdp_md *ctx)
{
	__be32 source;
	__u64 *line;
	__u32 index;

	if (!parse4(ctx, &source))
		return XDP_PASS;
	index = source >> 16;
	line = bpf_map_lookup_elem(&lines, &index);
	if (!line)
		return XDP_PASS;
	KEEP(__sync_fetch_and_add(line, 1));
	return XDP_DROP;
}

static __always_inline int look_up(struct xdp_md *ctx, void *map)
{
	__u64 zero = 0, *value;
	__be32 source;

	if (!parse4(ctx, &source))
		return XDP_PASS;
	value = bpf_map_lookup_elem(map, &source);
	if (!value) { /* the first packet */
		bpf_map_update_elem(map, &source, &zero, BPF_ANY);
		return XDP_DROP;
	}
	KEEP(*value);
	return XDP_DROP;
}

SEC("xdp")
int hash_drop(struct xdp_md *ctx)
{
	return look_up(ctx, &hash);
}

SEC("xdp")
int lru_drop(struct xdp_md *ctx)
{
	return look_up(ctx, &lru);
}

SEC("xdp")
int jiffies_drop(struct xdp_md *ctx)
{
	__be32 source;

	if (!parse4(ctx, &source))
		return XDP_PASS;
	KEEP(source);
	KEEP(bpf_jiffies64());
	return XDP_DROP;
}

SEC("xdp")
int ktime_drop(struct xdp_md *ctx)
{
	__be32 source;

	if (!parse4(ctx, &source))
		return XDP_PASS;
	KEEP(source);
	KEEP(bpf_ktime_get_ns());
	return XDP_DROP;
}
