// SPDX-License-Identifier: GPL-2.0
/*
 * The least that a limiter can touch which keeps a window for each source in a hash map: the
 * element is looked up, and its head read; and the ring behind the head. The maps are a fence's
 * own, so that type, size and memory are the same.
 *
 * Each packet waits for what the one before has read, since its source is reckoned from that. So
 * the figure is that of misses one after the other. Nothing makes the packets of a fence wait for
 * each other like that; but where it writes by an atomic operation, loads behind it wait as well.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include <bpf/bpf_helpers.h>

#include "frame.h"
#include "ringfence/abi.h"
#include "ringfence/atomic.h"
#include "ringfence/packet.h"

char gpl[] SEC("license") = "GPL";

const volatile __u32 limit_id = 0; /* of the windows that are looked up */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct rf_key4);
	__type(value, struct rf_source);
} windows4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct rf_key6);
	__type(value, struct rf_source);
} windows6 SEC(".maps");

/* The walk behind the headers; NULL: it is another frame. */
static __always_inline struct walk *parse4(struct xdp_md *ctx, struct rf_key4 *key)
{
	struct frame4 *frame = (void *)(long)ctx->data - FRAME_PAD;

	if ((void *)(frame + 1) > (void *)(long)ctx->data_end ||
	    frame->eth.h_proto != RF_BE16(ETH_P_IP))
		return NULL;
	key->source = frame->ip.saddr;
	key->limit_id = limit_id;
	return &frame->walk;
}

static __always_inline struct walk *parse6(struct xdp_md *ctx, struct rf_key6 *key)
{
	struct frame6 *frame = (void *)(long)ctx->data - FRAME_PAD;

	if ((void *)(frame + 1) > (void *)(long)ctx->data_end ||
	    frame->eth.h_proto != RF_BE16(ETH_P_IPV6))
		return NULL;
	/* a /64, as a window has it */
	key->source[0] = frame->ip.saddr.in6_u.u6_addr32[0];
	key->source[1] = frame->ip.saddr.in6_u.u6_addr32[1];
	key->source[2] = key->source[3] = 0;
	key->limit_id = limit_id;
	return &frame->walk;
}

/* The next source is reckoned from `read`, which is left out again. */
static __always_inline void wait_for(struct walk *walk, __u64 read)
{
	__u64 none = 0;

	RF_OPAQUE(none);
	walk->x += (__u32)(read & none);
}

static __always_inline int read_head(struct walk *walk, const struct rf_source *source)
{
	if (source)
		wait_for(walk, rf_load(&source->window.head));
	else
		walk->missed++;
	return XDP_DROP;
}

static __always_inline int read_ring(struct walk *walk, const struct rf_source *source)
{
	__u64 sum = 0;

	if (!source) {
		walk->missed++;
		return XDP_DROP;
	}
	sum = rf_load(&source->window.head);
	for (int i = 0; i < RF_CELLS; i++)
		sum += rf_load(&source->window.cell[i]);
	wait_for(walk, sum);
	return XDP_DROP;
}

SEC("xdp")
int look_up4(struct xdp_md *ctx)
{
	struct rf_key4 key;
	struct walk *walk = parse4(ctx, &key);

	return walk ? read_head(walk, bpf_map_lookup_elem(&windows4, &key)) : XDP_ABORTED;
}

SEC("xdp")
int look_up6(struct xdp_md *ctx)
{
	struct rf_key6 key;
	struct walk *walk = parse6(ctx, &key);

	return walk ? read_head(walk, bpf_map_lookup_elem(&windows6, &key)) : XDP_ABORTED;
}

SEC("xdp")
int ring4(struct xdp_md *ctx)
{
	struct rf_key4 key;
	struct walk *walk = parse4(ctx, &key);

	return walk ? read_ring(walk, bpf_map_lookup_elem(&windows4, &key)) : XDP_ABORTED;
}

SEC("xdp")
int ring6(struct xdp_md *ctx)
{
	struct rf_key6 key;
	struct walk *walk = parse6(ctx, &key);

	return walk ? read_ring(walk, bpf_map_lookup_elem(&windows6, &key)) : XDP_ABORTED;
}
