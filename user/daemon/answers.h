/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The scanner's answers to what viewers of the page ask: from histories, and of one source from the
 * fence. One question at a time, and over time a fifth of a CPU at most, so scans stay in time.
 */
#ifndef RINGFENCE_DAEMON_ANSWERS_H
#define RINGFENCE_DAEMON_ANSWERS_H

#include "daemon/child.h"
#include "daemon/fences.h"
#include "daemon/query.h"

#define RF_ANSWERS_PERCENT 20 /* of a CPU */

struct rf_answers {
	uint64_t credit_ns;   /* of CPU time that answers may take */
	uint64_t credited_ns; /* when, by rf_time_awake() */
};

/*
 * Answers the next question of the page process, if there is one, and time for it. Returns when to
 * come back, by rf_time_awake(); 0: as soon as its pipe has something. The pipe is closed once no
 * process writes to it any more.
 */
uint64_t rf_answers_turn(struct rf_answers *answers, struct rf_child *child,
			 const struct rf_watching *watching, const struct rf_settings *settings);

#endif /* RINGFENCE_DAEMON_ANSWERS_H */
