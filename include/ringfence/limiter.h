/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The limiter: may this source have `cost` more now? State, policy, time and cost in, verdict out.
 * Pure functions without map, helper, clock, randomness, libc, float or unbounded loop, so that the
 * code that runs in the driver is the code that the tests run.
 *
 * The state of a window is `head` and a ring of cells. For the windows of cells (sliding, fixed)
 * each is one word {epoch:32 | used:32}. The head counts what is used in its own cell *and* in the
 * completed cells behind it, so that the common case touches one word. The first packet of a new
 * cell closes the old one: it writes what the old cell had into the ring, sums the ring, and moves
 * the head by compare-and-swap. Epoch tags make stale cells vanish, with no timer and no clearing,
 * after any idle time. `log` keeps a time in each slot of the ring, `token` and `leaky` one in the
 * head.
 *
 * What holds on every interleaving of CPUs, for a window W and a limit of L; the length of a cell
 * is chosen by user space. An admission counts in the later of the window's time and the caller's
 * own, so a CPU that stalls with an old reading of the clock opens nothing.
 *
 *                     cell           N    at most                          an even sender loses
 *                                                                          nothing up to
 *   sliding, strict   (W+tick)/(N-1) 2-16 L in any interval of length W,   L/(N*cell), about
 *                                         both ends included               (N-1)/N of L/W
 *   sliding, weighted W/(N-1)        2-16 L in one of W - cell; the        (L-3)/W
 *                                         estimate never over L; fewer
 *                                         than 2 L in one of W
 *   sliding, coarse   W/N            2-16 L in one of W - cell;            L/W
 *                                         up to 2 L in one of W
 *   fixed             W              1    L in each aligned window;        L/W
 *                                         up to 2 L in an interval of W
 *   log               -              -    L in any interval of length W,   L/W
 *                                         both ends included; refuses
 *                                         nothing that would keep to it
 *   token, leaky      -              -    burst + L*T/W in any interval T  L/W
 *
 * Cells are rounded up to whole units of the clock; `token` and `leaky` round what a packet takes
 * up to 1/16 ns. Bytes are counted in units of a power of two (1 below 2 GiB a window), a frame's
 * rounded up. Strict, coarse and fixed, a packet of more than one unit that loses the race for the
 * last room leaves its cost in the window, so each opening may admit that much less a CPU.
 *
 * Time is in the policy's clock (ticks or ns). A clock that stands still or goes back, or a CPU
 * that stalls with an old reading, is the present cell: never a reset. A stall may last for 2^43 ns
 * or 2^23 ticks, which is hours; or for 64 cells, or for as long as a bucket takes to fill, where
 * that is longer; but for no more than 2^23 cells. Words hold epochs modulo 2^32, and `newest`
 * tells one lap from the next. After an idle time of 2^32 cells, give or take RF_CELLS_AHEAD, an
 * old word may count once more, and for that long at the most; and there alone the bound wants
 * that no CPU stalls for RF_CELLS_AHEAD cells in the middle of a packet.
 *
 * A late write: a map may give a window's memory to another key, of another limit, while a CPU
 * still holds its pointer, and what that CPU writes is then read by another algorithm. Whatever the
 * word is, for the source that it hits
 *
 *                     is forgotten, once        is shut out for at most
 *   cells             L, what the window held   a stall, and N + RF_CELLS_AHEAD cells
 *   log               one time for each word    a stall, and W
 *   token, leaky      burst                     a stall, and until the bucket is full
 *
 * since a time or an epoch that is ahead of the caller by more than a stall is none of this
 * window's: such a head is in the past, such a time is no admission, such a bucket is empty now
 * (and not full), and who finds it writes over it. Nearly all late writes of another algorithm are
 * so far ahead, or in the past; those shut nobody out for longer than a full window does.
 */
#ifndef RINGFENCE_LIMITER_H
#define RINGFENCE_LIMITER_H

#include "abi.h"
#include "atomic.h"

#ifndef RF_RETRIES
#define RF_RETRIES 8 /* lost races before a caller gives up */
#endif

#define RF_CELLS_AHEAD 64      /* by its tag: ahead, and not from before the tags wrapped */
#define RF_NEWEST_STEP 16      /* cells that heads move between two writes of `newest` */
#define RF_USED_MAX (3U << 30) /* refused packets count up to here, so that no word overflows */

/* The longest that a CPU may stall in the middle of a packet: two hours and more. */
#define RF_STALL_BITS 43
#define RF_STALL_TICKS_BITS 23 /* and of cells: no lap */
#define RF_STALL_NS (1ULL << RF_STALL_BITS)
#define RF_STALL_TICKS (1ULL << RF_STALL_TICKS_BITS)

#define RF_WAIT_BITS 58 /* of the longest wait for a permit, in units of any clock */

/* Buckets keep time in 1/16 ns, and start it where 0 is further back than any is deep. */
#define RF_BUCKET_SHIFT 4
#define RF_BUCKET_ZERO (1ULL << 62)

enum rf_verdict {
	RF_UNDER,
	RF_OVER,
	RF_LOST_RACES, /* nothing was charged: the caller drops, and counts it apart */
};

RF_INLINE int rf_is_log(const struct rf_policy *policy)
{
	return policy->algorithm == RF_LOG;
}

RF_INLINE int rf_is_bucket(const struct rf_policy *policy)
{
	return policy->algorithm == RF_TOKEN || policy->algorithm == RF_LEAKY;
}

RF_INLINE int rf_is_weighted(const struct rf_policy *policy)
{
	return policy->algorithm == RF_SLIDING && policy->edge == RF_EDGE_WEIGHTED;
}

/* RF_SLIDING, strict or coarse, or RF_FIXED. */
RF_INLINE int rf_is_ring(const struct rf_policy *policy)
{
	return !rf_is_log(policy) && !rf_is_bucket(policy) && !rf_is_weighted(policy);
}

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
 * a < b as 1 or 0, without a branch: of words of a ring it would be mispredicted, and 32 in a row
 * are too many paths for the verifier.
 */
RF_INLINE __u64 rf_less(__u64 a, __u64 b)
{
	__u64 less = ((~a & b) | ((~a | b) & (a - b))) >> 63;

	RF_OPAQUE(less);
	return less;
}

RF_INLINE __u64 rf_least(__u64 a, __u64 b)
{
	return b ^ ((a ^ b) & -rf_less(a, b));
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

/*
 * What the completed cells admitted in the `cells - 1` epochs before `epoch`, up to RF_LIMIT_MAX:
 * no L is larger, and with what its own cell adds it still fits into a head.
 */
RF_INLINE __u32 rf_window_sum(const struct rf_window *window, __u32 epoch, __u32 cells)
{
	__u64 sum = 0;

	for (int i = 0; i < RF_CELLS; i++) {
		__u64 word = rf_load(&window->cell[i]);
		__u32 age = epoch - rf_word_epoch(word);

		if (age - 1 < cells - 1) /* unsigned: an age of 0 is out as well */
			sum += rf_word_used(word);
	}
	return sum < RF_LIMIT_MAX ? sum : RF_LIMIT_MAX;
}

/* Two such sums in one pass, each below 2^36. */
struct rf_sums {
	__u64 behind; /* … before the head's own epoch */
	__u64 before; /* … before `now`, but for the head's own */
};

/* The same of 32 bits, with less to do. */
RF_INLINE __u64 rf_is_below(__u32 a, __u32 b)
{
	__u64 difference = (__u64)a - b;

	RF_OPAQUE(difference); /* else some compilers make a comparison, and a branch, of the shift */
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

/* What the head's own cell admitted. Clipped: the loser of a race for the last permit adds too. */
RF_INLINE __u32 rf_own_of(const struct rf_policy *policy, __u64 head, __u64 behind)
{
	const __u32 used = rf_word_used(head);
	const __u32 clipped = used < policy->clip ? used : policy->clip;

	behind = rf_least(behind, RF_LIMIT_MAX); /* as it was in the head */
	return clipped > behind ? clipped - behind : 0;
}

RF_INLINE __u32 rf_head_own(const struct rf_window *window, const struct rf_policy *policy,
			    __u64 head)
{
	return rf_own_of(policy, head, rf_window_sum(window, rf_word_epoch(head), policy->cells));
}

/*
 * Is there nothing to write: as much of the same epoch stands there, or the head has moved on from
 * it? Whoever moved the head wrote the slot first, from the head's last word, so there is nothing
 * to add, and the slot may hold a newer epoch by now. Tags alone do not tell: an unwritten slot, or
 * one from before the epochs wrapped, reads as newer.
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
	if (!rf_cell_raise(window, epoch, rf_own_of(policy, head, sums.behind)) ||
	    !rf_newest_raise(window, policy, now))
		return 0;
	sum = sums.before + rf_closed_counts(window, policy, epoch, now);
	*base = rf_least(sum, RF_LIMIT_MAX);
	return 1;
}

/* Does a packet that is refused use up the window, too? */
RF_INLINE int rf_counts_rejected(const struct rf_policy *policy)
{
	return policy->flags & RF_COUNT_REJECTED;
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

/* Is it so by the tag alone, as nearly always, and are such heads this policy's? */
RF_INLINE int rf_is_present_at_once(const struct rf_policy *policy, __u64 head, __u64 now)
{
	return rf_is_ring(policy) && rf_word_epoch(head) - (__u32)now <= RF_CELLS_AHEAD;
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
		if (!rf_head_close(window, policy, head, now, &base))
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
			if (!rf_head_close(window, policy, head, now, &used))
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

/* ---- log: the times of the last admissions, one in each slot, in ns; 0: none ---- */

/* The time in a slot, at `time`: none, where a late write left one that no CPU has seen yet. */
RF_INLINE __u64 rf_log_when(__u64 word, __u64 time)
{
	const __u64 left = time + RF_STALL_NS - word; /* both have 62 bits, but for a late write */

	return word & ~((__s64)(word | left) >> 63);
}

struct rf_log {
	__u64 oldest; /* {time:60 | slot:4}: of equal times the first slot's, for every CPU */
	__u64 now;    /* the caller's time, or the newest admission's if that is later */
	__u32 used;   /* admissions in [now - W, now] */
};

RF_INLINE struct rf_log rf_log_read(const struct rf_window *window, const struct rf_policy *policy,
				    __u64 time)
{
	/* 0 is a time as well, at boot, and must not read as an empty slot. */
	struct rf_log log = {.oldest = ~0ULL, .now = time ? time : 1};

	for (int i = 0; i < RF_CELLS; i++) {
		__u64 when = rf_log_when(rf_load(&window->cell[i]), time);

		log.oldest = rf_least(log.oldest, when << 4 | i);
		log.now = ~rf_least(~log.now, ~when);
	}
	/* Again, and not kept from above: the stack of a BPF program is small. */
	for (int i = 0; i < RF_CELLS; i++) {
		__u64 when = rf_log_when(rf_load(&window->cell[i]), time);

		log.used += rf_less(0, when) & ~rf_less(policy->cell, log.now - when);
	}
	return log;
}

/*
 * Every writer replaces the oldest time, and by a later one: so when a compare-and-swap finds it
 * still there, no slot has changed since it was first read, and the count is right.
 */
RF_INLINE enum rf_verdict rf_take_log(struct rf_window *window, const struct rf_policy *policy,
				      __u64 time, __u32 cost)
{
	(void)cost; /* a packet is one time */
	for (int i = 0; i < RF_RETRIES; i++) {
		const struct rf_log log = rf_log_read(window, policy, time);
		const __u64 oldest = log.oldest >> 4;
		const int ok = log.used < policy->limit;
		__u64 *slot = &window->cell[log.oldest % 16 % RF_CELLS], found;

		if (!ok && !rf_counts_rejected(policy))
			return RF_OVER;
		found = rf_cas(slot, oldest, log.now);
		if (found == oldest)
			return ok ? RF_UNDER : RF_OVER;
		if (!rf_log_when(found, time))
			rf_cas(slot, found, 0); /* a late write, which was read as none */
	}
	return RF_LOST_RACES;
}

/* ---- token and leaky: a bucket, whose word is the time at which it was empty (GCRA) ---- */

RF_INLINE __u64 rf_bucket_time(__u64 time)
{
	return (time << RF_BUCKET_SHIFT) + RF_BUCKET_ZERO;
}

/* How long `cost` takes to flow, in 1/16 ns, rounded up. */
RF_INLINE __u64 rf_bucket_flow(const struct rf_policy *policy, __u32 cost)
{
	const __u32 scale = policy->scale & 63;

	return (cost * policy->cell + (1ULL << scale) - 1) >> scale;
}

/*
 * Is it no time of a bucket, but a late write: ahead of `now` by more than a CPU may stall? And by
 * more than its depth, so that who stalls for less than it takes to fill never opens it.
 */
RF_INLINE int rf_bucket_is_alien(const struct rf_policy *policy, __u64 empty, __u64 now)
{
	return empty > now && empty - now > policy->depth + (RF_STALL_NS << RF_BUCKET_SHIFT);
}

/* What is in it at `now`, as a time to flow. */
RF_INLINE __u64 rf_bucket_level(const struct rf_policy *policy, __u64 empty, __u64 now)
{
	__u64 level = now > empty ? now - empty : 0;

	return level < policy->depth ? level : policy->depth;
}

/* How many units flow in that time, rounded up. */
RF_INLINE __u64 rf_bucket_units(const struct rf_policy *policy, __u64 flow)
{
	return policy->cell ? ((flow << (policy->scale & 63)) + policy->cell - 1) / policy->cell
			    : 0;
}

/*
 * ITU-T I.371's virtual scheduling, told from when the bucket was empty and not from when it will
 * be full, so that another rate or burst neither forgets what was used nor shuts anybody out.
 */
RF_INLINE enum rf_verdict rf_take_bucket(struct rf_window *window, const struct rf_policy *policy,
					 __u64 time, __u32 cost)
{
	const __u64 now = rf_bucket_time(time), flow = rf_bucket_flow(policy, cost);

	for (int i = 0; i < RF_RETRIES; i++) {
		__u64 empty = rf_load(&window->head);
		__u64 level = rf_bucket_level(policy, empty, now);
		int ok = flow <= level && cost <= policy->limit;
		int alien = rf_bucket_is_alien(policy, empty, now); /* then it is empty now */

		if (!ok && !(rf_counts_rejected(policy) && level) && !alien)
			return RF_OVER;
		if (rf_cas(&window->head, empty, ok ? now - (level - flow) : now) == empty)
			return ok ? RF_UNDER : RF_OVER;
	}
	return RF_LOST_RACES;
}

/* ---- the question ---- */

/* A newcomer's window: nothing was charged to it. */
RF_INLINE void rf_window_start(struct rf_window *window, const struct rf_policy *policy, __u64 time)
{
	if (rf_is_log(policy) || rf_is_bucket(policy))
		*window = (struct rf_window){};
	else
		rf_window_open(window, rf_epoch(policy, time));
}

/*
 * A window to which as much was charged, while others charge it. The head first: it counts the
 * cells behind it as well, so a cell that is closed meanwhile is not missed.
 */
RF_INLINE void rf_window_copy(struct rf_window *copy, const struct rf_window *window)
{
	copy->head = rf_load(&window->head);
	copy->newest = rf_load(&window->newest);
	for (int i = 0; i < RF_CELLS; i++)
		copy->cell[i] = rf_load(&window->cell[i]);
}

/* What a frame of that length costs, in such units: 1 … RF_COST_MAX. */
RF_INLINE __u32 rf_units(__u8 unit, __u8 unit_shift, __u64 len_bytes)
{
	const __u32 shift = unit_shift & 31;
	__u64 units = (len_bytes + (1U << shift) - 1) >> shift;

	if (unit != RF_BYTES || !units)
		return 1;
	return units < RF_COST_MAX ? units : RF_COST_MAX;
}

/* … in units of L. */
RF_INLINE __u32 rf_cost(const struct rf_policy *policy, __u64 len_bytes)
{
	return rf_units(policy->unit, policy->unit_shift, len_bytes);
}

/* May this source have `cost` more at `time`? The one question asked of a limiter. */
RF_INLINE enum rf_verdict rf_take(struct rf_window *window, const struct rf_policy *policy,
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

/* ---- the same question, without taking ---- */

/* What the head's cell will have in the ring, once it is closed. */
RF_INLINE __u32 rf_peek_own(const struct rf_window *window, const struct rf_policy *policy,
			    __u64 head)
{
	const __u32 epoch = rf_word_epoch(head), own = rf_head_own(window, policy, head);
	const __u64 word = rf_load(&window->cell[epoch % RF_CELLS]);

	return rf_word_epoch(word) == epoch && rf_word_used(word) > own ? rf_word_used(word) : own;
}

/*
 * What the completed cells have at `now`, the head's among them, which is in an older one. Its own
 * slot is left out of the sum: another CPU may write it meanwhile, and it would count twice.
 */
RF_INLINE __u64 rf_peek_sum(const struct rf_window *window, const struct rf_policy *policy,
			    __u64 head, __u64 now)
{
	const __u32 own_epoch = rf_word_epoch(head);
	__u64 sum = 0;

	for (int i = 0; i < RF_CELLS; i++) {
		const __u64 word = rf_load(&window->cell[i]);
		const __u32 epoch = rf_word_epoch(word), age = (__u32)now - epoch;

		if (age - 1 < policy->cells - 1U && epoch != own_epoch)
			sum += rf_word_used(word);
	}
	sum = sum < RF_LIMIT_MAX ? sum : RF_LIMIT_MAX;
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

RF_INLINE int rf_peek_bucket(const struct rf_window *window, const struct rf_policy *policy,
			     __u64 time, __u32 cost)
{
	const __u64 empty = rf_load(&window->head), now = rf_bucket_time(time);
	const __u64 level = rf_bucket_level(policy, empty, now);

	if (rf_bucket_is_alien(policy, empty, now))
		return 1; /* the take will tell, and write over it */
	return rf_bucket_flow(policy, cost) <= level && cost <= policy->limit;
}

/*
 * Would it pass, as things stand? For a packet that several limits must let pass: all of them are
 * asked before any is charged.
 */
RF_INLINE int rf_peek(const struct rf_window *window, const struct rf_policy *policy, __u64 time,
		      __u32 cost)
{
	if (rf_is_log(policy))
		return rf_log_read(window, policy, time).used < policy->limit;
	if (rf_is_bucket(policy))
		return rf_peek_bucket(window, policy, time, cost);
	if (rf_is_weighted(policy))
		return rf_peek_weighted(window, policy, time, cost);
	if (rf_has_room_at_once(window, policy, cost))
		return 1;
	return rf_peek_sliding(window, policy, time, cost);
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
			       __u64 now)
{
	__u64 head = rf_load(&window->head);
	__u64 sum = 0;

	if (rf_head_is_present(window, policy, head, now))
		return rf_word_used(head) < policy->clip ? rf_word_used(head) : policy->clip;
	for (__u32 age = 0; age < policy->cells && age < RF_CELLS; age++)
		sum += rf_window_cell(window, policy, now - age);
	return sum < 0xffffffffU ? sum : 0xffffffffU;
}

/* The same at `time`, by the weighted estimate. */
RF_INLINE __u64 rf_window_estimate(const struct rf_window *window, const struct rf_policy *policy,
				   __u64 time)
{
	__u64 now = rf_epoch(policy, time), head = rf_load(&window->head);
	__u32 used = rf_window_used(window, policy, now), base;
	struct rf_window copy = *window;

	/* Another CPU's clock may be ahead of the reader's; the window goes by the head's. */
	if (rf_head_is_present(window, policy, head, now))
		now = rf_word_epoch(head);
	else
		rf_head_close(&copy, policy, head, now, &base); /* it may be on the edge */
	return used + rf_edge_part(&copy, policy, now, time);
}

/* What counts against L at `time`, in units of L; of a bucket, what is missing of its burst. */
RF_INLINE __u64 rf_used(const struct rf_window *window, const struct rf_policy *policy, __u64 time)
{
	__u64 level;

	if (rf_is_log(policy))
		return rf_log_read(window, policy, time).used;
	if (rf_is_weighted(policy))
		return rf_window_estimate(window, policy, time);
	if (!rf_is_bucket(policy))
		return rf_window_used(window, policy, rf_epoch(policy, time));
	level = rf_bucket_level(policy, rf_load(&window->head), rf_bucket_time(time));
	return rf_bucket_units(policy, policy->depth - level);
}

/* Would `cost` pass at `time`? Asked of a copy, so that it is the limiter's own answer. */
RF_INLINE int rf_would_pass(const struct rf_window *window, const struct rf_policy *policy,
			    __u64 time, __u32 cost)
{
	struct rf_window copy = *window;

	return rf_take(&copy, policy, time, cost) == RF_UNDER;
}

/*
 * Units of the policy's clock from `time` until `cost` would pass if nothing else came: 0 when it
 * passes now, ~0 when it never does (cost > L). Room that is there stays, so halving finds it.
 */
RF_INLINE __u64 rf_window_passes_again(const struct rf_window *window,
				       const struct rf_policy *policy, __u64 time, __u32 cost)
{
	struct rf_window copy = *window;
	__u64 low = 0, high = 1;

	if (cost > policy->limit)
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

#endif /* RINGFENCE_LIMITER_H */
