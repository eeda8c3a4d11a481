/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface between the program of a fence with shares and the agent of the fleet: requests
 * through a ring buffer, calls through shared memory. Plain data, as abi.h.
 */
#ifndef RINGFENCE_FLEET_CALL_H
#define RINGFENCE_FLEET_CALL_H

#include <linux/types.h>

#include "source.h"

#define RF_ASKS_BYTES (256 * 1024) /* of the ring buffer: room for more than 3,600 requests */
#define RF_FLEET_BATCH 256	   /* windows in one call */

/* An entry of `asks`: a source has nearly used its limit, or was refused. */
struct rf_fleet_ask {
	__u64 source[2]; /* as rf_who.source, masked by the limit's grouping */
	__u32 limit_id;
	__u32 tag; /* of the active definition */
	__u32 incarnation;
	__u32 used; /* by the head of its window, in units */
	__u32 share;
	__u32 is_ipv6; /* 1 or 0 */
	__u64 passed;  /* packets since the window was made, as `dropped`: the rate follows */
	__u64 dropped;
	__u64 received; /* of a limit with a ban, in units: see rf_source.received */
	__u64 time_ns;	/* of the monotonic clock, before these were read */
};

/* One window in a call, by its key. */
struct rf_fleet_record {
	__u64 source[2];
	__u32 limit_id;
	__u32 tag;
	__u32 incarnation; /* 0: any; the window is only read */
	__u32 share;
	__u8 is_ipv6;
	__u8 writes; /* else the window is only read */
	/* Results. */
	__u8 result; /* enum rf_share_result */
	__u8 bans;   /* not a result: the source exceeds L by that tag, so it is banned */
	__u32 used;  /* as read after the write, in units */
	__u64 given; /* the present rf_share.given */
	__u64 passed, dropped, received;
};

/* The state of a bucket. */
struct rf_fleet_heard {
	__u64 until_ns;	 /* of the monotonic clock; 0: no news of this bucket */
	__u64 window_ns; /* the longest W of the fleet's limits */
	__u8 ends;	 /* 1: all shares of the bucket expire, before the rest of this call */
	__u8 reserved[7];
};

/* Value of `fleet_batch`, which has one entry. Writer and reader: the agent and its calls. */
struct rf_fleet_batch {
	__u32 count;	/* of records */
	__u32 sets_key; /* 1: `key` is the fence's from now on, before anything else of this call */
	__u64 key[2];
	struct rf_fleet_heard heard[RF_BUCKETS];
	struct rf_fleet_record record[RF_FLEET_BATCH];
};

#endif /* RINGFENCE_FLEET_CALL_H */
