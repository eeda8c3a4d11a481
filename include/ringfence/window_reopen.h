/* SPDX-License-Identifier: GPL-2.0 */
/* When a window that refused a packet has room again, in the clock of its policy. */
#ifndef RINGFENCE_WINDOW_REOPEN_H
#define RINGFENCE_WINDOW_REOPEN_H

#include "limiter.h"

/* A CPU's request to a window, for one packet. */
struct rf_ask {
	__u64 time;    /* in the policy's clock */
	__u64 jiffies; /* read before `time` */
	__u32 tick_ns;
	__u32 cost;
};

/* The age in cells of the oldest cell that counts while the head is in `epoch`; 0: only the head's.
 */
RF_INLINE __u32 rf_oldest_cell(const struct rf_window *window, const struct rf_policy *policy,
			       __u32 epoch)
{
	__u32 oldest = 0;

	for (int i = 0; i < RF_CELLS; i++) {
		__u64 word = rf_load(&window->cell[i]);
		__u32 age = epoch - rf_word_epoch(word);

		if (age < policy->cells && age > oldest && rf_half(word, 0))
			oldest = age;
		age--;
		if (age < policy->cells && age > oldest && rf_half(word, 1))
			oldest = age;
	}
	return oldest;
}

/*
 * When the oldest non-empty cell leaves the window, or a loan expires. 0: the window has advanced
 * concurrently, or has room by now.
 */
RF_INLINE __u64 rf_cells_reopen(const struct rf_window *window, const struct rf_policy *policy,
				const struct rf_ask *ask)
{
	const __u64 head = rf_load(&window->head), now = rf_epoch(policy, ask->time);
	const __u32 epoch = rf_word_epoch(head);
	const __u32 lent = rf_lent(window, policy, ask->time);
	__u64 reopens;
	__u32 oldest;

	if (rf_fits(window, policy, (__u64)rf_word_used(head) + ask->cost + lent))
		return 0;
	oldest = rf_oldest_cell(window, policy, epoch);
	if (epoch - (__u32)now > RF_CELLS_AHEAD || rf_word_epoch(rf_load(&window->head)) != epoch)
		return 0;
	reopens = rf_epoch_start(policy, now + (epoch - (__u32)now) + policy->cells - oldest);
	return lent ? rf_least(reopens, rf_loans_expire(policy, ask->time)) : reopens;
}

/*
 * When enough of the cell on the edge has left for `cost` to pass, at the latest when all of it
 * has.
 */
RF_INLINE __u64 rf_weighted_reopens(const struct rf_window *window, const struct rf_policy *policy,
				    const struct rf_ask *ask)
{
	const __u64 head = rf_load(&window->head), now = rf_epoch(policy, ask->time);
	const __u32 epoch = rf_word_epoch(head);
	const __u64 edge = rf_edge_used(window, policy, epoch);
	const __u64 used = (__u64)rf_word_used(head) + ask->cost, end = (now + 1) * policy->cell;
	const __u32 scale = policy->scale & 63;

	if (epoch != (__u32)now)
		return 0;
	if (used > policy->limit)
		return end;
	if (!edge)
		return 0;
	return end - ((policy->limit - used) * (policy->cell >> scale) / edge << scale);
}

/* When the oldest admission in the window leaves it. */
RF_INLINE __u64 rf_log_reopens(const struct rf_window *window, const struct rf_policy *policy,
			       __u64 time)
{
	__u64 oldest = time;

	for (int i = 0; i < RF_CELLS; i++) {
		__u64 when = rf_load(&window->cell[i]);
		__u64 counts = rf_less(0, when) & ~rf_less(policy->cell, time - when);

		oldest = rf_least(oldest, when | -(counts ^ 1));
	}
	return oldest + policy->cell + 1;
}

RF_INLINE __u64 rf_bucket_reopens(const struct rf_window *window, const struct rf_policy *policy,
				  const struct rf_ask *ask)
{
	const __u64 flow = rf_bucket_flow(policy, ask->cost);
	const __u64 level =
		rf_bucket_level(policy, rf_load(&window->head), rf_bucket_time(ask->time));

	return ask->time + (flow > level ? (flow - level) >> RF_BUCKET_SHIFT : 0);
}

RF_INLINE __u64 rf_reopens(const struct rf_window *window, const struct rf_policy *policy,
			   const struct rf_ask *ask)
{
	if (rf_is_log(policy))
		return rf_log_reopens(window, policy, ask->time);
	if (rf_is_bucket(policy))
		return rf_bucket_reopens(window, policy, ask);
	if (rf_is_weighted(policy))
		return rf_weighted_reopens(window, policy, ask);
	return rf_cells_reopen(window, policy, ask);
}

#endif /* RINGFENCE_WINDOW_REOPEN_H */
