/* SPDX-License-Identifier: GPL-2.0 */
/* Readers of windows, for the command line and tests: nothing here writes to a window. */
#ifndef RINGFENCE_WINDOW_READ_H
#define RINGFENCE_WINDOW_READ_H

#include "limiter.h"

#define RF_WAIT_BITS 58 /* of the longest wait for room, in units of any clock */

/* The count of the cell `epoch`; 0 if the window no longer has it. */
RF_INLINE __u32 rf_window_cell(const struct rf_window *window, const struct rf_policy *policy,
			       __u32 epoch)
{
	__u64 head = rf_load(&window->head);
	__u64 word = rf_load(&window->cell[rf_ring_index(epoch)]);

	if (rf_word_epoch(head) == epoch)
		return rf_head_own(window, policy, head);
	return rf_cell_used(policy, word, epoch);
}

/* The use in the cell `now`, in units of L. */
RF_INLINE __u32 rf_window_used(const struct rf_window *window, const struct rf_policy *policy,
			       __u64 now)
{
	const __u64 head = rf_load(&window->head);

	if (rf_head_is_present(window, policy, head, now))
		return rf_least(rf_word_used(head), rf_clip_of(window, policy));
	return rf_least(rf_peek_sum(window, policy, head, now), 0xffffffffU);
}

/* The use at `time`, by the weighted estimate. */
RF_INLINE __u64 rf_window_estimate(const struct rf_window *window, const struct rf_policy *policy,
				   __u64 time)
{
	__u64 now = rf_epoch(policy, time), head = rf_load(&window->head);
	__u32 used = rf_window_used(window, policy, now), base;
	struct rf_window copy = *window;

	/* The head can be ahead of the reader's clock: then the head's time counts. */
	if (rf_head_is_present(window, policy, head, now))
		now = rf_word_epoch(head);
	else
		rf_head_close(&copy, policy, head, now,
			      &base); /* the head's cell can be on the edge */
	return used + rf_edge_part(&copy, policy, now, time);
}

/*
 * A window's word of loans, as of a reader's `time`. A reader's clock can be behind that of the CPU
 * that has lent units last: then it counts the units in the word. A CPU of the data path counts all
 * that can be lent, see loan.h.
 */
RF_INLINE __u64 rf_loans_read(const struct rf_window *window, const struct rf_policy *policy,
			      __u64 time)
{
	const __u64 word = rf_load(&window->loans);
	const __u32 ahead = -rf_loans_age(word, policy, time) % RF_LOAN_PERIODS;
	const __u32 units = rf_loans_before(word) + rf_loans_now(word);

	if (!ahead || ahead > RF_LOAN_AHEAD)
		return word;
	return rf_loans(time >> (policy->loan_period & 31), 0, rf_least(units, RF_LOAN_MAX));
}

/* The units that are lent at a reader's `time`. */
RF_INLINE __u32 rf_lent_read(const struct rf_window *window, const struct rf_policy *policy,
			     __u64 time)
{
	return rf_lent_by(rf_loans_read(window, policy, time), policy, time);
}

/*
 * The use of a window of cells that has also lent units to CPUs: these count as used, see loan.h.
 * After a lost race, or a lower COUNT, both together can exceed L. A window that only its loans
 * fill is at its limit, never over it.
 */
RF_INLINE __u64 rf_used_with_lent(const struct rf_policy *policy, __u64 used, __u32 lent)
{
	return rf_most(used, rf_least(used + lent, policy->limit));
}

/* The use at `time`, in units of L, with lent units; for a bucket, the used part of its burst. */
RF_INLINE __u64 rf_used(const struct rf_window *window, const struct rf_policy *policy, __u64 time)
{
	__u64 level;

	if (rf_is_log(policy))
		return rf_log_read(window, policy, time).used;
	if (rf_is_weighted(policy))
		return rf_window_estimate(window, policy, time);
	if (!rf_is_bucket(policy))
		return rf_used_with_lent(policy,
					 rf_window_used(window, policy, rf_epoch(policy, time)),
					 rf_lent_read(window, policy, time));
	level = rf_bucket_level(policy, rf_load(&window->head), rf_bucket_time(time));
	return rf_bucket_units(policy, policy->depth - level);
}

/*
 * Would `cost` pass at `time`? The limiter's own verdict, from a copy of the window. A CPU with a
 * loan can pass more.
 */
RF_INLINE int rf_would_pass(const struct rf_window *window, const struct rf_policy *policy,
			    __u64 time, __u32 cost)
{
	struct rf_window copy = *window;

	copy.loans = rf_loans_read(window, policy, time);
	return rf_take(&copy, policy, time, cost) == RF_UNDER;
}

/* Would it if nothing were lent? */
RF_INLINE int rf_would_pass_unlent(const struct rf_window *window, const struct rf_policy *policy,
				   __u64 time, __u32 cost)
{
	struct rf_window copy = *window;

	copy.loans = 0;
	return rf_would_pass(&copy, policy, time, cost);
}

/*
 * How long `cost` must wait at `time` if no other packet arrives, in units of the policy's clock: 0
 * if it passes now, ~0 if it never does (cost > L). Room only grows, so bisection finds the time.
 */
RF_INLINE __u64 rf_window_passes_again(const struct rf_window *window,
				       const struct rf_policy *policy, __u64 time, __u32 cost)
{
	struct rf_window copy = *window;
	__u64 low = 0, high = 1;

	if (cost > rf_limit_of(window, policy))
		return ~0ULL;
	if (rf_is_bucket(policy) && rf_bucket_is_alien(policy, copy.head, rf_bucket_time(time)))
		copy.head = rf_bucket_time(time);
	if (rf_would_pass(&copy, policy, time, cost))
		return 0;
	for (; !rf_would_pass(&copy, policy, time + high, cost); high *= 2) {
		if (high >> RF_WAIT_BITS)
			return ~0ULL; /* not reached by any window that the limiter wrote */
		low = high;
	}
	while (high - low > 1) {
		__u64 middle = low + (high - low) / 2;

		if (rf_would_pass(&copy, policy, time + middle, cost))
			high = middle;
		else
			low = middle;
	}
	return high;
}

#endif /* RINGFENCE_WINDOW_READ_H */
