/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Windows of cells: is there room? Charges nothing. `cost` is of the packet and of all that is
 * lent.
 */
#ifndef RINGFENCE_RING_PEEK_H
#define RINGFENCE_RING_PEEK_H

#include "ring.h"

/* The count that the ring will hold for the head's cell, over `behind`, once it is closed. */
RF_INLINE __u64 rf_peek_own(const struct rf_window *window, const struct rf_policy *policy,
			    __u64 head, __u64 behind)
{
	const __u32 epoch = rf_word_epoch(head);
	const __u32 half = rf_half_of(policy, rf_own_of(window, policy, head, rf_in_head(behind)));
	const __u64 own = rf_half_used(policy, half);
	const __u64 used =
		rf_cell_used(policy, rf_load(&window->cell[rf_ring_index(epoch)]), epoch);

	return used > own ? used : own;
}

/* The use at `now`, if the head is in an older cell: the completed cells and that one. */
RF_INLINE __u64 rf_peek_sum(const struct rf_window *window, const struct rf_policy *policy,
			    __u64 head, __u64 now)
{
	const __u32 own_epoch = rf_word_epoch(head);
	const struct rf_sums sums = rf_window_sums(window, policy, own_epoch, now);
	__u64 sum = rf_in_head(sums.before);

	if ((__u32)now - own_epoch < policy->cells)
		sum += rf_peek_own(window, policy, head, sums.behind);
	return sum;
}

/*
 * Fast path: is the head sufficient to show room? Cells only leave the window, so the head counted
 * at least as much when it was written as it does now, except for the rounding of its own cell.
 */
RF_INLINE int rf_has_room_at_once(const struct rf_window *window, const struct rf_policy *policy,
				  __u32 cost)
{
	const __u64 rounding = (1U << (policy->used_shift & 31)) - 1;
	const __u64 used = rf_word_used(rf_load(&window->head)) + rounding;

	return rf_is_ring(policy) && rf_fits(window, policy, used + cost);
}

/* Has the head changed since it was read? Then the peek says room, and the take decides. */
RF_INLINE int rf_peek_is_old(const struct rf_window *window, __u64 head)
{
	return rf_load(&window->head) != head;
}

RF_INLINE int rf_peek_sliding(const struct rf_window *window, const struct rf_policy *policy,
			      __u64 time, __u32 cost)
{
	const __u64 now = rf_epoch(policy, time), head = rf_load(&window->head);
	const __u64 used = rf_head_is_present(window, policy, head, now)
				   ? rf_word_used(head)
				   : rf_peek_sum(window, policy, head, now);

	return rf_fits(window, policy, used + cost) || rf_peek_is_old(window, head);
}

RF_INLINE int rf_peek_weighted(const struct rf_window *window, const struct rf_policy *policy,
			       __u64 time, __u32 cost)
{
	const __u64 now = rf_epoch(policy, time), head = rf_load(&window->head);
	const __u32 epoch = rf_word_epoch(head);
	__u64 used = rf_word_used(head), edge;
	int is_now = 1;

	if (rf_head_is_present(window, policy, head, now)) {
		edge = rf_edge_used(window, policy, epoch);
		is_now = epoch == (__u32)now;
	} else {
		const struct rf_sums sums = rf_window_sums(window, policy, epoch, now);
		const __u64 own = rf_peek_own(window, policy, head, sums.behind);
		const __u32 age = (__u32)now - epoch;

		/* The head's own cell can be on the edge. */
		edge = age == policy->cells ? own : rf_edge_used(window, policy, now);
		used = rf_in_head(sums.before) + (age < policy->cells ? own : 0);
	}
	used += rf_part_inside(policy, edge, is_now, time) + cost;
	return used <= policy->limit || rf_peek_is_old(window, head);
}

#endif /* RINGFENCE_RING_PEEK_H */
