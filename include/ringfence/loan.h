/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loans: a window lends units to a CPU for a period of several seconds, and counts them as
 * used all that time. During the period, the CPU passes that many packets in any interval of TIME
 * by its lease, without touching the window. So a source far below its limit, which sends too
 * little for credits (lease.h), costs one cache line for nearly every packet.
 *
 * Periods and frames are aligned to powers of two of jiffies. A frame is longer than TIME, so an
 * interval of TIME meets two frames at most; a period is a power of two of frames. A loan of k
 * units passes k/2 in each frame of its period, or k if the period is one frame; it can grow in its
 * period. CPUs return no units: a loan expires with its period.
 *
 *   period         |              7              |              8              | …
 *   frame          |  28  |  29  |  30  |  31  |  32  |  33  |  34  |  35  | …
 *   a CPU borrows           4 ^
 *   passes                    2      2      2    at most
 *   counted                   4      4      4      4      0      0      0
 *
 * One word of a window describes all its loans, {period:24 | before:20 | now:20}: the units lent in
 * that period and in the preceding one. The latter count until the first frame of the period has
 * ended, because their packets can be that recent.
 *
 * A grant raises `now`, then reads `head` again; if both together exceed L, the CPU does not use
 * the loan, which remains counted until it expires. An admission raises `head`, then reads the word
 * again. Both raises are full barriers, so of a grant and an admission that race at least one sees
 * the other. Only a grant writes the word. A CPU whose reading of the clock is of an earlier period
 * than the word grants nothing, and counts all that can be lent: it might have stalled between its
 * two steps, and the word no longer has the loans of that time.
 *
 * Why at most L pass in any interval of TIME: let T be the last time in it when the window admitted
 * a packet or granted a loan. At T, head and loans were at most L together. The head counted all
 * admissions of the interval up to T. Every other packet of the interval is of a loan that was
 * active at T, or expired less than TIME before: at most k of each, all counted. Without such a T,
 * all packets are of loans of one period, granted before the interval: at most L/16.
 *
 * A window lends while it uses at most half of L, and at most L/16 in a period; a grant is at most
 * four times the present use, so a source that was idle loses a few packets. A CPU borrows half of
 * what it could, and borrows again once it has used that: one CPU can get nearly all of L/16, and
 * several share it by need. A source that turns busy can lose up to L/16 until its loans expire,
 * and L/8 in the first frame of a period. A source that continues to flood is lent units again in
 * each period.
 *
 * A window that is created again for its source knows nothing of the loans of the window before. If
 * a window with loans can have been evicted, it starts with all that it could lend as lent, which
 * expires no earlier than any of these (rf_loans_all).
 *
 * No loans are granted under log, token, leaky and weighted windows, in ns, under `exact`, `count
 * rejected`, bans and shadow limits, and in the fleet: RF_LENDS. Limits whose TIME is longer than a
 * period do not grant any, either.
 */
#ifndef RINGFENCE_LOAN_H
#define RINGFENCE_LOAN_H

#include "algorithm.h"

#ifndef RF_LOAN_SHARE	 /* tests have smaller limits */
#define RF_LOAN_SHARE 16 /* of L, lent in a period at most */
#define RF_LOAN_ROOM 2	 /* of L, in use with the loan at most when it is granted */
#define RF_LOAN_BY_USE 4 /* times the present use, loans included, at most */
#endif
#define RF_LOAN_BITS 20
#define RF_LOAN_MAX ((1U << RF_LOAN_BITS) - 1)
#define RF_LOAN_OF_LEASE_MAX 0xffffU /* see rf_loan_size() */
#define RF_LOAN_PERIODS (1U << 24)
/*
 * A word further ahead is an old one, not of a CPU with a newer clock. A period has 2^10 ticks or
 * more.
 */
#define RF_LOAN_AHEAD (1U << (RF_STALL_TICKS_BITS - 10))

RF_INLINE __u64 rf_loans(__u64 period, __u32 before, __u32 now)
{
	return period << (2 * RF_LOAN_BITS) | (__u64)before << RF_LOAN_BITS | now;
}

RF_INLINE __u32 rf_loans_before(__u64 word)
{
	return word >> RF_LOAN_BITS & RF_LOAN_MAX;
}

RF_INLINE __u32 rf_loans_now(__u64 word)
{
	return word & RF_LOAN_MAX;
}

/* The number of periods from the word's to the present one, modulo 2^24. */
RF_INLINE __u32 rf_loans_age(__u64 word, const struct rf_policy *policy, __u64 jiffies)
{
	return ((jiffies >> (policy->loan_period & 31)) - (word >> (2 * RF_LOAN_BITS))) %
	       RF_LOAN_PERIODS;
}

/* 1 or 0, without a branch. */
RF_INLINE __u64 rf_is_negative(__u64 difference)
{
	RF_OPAQUE(difference); /* otherwise some compilers turn the shift into a branch */
	return difference >> 63;
}

/*
 * The units of that word that count as used: `now` until the first frame after its period has
 * ended, `before` until the first frame of its period has; all that can be lent, if the word is of
 * a later period. Without a branch, as other sums of a window.
 */
RF_INLINE __u32 rf_loans_count(__u64 word, const struct rf_policy *policy, __u64 jiffies)
{
	const __u32 frame = policy->loan_frame & 31, log = (policy->loan_period - frame) & 31;
	const __u64 ahead = (__u64)RF_LOAN_AHEAD << log;
	const __u64 first = word >> (2 * RF_LOAN_BITS) << log;
	/* Frames since the start of the word's period; negative if it is ahead. */
	const __u64 since =
		(((jiffies >> frame) - first + ahead) & (((__u64)RF_LOAN_PERIODS << log) - 1)) -
		ahead;
	const __u64 now = rf_is_negative(since - (1ULL << log) - 1);
	const __u64 before = rf_is_negative(since - 1), all = rf_is_negative(since);

	return ((rf_loans_now(word) & -now) + (rf_loans_before(word) & -before)) | -all;
}

/* The most that a window of that limit counts as lent, also after the limit was lowered. */
RF_INLINE __u32 rf_lent_most(const struct rf_policy *policy)
{
#ifdef RF_WITH_SHARES
	(void)policy;
	return 0; /* fences with shares grant no loans */
#else
	const __u32 has_loans = (policy->loan_frame + 31U) >> 5; /* 1 or 0 */

	return policy->limit / RF_LOAN_SHARE * 2 & -has_loans;
#endif
}

/* The units of that word that count as used. */
RF_INLINE __u32 rf_lent_by(__u64 word, const struct rf_policy *policy, __u64 jiffies)
{
	return rf_least(rf_loans_count(word, policy, jiffies), rf_lent_most(policy));
}

/* Units that count as used because they are lent. Most windows have never lent any. */
RF_INLINE __u32 rf_lent(const struct rf_window *window, const struct rf_policy *policy,
			__u64 jiffies)
{
#ifdef RF_WITH_SHARES
	(void)window, (void)policy, (void)jiffies;
	return 0;
#else
	const __u64 word = rf_load(&window->loans);

	return word ? rf_lent_by(word, policy, jiffies) : 0;
#endif
}

/* The first time after `jiffies` when loans can expire: the end of a frame. */
RF_INLINE __u64 rf_loans_expire(const struct rf_policy *policy, __u64 jiffies)
{
	return (jiffies | ((1ULL << (policy->loan_frame & 31)) - 1)) + 1;
}

/* The most that it lends in a period. */
RF_INLINE __u32 rf_loans_most(const struct rf_policy *policy)
{
	return rf_least(policy->limit / RF_LOAN_SHARE, RF_LOAN_MAX);
}

/* The word of a window that has lent all that it may. */
RF_INLINE __u64 rf_loans_all(const struct rf_policy *policy, __u64 jiffies)
{
	if (!(policy->flags & RF_LENDS))
		return 0;
	return rf_loans(jiffies >> (policy->loan_period & 31), 0, rf_loans_most(policy));
}

/* Can a loan of a window that was evicted at `evicted` be active? 0: none was evicted. */
RF_INLINE int rf_loans_may_outlast(const struct rf_policy *policy, __u64 evicted, __u64 jiffies)
{
	const __u32 period = policy->loan_period & 31;

	/* One period more: the CPU that evicted it might have stalled in between. */
	return evicted && (jiffies >> period) <= (evicted >> period) + 1;
}

/* The units that a window with that word, and `used` in its head, can lend. */
RF_INLINE __u32 rf_loan_room(const struct rf_policy *policy, __u64 word, __u32 used, __u64 jiffies)
{
	const __u32 age = rf_loans_age(word, policy, jiffies), most = rf_loans_most(policy);
	const __u64 in_use = (__u64)used + rf_loans_count(word, policy, jiffies);
	const __u32 half = policy->limit / RF_LOAN_ROOM;
	const __u32 lent = rf_loans_now(word) & -rf_less(age, 1);
	const __u32 lends = policy->flags / RF_LENDS & 1;
	const __u64 left = (most - lent) & -rf_less(lent, most);
	const __u64 by_use = rf_least(left, in_use * RF_LOAN_BY_USE);

	return rf_least(by_use, (half - in_use) & -rf_less(in_use, half)) & -lends;
}

RF_INLINE __u32 rf_loan_room_of(const struct rf_window *window, const struct rf_policy *policy,
				__u64 jiffies)
{
	return rf_loan_room(policy, rf_load(&window->loans), (__u32)rf_load(&window->head),
			    jiffies);
}

/* The word after `units` more were lent. */
RF_INLINE __u64 rf_loans_raised(__u64 word, const struct rf_policy *policy, __u64 jiffies,
				__u32 units)
{
	const __u32 age = rf_loans_age(word, policy, jiffies);

	if (!age)
		return word + units;
	return rf_loans(jiffies >> (policy->loan_period & 31), age == 1 ? rf_loans_now(word) : 0,
			units);
}

/*
 * Lends `units` to the CPU, if there still is room. False: it gets no loan; if a packet was
 * admitted at the same time, the units count as lent until they expire.
 */
RF_INLINE int rf_lend(struct rf_window *window, const struct rf_policy *policy, __u64 jiffies,
		      __u32 units)
{
	const __u64 word = rf_load(&window->loans);
	const __u64 raised = rf_loans_raised(word, policy, jiffies, units);
	__u64 used = (__u32)rf_load(&window->head);

	if (rf_loan_room(policy, word, used, jiffies) < units ||
	    rf_cas(&window->loans, word, raised) != word)
		return 0;
	used = (__u32)rf_load(&window->head); /* read after the word was raised */
	return used + rf_loans_count(raised, policy, jiffies) <= policy->limit;
}

#endif /* RINGFENCE_LOAN_H */
