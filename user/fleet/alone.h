/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How often and how long a host was alone, as the program has it: when it is told a deadline, it
 * notes in `alone_until` whether it was past the one before. So no moment alone is missed, however
 * short it was and however late this looks, as long as it does. Pure.
 *
 * Times are in ns of CLOCK_MONOTONIC. The program counts jiffies: a time alone begins up to a tick
 * later than it is noted here. Of one that began before this count, `ns` has what came since.
 */
#ifndef RF_FLEET_ALONE_H
#define RF_FLEET_ALONE_H

#include <stdbool.h>
#include <stdint.h>

#include "ringfence/abi.h"

struct rf_alone_time {
	uint64_t times, ns;	     /* what lasts included, up to the last look */
	uint64_t since_ns, until_ns; /* the newest; 0: there was none, and: it lasts */
	uint64_t counted_ns;	     /* up to then it is in `ns` */
};

struct rf_alone {
	uint64_t began_ns; /* 0: nothing is counted */
	struct rf_alone_bucket {
		struct rf_hearing seen;
		uint64_t heard_until_ns; /* 0: nothing was heard yet */
		struct rf_alone_time time;
	} bucket[RF_BUCKETS];
	struct rf_alone_time any; /* while at least one bucket is alone */
};

/* What the program has. `jiffies` were read after `before_ns`, and all of it before `now`. */
struct rf_alone_seen {
	struct rf_hearing bucket[RF_BUCKETS];
	uint64_t jiffies;
	uint32_t tick_ns;
	uint64_t before_ns, now;
};

/*
 * There is a fence with limits of the fleet. What was counted before stays. A time alone that lasts
 * counts as one more.
 */
void rf_alone_begin(struct rf_alone *alone, const struct rf_alone_seen *seen);
/* After each call that may have told the program a deadline, and before the count is read. */
void rf_alone_look(struct rf_alone *alone, const struct rf_alone_seen *seen);
/* The fence, or its last limit of the fleet, is gone. */
void rf_alone_end(struct rf_alone *alone, uint64_t now);

#endif /* RF_FLEET_ALONE_H */
