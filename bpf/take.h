/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Take and peek (ringfence/limiter.h) as the program calls them: long code is in functions that the
 * verifier checks once, and the common case is inlined.
 */
#ifndef RINGFENCE_TAKE_H
#define RINGFENCE_TAKE_H

#include "fleet.h"
#include "windows.h"

__noinline int take_weighted(struct rf_window *window, const struct rf_policy *policy, __u64 time,
			     __u32 cost)
{
	if (!window || !policy)
		return RF_UNDER; /* cannot happen; for the verifier */
	return rf_take_weighted(window, policy, time, cost);
}

__noinline int take_bucket(struct rf_window *window, const struct rf_policy *policy, __u64 time,
			   __u32 cost)
{
	if (!window || !policy)
		return RF_UNDER;
	return rf_take_bucket(window, policy, time, cost);
}

__noinline int take_log(struct rf_window *window, const struct rf_policy *policy, __u64 time)
{
	if (!window || !policy)
		return RF_UNDER;
	return rf_take_log(window, policy, time, 1);
}

/* Not inlined either: its stack would add to the callers'. */
__noinline int take_sliding(struct rf_window *window, const struct rf_policy *policy, __u64 time,
			    __u32 cost)
{
	if (!window || !policy)
		return RF_UNDER;
	return rf_take_sliding(window, policy, time, cost);
}

/* A cost above every L: a take with it charges nothing, but moves the head to the present. */
#define NEVER_FITS (~0U)

/*
 * As rf_take(), with functions that make one attempt. The loop is outside the functions, because
 * the verifier walks each round. Each function has its own loop: Linux 6.1 rejects a call at the
 * end of a loop that several functions share.
 */
static __always_inline int take_by_kind(struct rf_window *window, const struct rf_policy *policy,
					const struct rf_ask *ask)
{
	if (rf_is_log(policy))
		RF_TAKE_BY(take_log(window, policy, ask->time));
	if (rf_is_bucket(policy))
		RF_TAKE_BY(take_bucket(window, policy, ask->time, ask->cost));
	if (rf_is_weighted(policy))
		RF_TAKE_BY(take_weighted(window, policy, ask->time, ask->cost));
	RF_TAKE_BY(take_sliding(window, policy, ask->time, ask->cost));
}

__noinline int take_any(struct rf_window *window, const struct rf_policy *policy,
			const struct rf_ask *ask)
{
	if (!window || !policy || !ask)
		return RF_UNDER;
	return take_by_kind(window, policy, ask);
}

/*
 * Prefetches a ring before it is summed: loads one word of each cache line without waiting for the
 * result. The sum itself reaches the last line so late that the misses would not overlap.
 */
static __always_inline void read_ahead(const struct rf_window *window,
				       const struct rf_policy *policy, __u64 head, __u64 now)
{
	if ((__u32)now - rf_word_epoch(head) >= policy->cells)
		return; /* no cell of the ring counts */
	rf_load(&window->cell[RF_CELLS / 3]);
	rf_load(&window->cell[RF_CELLS / 3 * 2]);
	rf_load(&window->cell[RF_CELLS - 1]);
}

/* Takes without a call in the common case. `is_near`: the source might need more. */
static __always_inline int take(struct rf_window *window, const struct rf_policy *policy,
				const struct rf_ask *ask, int *is_near)
{
	const __u64 now = rf_epoch(policy, ask->time), head = rf_load(&window->head);

	*is_near = 1;
	if (rf_is_present_at_once(policy, head, now))
		return take_present(window, policy, head, now, ask, is_near);
	read_ahead(window, policy, head, now);
	return take_any(window, policy, ask);
}

__noinline int take_at_once(struct rf_window *window, const struct rf_policy *policy, __u64 head,
			    __u64 now, const struct rf_ask *ask)
{
	if (!window || !policy || !ask)
		return RF_UNDER;
	return rf_take_present(window, policy, head, now, ask->cost, ask->jiffies);
}

/* Takes with one call less if a cell must be closed, which saves stack. */
static __always_inline int take_shallow(struct rf_window *window, const struct rf_policy *policy,
					const struct rf_ask *ask)
{
	const __u64 now = rf_epoch(policy, ask->time), head = rf_load(&window->head);

	/* With shares there is not enough stack here. */
	if (!HAS_SHARES && rf_is_present_at_once(policy, head, now))
		return take_at_once(window, policy, head, now, ask);
	return take_by_kind(window, policy, ask);
}

__noinline int peek_log(const struct rf_window *window, const struct rf_policy *policy, __u64 time,
			__u32 cost)
{
	if (!window || !policy)
		return 1;
	return rf_log_read(window, policy, time).used + cost <= policy->limit;
}

__noinline int peek_weighted(const struct rf_window *window, const struct rf_policy *policy,
			     __u64 time, __u32 cost)
{
	if (!window || !policy)
		return 1;
	return rf_peek_weighted(window, policy, time, cost);
}

/* With shares there is not enough stack next to peek_log. */
#ifdef RF_WITH_SHARES
__noinline
#else
static __always_inline
#endif
	int
	peek_cells(const struct rf_window *window, const struct rf_policy *policy, __u64 time,
		   __u32 cost)
{
	if (!window || !policy)
		return 1;
	return rf_peek_sliding(window, policy, time, cost);
}

/*
 * Does the window have room for `cost`? Charges nothing. Not for logs and weighted windows, because
 * stack frames add up.
 */
__noinline int peek_any(const struct rf_window *window, const struct rf_policy *policy, __u64 time,
			__u32 cost)
{
	if (!window || !policy)
		return 1;
	if (rf_is_bucket(policy))
		return rf_peek_bucket(window, policy, time, cost);
	return peek_cells(window, policy, time, cost);
}

/* Peeks without a call in the common case. */
static __always_inline int peek(const struct rf_window *window, const struct rf_policy *policy,
				const struct rf_ask *ask)
{
	const __u32 cost = ask->cost + rf_lent(window, policy, ask->jiffies);

	if (rf_is_weighted(policy))
		return peek_weighted(window, policy, ask->time, cost);
	/* With shares there is not enough stack to inline this. */
	if (!HAS_SHARES && rf_has_room_at_once(window, policy, cost))
		return 1;
	return rf_is_log(policy) ? peek_log(window, policy, ask->time, cost)
				 : peek_any(window, policy, ask->time, cost);
}

/* The request of the packet to a limit, in the question. */
static __always_inline struct rf_ask *set_ask(struct question *question,
					      const struct rf_policy *policy)
{
	struct rf_ask *ask = &question->ask;

	ask->time = read_clock(policy, question->jiffies);
	ask->jiffies = question->jiffies;
	ask->tick_ns = config.tick_ns;
	ask->cost = rf_cost(policy, question->len_bytes);
	return ask;
}

/* As take_any, for a caller without stack for the request. */
__noinline int take_for(struct rf_window *window, const struct rf_policy *policy,
			struct question *question)
{
	if (!window || !policy || !question)
		return RF_UNDER;
	return take_by_kind(window, policy, set_ask(question, policy));
}

#endif /* RINGFENCE_TAKE_H */
