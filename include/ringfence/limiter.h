/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The limiter: may this source have `cost` more now? State, policy, time and cost in, verdict out.
 * Pure functions without map, helper, clock, randomness, libc, float or unbounded loop, so that the
 * code that runs in the driver is the code that the tests run.
 *
 * The state of a window is `head` and a ring of cells, each one word {epoch:32 | used:32}. The head
 * counts what is used in its own cell *and* in the completed cells behind it, so that the common
 * case touches one word. The first packet of a new cell closes the old one: it writes what the old
 * cell had into the ring, sums the ring, and moves the head by compare-and-swap. Epoch tags make
 * stale cells vanish, with no timer and no clearing, after any idle time.
 *
 * What holds on every interleaving of CPUs: no `policy->cells` consecutive epochs admit more than
 * L, where an admission counts in the later of the head's epoch and the caller's own. What that is
 * worth depends on the length of a cell, which user space chooses (W: the limit's window):
 *
 *                     cell          N    at most L in
 *   sliding, strict   W / (N - 1)   2-16 any interval of length W, both ends included
 *   sliding, coarse   W / N         2-16 any interval of length W - cell; up to 2 L in one of W
 *   fixed             W             1    each aligned window; up to 2 L in an interval of W
 *
 * An even sender below L·W/(N·cell) never loses a packet.
 *
 * Time is in the policy's clock (ticks or ns), and epochs are compared modulo 2^32: less than
 * RF_EPOCH_AHEAD cells ahead is present or newer, anything else is the past. A clock that stands
 * still or goes back is the present cell: never a reset.
 */
#ifndef RINGFENCE_LIMITER_H
#define RINGFENCE_LIMITER_H

#include "abi.h"
#include "atomic.h"

#define RF_EPOCH_AHEAD (1U << 16) /* a CPU may stall this many cells and not turn a head back */
#ifndef RF_RETRIES
#define RF_RETRIES 8 /* lost races before a caller gives up */
#endif

enum rf_verdict {
	RF_UNDER,
	RF_OVER,
	RF_LOST_RACES, /* nothing was charged: the caller drops, and counts it apart */
};

RF_INLINE __u64 rf_word(__u32 epoch, __u32 used)
{
	return (__u64)epoch << 32 | used;
}

RF_INLINE __u32 rf_word_epoch(__u64 word)
{
	return word >> 32;
}

RF_INLINE __u32 rf_word_used(__u64 word)
{
	return (__u32)word;
}

/* The number of the cell that `time` falls into. A policy without a cell length has one cell. */
RF_INLINE __u32 rf_epoch(const struct rf_policy *policy, __u64 time)
{
	return policy->cell ? (__u32)(time / policy->cell) : 0;
}

/* Is `epoch` the cell `now`, or a newer one that another CPU has seen already? */
RF_INLINE int rf_epoch_is_present(__u32 epoch, __u32 now)
{
	return epoch - now < RF_EPOCH_AHEAD;
}

/* A window that nothing was charged to. An all-zero one would read as epoch 0, not as empty. */
RF_INLINE void rf_window_open(struct rf_window *window, __u32 now)
{
	*window = (struct rf_window){.head = rf_word(now, 0)};
}

/* What the completed cells admitted in the `cells - 1` epochs before `epoch`, up to 2^32 - 1. */
RF_INLINE __u32 rf_window_sum(const struct rf_window *window, __u32 epoch, __u32 cells)
{
	__u64 sum = 0;

	for (int i = 0; i < RF_CELLS; i++) {
		__u64 word = rf_load(&window->cell[i]);
		__u32 age = epoch - rf_word_epoch(word);

		if (age - 1 < cells - 1) /* unsigned: an age of 0 is out as well */
			sum += rf_word_used(word);
	}
	return sum < 0xffffffffU ? sum : 0xffffffffU;
}

/* What the head's own cell admitted. Clipped: the loser of a race for the last permit adds too. */
RF_INLINE __u32 rf_head_own(const struct rf_window *window, const struct rf_policy *policy,
			    __u64 head)
{
	__u32 used = rf_word_used(head);
	__u32 clipped = used < policy->clip ? used : policy->clip;
	__u32 behind = rf_window_sum(window, rf_word_epoch(head), policy->cells);

	return clipped > behind ? clipped - behind : 0;
}

/*
 * Is there nothing to write: as much of the same epoch stands there, or the head has moved on from
 * it? Whoever moved the head wrote the slot first, from the head's last word, so there is nothing
 * to add, and the slot may hold a newer epoch by now. Tags alone do not tell: an unwritten slot, or
 * one from before the epochs wrapped, reads as newer, and one 2^16 cells newer as the past.
 */
RF_INLINE int rf_cell_holds(const struct rf_window *window, __u64 word, __u32 epoch, __u32 used)
{
	if (rf_word_epoch(word) == epoch)
		return rf_word_used(word) >= used;
	return rf_word_epoch(rf_load(&window->head)) != epoch;
}

/*
 * Writes {epoch, used} into its slot unless as much stands there. Two CPUs may close one cell with
 * different sums; the larger one is right, so it is a maximum and never a plain store. False when
 * it lost RF_RETRIES races.
 */
RF_INLINE int rf_cell_raise(struct rf_window *window, __u32 epoch, __u32 used)
{
	__u64 *cell = &window->cell[epoch % RF_CELLS];

	for (int i = 0; i < RF_RETRIES; i++) {
		__u64 old = rf_load(cell);

		if (rf_cell_holds(window, old, epoch, used))
			return 1;
		if (rf_cas(cell, old, rf_word(epoch, used)) == old)
			return 1;
	}
	return 0;
}

/*
 * The sliding window, strict edge. `cost` is in units of L, at least 1. Over the limit it only
 * reads, so that a flood from one source scales with the CPUs.
 */
RF_INLINE enum rf_verdict rf_take_sliding(struct rf_window *window, const struct rf_policy *policy,
					  __u32 now, __u32 cost)
{
	const __u64 limit = policy->limit;

	for (int i = 0; i < RF_RETRIES; i++) {
		__u64 head = rf_load(&window->head);
		__u32 own;
		__u64 base;
		int ok;

		if (rf_epoch_is_present(rf_word_epoch(head), now)) {
			if ((__u64)rf_word_used(head) + cost > limit)
				return RF_OVER;
			/* The returned value decides, so no two CPUs share the last permit. */
			head = rf_fetch_add(&window->head, cost);
			return (__u64)rf_word_used(head) + cost <= limit ? RF_UNDER : RF_OVER;
		}

		own = rf_head_own(window, policy, head);
		/*
		 * The sum in there holds only while the head stands: once it has moved on, a slot
		 * may be of the next lap, and `own` too large by what that slot lost.
		 */
		if (rf_word_epoch(rf_load(&window->head)) != rf_word_epoch(head))
			continue;
		if (!rf_cell_raise(window, rf_word_epoch(head), own))
			return RF_LOST_RACES;
		base = rf_window_sum(window, now, policy->cells);
		ok = base + cost <= limit;
		if (rf_cas(&window->head, head, rf_word(now, base + (ok ? cost : 0))) == head)
			return ok ? RF_UNDER : RF_OVER;
		/* Lost: not an add to the winner's head, which may be older than `now`. */
	}
	return RF_LOST_RACES;
}

/* May this source have `cost` more at `time`? The one question asked of a limiter. */
RF_INLINE enum rf_verdict rf_take(struct rf_window *window, const struct rf_policy *policy,
				  __u64 time, __u32 cost)
{
	return rf_take_sliding(window, policy, rf_epoch(policy, time), cost);
}

/* ---- for readers: nothing below writes ---- */

/* What epoch `epoch` admitted, as far as the window remembers it when the present cell is `now`. */
RF_INLINE __u32 rf_window_cell(const struct rf_window *window, const struct rf_policy *policy,
			       __u32 epoch)
{
	__u64 head = rf_load(&window->head);
	__u64 word = rf_load(&window->cell[epoch % RF_CELLS]);

	if (rf_word_epoch(head) == epoch)
		return rf_head_own(window, policy, head);
	return rf_word_epoch(word) == epoch ? rf_word_used(word) : 0;
}

/* What counts against L at the cell `now`. */
RF_INLINE __u32 rf_window_used(const struct rf_window *window, const struct rf_policy *policy,
			       __u32 now)
{
	__u64 head = rf_load(&window->head);
	__u64 sum = 0;

	if (rf_epoch_is_present(rf_word_epoch(head), now))
		return rf_word_used(head) < policy->clip ? rf_word_used(head) : policy->clip;
	for (__u32 age = 0; age < policy->cells && age < RF_CELLS; age++)
		sum += rf_window_cell(window, policy, now - age);
	return sum < 0xffffffffU ? sum : 0xffffffffU;
}

/*
 * Units of the policy's clock from `time` until `cost` would pass if nothing else came: 0 when it
 * passes now, ~0 when it never does (cost > L).
 */
RF_INLINE __u64 rf_window_passes_again(const struct rf_window *window,
				       const struct rf_policy *policy, __u64 time, __u32 cost)
{
	__u32 now = rf_epoch(policy, time);
	__u64 head = rf_load(&window->head);
	__u32 ahead = 0;

	if (cost > policy->limit || !policy->cell)
		return cost > policy->limit ? ~0ULL : 0;
	/* Another CPU's clock may be ahead of the reader's; the window goes by the head's. */
	if (rf_epoch_is_present(rf_word_epoch(head), now))
		ahead = rf_word_epoch(head) - now;
	for (__u32 i = 0; i <= RF_CELLS; i++) {
		__u32 epoch = now + ahead + i;

		if ((__u64)rf_window_used(window, policy, epoch) + cost <= policy->limit)
			return i ? (ahead + i) * policy->cell - time % policy->cell : 0;
	}
	return ~0ULL; /* not reached by any window that the limiter wrote */
}

#endif /* RINGFENCE_LIMITER_H */
