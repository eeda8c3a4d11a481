/* SPDX-License-Identifier: GPL-2.0 */
/* What flood.c and the program that it loads share. */
#ifndef TRAFFIC_FLOOD_H
#define TRAFFIC_FLOOD_H

#include <linux/types.h>

#include "stamp.h"

#define FLOOD_FLOWS_MOST 8

/* Offsets in the kinds of frames there are: UDP over IPv4 or IPv6, without tags or options. */
#define FLOOD_SOURCE4_AT 26
#define FLOOD_SOURCE6_AT 22
#define FLOOD_STAMP4_AT 50
#define FLOOD_STAMP6_AT 70
#define FLOOD_HEAD_BYTES 72 /* reach up to the later stamp; whole words, to copy */
#define FLOOD_FRAME_BYTES 96

#define FLOOD_LATE_NS 10000000 /* that can be caught up with: more than a batch can delay */

/* Two frames of one random source are this many frames of its CPU apart. */
#define FLOOD_RANDOM_APART 64

struct flood_flow {
	__u8 head[FLOOD_HEAD_BYTES];
	__u64 first; /* source, in host order: IPv4, or the upper half of IPv6 */
	__u64 sources;
	__u64 gap_ns;	   /* between two frames of one CPU; 0: whenever no other flow is due */
	__u64 then_gap_ns; /* once it was signalled to start; 0: the same */
	__u64 after_ns;	   /* from the signal to its first frame; 0: it does not wait */
	__u64 ramp; /* this many more of the sources each second, from then; 0: all immediately */
	__u64 stagger; /* CPU n starts n times this many sources further on */
	__u32 random;  /* frames of each random source; 0: the sources take turns */
	__u32 is_ipv6;
};

/* Of one CPU. */
struct flood_state {
	__u64 sent[FLOOD_FLOWS_MOST];
	__u64 due_ns[FLOOD_FLOWS_MOST];
	__u64 turn[FLOOD_FLOWS_MOST]; /* of a flow with a ramp: the next of its sources */
	__u32 sequence;
	__u32 reserved;
};

#endif /* TRAFFIC_FLOOD_H */
