/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parser for frames in several buffers. A program can read such a frame directly only up to the
 * end of its first buffer, the linear part, in which some drivers leave little or nothing (mlx5
 * with striding RQ). If headers are outside of it, the start of the frame is copied, and the same
 * parser reads the copy.
 *
 * The copy has a fixed size, large enough for all headers that the parser walks. The verifier
 * therefore accepts each read by the bounds of its step; comparisons with the frame's end only
 * classify the packet, as they do in a frame. The parser's results are stored in memory, to limit
 * the stack of the entry.
 */
#ifndef RINGFENCE_PARSED_H
#define RINGFENCE_PARSED_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "ringfence/packet.h"

#define RF_COPY_FIRST 256 /* enough for all but long extension headers */

struct parsed {
	__u32 copied; /* bytes of the frame in `frame`; 0: all headers are in the linear part */
	struct rf_packet packet;
	__u8 reserved[2]; /* a frame starts 2 bytes after a multiple of 4 */
	__u8 frame[RF_HEADERS_MAX];
};

/* The frame that this CPU handles, unless it is plain. Writer and reader: the program, in one run.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct parsed);
} parsed_frame SEC(".maps");

static __always_inline struct parsed *find_parsed(void)
{
	__u32 first = 0;

	return bpf_map_lookup_elem(&parsed_frame, &first);
}

/* As rf_packet_parse, of the first `size` bytes of a frame. */
__noinline int parse_copy(struct xdp_md *ctx, __u32 size)
{
	struct parsed *parsed = find_parsed();
	__u64 last = (__u64)size - 1; /* Linux 6.1 does not follow `size != 0` */
	struct rf_packet packet;
	enum rf_parsed found;

	RF_OPAQUE(last);
	if (!parsed || last >= sizeof(parsed->frame))
		return RF_PARSED_MALFORMED; /* an empty frame; else it cannot happen */
	RF_OPAQUE(last);
	if (bpf_xdp_load_bytes(ctx, 0, parsed->frame, last + 1))
		return RF_PARSED_MALFORMED; /* cannot happen */
	found = rf_packet_parse(parsed->frame, parsed->frame + size, &packet);
	parsed->copied = size;
	parsed->packet = packet;
	return found;
}

/* The same of the linear part. */
__noinline int parse_linear(struct xdp_md *ctx)
{
	const void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct parsed *parsed = find_parsed();
	struct rf_packet packet;
	enum rf_parsed found;

	if (!parsed)
		return RF_PARSED_MALFORMED; /* cannot happen; for the verifier */
	found = rf_packet_parse(data, end, &packet);
	parsed->copied = 0;
	parsed->packet = packet;
	return found;
}

/*
 * As rf_packet_parse, for a frame of `len_bytes`; sets parsed_frame. Copies only as much as
 * necessary.
 */
__noinline int parse_frame(struct xdp_md *ctx, __u32 len_bytes)
{
	const struct parsed *parsed = find_parsed();
	const __u32 first = RF_COPY_FIRST;
	enum rf_parsed found = parse_linear(ctx); /* its stack is free again before parse_copy */
	__u64 linear;

	if (!parsed)
		return RF_PARSED_MALFORMED; /* cannot happen; for the verifier */
	RF_OPAQUE(ctx); /* else pointers are read before the call, and spilled in halves */
	linear = rf_distance((void *)(long)ctx->data, (void *)(long)ctx->data_end);
	if (linear >= len_bytes || !rf_packet_reaches(found, &parsed->packet, linear))
		return found;
	if (len_bytes <= first)
		return parse_copy(ctx, len_bytes);
	found = parse_copy(ctx, first);
	if (rf_packet_reaches(found, &parsed->packet, first))
		found = parse_copy(ctx, len_bytes < RF_HEADERS_MAX ? len_bytes : RF_HEADERS_MAX);
	return found;
}

#endif /* RINGFENCE_PARSED_H */
