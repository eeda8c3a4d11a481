/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The limiter: may this source have `cost` more now? State, policy, time and cost in, verdict out.
 * Pure functions without map, helper, clock, randomness, libc, float or unbounded loop: the tests
 * run the same code as the driver.
 *
 * The state of a window is `head` and a ring of cells. For the windows of cells (sliding, fixed)
 * the head is {epoch:32 | used:32}, and a word of the ring has two cells, see ring.h. The head
 * counts its own cell *and* the completed cells behind it, so the common case touches one word. The
 * first packet of a new cell closes the old one: it writes the old cell's count into the ring, sums
 * the ring, and moves the head by compare-and-swap. (After a whole window it only moves the head,
 * as long as no epoch is beyond 32 bits.) A stale cell vanishes by its epoch tag after any idle
 * time, without a timer. `log` stores a time in each slot of the ring, `token` and `leaky` one in
 * the head.
 *
 * These bounds hold on every interleaving of CPUs, for a window W and a limit of L; user space
 * chooses the length of a cell. An admission counts at the window's time or the caller's, whichever
 * is later, so a CPU that stalls with an old reading of the clock opens nothing.
 *
 *                     cell           N    at most                          an even sender loses
 *                                                                          nothing up to
 *   sliding, strict   (W+tick)/(N-1) 2-31 L in any interval of length W,   L/(N*cell), about
 *                                         both ends included               (N-1)/N of L/W
 *   sliding, weighted W/(N-1)        2-31 L in one of W - cell; the        (L-3)/W
 *                                         estimate never over L; fewer
 *                                         than 2 L in one of W
 *   sliding, coarse   W/N            2-31 L in one of W - cell;            L/W
 *                                         up to 2 L in one of W
 *   fixed             W              1    L in each aligned window;        L/W
 *                                         up to 2 L in an interval of W
 *   log               -              -    L in any interval of length W,   L/W
 *                                         both ends included; refuses
 *                                         nothing that would keep to it
 *   token, leaky      -              -    burst + L*T/W in any interval T  L/W
 *
 * Cells are rounded up to 1/256 tick, or to whole units of the clock if weighted or fixed. N cells
 * may then have a tick more than their length, which an even sender must allow for; and where L is
 * 65535 or more, a closed cell is rounded up to a unit of L/2^14 at most. `token` and `leaky` round
 * the time that a packet takes up to 1/16 ns. Bytes are counted in units of a power of two (1 below
 * 2 GiB a window), a frame's rounded up. Strict, coarse and fixed: a packet of more than one unit
 * that loses the race for the last room leaves its cost in the window, so each opening can admit
 * that much less, per CPU. While units are lent, a packet of one unit does, too: L clips the head,
 * not the sum of both.
 *
 * Strict, coarse and fixed windows also lend units to CPUs (loan.h). These count as used, so the
 * bounds above hold with them. Lent units that no packet spends are lost to the source until they
 * expire: up to L/16, in the first frame of a period L/8.
 *
 * An admission and a grant that race for the same room each raise their word, then read the other
 * word. If the sum exceeds L, the packet is refused, or the CPU does not use the loan, but the
 * raise remains: the cost in the head until its cell no longer counts, the units in the word of
 * loans until they expire. Neither is subtracted again, because another CPU might have closed the
 * cell, or started the next period, by the raised word. This is safe, since the window then counts
 * more than it has passed, never less; the source loses that much until then. The same applies to
 * the units that one of several limits has lent before the next one refuses. If two grants race,
 * one fails and writes nothing.
 *
 * Time is in the policy's clock (ticks or ns). If a clock stops or goes back, or a CPU stalls with
 * an old reading, packets count in the present cell: never a reset. A stall can last 2^43 ns or
 * 2^23 ticks, which is hours; longer, if 64 cells or filling a bucket take longer; but no more than
 * 2^23 cells. Words hold epochs modulo 2^32, and `newest` distinguishes laps. After an idle time of
 * 2^32 cells, plus or minus RF_CELLS_AHEAD, an old word can count once more, and for that long at
 * the most. Only then does the bound require that no CPU stalls for RF_CELLS_AHEAD cells within a
 * packet.
 *
 * A late write: a map can reuse a window's memory for a key of a different limit while a CPU still
 * holds a pointer to it, and a different algorithm then reads the words that this CPU writes. For
 * any such word, the affected source
 *
 *                     is forgiven, once         is shut out for at most
 *   cells             L, the window's count     a stall, and N + RF_CELLS_AHEAD cells
 *   log               one time for each word    a stall, and W
 *   token, leaky      burst                     a stall, and until the bucket is full
 *
 * because a time or an epoch that is ahead of the caller by more than a stall was not written for
 * this window: such a head counts as past, such a time as no admission, such a bucket as empty, and
 * the CPU that finds the word overwrites it. Nearly all late writes of another algorithm are so far
 * ahead, or in the past; words in the past shut no source out for longer than a full window.
 */
#ifndef RINGFENCE_LIMITER_H
#define RINGFENCE_LIMITER_H

#include "bucket.h"
#include "log.h"
#include "ring.h"
#include "ring_peek.h"

/* A new window, with nothing charged. */
RF_INLINE void rf_window_start(struct rf_window *window, const struct rf_policy *policy, __u64 time)
{
	if (rf_is_log(policy) || rf_is_bucket(policy))
		*window = (struct rf_window){};
	else
		rf_window_open(window, rf_epoch(policy, time));
}

/*
 * Copies a window while other CPUs charge it. The head first: it counts the cells behind it, so a
 * cell that is closed concurrently is not missed.
 */
RF_INLINE void rf_window_copy(struct rf_window *copy, const struct rf_window *window)
{
	copy->head = rf_load(&window->head);
	copy->newest = rf_load(&window->newest);
	for (int i = 0; i < RF_CELLS; i++)
		copy->cell[i] = rf_load(&window->cell[i]);
}

/* The cost of a frame of that length, in units of L: 1 to RF_COST_MAX. */
RF_INLINE __u32 rf_units(__u8 unit, __u8 unit_shift, __u64 len_bytes)
{
	const __u32 shift = unit_shift & 31;
	__u64 units = (len_bytes + (1U << shift) - 1) >> shift;

	if (unit != RF_BYTES || !units)
		return 1;
	return units < RF_COST_MAX ? units : RF_COST_MAX;
}

/* The same, by the policy. */
RF_INLINE __u32 rf_cost(const struct rf_policy *policy, __u64 len_bytes)
{
	return rf_units(policy->unit, policy->unit_shift, len_bytes);
}

RF_INLINE enum rf_verdict rf_take_once(struct rf_window *window, const struct rf_policy *policy,
				       __u64 time, __u32 cost)
{
	if (rf_is_log(policy))
		return rf_take_log(window, policy, time, cost);
	if (rf_is_bucket(policy))
		return rf_take_bucket(window, policy, time, cost);
	if (rf_is_weighted(policy))
		return rf_take_weighted(window, policy, time, cost);
	return rf_take_sliding(window, policy, time, cost);
}

/* Returns the verdict of the first attempt that loses no race; each has the same time. */
#define RF_TAKE_BY(attempt)                            \
	do {                                           \
		RF_NO_UNROLL                           \
		for (int i = 0; i < RF_RETRIES; i++) { \
			const int verdict = (attempt); \
                                                       \
			if (verdict != RF_LOST_RACE)   \
				return verdict;        \
		}                                      \
		return RF_LOST_RACES;                  \
	} while (0)

/* May this source have `cost` more at `time`? If so, it is charged. */
RF_INLINE enum rf_verdict rf_take(struct rf_window *window, const struct rf_policy *policy,
				  __u64 time, __u32 cost)
{
	RF_TAKE_BY(rf_take_once(window, policy, time, cost));
}

#endif /* RINGFENCE_LIMITER_H */
