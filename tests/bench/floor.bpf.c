// SPDX-License-Identifier: GPL-2.0
/* What any XDP program costs: the programs that ringfence is compared with. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>

#include <bpf/bpf_helpers.h>

#include "ringfence/packet.h"

char gpl[] SEC("license") = "GPL";

/* Keeps what was read from being optimised away. */
__be32 last_source;

SEC("xdp")
int bare_drop(struct xdp_md *ctx)
{
	(void)ctx;
	return XDP_DROP;
}

/* Bounds, type and source of an IPv4 frame: the least that a limiter must look at. */
SEC("xdp")
int parse_drop(struct xdp_md *ctx)
{
	const void *end = (void *)(long)ctx->data_end;
	const struct ethhdr *eth = (void *)(long)ctx->data;
	const struct iphdr *ip = (const void *)(eth + 1);

	if ((const void *)(ip + 1) > end || eth->h_proto != RF_BE16(ETH_P_IP))
		return XDP_PASS;
	last_source = ip->saddr;
	return XDP_DROP;
}
