/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts offline periods and their time, as recorded by the program: on each new deadline it notes
 * in `alone_until` whether the previous one had passed. So no period is missed, however short, and
 * however late this is called within it. Pure.
 *
 * Times are in ns of CLOCK_MONOTONIC. The program counts jiffies: a period starts up to a tick
 * later than recorded here. Of a period that started before the count, `ns` has the part since
 * then.
 */
#ifndef RF_FLEET_ALONE_H
#define RF_FLEET_ALONE_H

#include <stdbool.h>
#include <stdint.h>

#include "ringfence/abi.h"

struct rf_alone_time {
	uint64_t times, ns;	     /* what lasts included, up to the last look */
	uint64_t since_ns, until_ns; /* the latest; 0: none, and: not over */
	uint64_t counted_ns;	     /* up to then it is in `ns` */
};

struct rf_alone {
	uint64_t began_ns; /* 0: not counting */
	struct rf_alone_bucket {
		struct rf_hearing seen;
		uint64_t heard_until_ns; /* 0: no reply yet */
		struct rf_alone_time time;
	} bucket[RF_BUCKETS];
	struct rf_alone_time any; /* while at least one bucket is offline */
};

/* The state of the program. `jiffies` were read after `before_ns`, and everything before `now`. */
struct rf_alone_seen {
	struct rf_hearing bucket[RF_BUCKETS];
	uint64_t jiffies;
	uint32_t tick_ns;
	uint64_t before_ns, now;
};

/*
 * Starts counting: a fence with limits of the fleet is open. Earlier counts remain. A period that
 * is not over counts as a new one.
 */
void rf_alone_begin(struct rf_alone *alone, const struct rf_alone_seen *seen);
/* After each call that can have set a deadline, and before the counts are read. */
void rf_alone_look(struct rf_alone *alone, const struct rf_alone_seen *seen);
/* The fence, or its last limit of the fleet, was removed. */
void rf_alone_end(struct rf_alone *alone, uint64_t now);

#endif /* RF_FLEET_ALONE_H */
