/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Windows of cells: sliding (strict, weighted and coarse) and fixed. limiter.h says what they hold
 * and what they promise.
 */
#ifndef RINGFENCE_RING_H
#define RINGFENCE_RING_H

#include "algorithm.h"

#define RF_CELLS_AHEAD 64      /* by its tag: ahead, and not from before the tags wrapped */
#define RF_NEWEST_STEP 16      /* cells that heads move between two writes of `newest` */
#define RF_USED_MAX (3U << 30) /* refused packets count up to here, so that no word overflows */

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
RF_INLINE __u64 rf_epoch(const struct rf_policy *policy, __u64 time)
{
	return policy->cell ? time / policy->cell : 0;
}

/* What `newest` tells a caller: 0 where it is further ahead than a CPU may stall, a late write. */
RF_INLINE __u64 rf_newest_told(const struct rf_policy *policy, __u64 newest, __u64 now)
{
	const __u64 stall_bits = policy->clock == RF_JIFFIES ? RF_STALL_TICKS_BITS : RF_STALL_BITS;
	const __s64 ahead = newest - now - RF_CELLS_AHEAD;

	if (ahead > 0 && (ahead >> RF_STALL_TICKS_BITS || ahead * policy->cell >> stall_bits))
		return 0;
	return newest;
}

/*
 * Is the head in the cell `now`, or in a newer one that another CPU has seen already? A little
 * ahead by its tag, it is. Further on the tag alone does not tell ahead from behind: then the
 * head's number in full is the latest that ends like its tag and that a head may have moved to.
 * (Below 0, it is no head's.)
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
 * Before a head moves to `now`: no head is RF_NEWEST_STEP cells beyond `newest`. Not at every
 * move, since that would be one more write. False when it lost a race.
 */
RF_INLINE int rf_newest_raise(struct rf_window *window, const struct rf_policy *policy, __u64 now)
{
	__u64 old = rf_load(&window->newest);

	return rf_newest_told(policy, old, now) + RF_NEWEST_STEP > now ||
	       rf_cas(&window->newest, old, now) == old;
}

/* A window that nothing was charged to. An all-zero one would read as epoch 0, not as empty. */
RF_INLINE void rf_window_open(struct rf_window *window, __u64 now)
{
	*window = (struct rf_window){.head = rf_word(now, 0), .newest = now};
}

/* What the completed cells admitted in the N - 1 epochs before one of two; each below 2^36. */
struct rf_sums {
	__u64 behind; /* before the head's own epoch */
	__u64 before; /* before `now`, but for the head's own, whose slot another CPU may write */
};

/* rf_less() of 32 bits, with less to do. */
RF_INLINE __u64 rf_is_below(__u32 a, __u32 b)
{
	__u64 difference = (__u64)a - b;

	RF_OPAQUE(difference); /* else some compilers make a branch of the shift */
	return difference >> 63;
}

RF_INLINE struct rf_sums rf_window_sums(const struct rf_window *window, __u32 cells, __u32 own,
					__u32 now)
{
	struct rf_sums sums = {};

	for (int i = 0; i < RF_CELLS; i++) {
		const __u64 word = rf_load(&window->cell[i]);
		const __u32 behind = own - rf_word_epoch(word) - 1; /* the largest: its own */
		const __u64 is_own = ((__u64)behind + 1) >> 32;
		const __u64 counts = rf_is_below(behind + (now - own), cells - 1) & ~is_own;

		sums.behind += rf_word_used(word) & -rf_is_below(behind, cells - 1);
		sums.before += rf_word_used(word) & -counts;
	}
	return sums;
}

/*
 * What the head's own cell admitted, where those behind it had so much. Clipped: the loser of a
 * race for the last permit adds too.
 */
RF_INLINE __u32 rf_own_of(const struct rf_policy *policy, __u64 head, __u64 behind)
{
	const __u32 used = rf_word_used(head);
	const __u32 clipped = used < policy->clip ? used : policy->clip;

	return clipped > behind ? clipped - behind : 0;
}

/* A sum as it is in a head: no L is larger, and with what its own cell adds it fits there. */
RF_INLINE __u32 rf_in_head(__u64 sum)
{
	return rf_least(sum, RF_LIMIT_MAX);
}

RF_INLINE __u32 rf_head_own(const struct rf_window *window, const struct rf_policy *policy,
			    __u64 head)
{
	const __u32 epoch = rf_word_epoch(head);
	const struct rf_sums sums = rf_window_sums(window, policy->cells, epoch, epoch);

	return rf_own_of(policy, head, rf_in_head(sums.behind));
}

/*
 * Is there nothing to write: as much of the same epoch stands there, or the head has moved on from
 * it? Whoever moved the head wrote the slot first, from the head's last word, or moved it so far
 * that the slot counts no more. So there is nothing to add, and the slot may hold a newer epoch by
 * now. Tags alone do not tell: an unwritten slot, or one from before the epochs wrapped, reads as
 * newer.
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
 * it lost a race, and less stands there.
 */
RF_INLINE int rf_cell_raise(struct rf_window *window, __u32 epoch, __u32 used)
{
	__u64 *cell = &window->cell[epoch % RF_CELLS];
	__u64 old = rf_load(cell), found;

	if (rf_cell_holds(window, old, epoch, used))
		return 1;
	found = rf_cas(cell, old, rf_word(epoch, used));
	return found == old || rf_cell_holds(window, found, epoch, used);
}

/*
 * What the closed cell counts at `now`: another CPU may have raised it further. (Its slot is
 * another epoch's only once the head has moved on.)
 */
RF_INLINE __u32 rf_closed_counts(const struct rf_window *window, const struct rf_policy *policy,
				 __u32 epoch, __u32 now)
{
	const __u64 word = rf_load(&window->cell[epoch % RF_CELLS]);

	return now - epoch < policy->cells ? rf_word_used(word) : 0;
}

/*
 * Writes into the ring what the head's cell has, so that the head may move on to `now`, where
 * `base` is what it begins with: right if the head stands until then. False when another CPU was
 * there: start again.
 */
RF_INLINE int rf_head_close(struct rf_window *window, const struct rf_policy *policy, __u64 head,
			    __u64 now, __u32 *base)
{
	const __u32 epoch = rf_word_epoch(head);
	const struct rf_sums sums = rf_window_sums(window, policy->cells, epoch, now);
	__u64 sum;

	/*
	 * The sums hold only while the head stands: once it has moved on, a slot may be of the next
	 * lap, and the cell's own part too large by what that slot lost.
	 */
	if (rf_word_epoch(rf_load(&window->head)) != epoch)
		return 0;
	if (!rf_cell_raise(window, epoch, rf_own_of(policy, head, rf_in_head(sums.behind))) ||
	    !rf_newest_raise(window, policy, now))
		return 0;
	sum = sums.before + rf_closed_counts(window, policy, epoch, now);
	*base = rf_in_head(sum);
	return 1;
}

/*
 * The same of any head that is not present. Once `counts` cells have passed since its own, neither
 * that cell nor what is in the ring counts, and nothing is closed.
 *
 * That holds while no tag was used twice. A word of the lap before, 2^32 cells old, may have a tag
 * that reads as new. A head starts with the sum of the ring; when its cell is closed, the sum of
 * the ring is taken from its count, and the rest is what the cell itself admitted. With such a word
 * in the second sum and not in the first, the cell would have admitted less than it did.
 */
RF_INLINE int rf_head_leave(struct rf_window *window, const struct rf_policy *policy, __u64 head,
			    __u64 now, __u32 counts, __u32 *base)
{
	if (now >> 32 || now - rf_word_epoch(head) < counts)
		return rf_head_close(window, policy, head, now, base);
	*base = 0;
	RF_OPAQUE(*base); /* else the verifier follows it apart from what was summed */
	return rf_newest_raise(window, policy, now);
}

/* Over the limit it only reads, unless told otherwise: a flood from one source scales with CPUs. */
RF_INLINE enum rf_verdict rf_refuse(struct rf_window *window, const struct rf_policy *policy,
				    __u64 head, __u32 cost)
{
	if (rf_counts_rejected(policy) && rf_word_used(head) < RF_USED_MAX)
		rf_fetch_add(&window->head, cost);
	return RF_OVER;
}

/* There was room in the present head when it was read. */
RF_INLINE enum rf_verdict rf_add(struct rf_window *window, const struct rf_policy *policy,
				 __u64 now, __u32 cost)
{
	/* The returned value decides, so no two CPUs share the last permit. */
	__u64 head = rf_fetch_add(&window->head, cost);
	int past = (__s32)(rf_word_epoch(head) - (__u32)now) < 0;

	/* After an idle lap, what read as present may have been moved to a cell before `now`. */
	return !past && (__u64)rf_word_used(head) + cost <= policy->limit ? RF_UNDER : RF_OVER;
}

/* ---- sliding, strict and coarse, and fixed: only the length and number of cells differ ---- */

/* `head` was read, and is present. */
RF_INLINE enum rf_verdict rf_take_present(struct rf_window *window, const struct rf_policy *policy,
					  __u64 head, __u64 now, __u32 cost)
{
	if ((__u64)rf_word_used(head) + cost > policy->limit)
		return rf_refuse(window, policy, head, cost);
	return rf_add(window, policy, now, cost);
}

/* Is the head present by its tag alone, as nearly always? Only of the windows of cells. */
RF_INLINE int rf_is_present_at_once(const struct rf_policy *policy, __u64 head, __u64 now)
{
	return rf_is_ring(policy) && rf_word_epoch(head) - (__u32)now <= RF_CELLS_AHEAD;
}

/* … and has it room? Then rf_add may follow, whatever others do in between. */
RF_INLINE int rf_may_add(const struct rf_policy *policy, __u64 head, __u64 now, __u32 cost)
{
	return rf_is_present_at_once(policy, head, now) &&
	       (__u64)rf_word_used(head) + cost <= policy->limit;
}

RF_INLINE enum rf_verdict rf_take_sliding(struct rf_window *window, const struct rf_policy *policy,
					  __u64 time, __u32 cost)
{
	const __u64 now = rf_epoch(policy, time);
	const __u64 limit = policy->limit;

	for (int i = 0; i < RF_RETRIES; i++) {
		__u64 head = rf_load(&window->head);
		__u32 base;
		int ok;

		if (rf_head_is_present(window, policy, head, now))
			return rf_take_present(window, policy, head, now, cost);
		if (!rf_head_leave(window, policy, head, now, policy->cells, &base))
			continue;
		ok = (__u64)base + cost <= limit;
		if (ok || rf_counts_rejected(policy))
			base += cost;
		if (rf_cas(&window->head, head, rf_word(now, base)) == head)
			return ok ? RF_UNDER : RF_OVER;
		/* Lost: not an add to the winner's head, which may be older than `now`. */
	}
	return RF_LOST_RACES;
}

/* ---- sliding, weighted ---- */

/*
 * What `used` of the cell on the edge counts at `time`: by the part of it that is inside, rounded
 * up. All of it where the head is ahead of the caller's time.
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

/* What the cell on the edge of the window counts, when the head is at `epoch`. */
RF_INLINE __u64 rf_edge_part(const struct rf_window *window, const struct rf_policy *policy,
			     __u32 epoch, __u64 time)
{
	const __u32 edge = epoch - policy->cells;
	const __u64 word = rf_load(&window->cell[edge % RF_CELLS]);

	if (rf_word_epoch(word) != edge)
		return 0;
	return rf_part_inside(policy, rf_word_used(word), epoch == (__u32)rf_epoch(policy, time),
			      time);
}

/*
 * Adds by compare-and-swap even in the present cell: as the edge leaves the window, room opens
 * again and again, and each time the losers of a race for it would leave their costs behind.
 */
RF_INLINE enum rf_verdict rf_take_weighted(struct rf_window *window, const struct rf_policy *policy,
					   __u64 time, __u32 cost)
{
	const __u64 now = rf_epoch(policy, time);

	for (int i = 0; i < RF_RETRIES; i++) {
		__u64 head = rf_load(&window->head);
		__u32 epoch = rf_word_epoch(head), used = rf_word_used(head);
		int present = rf_head_is_present(window, policy, head, now), ok;

		if (!present) {
			/* The cell on the edge counts in part. */
			if (!rf_head_leave(window, policy, head, now, policy->cells + 1, &used))
				continue;
			epoch = now;
		}
		ok = used + rf_edge_part(window, policy, epoch, time) + cost <= policy->limit;
		if (!ok && present)
			return rf_refuse(window, policy, head, cost);
		if (ok || rf_counts_rejected(policy))
			used += cost;
		if (rf_cas(&window->head, head, rf_word(epoch, used)) == head)
			return ok ? RF_UNDER : RF_OVER;
	}
	return RF_LOST_RACES;
}

/* ---- the same question, without taking ---- */

/* What the head's cell will have in the ring, once it is closed. */
RF_INLINE __u32 rf_peek_own(const struct rf_window *window, const struct rf_policy *policy,
			    __u64 head)
{
	const __u32 epoch = rf_word_epoch(head), own = rf_head_own(window, policy, head);
	const __u64 word = rf_load(&window->cell[epoch % RF_CELLS]);

	return rf_word_epoch(word) == epoch && rf_word_used(word) > own ? rf_word_used(word) : own;
}

/* What the completed cells have at `now`, the head's among them, which is in an older one. */
RF_INLINE __u64 rf_peek_sum(const struct rf_window *window, const struct rf_policy *policy,
			    __u64 head, __u64 now)
{
	const __u32 own_epoch = rf_word_epoch(head);
	const __u64 before = rf_window_sums(window, policy->cells, own_epoch, now).before;
	__u64 sum = rf_in_head(before);

	if ((__u32)now - own_epoch < policy->cells)
		sum += rf_peek_own(window, policy, head);
	return sum;
}

/*
 * Is there room for certain, by the head alone? What the head counted when it was written is at
 * least what counts at any later time, since cells only leave the window.
 */
RF_INLINE int rf_has_room_at_once(const struct rf_window *window, const struct rf_policy *policy,
				  __u32 cost)
{
	return rf_is_ring(policy) &&
	       (__u64)rf_word_used(rf_load(&window->head)) + cost <= policy->limit;
}

/* Has the window changed since? Then no peek says that there is no room: the take will. */
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

	return used + cost <= policy->limit || rf_peek_is_old(window, head);
}

RF_INLINE int rf_peek_weighted(const struct rf_window *window, const struct rf_policy *policy,
			       __u64 time, __u32 cost)
{
	const __u64 now = rf_epoch(policy, time), head = rf_load(&window->head);
	const __u32 epoch = rf_word_epoch(head);
	__u64 used = rf_word_used(head), part;

	if (rf_head_is_present(window, policy, head, now)) {
		part = rf_edge_part(window, policy, epoch, time);
	} else {
		used = rf_peek_sum(window, policy, head, now);
		/* The head's own cell may be the one on the edge. */
		part = epoch == (__u32)now - policy->cells
			       ? rf_part_inside(policy, rf_peek_own(window, policy, head), 1, time)
			       : rf_edge_part(window, policy, now, time);
	}
	return used + part + cost <= policy->limit || rf_peek_is_old(window, head);
}

#endif /* RINGFENCE_RING_H */
