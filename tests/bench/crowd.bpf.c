// SPDX-License-Identifier: GPL-2.0
/*
 * The minimum work of a limiter that stores a window for each source in a hash map: it looks up the
 * element and reads its head; a second program also reads the ring behind the head. The maps are a
 * fence's, so type, size and memory are the same.
 *
 * Each packet depends on the result of the packet before it, because its source is computed from
 * that. The figure is therefore the cost of consecutive cache misses. In a fence nothing makes
 * packets wait for each other in this way; but loads behind an atomic operation wait for it as
 * well.
 *
 * A third program does the minimum work for a newcomer: a look-up that misses, and an insert, in a
 * separate map.
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
const volatile __u32 order_mask = 0;
const volatile __u32 capacity = 0; /* of the maps of newcomers; a power of two, or never reached */

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

/* The sources in the map, the oldest first: if the map is full, the oldest one goes. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __be32);
} order SEC(".maps");

__u32 inserted;
struct rf_source fresh;

/* ---- sources that are known ---- */

/* The walk behind the headers; NULL if it is another frame. */
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

/* Makes the next source depend on `read`, without changing it. */
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

/* ---- newcomers ---- */

/* The place where this newcomer is noted; and in `evicts` who goes for it, if the map is full. */
static __always_inline __be32 *next_place(int *evicts)
{
	__u32 place = inserted++;

	*evicts = place >= capacity;
	place &= order_mask;
	return bpf_map_lookup_elem(&order, &place);
}

SEC("xdp")
int insert4(struct xdp_md *ctx)
{
	struct rf_key4 key;
	struct walk *walk = parse4(ctx, &key);
	__be32 source, *noted;
	int evicts;

	if (!walk)
		return XDP_ABORTED;
	if (bpf_map_lookup_elem(&windows4, &key))
		return XDP_DROP;
	noted = next_place(&evicts);
	if (!noted)
		return XDP_ABORTED;
	source = key.source;
	if (evicts) {
		key.source = *noted;
		bpf_map_delete_elem(&windows4, &key);
		key.source = source;
	}
	*noted = source;
	if (bpf_map_update_elem(&windows4, &key, &fresh, BPF_NOEXIST))
		walk->missed++;
	return XDP_DROP;
}

SEC("xdp")
int insert6(struct xdp_md *ctx)
{
	struct rf_key6 key;
	struct walk *walk = parse6(ctx, &key);
	__be32 source, *noted;
	int evicts;

	if (!walk)
		return XDP_ABORTED;
	if (bpf_map_lookup_elem(&windows6, &key))
		return XDP_DROP;
	noted = next_place(&evicts);
	if (!noted)
		return XDP_ABORTED;
	source = key.source[1];
	if (evicts) {
		key.source[1] = *noted;
		bpf_map_delete_elem(&windows6, &key);
		key.source[1] = source;
	}
	*noted = source;
	if (bpf_map_update_elem(&windows6, &key, &fresh, BPF_NOEXIST))
		walk->missed++;
	return XDP_DROP;
}
