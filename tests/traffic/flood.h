/* SPDX-License-Identifier: GPL-2.0 */
/* What flood.c and the program that it loads share. */
#ifndef TRAFFIC_FLOOD_H
#define TRAFFIC_FLOOD_H

#include <linux/types.h>

#include "stamp.h"

#define FLOOD_FLOWS_MOST 4

/* Offsets in the one kind of frame there is: UDP over IPv4, without tags or options. */
#define FLOOD_SOURCE_AT 26
#define FLOOD_STAMP_AT 50
#define FLOOD_TICKS_AT (FLOOD_STAMP_AT + sizeof(struct stamp))
#define FLOOD_FRAME_BYTES (FLOOD_TICKS_AT + sizeof(struct stamp_ticks))

struct flood_flow {
	__u32 first; /* source, in host order */
	__u32 sources;
	__u64 gap_ns; /* between two frames of one CPU; 0: whenever no other flow is due */
};

/* Of one CPU. */
struct flood_state {
	__u64 sent[FLOOD_FLOWS_MOST];
	__u64 due_ns[FLOOD_FLOWS_MOST];
	__u32 sequence;
	__u32 reserved;
};

#endif /* TRAFFIC_FLOOD_H */
