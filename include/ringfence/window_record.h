/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a reader gets of a window from the pinned iterators: not all of it, since a million of them
 * are read. Not a part of the maps: where the layout changes, the pins get other names.
 */
#ifndef RINGFENCE_WINDOW_RECORD_H
#define RINGFENCE_WINDOW_RECORD_H

#include <linux/types.h>

#define RF_PART_SLOTS 32 /* an iterator reads so many at once; what it prints fits a read */
#define RF_PART_SETS 32	 /* of leases, as they are in the map: 8 KiB at most */

struct rf_window_record {
	__be32 source[4]; /* masked by the limit's grouping; IPv4: only the first */
	__u32 limit_id;	  /* of a limit in force */
	__u32 stay;	  /* another one: the window was evicted meanwhile, and made anew */
	__u32 used;	  /* in the policy's units */
	/* Packets, modulo 2^32, without those that leases hold. */
	__u32 passed;
	__u32 dropped;
	__u32 would_drop; /* 0 of a limit with a ban */
};

/* From a seat, see ringfence/slot.h: generation of the slot, and the low bits of its number. */
static inline __u32 rf_window_stay(__u64 seat)
{
	return seat >> 18;
}

#endif /* RINGFENCE_WINDOW_RECORD_H */
