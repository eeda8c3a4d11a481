// SPDX-License-Identifier: GPL-2.0
/*
 * Every run of the program sends one frame on the wire, unless no flow is due. The program chooses
 * the next flow, writes headers, source and stamp, and redirects. Its frame is a recycled one, or a
 * copy of the loader's.
 */
#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "flood.h"

char gpl[] SEC("license") = "GPL";

const volatile struct flood_flow flows[FLOOD_FLOWS_MOST];
const volatile __u32 flows_n;
const volatile __u32 to; /* interface */
const volatile __u64 seed;
volatile __u64 begun_ns; /* 0: flows with an after_ns wait; the loader's to set */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct flood_state);
} states SEC(".maps");

static __always_inline int waits(const volatile struct flood_flow *flow, __u64 now_ns)
{
	return flow->after_ns && (!begun_ns || now_ns < begun_ns + flow->after_ns);
}

/* How many sources of a flow with a ramp exist by now; at least one. */
static __always_inline __u64 count_sources(const volatile struct flood_flow *flow, __u64 now_ns)
{
	__u64 begin_ns = begun_ns + flow->after_ns, sources = 1;

	if (now_ns > begin_ns)
		sources += (now_ns - begin_ns) / 1000 * flow->ramp / 1000000;
	return sources < flow->sources ? sources : flow->sources;
}

static __always_inline __u64 gap_of(const volatile struct flood_flow *flow, __u64 now_ns)
{
	if (flow->ramp)
		return flow->gap_ns * flow->sources / count_sources(flow, now_ns);
	return begun_ns && flow->then_gap_ns ? flow->then_gap_ns : flow->gap_ns;
}

/*
 * The flow that is due; FLOOD_FLOWS_MOST: none. A flow that is later than FLOOD_LATE_NS does not
 * catch up, since it would send a burst. Flows without a rate share the turns that are left.
 */
static __always_inline __u32 next_flow(struct flood_state *state, __u64 now_ns)
{
	__u32 filler = FLOOD_FLOWS_MOST;
	__u64 least = ~0ULL;

	for (__u32 i = 0; i < FLOOD_FLOWS_MOST; i++) {
		if (i >= flows_n || waits(&flows[i], now_ns))
			continue;
		if (flows[i].gap_ns && state->due_ns[i] <= now_ns) {
			if (now_ns - state->due_ns[i] > FLOOD_LATE_NS)
				state->due_ns[i] = now_ns;
			state->due_ns[i] += gap_of(&flows[i], now_ns);
			return i;
		}
		if (!flows[i].gap_ns && state->sent[i] < least) {
			least = state->sent[i];
			filler = i;
		}
	}
	return filler;
}

/* Source of the method: splitmix64's finalizer, Steele et al. 2014. */
static __always_inline __u64 mix(__u64 n)
{
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ULL;
	n = (n ^ n >> 27) * 0x94d049bb133111ebULL;
	return n ^ n >> 31;
}

/*
 * Random sources are outside of 10.0.0.0/8, and inside 2000::/3, to leave the rest to other flows.
 */
static __always_inline __u64 nth_source(const volatile struct flood_flow *flow, __u64 n)
{
	__u64 source;

	if (!flow->random)
		return flow->first +
		       (n + bpf_get_smp_processor_id() * flow->stagger) % flow->sources;
	n = n / (FLOOD_RANDOM_APART * flow->random) * FLOOD_RANDOM_APART + n % FLOOD_RANDOM_APART;
	source = mix(seed + (n << 6 | bpf_get_smp_processor_id() << 1 | flow->is_ipv6));
	if (flow->is_ipv6)
		return source >> 3 | 1ULL << 61;
	source >>= 32;
	return source >> 24 == 10 ? source + (1 << 24) : source;
}

/* The number of the next frame: within its flow, or among the sources that exist so far. */
static __always_inline __u64 next_frame(struct flood_state *state, __u32 i, __u64 now_ns)
{
	__u64 turn = state->turn[i];

	if (!flows[i].ramp)
		return state->sent[i];
	state->turn[i] = turn + 1 < count_sources(&flows[i], now_ns) ? turn + 1 : 0;
	return turn;
}

static __always_inline void put_stamp(__u8 *at, __u64 now_ns, __u32 sequence)
{
	*(struct stamp *)at = (struct stamp){
		.sent_ns = now_ns,
		.flow = bpf_get_smp_processor_id(),
		.sequence = sequence,
	};
	*(struct stamp_ticks *)(at + sizeof(struct stamp)) = (struct stamp_ticks){bpf_jiffies64()};
}

static __always_inline void put_frame(__u8 *frame, const volatile struct flood_flow *flow,
				      __u64 source, __u64 now_ns, __u32 sequence)
{
	__be64 upper = bpf_cpu_to_be64(source);
	__be32 whole = bpf_htonl(source);

	__builtin_memcpy(frame, (const void *)flow->head, FLOOD_HEAD_BYTES);
	if (flow->is_ipv6) {
		__builtin_memcpy(frame + FLOOD_SOURCE6_AT, &upper, sizeof(upper));
		put_stamp(frame + FLOOD_STAMP6_AT, now_ns, sequence);
	} else {
		__builtin_memcpy(frame + FLOOD_SOURCE4_AT, &whole, sizeof(whole));
		put_stamp(frame + FLOOD_STAMP4_AT, now_ns, sequence);
	}
}

SEC("xdp")
int flood(struct xdp_md *ctx)
{
	__u8 *frame = (void *)(long)ctx->data;
	__u32 key = 0, flow;
	struct flood_state *state = bpf_map_lookup_elem(&states, &key);
	__u64 now_ns = bpf_ktime_get_ns();

	if (!state || frame + FLOOD_FRAME_BYTES > (__u8 *)(long)ctx->data_end)
		return XDP_ABORTED; /* the loader sees that less came than it sent */
	flow = next_flow(state, now_ns);
	if (flow >= FLOOD_FLOWS_MOST)
		return XDP_DROP; /* taken back, to be tried again */
	put_frame(frame, &flows[flow], nth_source(&flows[flow], next_frame(state, flow, now_ns)),
		  now_ns, state->sequence++);
	state->sent[flow]++;
	return bpf_redirect(to, 0);
}
