/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the parts of several.c: the windows that the CPUs share, and the call of each CPU.
 *
 *   several.c         the search and the invariants
 *   several_actors.c  the steps of a CPU, operation by operation
 */
#ifndef RINGFENCE_EXPLORER_SEVERAL_H
#define RINGFENCE_EXPLORER_SEVERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ringfence/abi.h"

#define RING 2 /* cells of a window */
#undef RF_CELLS
#define RF_CELLS RING

void yield(__u64 *word);

/* No row lends: the word of loans never changes, so reading it is no operation. */
bool is_of_loans(const __u64 *word);
#define RF_ATOMIC_YIELD() (is_of_loans(word) ? (void)0 : yield((__u64 *)(word)))
#include "ringfence/atomic.h"
#include "ringfence/limiter.h"
#include "ringfence/window_read.h"

/* Small numbers are to take credits. */
#define RF_CREDITS_PER_SPENT 1
#define RF_CREDITS_PER_SPENT_OF_SEVERAL 1
#define RF_CREDITS_PER_ROOM 1
#include "ringfence/lease.h"
#include "tests/peek.h"

#define CPUS_MAX 2
#define LIMITS 2
#define TIMES_MAX 5
#define ORIGIN 600 /* a whole number of all cells */

enum stage {
	PEEKS,
	CHARGES,
	RENEWS, /* takes credits */
};

struct memory {
	struct rf_window window[LIMITS];
};

/* Of one packet. */
struct local {
	int time;
	enum stage stage;
	bool charged[LIMITS];
	int refused; /* by that limit; LIMITS: by none */
	struct rf_lease lease;
};

#include "replay.h"

struct row {
	const char *title;
	int cell[LIMITS], cells[LIMITS];
	int limit_from, limit_to; /* of the first */
	int other_limit;	  /* of the second */
	int packets[CPUS_MAX];
	bool leases;
	int times[TIMES_MAX]; /* up to -1 */
};

extern const struct row *row;
extern struct rf_policy policy[LIMITS];

#endif /* RINGFENCE_EXPLORER_SEVERAL_H */
