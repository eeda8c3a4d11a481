/* SPDX-License-Identifier: GPL-2.0 */
/* Made-up scans of a fence: what its counters and sources might be, second by second. */
#ifndef RINGFENCE_TESTS_MADE_H
#define RINGFENCE_TESTS_MADE_H

#include "watch/history.h"

#define MADE_START_NS (1763800000 * RF_NS_PER_S) /* 2025-11-22T08:26:40Z */

struct made {
	struct rf_snapshot snapshot;
	int limits;
	size_t sources; /* with a window under the first limit */
	uint64_t random;
	uint64_t passed, dropped; /* since the first scan, of the fence */
};

/* A fence with limits `all`, `limit1` …, and no packet yet. The first scan has no interval. */
void made_begin(struct made *made, int limits, size_t sources);
/*
 * The next scan, `interval_ns` later: each source sends about `packets`, and every tenth one is
 * over the limit.
 */
void made_step(struct made *made, uint64_t interval_ns, uint64_t packets);
/* The fence was attached again: its counters start at 0. */
void made_anew(struct made *made);
/* Cells of the interval, of the first `count` sources; `row` has room for them. */
void made_cells(struct made *made, struct rf_cells_row *row, size_t count);
void made_end(struct made *made);

/* One transaction with the scan, and cells unless `cells` is 0. The first error. */
int made_record(struct made *made, struct rf_history *history, size_t cells,
		struct rf_error *error);

#endif /* RINGFENCE_TESTS_MADE_H */
