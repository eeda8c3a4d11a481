/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Windows: one for each source and limit, with their keys and counters. A part of abi.h.
 *
 * The program of a fence in a fleet is built with RF_WITH_SHARES. Its windows are longer, by a
 * share at the end. Code that is built without it knows the first part of both.
 */
#ifndef RINGFENCE_SOURCE_H
#define RINGFENCE_SOURCE_H

#include <linux/types.h>

#define RF_CELLS 16 /* words of the ring */

/*
 * The fleet's grant to a source, in addition to the `first` of its limit; see share.h. Words that
 * both the program and the agent use for decisions are each changed by one atomic operation.
 */
struct rf_share {
	__u64 given;   /* {incarnation:32 | share:32}; an incarnation of 0: the window is local */
	__u64 whose;   /* {tag:32 | clip:32}: of a definition, and the largest L of late */
	__u64 lowered; /* jiffies: when the share was lowered the last time */
	__u64 asked;   /* {has grown since:1 | requests without a grant before:3 | jiffies:60} */
	__u64 refused; /* with a ban: {epoch:32 | units:32} refused since, see share_ban.h */
};

/* The meaning of the words depends on the algorithm, see limiter.h and its includes. */
struct rf_window {
	__u64 head;
	__u64 loans;  /* lent to CPUs, see loan.h */
	__u64 newest; /* windows of cells: a full epoch, which distinguishes the laps of tags */
	__u64 cell[RF_CELLS];
#ifdef RF_WITH_SHARES
	__u64 of_source; /* rf_source.would_drop has this place */
	struct rf_share share;
#endif
};

struct rf_key4 {
	__be32 source; /* masked by the limit's grouping */
	__u32 limit_id;
};

struct rf_key6 {
	__be32 source[4];
	__u32 limit_id;
};

/*
 * In rf_source.banned_until: no ban is active, and none starts before the jiffy in the other bits.
 */
#define RF_BAN_NOT_BEFORE (1ULL << 63)

/*
 * Value of `windows4` and `windows6`. What most packets touch is next to the key, to lie in as few
 * cache lines as possible.
 */
struct rf_source {
	/*
	 * Which slot it is in; ringfence/slot.h. Of `aggregates`, which have none: the prefix that
	 * was charged last, as rf_who.source[0] with RF_AGGREGATE_IPV6; 0: none yet.
	 */
	__u64 slot_ref;
	__u64 passed; /* packets, under the limit */
	__u64 dropped;
#ifdef RF_WITH_SHARES
	union {
		struct rf_window window;
		struct {
			__u64 words[3 + RF_CELLS];
			union {
				__u64 would_drop;
				__u64 banned_until;
			};
		};
	};
	__u64 received; /* for a limit with a ban: all received units */
#else
	struct rf_window window;
	union {
		__u64 would_drop; /* passed, over a shadow limit or in a pause */
		/*
		 * Jiffies, for a limit with a ban, which is never a shadow: `bans` can have it
		 * until then.
		 */
		__u64 banned_until;
	};
#endif
};

/* The size of such a window in a fence with shares, and without. */
#define RF_SOURCE_SIZE (8U * (3 + 3 + RF_CELLS + 1))
#define RF_SHARED_SOURCE_SIZE (RF_SOURCE_SIZE + sizeof(struct rf_share) + 8U)

/* ---- the fleet, as the program knows it: a part of rf_config ---- */

#define RF_BUCKETS 16 /* sources are divided among them, in the fleet server as here */

#define RF_GENERATIONS (1U << 16)

/* Until when the agent has a reply of the fleet server for the sources of a bucket. Written only by
 * calls of the agent. */
struct rf_hearing {
	__u64 deadline;	   /* jiffies; past it the limit is its `alone`; 0: never connected */
	__u64 alone_until; /* jiffies: until then windows can contain admissions from while offline
			    */
	__u64 generation;  /* of its shares, below RF_GENERATIONS; shares of another count as 0 */
};

/* A separate line, because a packet reads it: then the members that few packets write. */
struct rf_fleet {
	struct rf_hearing bucket[RF_BUCKETS];
	__u64 incarnations __attribute__((aligned(64))); /* windows made */
	__u64 asks;
	__u64 asks_lost; /* no room in the ring buffer; requested again later */
	__u64 key[2];	 /* of buckets, see rf_bucket_by(); both 0: none. Written as `bucket` is */
} __attribute__((aligned(64)));

#endif /* RINGFENCE_SOURCE_H */
