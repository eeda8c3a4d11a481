/* SPDX-License-Identifier: GPL-2.0 */
/* The stamp that every frame of ours carries behind its headers. C and BPF write the same stamp. */
#ifndef TRAFFIC_STAMP_H
#define TRAFFIC_STAMP_H

#include <linux/types.h>

#define STAMP_MAGIC "\xa7rfence\x1f"
#define STAMP_MAGIC_BYTES (sizeof(STAMP_MAGIC) - 1)

/* What follows the magic. A frame is aligned to no more than 2 bytes. */
struct stamp {
	__u64 sent_ns;
	__u32 flow;	/* `send`: the flow's place on the command line; `flood`: the CPU */
	__u32 sequence; /* of that flow, or of that CPU's frames of all flows */
} __attribute__((packed, aligned(2)));

/* The part that `flood` adds behind the stamp, for limits that use ticks. Read after sent_ns. */
struct stamp_ticks {
	__u64 jiffies;
} __attribute__((packed, aligned(2)));

#endif /* TRAFFIC_STAMP_H */
