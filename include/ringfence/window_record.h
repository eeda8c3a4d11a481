/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of a window that the pinned iterators print, because a million windows are read. Not a
 * part of the maps: if the layout changes, the pins get new names.
 */
#ifndef RINGFENCE_WINDOW_RECORD_H
#define RINGFENCE_WINDOW_RECORD_H

#include <linux/types.h>

#define RF_PART_SLOTS 32 /* an iterator reads this many per step; its output fits one read */
#define RF_PART_SETS 32	 /* of leases, as they are in the map: 8 KiB at most */

struct rf_window_record {
	__be32 source[4]; /* masked by the limit's grouping; IPv4: only the first */
	__u32 limit_id;	  /* of an active limit */
	__u32 stay;	  /* changes if the window was evicted and created again */
	__u32 used;	  /* in the policy's units, with what is lent to CPUs */
	/* Packets, modulo 2^32, without the pending counts of leases. */
	__u32 passed;
	__u32 dropped;
	__u32 would_drop; /* 0 for a limit with a ban */
	__u32 lent;	  /* of `used` */
};

/* From a slot reference, see ringfence/slot.h: generation of the slot, and the low bits of its
 * number. */
static inline __u32 rf_window_stay(__u64 slot_ref)
{
	return slot_ref >> 18;
}

#endif /* RINGFENCE_WINDOW_RECORD_H */
