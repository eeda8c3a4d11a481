// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the next source into the frame, which survives from one repetition to the next, and then
 * runs the program to measure. The floor is reached the same way, so the difference is fair.
 */
#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "frame.h"

char gpl[] SEC("license") = "GPL";

/* Key 0, a constant, which lets the JIT make the tail call a direct jump. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} measured SEC(".maps");

/* The headers of a frame, which the measured program changes and the walk restores. */
struct {
	struct iphdr ip;
	union transport transport;
} whole4;
struct {
	struct ipv6hdr ip;
	union transport transport;
} whole6;

static __always_inline int walk_ipv4(struct xdp_md *ctx, int restores)
{
	struct iphdr *ip = (void *)((struct ethhdr *)(long)ctx->data + 1);
	struct walk *walk = (void *)ip + sizeof(*ip) + sizeof(union transport);

	if ((void *)(walk + 1) > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	if (restores)
		__builtin_memcpy(ip, &whole4, sizeof(whole4));
	ip->saddr = bpf_htonl(walk_next(walk));
	bpf_tail_call(ctx, &measured, 0);
	return XDP_ABORTED;
}

/* Each source is another /64. */
static __always_inline int walk_ipv6(struct xdp_md *ctx, int restores)
{
	struct ipv6hdr *ip = (void *)((struct ethhdr *)(long)ctx->data + 1);
	struct walk *walk = (void *)ip + sizeof(*ip) + sizeof(union transport);

	if ((void *)(walk + 1) > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	if (restores)
		__builtin_memcpy(ip, &whole6, sizeof(whole6));
	ip->saddr.in6_u.u6_addr32[1] = bpf_htonl(walk_next(walk));
	bpf_tail_call(ctx, &measured, 0);
	return XDP_ABORTED;
}

SEC("xdp")
int walk4(struct xdp_md *ctx)
{
	return walk_ipv4(ctx, 0);
}

SEC("xdp")
int walk6(struct xdp_md *ctx)
{
	return walk_ipv6(ctx, 0);
}

SEC("xdp")
int walk4_restoring(struct xdp_md *ctx)
{
	return walk_ipv4(ctx, 1);
}

SEC("xdp")
int walk6_restoring(struct xdp_md *ctx)
{
	return walk_ipv6(ctx, 1);
}
