// SPDX-License-Identifier: GPL-2.0
/*
 * The generator of `live.c`: every run of the program sends one frame on the wire. It writes the
 * source and redirects. At full speed it does nothing else, because it must be faster than the
 * receivers. Its frame is a recycled one, or a copy of the loader's. The second program is a floor:
 * the cost of a frame that passes.
 */
#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "live.h"

char gpl[] SEC("license") = "GPL";

/* Written by the loader, between two calls. */
__u32 to; /* interface */
__u32 sources;
__u32 first;	  /* of them, in host order */
__u32 gap_ns;	  /* between frames, every source in turn; 0: flat out, at random */
__u32 stride;	  /* from one source to the next, in turn; shares no factor with `sources` */
__u32 header_sum; /* of the IPv4 header's words except for the source; 0: IPv6 has none */

__u64 sent, due_ns, random_state;
__u64 jiffies; /* of the last frame, of those with a gap */

/* A receiver that falls behind loses frames. The verifier limits the length of a loop. */
static __always_inline void wait_for_turn(void)
{
	__u64 now_ns = 0;

	for (int i = 0; i < 200 && (now_ns = bpf_ktime_get_ns()) < due_ns; i++)
		;
	due_ns = now_ns + gap_ns;
}

static __always_inline __u32 next_source(void)
{
	if (gap_ns) {
		wait_for_turn();
		jiffies = bpf_jiffies64();
		return first + sent * stride % sources;
	}
	/* Knuth's MMIX generator; its upper half is the random one */
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return first + (__u32)((random_state >> 32) * sources >> 32);
}

SEC("xdp")
int generate(struct xdp_md *ctx)
{
	__u8 *frame = (void *)(long)ctx->data;
	__u32 source = next_source(), sum;

	if (frame + LIVE_FRAME_LEAST > (__u8 *)(long)ctx->data_end)
		return XDP_ABORTED; /* the loader sees that less came than it sent */
	*(__be32 *)(frame + LIVE_SOURCE_AT) = bpf_htonl(source);
	if (header_sum) {
		sum = header_sum + (source >> 16) + (source & 0xffff);
		sum = (sum & 0xffff) + (sum >> 16);
		*(__be16 *)(frame + LIVE_CHECKSUM_AT) = bpf_htons(~(sum + (sum >> 16)));
	}
	sent++;
	return bpf_redirect(to, 0);
}

SEC("xdp")
int bare_pass(struct xdp_md *ctx)
{
	(void)ctx;
	return XDP_PASS;
}
