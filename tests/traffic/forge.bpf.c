// SPDX-License-Identifier: GPL-2.0
/*
 * Every run of the program sends one frame on the wire, unless it is not due. The frame has a
 * random source, source port and sequence number (or DNS identifier), and valid checksums: the
 * kernel behind it would accept it. The frame is a recycled one, which the receiver can have turned
 * into its response, or a copy of the loader's: it is written whole.
 */
#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "forge.h"

#define IP_CHECK_AT 24
#define SOURCE4_AT 26
#define SOURCE6_AT 22
#define LATE_NS_MOST 100000

char gpl[] SEC("license") = "GPL";

const volatile struct forge forge;
const volatile __u32 frame_bytes;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct forge_state);
} states SEC(".maps");

/* Source of the method: splitmix64's finalizer, Steele et al. 2014. */
static __always_inline __u64 mix(__u64 n)
{
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ULL;
	n = (n ^ n >> 27) * 0x94d049bb133111ebULL;
	return n ^ n >> 31;
}

static __always_inline __u16 checksum(__u64 sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static __always_inline int is_due(struct forge_state *state, __u64 now_ns)
{
	if (state->sent == forge.count)
		return 0;
	if (!forge.gap_ns)
		return 1;
	if (state->due_ns > now_ns)
		return 0;
	/* delayed by more than a batch: it must not catch up by a burst, which would fill a ring */
	if (now_ns - state->due_ns > LATE_NS_MOST)
		state->due_ns = now_ns;
	state->due_ns += forge.gap_ns;
	return 1;
}

static __always_inline void put16(__u8 *at, __u16 value)
{
	*(__be16 *)at = bpf_htons(value);
}

static __always_inline void put_template(__u8 *frame, __u32 bytes)
{
	__u32 at = 0;

	for (; at + sizeof(__u64) <= bytes && at < FORGE_BYTES_MOST; at += sizeof(__u64))
		*(__u64 *)(frame + at) = *(const volatile __u64 *)(forge.frame + at);
	for (; at + sizeof(__u16) <= bytes && at < FORGE_BYTES_MOST; at += sizeof(__u16))
		*(__u16 *)(frame + at) = *(const volatile __u16 *)(forge.frame + at);
}

/* Returns the sum of its words. */
static __always_inline __u64 put_source(__u8 *frame, __u64 source)
{
	if (forge.is_ipv6) {
		*(__be32 *)(frame + SOURCE6_AT) = bpf_htonl(source >> 32);
		*(__be32 *)(frame + SOURCE6_AT + 4) = bpf_htonl(source);
		return (source >> 32) + (source & 0xffffffff);
	}
	*(__be32 *)(frame + SOURCE4_AT) = bpf_htonl(source);
	put16(frame + IP_CHECK_AT, checksum(forge.ip_sum + source));
	return source;
}

static __always_inline int redirect(struct xdp_md *ctx, __u32 bytes)
{
	__u8 *frame = (void *)(long)ctx->data;
	__u32 key = 0, sport_at = forge.sport_at, vary_at = forge.vary_at,
	      check_at = forge.check_at;
	struct forge_state *state = bpf_map_lookup_elem(&states, &key);
	__u64 random, sum;
	__u16 sport;

	if (!state || frame + bytes > (__u8 *)(long)ctx->data_end || sport_at > bytes - 2 ||
	    vary_at > bytes - 2 || check_at > bytes - 2)
		return XDP_ABORTED; /* the loader sees that less came than it sent */
	if (!is_due(state, forge.gap_ns ? bpf_ktime_get_ns() : 0))
		return XDP_DROP; /* taken back, to be tried again */
	put_template(frame, bytes);
	random = mix(forge.seed + (state->sent++ << 6 | bpf_get_smp_processor_id()));
	sport = random | 1024;
	sum = forge.l4_sum + sport + (random >> 16 & 0xffff);
	sum += put_source(frame, forge.first + mix(random) % forge.sources);
	put16(frame + sport_at, sport);
	put16(frame + vary_at, random >> 16);
	put16(frame + check_at, checksum(sum));
	return bpf_redirect(forge.to, 0);
}

SEC("xdp")
int send_forged(struct xdp_md *ctx)
{
	return redirect(ctx, frame_bytes);
}
