/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One run of the limiter's fuzzer: fuzz_limiter.c drives it, and limiter_watch.c watches it, packet
 * by packet and operation by operation.
 */
#ifndef RINGFENCE_FUZZ_LIMITER_RUN_H
#define RINGFENCE_FUZZ_LIMITER_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void between_operations(void);
#define RF_ATOMIC_YIELD() between_operations()

#include "ringfence/limiter.h"
#include "ringfence/window_read.h"

#include "rules/grammar.h"
#include "rules/policy.h"
#include "tests/fuzz/limiter_input.h"
#include "tests/fuzz/require.h"
#include "tests/peek.h"

/* Far more than any call needs (a reader needs about 120), and few enough to be no loop. */
#define OPERATIONS_MAX 65536

/* The words of a window. */
enum {
	HEAD = offsetof(struct rf_window, head) / sizeof(uint64_t),
	NEWEST = offsetof(struct rf_window, newest) / sizeof(uint64_t),
	FIRST_CELL = offsetof(struct rf_window, cell) / sizeof(uint64_t),
	WINDOW_WORDS = sizeof(struct rf_window) / sizeof(uint64_t),
};

#define OTHER_TURNS_MAX 10 /* of a second CPU in one step: enough to lose all races against it */
#define FLOOD_PACKETS 4096 /* the largest of them fill a word */
#define FLOODS_MAX 4
/* Of `lapped` runs, in which no CPU can stall for RF_CELLS_AHEAD cells in a packet: cells. */
#define OTHER_LAPPED_MAX 5
#define BACK_LAPPED_MAX 8
#define TIME_MAX (1ULL << 57)
#define TICK_MIN_NS 1000000U
#define TICK_MAX_NS 10000000U
#define EPOCHS (1ULL << 32) /* an epoch wraps here */
/* RF_USED_MAX, and what CPUs add that looked before any of them did. */
#define USED_MAX (RF_USED_MAX + (1 + OTHER_TURNS_MAX) * RF_COST_MAX)

typedef __int128 wide; /* holds any product of two words here */

/* Of RF_LOG: the time it is noted with; of a bucket: the caller's, as the bucket's; else epoch. */
struct admission {
	uint64_t when;
	uint32_t cost;
};

/* The CPU whose operations are watched, since the start of its packet. */
struct self {
	uint64_t time;
	uint64_t written; /* the latest word that it changed */
	bool wrote;
	bool charged;	/* it changed what only a charge, or a move to another cell, may */
	uint64_t epoch; /* of the head when it was charged: another CPU can move it before the
			   return */
};

struct run {
	struct rf_policy policy;
	struct rf_window window;
	struct rf_limit limit;		 /* sound: the source of the policy */
	const struct limiter_step *step; /* active; NULL: no second CPU or writer */
	bool sound;
	bool watching; /* operations are on `window`, and not on a reader's copy */
	unsigned int operations;
	unsigned int turns;
	struct rf_window seen; /* before the latest operation */
	struct self self;

	/* Sound: times are in the policy's clock. */
	uint64_t began;	 /* the latest time when the step started */
	uint64_t cell;	 /* of the policy, or the unit that replaces it */
	uint64_t newest; /* that any CPU has had */
	uint64_t oldest;
	bool lapped;	     /* the head stood still for nearly a lap of all epochs, or longer */
	uint64_t head_epoch; /* of the head, not modulo 2^32 */
	bool alone;	     /* there was no other CPU yet */
	int floods;
	struct admission admission[LIMITER_STEPS_MAX * (1 + OTHER_TURNS_MAX)];
	int admissions;
};

extern struct run run;

static inline bool has_cells(void)
{
	return !rf_is_log(&run.policy) && !rf_is_bucket(&run.policy);
}

/* The admissions from `span` before `last` up to it, both included. */
uint64_t admitted_within(uint64_t span, uint64_t last);

/* An admission counts in the later of the head's epoch and the caller's own. */
uint64_t present_epoch(uint64_t time);

/* A CPU has read its clock. */
void see(uint64_t time);

/* Within half a lap of all epochs no tag reads as another: beyond, too strict, never too lax. */
bool before_a_lap(void);

void take_at(uint64_t time, uint32_t cost);

/* Checks the effect of this CPU's latest operation, before another actor runs. */
void watch_operation(void);

uint64_t apart(uint64_t cells, uint64_t max);

/* Without cells it can be earlier in the present one. */
uint64_t forward(uint64_t cells, uint64_t within);

uint64_t back(uint64_t cells, uint64_t within);

/* A second actor intervenes between the following operations, according to the step. */
void start_disturbed(const struct limiter_step *step);

/* No second actor, or the following works on a copy. */
void start_quiet(void);

void check_bound(void);

#endif /* RINGFENCE_FUZZ_LIMITER_RUN_H */
