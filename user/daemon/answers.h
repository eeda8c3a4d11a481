/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The scanner's replies to requests of the page's viewers: from histories, and for one source from
 * the fence. One request at a time, and over time a fifth of a CPU at most, so scans remain on
 * time.
 */
#ifndef RINGFENCE_DAEMON_ANSWERS_H
#define RINGFENCE_DAEMON_ANSWERS_H

#include "daemon/child.h"
#include "daemon/fences.h"
#include "daemon/query.h"

#define RF_ANSWERS_PERCENT 20 /* of a CPU */

struct rf_answers {
	uint64_t credit_ns;   /* of CPU time that replies can use */
	uint64_t credited_ns; /* when, by rf_time_awake() */
};

/*
 * Replies to the next request of the page process, if there is one, and time for it. Returns when
 * to call again, by rf_time_awake(); 0: as soon as its pipe is readable. The pipe is closed once it
 * has no writer any more.
 */
uint64_t rf_answers_turn(struct rf_answers *answers, struct rf_child *child,
			 const struct rf_watching *watching, const struct rf_settings *settings);

#endif /* RINGFENCE_DAEMON_ANSWERS_H */
