/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The common part of the tests of the limiter: policies, packets that are offered to a window, and
 * times to start from. Time is always injected. A test that plays other CPUs defines
 * RF_ATOMIC_YIELD() before it includes this file.
 */
#ifndef RINGFENCE_UNIT_LIMITER_H
#define RINGFENCE_UNIT_LIMITER_H

#include "unit.h"

#include "ringfence/limiter.h"
#include "ringfence/window_read.h"
#include "rules/policy.h"
#include "tests/peek.h"

#define CELL 100	    /* length of a cell in rows that need no particular one */
#define EPOCHS (1ULL << 32) /* an epoch wraps here */

/* Cells since the clock's zero; many origins make the epochs wrap in the middle of a script. */
static const uint64_t origins[] = {
	0,
	1,
	15,
	16,
	12345,
	EPOCHS / 2 - 3,
	EPOCHS - 1,
	EPOCHS - 9,
	EPOCHS - 16,
	EPOCHS - 17,
	EPOCHS - 60000,
	EPOCHS - 70000,
	EPOCHS,
	7 * EPOCHS + 5,
};

static inline uint8_t used_shift_of(uint32_t limit)
{
	uint8_t shift = 0;

	while (limit >> shift >= RF_HALF_MAX)
		shift++;
	return shift;
}

static inline struct rf_policy policy_of(uint32_t limit, uint64_t cell)
{
	return (struct rf_policy){
		.id = 1,
		.limit = limit,
		.clip = limit,
		.cell = cell,
		.used_shift = used_shift_of(limit),
		.cells = RF_CELLS,
		.clock = RF_KTIME,
	};
}

static inline struct rf_policy policy_compiled(const struct rf_limit *limit, uint32_t tick_ns)
{
	struct rf_policy policy;

	rf_policy_compile(limit, 1, tick_ns, &policy);
	return policy;
}

/* Nanoseconds in a unit of the policy's clock. */
static inline uint64_t policy_unit_ns(const struct rf_policy *policy, uint32_t tick_ns)
{
	return policy->clock == RF_JIFFIES ? tick_ns : 1;
}

/* How long `cells` of them are, in whole units of the clock, rounded up. */
static inline uint64_t policy_cells_units(const struct rf_policy *policy, uint64_t cells)
{
	return ((cells * policy->cell - 1) >> policy->time_shift) + 1;
}

/* The same in nanoseconds. */
static inline uint64_t policy_cells_ns(const struct rf_policy *policy, uint64_t cells,
				       uint32_t tick_ns)
{
	return policy_cells_units(policy, cells) * policy_unit_ns(policy, tick_ns);
}

/*
 * Does a refusal leave the window unchanged? In windows of cells, a refusal may move the head to a
 * new cell.
 */
static inline bool refusal_only_reads(const struct rf_window *window,
				      const struct rf_policy *policy, uint64_t time)
{
	if (policy->flags & RF_COUNT_REJECTED)
		return false;
	return rf_is_log(policy) || rf_is_bucket(policy) ||
	       rf_head_is_present(window, policy, window->head, rf_epoch(policy, time));
}

/* Offers packets and counts the passed ones. A single CPU never loses a race. */
static inline uint32_t offer(struct rf_window *window, const struct rf_policy *policy,
			     uint64_t time, uint32_t packets, uint32_t cost)
{
	uint32_t admitted = 0;

	for (uint32_t i = 0; i < packets; i++) {
		const struct rf_window before = *window;
		enum rf_verdict verdict = rf_take(window, policy, time, cost);

		assert_int_not_equal(verdict, RF_LOST_RACES);
		admitted += verdict == RF_UNDER;
		if (verdict == RF_OVER && refusal_only_reads(&before, policy, time))
			assert_memory_equal(window, &before, sizeof(before));
	}
	return admitted;
}

#endif /* RINGFENCE_UNIT_LIMITER_H */
