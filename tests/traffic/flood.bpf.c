// SPDX-License-Identifier: GPL-2.0
/*
 * Every run of it is a frame on the wire: it says which flow is next, writes source and stamp, and
 * redirects. The frame it gets is one that it had before, or a copy of the loader's.
 */
#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "flood.h"

char gpl[] SEC("license") = "GPL";

const volatile struct flood_flow flows[FLOOD_FLOWS_MOST]; /* the first has no gap */
const volatile __u32 flows_n;
const volatile __u32 to; /* interface */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct flood_state);
} states SEC(".maps");

/* A flow that was late does not catch up: no burst may be taken for its rate. */
static __always_inline __u32 next_flow(struct flood_state *state, __u64 now_ns)
{
	for (__u32 i = 1; i < FLOOD_FLOWS_MOST; i++)
		if (i < flows_n && state->due_ns[i] <= now_ns) {
			state->due_ns[i] = now_ns + flows[i].gap_ns;
			return i;
		}
	return 0;
}

SEC("xdp")
int flood(struct xdp_md *ctx)
{
	__u8 *frame = (void *)(long)ctx->data;
	__u32 key = 0;
	struct flood_state *state = bpf_map_lookup_elem(&states, &key);
	__u64 now_ns = bpf_ktime_get_ns();
	__be32 source;
	__u32 flow;

	if (!state || frame + FLOOD_FRAME_BYTES > (__u8 *)(long)ctx->data_end)
		return XDP_ABORTED; /* the loader sees that less came than it sent */
	flow = next_flow(state, now_ns);
	source = bpf_htonl(flows[flow].first + state->sent[flow] % flows[flow].sources);
	__builtin_memcpy(frame + FLOOD_SOURCE_AT, &source, sizeof(source));
	*(struct stamp *)(frame + FLOOD_STAMP_AT) = (struct stamp){
		.sent_ns = now_ns,
		.flow = bpf_get_smp_processor_id(),
		.sequence = state->sequence++,
	};
	*(struct stamp_ticks *)(frame + FLOOD_TICKS_AT) = (struct stamp_ticks){bpf_jiffies64()};
	state->sent[flow]++;
	return bpf_redirect(to, 0);
}
