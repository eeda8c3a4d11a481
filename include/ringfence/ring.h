/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Windows of cells: sliding (strict, weighted and coarse) and fixed. Their state and their bounds
 * are described in limiter.h.
 *
 * The ring has two cells in each of its words:
 *
 *   {epoch of the even cell:32 | used of the odd cell:16 | used of the even cell:16}
 *
 * `used` is in units of 2^used_shift here, to fit L into 16 bits; each cell is rounded up, so none
 * counts less than it admitted. With more than 16 bits of refused packets, a cell counts 16 bits,
 * which is L or more.
 *
 * The first of two cells that is closed takes the word from cells that are a whole ring older: an
 * even cell e takes the word of e - 32 and e - 31. Therefore no more than 31 cells can count, of a
 * weighted window 30 and the edge: otherwise e - 31 would still count while the head is in e.
 */
#ifndef RINGFENCE_RING_H
#define RINGFENCE_RING_H

#include "algorithm.h"
#include "loan.h"
#include "share.h"

#define RF_CELLS_AHEAD 64      /* a tag up to here ahead is ahead, not from before a wrap */
#define RF_NEWEST_STEP 16      /* cells that a head moves between two writes of `newest` */
#define RF_USED_MAX (3U << 30) /* refused packets are counted up to here; no word overflows */

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

/*
 * The number of the cell that `time` falls into. A policy without a cell length has one cell. Cells
 * can last a fractional number of ticks, so their length is in units of 2^-time_shift ticks.
 */
RF_INLINE __u64 rf_epoch(const struct rf_policy *policy, __u64 time)
{
	return policy->cell ? (time << (policy->time_shift & 31)) / policy->cell : 0;
}

/* The first time in that cell. */
RF_INLINE __u64 rf_epoch_start(const struct rf_policy *policy, __u64 epoch)
{
	const __u32 shift = policy->time_shift & 31;

	return (epoch * policy->cell + (1ULL << shift) - 1) >> shift;
}

/* `newest`, or 0 if it is further ahead than a CPU can stall: that was a late write. */
RF_INLINE __u64 rf_newest_told(const struct rf_policy *policy, __u64 newest, __u64 now)
{
	const __u64 stall_bits =
		(policy->clock == RF_JIFFIES ? RF_STALL_TICKS_BITS : RF_STALL_BITS) +
		(policy->time_shift & 15);
	const __s64 ahead = newest - now - RF_CELLS_AHEAD;

	if (ahead > 0 && (ahead >> RF_STALL_TICKS_BITS || ahead * policy->cell >> stall_bits))
		return 0;
	return newest;
}

/*
 * Is the head in cell `now`, or in a newer cell that another CPU has seen? A head up to
 * RF_CELLS_AHEAD ahead by its tag is. Beyond that, the tag is not enough to distinguish ahead from
 * behind. Then the head's full number is the latest one with this tag that a head can have reached,
 * by `newest`. (Below 0, no head has it.)
 */
RF_INLINE int rf_head_is_present(const struct rf_window *window, const struct rf_policy *policy,
				 __u64 head, __u64 now)
{
	__u64 latest;

	if (rf_word_epoch(head) - (__u32)now <= RF_CELLS_AHEAD)
		return 1;
	latest = rf_newest_told(policy, rf_load(&window->newest), now) + RF_NEWEST_STEP - 1;
	return (__s64)(latest - (__u32)(latest - rf_word_epoch(head))) >= (__s64)now;
}

/*
 * Call before a head moves to `now`: ensures that every head is less than RF_NEWEST_STEP cells past
 * `newest`, without a write at each move. False: it lost a race.
 */
RF_INLINE int rf_newest_raise(struct rf_window *window, const struct rf_policy *policy, __u64 now)
{
	__u64 old = rf_load(&window->newest);

	return rf_newest_told(policy, old, now) + RF_NEWEST_STEP > now ||
	       rf_cas(&window->newest, old, now) == old;
}

/* An empty window. All zeros would read as epoch 0. */
RF_INLINE void rf_window_open(struct rf_window *window, __u64 now)
{
	*window = (struct rf_window){.head = rf_word(now, 0), .newest = now};
}

/* ---- the words of the ring ---- */

#define RF_HALF_BITS 16
#define RF_HALF_MAX 0xffffU

/* The epoch in the word of that cell. */
RF_INLINE __u32 rf_pair_epoch(__u32 epoch)
{
	return epoch & ~1U;
}

RF_INLINE __u32 rf_ring_index(__u32 epoch)
{
	return epoch / 2 % RF_CELLS;
}

RF_INLINE __u32 rf_half_shift(__u32 epoch)
{
	return epoch % 2 * RF_HALF_BITS;
}

/* The count of that cell, in its word of the ring. */
RF_INLINE __u32 rf_half(__u64 word, __u32 epoch)
{
	return word >> rf_half_shift(epoch) & RF_HALF_MAX;
}

RF_INLINE __u64 rf_half_used(const struct rf_policy *policy, __u32 half)
{
	return (__u64)half << (policy->used_shift & 31);
}

RF_INLINE __u32 rf_half_of(const struct rf_policy *policy, __u32 used)
{
	const __u32 shift = policy->used_shift & 31;

	return rf_least(((__u64)used + (1U << shift) - 1) >> shift, RF_HALF_MAX);
}

/* The count of that cell, by a word of the ring. */
RF_INLINE __u64 rf_cell_used(const struct rf_policy *policy, __u64 word, __u32 epoch)
{
	if (rf_word_epoch(word) != rf_pair_epoch(epoch))
		return 0;
	return rf_half_used(policy, rf_half(word, epoch));
}

/*
 * The word with a new half. The other cell of the pair is retained; a cell of a different pair is
 * discarded.
 */
RF_INLINE __u64 rf_word_with(__u64 word, __u32 epoch, __u32 half)
{
	const __u32 shift = rf_half_shift(epoch);
	__u32 other = (__u32)word & ~(RF_HALF_MAX << shift);

	if (rf_word_epoch(word) != rf_pair_epoch(epoch))
		other = 0;
	return rf_word(rf_pair_epoch(epoch), other | half << shift);
}

/* The counts of completed cells in the N - 1 epochs before two others; each sum is below 2^53. */
struct rf_sums {
	__u64 behind; /* before the head's own epoch */
	__u64 before; /* before `now`, without the head's own: another CPU could be writing it */
};

/* rf_less() for 32 bits, which is shorter. */
RF_INLINE __u64 rf_is_below(__u32 a, __u32 b)
{
	__u64 difference = (__u64)a - b;

	RF_OPAQUE(difference); /* otherwise some compilers turn the shift into a branch */
	return difference >> 63;
}

/*
 * The ring is summed without a branch. A map has a bit for each cell of the ring, in their order
 * there: does it count? Two bits and the tag of a word then determine what the word contributes. A
 * second map, in the upper 32 bits, is for a second sum.
 */
#define RF_RING_CELLS (2 * RF_CELLS)
#define RF_MAP_SECOND 32

/* A map of the `count` cells before cell `end`. */
RF_INLINE __u64 rf_map_before(__u32 end, __u32 count)
{
	const __u64 cells = ((1ULL << (count & 31)) - 1) << (end - count) % RF_RING_CELLS;

	return (cells | cells >> RF_RING_CELLS) & ((1ULL << RF_RING_CELLS) - 1);
}

/* Is the word of the lap of the ring that ends with that cell? */
RF_INLINE __u64 rf_is_of_lap(__u64 word, __u32 last)
{
	return rf_is_below(rf_pair_epoch(last) - rf_word_epoch(word), RF_RING_CELLS);
}

RF_INLINE struct rf_sums rf_window_sums(const struct rf_window *window,
					const struct rf_policy *policy, __u32 own, __u32 now)
{
	const __u32 count = policy->cells - 1;
	const __u64 is_own = rf_is_below(now - own, count + 1) << own % RF_RING_CELLS;
	const __u64 before = rf_map_before(now, count) & ~is_own;
	__u64 map = rf_map_before(own, count) | before << RF_MAP_SECOND, sums = 0;

	RF_UNROLL_BY_2
	for (int i = 0; i < RF_CELLS; i++) {
		const __u64 word = rf_load(&window->cell[i]);
		const __u64 counts = rf_is_of_lap(word, own) | rf_is_of_lap(word, now)
								       << RF_MAP_SECOND;

		sums += rf_half(word, 0) * (map & counts);
		sums += rf_half(word, 1) * (map >> 1 & counts);
		map >>= 2;
	}
	return (struct rf_sums){
		.behind = (__u64)(__u32)sums << (policy->used_shift & 31),
		.before = sums >> RF_MAP_SECOND << (policy->used_shift & 31),
	};
}

/*
 * The count of the head's own cell, if the cells behind it have `behind`. Clipped, because the
 * loser of a race for the last room has added its cost, too.
 */
RF_INLINE __u32 rf_own_of(const struct rf_window *window, const struct rf_policy *policy,
			  __u64 head, __u64 behind)
{
	const __u32 used = rf_word_used(head), clip = rf_clip_of(window, policy);
	const __u32 clipped = used < clip ? used : clip;

	return clipped > behind ? clipped - behind : 0;
}

/* A sum as a head holds it: no L is larger, and the own cell's count still fits. */
RF_INLINE __u32 rf_in_head(__u64 sum)
{
	return rf_least(sum, RF_LIMIT_MAX);
}

RF_INLINE __u32 rf_head_own(const struct rf_window *window, const struct rf_policy *policy,
			    __u64 head)
{
	const __u32 epoch = rf_word_epoch(head);
	const struct rf_sums sums = rf_window_sums(window, policy, epoch, epoch);

	return rf_own_of(window, policy, head, rf_in_head(sums.behind));
}

/*
 * Is a write of `half` redundant? It is if the word holds at least as much for the same cell, or if
 * the head has left that cell. The CPU that moved the head wrote the word first, from the head's
 * last word, or moved the head so far that the cell no longer counts; and the word might already
 * belong to a newer pair. The word's tag is not sufficient: an unwritten word, or one from before
 * the epochs wrapped, reads as newer.
 */
RF_INLINE int rf_cell_holds(const struct rf_window *window, __u64 word, __u32 epoch, __u32 half)
{
	if (rf_word_epoch(word) == rf_pair_epoch(epoch))
		return rf_half(word, epoch) >= half;
	return rf_word_epoch(rf_load(&window->head)) != epoch;
}

/*
 * Raises a cell of the ring to `half`. Two CPUs can close one cell with different sums, and the
 * larger one is right: this is a maximum, never a plain store. False: it lost a race to a smaller
 * sum, or to the other cell of the word.
 */
RF_INLINE int rf_cell_raise(struct rf_window *window, __u32 epoch, __u32 half)
{
	__u64 *cell = &window->cell[rf_ring_index(epoch)];
	__u64 old = rf_load(cell), found;

	if (rf_cell_holds(window, old, epoch, half))
		return 1;
	found = rf_cas(cell, old, rf_word_with(old, epoch, half));
	return found == old || rf_cell_holds(window, found, epoch, half);
}

/*
 * The closed cell's count at `now`, read back, because another CPU might have raised it. (The word
 * belongs to a different pair only after the head has moved on.)
 */
RF_INLINE __u64 rf_closed_counts(const struct rf_window *window, const struct rf_policy *policy,
				 __u32 epoch, __u32 now)
{
	const __u64 word = rf_load(&window->cell[rf_ring_index(epoch)]);

	return now - epoch < policy->cells ? rf_half_used(policy, rf_half(word, epoch)) : 0;
}

/*
 * Closes the head's cell: writes its count into the ring, after which the head can move to `now`
 * and start there with `base`. `base` is right if the head is unchanged when it moves. False:
 * another CPU came between; start again.
 */
RF_INLINE int rf_head_close(struct rf_window *window, const struct rf_policy *policy, __u64 head,
			    __u64 now, __u32 *base)
{
	const __u32 epoch = rf_word_epoch(head);
	const struct rf_sums sums = rf_window_sums(window, policy, epoch, now);
	const __u32 own = rf_own_of(window, policy, head, rf_in_head(sums.behind));
	__u64 sum;

	/*
	 * The sums are right only if the head has not moved: otherwise a word could belong to the
	 * next lap, and the own part would be too large by the count that this word has lost.
	 */
	if (rf_word_epoch(rf_load(&window->head)) != epoch)
		return 0;
	if (!rf_cell_raise(window, epoch, rf_half_of(policy, own)) ||
	    !rf_newest_raise(window, policy, now))
		return 0;
	sum = sums.before + rf_closed_counts(window, policy, epoch, now);
	*base = rf_in_head(sum);
	return 1;
}

/*
 * Leaves the cell of a head that is not present. After `counts` cells neither that cell nor the
 * ring counts, so no cell is closed, and the head starts with 0.
 *
 * Not so once epochs are beyond 32 bits: a word of the previous lap, 2^32 cells old, can have a tag
 * that reads as new. A head starts with a sum of the ring. When its cell is closed, a second sum of
 * the ring is subtracted, and the rest is the cell's count. Suppose the head started with 0, its
 * cell admitted 10, and the second sum finds an old word of 5: then 10 - 5 is left, and five are
 * forgotten. The first sum must therefore include such words, too.
 */
RF_INLINE int rf_head_leave(struct rf_window *window, const struct rf_policy *policy, __u64 head,
			    __u64 now, __u32 counts, __u32 *base)
{
	if (now >> 32 || now - rf_word_epoch(head) < counts)
		return rf_head_close(window, policy, head, now, base);
	*base = 0;
	RF_OPAQUE(*base); /* otherwise the verifier follows 0 and a sum as two paths */
	return rf_newest_raise(window, policy, now);
}

/* Only reads, without `count rejected`: so a flood from one source scales with CPUs. */
RF_INLINE enum rf_verdict rf_refuse(struct rf_window *window, const struct rf_policy *policy,
				    __u64 head, __u32 cost)
{
	if (rf_counts_rejected(policy) && rf_word_used(head) < RF_USED_MAX)
		rf_fetch_add(&window->head, cost);
	return RF_OVER;
}

/*
 * The verdict on an addition that did not fit. It remains in the head; if refused packets are
 * counted for a ban, it is a lost race, because it would be counted twice.
 */
RF_INLINE enum rf_verdict rf_not_added(const struct rf_policy *policy)
{
	return rf_choose(rf_bans_by_sum(policy), RF_LOST_RACES, RF_OVER);
}

#ifdef RF_WITH_SHARES
#define RF_PAST (~0ULL)

/*
 * Adds to a present head. Returns the use after that; RF_PAST: that head is of a cell before `now`.
 */
RF_INLINE __u64 rf_add_to(struct rf_window *window, __u64 now, __u32 cost)
{
	const __u64 head = rf_fetch_add(&window->head, cost);

	if ((__s32)(rf_word_epoch(head) - (__u32)now) < 0)
		return RF_PAST;
	return (__u64)rf_word_used(head) + cost;
}

/* The verdict after an addition. */
RF_INLINE enum rf_verdict rf_added(const struct rf_policy *policy, int fits)
{
	return fits ? RF_UNDER : rf_not_added(policy);
}

/*
 * Adds to a present head that had room when it was read, `enough` of it without the share.
 *
 * Other CPUs might have added concurrently. Then the words that were read before decide. A share
 * that grew since must not: another CPU might have closed the cell before it grew, and its clip
 * might have excluded the packet.
 */
RF_INLINE enum rf_verdict rf_add_by(struct rf_window *window, const struct rf_policy *policy,
				    const struct rf_share_words *words, __u64 now, __u32 cost,
				    __u64 jiffies, __u32 enough)
{
	const __u64 units = rf_add_to(window, now, cost);
	__u32 limit;

	if (units <= enough)
		return RF_UNDER;
	limit = RF_LIMIT_BY_WORDS(policy, words->whose, words->given, jiffies);
	return rf_added(policy, units <= limit);
}

/*
 * Adds to a present head whose use, with `cost`, is `units`, if there is room without the share.
 * RF_LATER: the share must be read, and the head is unchanged.
 */
RF_INLINE enum rf_verdict rf_take_at_once(struct rf_window *window, const struct rf_policy *policy,
					  __u64 now, __u64 units, __u32 cost, __u64 jiffies)
{
	struct rf_share_words words = {};
	__u32 enough = policy->limit;

	if (policy->flags & RF_FLEET) {
		words = rf_share_read(window);
		enough = rf_limit_at_once(policy, &words, units, jiffies);
	}
	if (units > enough)
		return RF_LATER;
	return rf_add_by(window, policy, &words, now, cost, jiffies, enough);
}
#endif

/*
 * Adds to a present head that had room when it was read. `enough` by rf_may_add(), `jiffies` as
 * there; both are unused without shares.
 */
RF_INLINE enum rf_verdict rf_add(struct rf_window *window, const struct rf_policy *policy,
				 __u64 now, __u32 cost, __u64 jiffies, __u32 enough)
{
#ifdef RF_WITH_SHARES
	struct rf_share_words words = {};

	if (policy->flags & RF_FLEET)
		words = rf_share_read(window);
	return rf_add_by(window, policy, &words, now, cost, jiffies, enough);
#else
	/* The returned value decides, so no two CPUs share the last room. */
	__u64 head = rf_fetch_add(&window->head, cost);
	int past = (__s32)(rf_word_epoch(head) - (__u32)now) < 0;
	__u64 units = (__u64)rf_word_used(head) + cost;

	(void)enough;
	units += rf_lent(window, policy, jiffies); /* read after the addition, see loan.h */
	/*
	 * After an idle lap, a head that read as present might have moved to a cell before `now`.
	 */
	return !past && units <= policy->limit ? RF_UNDER : RF_OVER;
#endif
}

/* ---- sliding, strict and coarse, and fixed: only the length and number of cells differ ---- */

/* Takes from a window whose `head`, as read, is present. */
RF_INLINE enum rf_verdict rf_take_present(struct rf_window *window, const struct rf_policy *policy,
					  __u64 head, __u64 now, __u32 cost, __u64 jiffies)
{
#ifdef RF_WITH_SHARES
	const __u64 limit = rf_limit_of(window, policy);

	(void)jiffies;
	if ((__u64)rf_word_used(head) + cost > limit)
		return rf_refuse(window, policy, head, cost);
	return rf_added(policy, rf_add_to(window, now, cost) <= limit);
#else
	if ((__u64)rf_word_used(head) + cost + rf_lent(window, policy, jiffies) > policy->limit)
		return rf_refuse(window, policy, head, cost);
	return rf_add(window, policy, now, cost, jiffies, policy->limit);
#endif
}

/* Fast path: is the tag sufficient to show a present head? Strict, coarse and fixed only. */
RF_INLINE int rf_is_present_at_once(const struct rf_policy *policy, __u64 head, __u64 now)
{
	return rf_is_ring(policy) && rf_word_epoch(head) - (__u32)now <= RF_CELLS_AHEAD;
}

/*
 * Fast path: does such a head have room? Then rf_add can follow, regardless of what other CPUs do
 * in between. `jiffies` and `enough` as in rf_fits_at().
 */
RF_INLINE int rf_may_add(const struct rf_window *window, const struct rf_policy *policy, __u64 head,
			 __u64 now, __u32 cost, __u64 jiffies, __u32 *enough)
{
	return rf_is_present_at_once(policy, head, now) &&
	       rf_fits_at(window, policy, (__u64)rf_word_used(head) + cost, jiffies, enough);
}

/* Are `units` within the limit, together with what is lent? */
RF_INLINE int rf_has_room(const struct rf_window *window, const struct rf_policy *policy,
			  __u64 units, __u64 time)
{
	return units + rf_lent(window, policy, time) <= rf_limit_of(window, policy);
}

/* One attempt, see rf_take(). */
RF_INLINE enum rf_verdict rf_take_sliding(struct rf_window *window, const struct rf_policy *policy,
					  __u64 time, __u32 cost)
{
	const __u64 now = rf_epoch(policy, time);
	const __u64 head = rf_load(&window->head);
	__u32 base, lent;
	int ok;

	if (rf_head_is_present(window, policy, head, now))
		return rf_take_present(window, policy, head, now, cost, time);
	if (!rf_head_leave(window, policy, head, now, policy->cells, &base))
		return RF_LOST_RACE;
	ok = rf_has_room(window, policy, (__u64)base + cost, time);
	if (ok || rf_counts_rejected(policy))
		base += cost;
	/* Lost: never add to the winner's head, which can be older than `now`. */
	if (rf_cas(&window->head, head, rf_word(now, base)) != head)
		return RF_LOST_RACE;
	lent = rf_lent(window, policy, time); /* read after the head has moved, see loan.h */
	return ok && (!lent || base + lent <= policy->limit) ? RF_UNDER : RF_OVER;
}

/* ---- sliding, weighted ---- */

/*
 * The contribution of the cell on the edge at `time`: the part of `used` that is still inside W,
 * rounded up. All of it if the head is ahead of the caller's time.
 */
RF_INLINE __u64 rf_part_inside(const struct rf_policy *policy, __u32 used, int is_present,
			       __u64 time)
{
	const __u32 scale = policy->scale & 63;
	const __u64 cell = policy->cell >> scale;
	__u64 left = policy->cell, part;

	if (!cell)
		return 0;
	if (is_present)
		left -= time % policy->cell;
	left = (left + (1ULL << scale) - 1) >> scale;
	part = (used * left + cell - 1) / cell;
	return part < used ? part : used;
}

/* The count of the cell on the edge of the window, when the head is at `epoch`. */
RF_INLINE __u64 rf_edge_used(const struct rf_window *window, const struct rf_policy *policy,
			     __u32 epoch)
{
	const __u32 edge = epoch - policy->cells;

	return rf_cell_used(policy, rf_load(&window->cell[rf_ring_index(edge)]), edge);
}

/* Its contribution at `time`. */
RF_INLINE __u64 rf_edge_part(const struct rf_window *window, const struct rf_policy *policy,
			     __u32 epoch, __u64 time)
{
	const __u64 used = rf_edge_used(window, policy, epoch);

	return rf_part_inside(policy, used, epoch == (__u32)rf_epoch(policy, time), time);
}

/*
 * One attempt, see rf_take().
 *
 * Adds by compare-and-swap even in the present cell: room opens again and again as the edge leaves
 * the window, and with a fetch-add each lost race for it would leave its cost behind.
 */
RF_INLINE enum rf_verdict rf_take_weighted(struct rf_window *window, const struct rf_policy *policy,
					   __u64 time, __u32 cost)
{
	const __u64 now = rf_epoch(policy, time), head = rf_load(&window->head);
	__u32 epoch = rf_word_epoch(head), used = rf_word_used(head);
	const int present = rf_head_is_present(window, policy, head, now);
	int ok;

	if (!present) {
		/* The cell on the edge counts in part. */
		if (!rf_head_leave(window, policy, head, now, policy->cells + 1, &used))
			return RF_LOST_RACE;
		epoch = now;
	}
	ok = used + rf_edge_part(window, policy, epoch, time) + cost <= policy->limit;
	if (!ok && present)
		return rf_refuse(window, policy, head, cost);
	if (ok || rf_counts_rejected(policy))
		used += cost;
	if (rf_cas(&window->head, head, rf_word(epoch, used)) == head)
		return ok ? RF_UNDER : RF_OVER;
	return RF_LOST_RACE;
}

#endif /* RINGFENCE_RING_H */
