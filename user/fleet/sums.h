/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all hosts together received of a source, for bans by a limit of the fleet. Pure, as
 * ledger.h, which has the members.
 *
 * A host reads how much a window has received so far, again and again. What came between two
 * readings is reported once, with the time of the earlier one: no packet among it came before. A
 * report that is lost is not repeated. So the ledger counts each packet once at most, and none as
 * later than it came. It adds up in cells of W/16, by its own time: the sum of the cells that began
 * within W is never more than what came within W.
 *
 * Hosts report times by the ledger's clock. They know it from the answers to their reports, and
 * only within one membership: the next one can have a different clock.
 */
#ifndef RF_FLEET_SUMS_H
#define RF_FLEET_SUMS_H

#include "fleet/ledger.h"

#define RF_SUM_CELLS 16 /* that W is divided into */

struct rf_sum_report {
	uint64_t from_ms; /* of the ledger's clock: what it reports came later; 0: not known */
	uint32_t units;
	uint32_t window_ms; /* W */
};

struct rf_sum_answer {
	enum rf_ledger_status status;
	uint32_t sum;	 /* of all hosts within W, at most */
	uint64_t now_ms; /* of the ledger's clock */
};

/* One source under one definition of a limit. All zeros is one of which nothing is known. */
struct rf_sum {
	uint64_t run, learns_from; /* of the ledger: cells of another time mean nothing */
	uint64_t cell;		   /* the newest */
	uint32_t window_ms;
	uint32_t units[RF_SUM_CELLS + 1]; /* from that cell back */
};

struct rf_sum_answer rf_sum_add(struct rf_sum *sum, struct rf_ledger *ledger,
				const struct rf_ledger_call *call,
				const struct rf_sum_report *report);

/* The ledger's clock, as a host knows it. */
struct rf_sum_clock {
	uint64_t joined; /* the membership; 0: it is not known */
	uint64_t ledger_ms;
	uint64_t heard_ns; /* the host's clock, when that time had come already */
};

/* The ledger's time at a time of the host, or an earlier one. 0: it is not known. */
uint64_t rf_sum_clock_ms(const struct rf_sum_clock *clock, uint64_t joined, uint64_t ns);

#endif /* RF_FLEET_SUMS_H */
