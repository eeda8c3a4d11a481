/* SPDX-License-Identifier: GPL-2.0 */
/* A model of user/fleet/library/sums.lua: what all hosts together received of a source. */
#ifndef RF_MODEL_SUMS_H
#define RF_MODEL_SUMS_H

#include "tests/fleet/model/ledger.h"

/* One source under one definition of a limit. All zeros: nothing is known. */
struct rf_sum {
	uint64_t run, learns_from; /* of the ledger: cells of another time mean nothing */
	uint64_t cell;		   /* the latest */
	uint32_t window_ms;
	uint32_t units[RF_SUM_CELLS + 1]; /* from that cell back */
};

struct rf_sum_answer rf_sum_add(struct rf_sum *sum, struct rf_ledger *ledger,
				const struct rf_ledger_call *call,
				const struct rf_sum_report *report);

#endif /* RF_MODEL_SUMS_H */
