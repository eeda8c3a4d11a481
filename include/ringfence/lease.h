/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Leases: per-CPU cached verdicts that avoid the shared window, in front of the limiter. Pure
 * functions like limiter.h, which tests and the explorer run. A lease belongs to one CPU; only
 * accesses to a window are atomic.
 *
 * Over the limit, a lease refuses packets that cost more than `threshold`, until the window could
 * have room. Under the limit, the lease of a busy source spends credits: units that it charged to
 * the window in advance, and that expire with the cell in which they were charged. The window has
 * therefore counted a packet before the packet passes, and the bounds of limiter.h hold. The lease
 * of a source that sends too little for credits spends a loan, which its window counts as used for
 * several seconds; see loan.h. An example of credits with N = 4 and L = 100:
 *
 *                           cells                   sum   room
 *                           20    30    10    25     85     15
 *   a CPU takes 8 credits   20    30    10    33     93      7
 *   … passes 5 packets      20    30    10    33     93      7   nothing is written
 *   the next cell starts    30    10    33     0     73     27   3 credits are lost
 *
 * Lost credits remain charged as if they had passed. They are at most 1/32 of L in N consecutive
 * cells, over all CPUs: a CPU holds at most 1/64 of the units that it passed in this cell and in
 * the previous one, and the CPUs together pass at most L in these N cells, and at most L in the N
 * cells that start one earlier. An example with N = 4 and L = 6400:
 *
 *   cell              -1      0      1      2      3   sum of 0 to 3
 *   passed          1550   1550   1550   1550   1550   6200
 *   credits, most            48     48     48     48    192, at most 6400 / 32 = 200
 *
 * An even sender therefore loses nothing up to 31/32 of the rate in limiter.h. Credits are also at
 * most 1/16 of the remaining room, to let every CPU take the last of it. If less than 1/8 of L
 * remains, no CPU takes any. A sender this close to L has lost credits only from its first N cells;
 * after these it loses nothing up to the full rate. A refusal expires the credits of a lease, and
 * packets that passed before it no longer count for a share.
 *
 * Credits are never returned to the window. Closing a cell relies on a head that only grows within
 * its cell: of two sums of a cell, the larger one is assumed to be the later one. If credits were
 * returned:
 *
 *                                                head             ring
 *   cell 7 has 33, those behind it 60            cell 7:  93      60
 *   B reads the head to close cell 7, stalls     cell 7:  93      60
 *   A returns 3 credits                          cell 7:  90      60
 *   C closes cell 7 with 30, starts cell 8       cell 8:  90      60 + 30
 *   C admits 10 in cell 8                        cell 8: 100      60 + 30
 *   B continues, and raises cell 7 to 33         cell 8: 100      60 + 33
 *
 * When cell 8 is closed, it has 100 - 93 = 7, although it admitted 10: three are forgotten.
 *
 * A packet that several limits pass is charged to each of them, and so are its credits: the same
 * number to each, as many as the limit with the least room allows, until the first of their cells
 * expires. These expiries cut time into segments, and a share is computed from the units that
 * passed in this segment and in the previous one. The segment before a limit's N cells can be as
 * long as a cell of a different limit, in which another L might have passed. The share is therefore
 * 1/96: (L + 2 L) / 96 is 1/32 of L again. If one window was charged and the next lost the race,
 * these credits are lost, and the share is computed from zero again. The share is the same if
 * leases expire at the multiples of a span.
 *
 * There are no credits under `log`, `token` and `leaky`, because an early charge would count at a
 * different time than its packet; under limits timed in ns, because jiffies can lag behind that
 * clock; under limits that are `exact`; and if limits count in different units.
 */
#ifndef RINGFENCE_LEASE_H
#define RINGFENCE_LEASE_H

#include "abi.h"
#include "limiter.h"
#include "window_reopen.h"

#ifndef RF_CREDITS_PER_SPENT
#define RF_CREDITS_PER_SPENT 64 /* see above */
#define RF_CREDITS_PER_SPENT_OF_SEVERAL 96
#define RF_CREDITS_PER_ROOM 16
#endif
#ifndef RF_LIMIT_TO_LEASE
#define RF_LIMIT_TO_LEASE rf_limit_of /* the program has no stack for it here */
#endif
#define RF_CREDITS_EDGE 8 /* no credits where less than this part of L is left */
#define RF_CREDITS_MAX (1U << 14)
#define RF_TAKEN_MAX ((1U << 20) - 1) /* then the share is nearly RF_CREDITS_MAX */
#define RF_SPENT_UNIT 16U
#define RF_SPENT_LOG_MAX 14		/* plus 1, it fits four bits */
#define RF_PENDING_MAX (1U << 19)	/* bytes; so `packets`, 14 bytes each, cannot wrap */
#define RF_LEASE_GRACE 2		/* ticks */
#define RF_UNTIL_MAX ((1ULL << 39) - 1) /* jiffies: 17 years, if there are 1000 a second */

/* One unit of each field, added to its whole word: the first field has the lowest bits, or the
 * highest. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define RF_CREDIT_ONE 1U
#define RF_PACKET_ONE 1U
#define RF_WANTED (1U << 16)
#define RF_BYTE_ONE 1U
#else
#define RF_CREDIT_ONE (1U << 12)
#define RF_PACKET_ONE (1U << 16)
#define RF_WANTED (1U << 15)
#define RF_BYTE_ONE (1U << 11)
#endif

/* ---- the key and the verdict of a lease ---- */

_Static_assert(RF_REASON_COUNT <= 1 << 5, "rf_lease.reason holds any reason");

RF_INLINE __u32 rf_who_rules(__u32 generation, __u32 class, int is_ipv6)
{
	return generation << 9 | class << 1 | is_ipv6;
}

/* The parts of `rules`, of a packet or of a lease. */
RF_INLINE __u32 rf_rules_generation(__u32 rules)
{
	return rules >> 9;
}

RF_INLINE __u32 rf_rules_bank(__u32 rules)
{
	return rf_rules_generation(rules) & 1;
}

RF_INLINE __u32 rf_rules_packet_class(__u32 rules)
{
	return rules >> 1 & 0xff;
}

RF_INLINE int rf_rules_are_ipv6(__u32 rules)
{
	return rules & 1;
}

/* Do they have that generation or a later one? Modulo 2^23. */
RF_INLINE int rf_rules_are_since(__u32 rules, __u32 since_generation)
{
	return (__s32)((rules & ~511U) - (since_generation << 9)) >= 0;
}

RF_INLINE int rf_rules_are_of(__u32 rules, __u32 generation)
{
	return rf_rules_generation(rules) == (generation & 0x7fffff);
}

/* Sets the limits that the lease counts for. Unused places repeat slot0. */
RF_INLINE void rf_lease_set_slots(struct rf_lease *lease, const __u8 slot[RF_CHARGED_MAX],
				  int count)
{
	lease->slot0 = slot[0];
	lease->slot1 = count > 1 ? slot[1] : slot[0];
	lease->slot2 = count > 2 ? slot[2] : slot[0];
	lease->slot3 = count > 3 ? slot[3] : slot[0];
}

/* 1: the lease has several limits. Without a branch, which would double the verifier's paths. */
RF_INLINE __u32 rf_lease_has_several(const struct rf_lease *lease)
{
	__u32 differ = lease->slot1 ^ lease->slot0; /* less than 32 */

	RF_OPAQUE(differ);
	return (differ + 31) >> 5;
}

/* Did limits decide, rather than a list or the absence of limits? */
RF_INLINE int rf_lease_has_slots(const struct rf_lease *lease)
{
	return lease->reason != RF_ALLOWED && lease->reason != RF_DENIED &&
	       lease->reason != RF_NO_LIMIT;
}

/* Reads the limits back, and returns their number; 0 if the verdict is not by limits. */
RF_INLINE int rf_lease_slots(const struct rf_lease *lease, __u32 slot[RF_CHARGED_MAX])
{
	int count = 1;

	if (!rf_lease_has_slots(lease))
		return 0;
	slot[0] = lease->slot0;
	slot[1] = lease->slot1;
	slot[2] = lease->slot2;
	slot[3] = lease->slot3;
	while (count < RF_CHARGED_MAX && slot[count] != slot[0])
		count++;
	return count;
}

/* The reason under which the limit in slot number `i` counts the packets of this lease. */
RF_INLINE enum rf_reason rf_lease_reason(const struct rf_lease *lease, int i)
{
	if (!(lease->over >> i & 1))
		return RF_UNDER_LIMIT;
	return lease->reason >= RF_FIRST_DROP ? lease->reason : RF_SHADOW_OVER;
}

/* Is it of that source and packet class, under any rules? */
RF_INLINE int rf_lease_is_of(const struct rf_lease *lease, const struct rf_who *who)
{
	return lease->source == who->source[0] && !((lease->rules ^ who->rules) & 511);
}

/* Compares the whole key: no source may use the verdict of another source. */
RF_INLINE int rf_lease_is_for(const struct rf_lease *lease, const struct rf_who *who)
{
	return lease->source == who->source[0] && lease->rules == who->rules;
}

/*
 * Is the lease still valid? It hides its source from the slots, so it expires before the source
 * appears idle there. (`ends` wraps: a lease unused for 128 ticks seems young again. That is
 * harmless, unless its window was evicted in the meantime, which requires a source that hardly ever
 * sends.)
 */
RF_INLINE int rf_lease_is_live(const struct rf_lease *lease, __u64 jiffies, __u32 tick)
{
	return jiffies < lease->until && (__s8)(lease->ends - tick) > 0;
}

/* Does its window certainly exist? With a guard, no source is evicted so soon after a packet. */
RF_INLINE int rf_lease_is_fresh(const struct rf_lease *lease, __u32 tick)
{
	return (__s8)(lease->ends + RF_LEASE_GRACE - tick) > 0;
}

/* Is so little of L left that credits are not worth their possible loss? */
RF_INLINE int rf_is_near_limit(__u32 limit, __u64 used)
{
	return used > limit - limit / RF_CREDITS_EDGE;
}

/*
 * Is a lease worth its cache lines, after a packet of `cost` passed? Credits are a share of the
 * units that a CPU passed in two cells. The window must therefore have passed enough that the share
 * of an even sender pays for a packet, and must have left room for credits.
 *
 * If the ring counts in units, a closed cell with one packet counts a whole unit, so a sparse
 * source would appear busy. The head must therefore count more than a unit for each cell; or its
 * remainder beyond whole units, which its own cell has passed, must reach the required units of
 * that cell.
 */
RF_INLINE int rf_lease_is_worth(const struct rf_window *window, const struct rf_policy *policy,
				__u32 cost)
{
	const __u64 passed = rf_word_used(rf_load(&window->head));
	const __u64 in_cell = (__u64)RF_CREDITS_PER_SPENT / 2 * cost;
	const __u64 unit = 1ULL << (policy->used_shift & 31);

	return passed >= in_cell * (policy->cells + 1U) &&
	       (passed >= unit * policy->cells || (passed & (unit - 1)) >= in_cell) &&
	       !rf_is_near_limit(RF_LIMIT_TO_LEASE(window, policy), passed);
}

/*
 * Does a live lease handle a packet of `cost`? If so, it has counted the packet, and touched only
 * its own cache line. Whole words are added to; no field overflows into the next, because `credits`
 * are at least `cost`, and `packets` and `bytes` remain below RF_PENDING_MAX.
 */
RF_INLINE int rf_lease_answers(struct rf_lease *lease, __u32 cost, __u32 len_bytes)
{
	if (lease->bytes >= RF_PENDING_MAX)
		return 0;
	if (lease->has_credits) {
		if (cost > lease->credits)
			return 0;
		lease->credits_word -= cost * RF_CREDIT_ONE;
	} else if (cost <= lease->threshold) {
		return 0;
	}
	lease->packets_word = (lease->packets_word & ~RF_WANTED) + RF_PACKET_ONE;
	lease->bytes_word += len_bytes * RF_BYTE_ONE;
	return 1;
}

/*
 * The latest expiry of a lease, in jiffies: the next multiple of `span`, so credits taken until
 * then expire together. Span 0: never.
 */
RF_INLINE __u64 rf_lease_end_by(__u64 jiffies, __u32 span)
{
	return span ? jiffies - jiffies % span + span : RF_FOREVER;
}

/* Invalidates the lease. */
RF_INLINE void rf_lease_end(struct rf_lease *lease)
{
	lease->until = 0;
	lease->credits = lease->taken = lease->spent_before = 0;
	lease->has_credits = lease->is_loan = 0;
}

RF_INLINE void rf_lease_set_until(struct rf_lease *lease, __u64 jiffies)
{
	lease->until = jiffies <= RF_UNTIL_MAX ? jiffies : 0;
}

/* ---- credits ---- */

RF_INLINE int rf_lease_may_hold_credits(const struct rf_policy *policy)
{
	return policy->clock == RF_JIFFIES && !(policy->flags & RF_EXACT) && !rf_is_log(policy) &&
	       !rf_is_bucket(policy);
}

/*
 * The room of a window for credits, by its `head`. A weighted edge counts in full here, and so does
 * all that the window could lend while credits are charged.
 */
RF_INLINE __u32 rf_head_room(const struct rf_window *window, const struct rf_policy *policy,
			     __u64 head)
{
	__u64 used = rf_word_used(head);
	__u32 limit;

	if (rf_is_weighted(policy))
		used += rf_edge_used(window, policy, rf_word_epoch(head));
	limit = rf_limit_of(window, policy);
	if (rf_is_near_limit(limit, used))
		return 0;
	used += rf_lent_most(policy);
	return (limit - used) & -rf_less(used, limit);
}

/* Units spent in the cell that `until` ends. */
RF_INLINE __u32 rf_lease_spent(const struct rf_lease *lease)
{
	return (__u32)lease->taken - (__u32)lease->credits;
}

/* Units spent in the cell before, rounded down to a power of two. */
RF_INLINE __u32 rf_lease_spent_before(const struct rf_lease *lease)
{
	return lease->spent_before ? RF_SPENT_UNIT << (lease->spent_before - 1) : 0;
}

/*
 * How many credits to take. Credits that the lease still holds, left by a packet that cost more,
 * are part of its share. None if the share would not pay for a packet that costs as much as the
 * last one.
 */
RF_INLINE __u32 rf_lease_wants(const struct rf_lease *lease, __u32 room, __u32 cost, __u32 span)
{
	__u32 in_parts = span + 255; /* span is below 256; without a branch, too */
	__u32 share = rf_lease_spent(lease) + rf_lease_spent_before(lease);

	RF_OPAQUE(in_parts);
	in_parts = rf_lease_has_several(lease) | in_parts >> 8;
	share /= RF_CREDITS_PER_SPENT +
		 in_parts * (RF_CREDITS_PER_SPENT_OF_SEVERAL - RF_CREDITS_PER_SPENT);
	if (share > room / RF_CREDITS_PER_ROOM)
		share = room / RF_CREDITS_PER_ROOM;
	if (share > RF_CREDITS_MAX)
		share = RF_CREDITS_MAX;
	return share > lease->credits && share >= cost ? share - lease->credits : 0;
}

/* `units` more were charged, for a packet or as credits. */
RF_INLINE void rf_lease_charge(struct rf_lease *lease, __u32 units)
{
	const __u32 taken = (__u32)lease->taken + units; /* a cost is less than 2^20 */

	lease->taken = taken < RF_TAKEN_MAX ? taken : RF_TAKEN_MAX;
}

/* The units spent, for the next cell: log2 in RF_SPENT_UNITs, plus 1; 0: none. */
RF_INLINE __u32 rf_lease_spent_log(const struct rf_lease *lease)
{
	const __u32 units = rf_lease_spent(lease) / RF_SPENT_UNIT;
	__u32 log = 0;

	for (__u32 step = 8; step; step /= 2)
		if (units >> (log + step))
			log += step;
	if (log > RF_SPENT_LOG_MAX)
		log = RF_SPENT_LOG_MAX;
	return units ? log + 1 : 0;
}

/* The lease can hold credits from `start` to `end`; credits of any other interval expire. */
RF_INLINE void rf_lease_enter(struct rf_lease *lease, __u64 start, __u64 end)
{
	const __u32 has_credits = lease->has_credits & ~(__u32)lease->is_loan;

	if (has_credits && lease->until == end)
		return;
	lease->spent_before = has_credits && lease->until == start ? rf_lease_spent_log(lease) : 0;
	lease->taken = 0;
	lease->credits = 0;
	lease->has_credits = 1;
	lease->is_loan = 0;
	rf_lease_set_until(lease, end);
}

/*
 * Some windows were charged and another was not: these credits are lost. The share is computed from
 * zero again, so at most one share of the passed units is lost.
 */
RF_INLINE void rf_lease_forget_spent(struct rf_lease *lease)
{
	lease->taken = lease->credits;
	lease->spent_before = 0;
}

/* The windows that a packet was charged to, and their limits. NULL: not charged. */
struct rf_charged {
	struct rf_window *window[RF_CHARGED_MAX];
	const struct rf_policy *policy[RF_CHARGED_MAX];
	__u64 head[RF_CHARGED_MAX];
	__u64 start; /* jiffies: when the last of their cells started */
	__u64 end;   /* jiffies: when the first of their cells expires */
	__u32 room;  /* of the window that has the least */
};

/* Reads all windows. False: one has advanced further than a tag can show. */
RF_INLINE int rf_charged_read(struct rf_charged *charged, __u64 jiffies)
{
	RF_UNROLL
	for (int i = 0; i < RF_CHARGED_MAX; i++) {
		const struct rf_policy *policy = charged->policy[i];
		__u64 head, epoch, time;
		__u32 ahead, room;

		if (!charged->window[i])
			continue;
		head = rf_load(&charged->window[i]->head);
		charged->head[i] = head;
		room = rf_head_room(charged->window[i], policy, head);
		if (room < charged->room)
			charged->room = room;
		epoch = rf_epoch(policy, jiffies);
		ahead = rf_word_epoch(head) - (__u32)epoch;
		if (ahead > RF_CELLS_AHEAD)
			return 0;
		epoch += ahead;
		time = rf_epoch_start(policy, epoch);
		if (time > charged->start)
			charged->start = time;
		time = rf_epoch_start(policy, epoch + 1);
		if (time < charged->end)
			charged->end = time;
	}
	return 1;
}

enum rf_taken {
	RF_TAKEN_NONE,
	RF_TAKEN_SOME, /* one lost a race after others were charged */
	RF_TAKEN_ALL,
};

/* Charges `units` to each window that is unchanged since it was read. */
RF_INLINE enum rf_taken rf_charged_take(struct rf_charged *charged, __u32 units)
{
	enum rf_taken taken = RF_TAKEN_NONE;

	RF_UNROLL
	for (int i = 0; i < RF_CHARGED_MAX; i++) {
		const __u64 head = charged->head[i];

		if (!charged->window[i])
			continue;
		if (rf_cas(&charged->window[i]->head, head, head + units) != head)
			return taken;
		taken = RF_TAKEN_SOME;
	}
	return RF_TAKEN_ALL;
}

/*
 * After a packet has passed: takes credits for the next packets. By compare-and-swap, because a
 * fetch-add that finds no room would leave its cost behind. One attempt; having no credits is
 * harmless. Credits expire at `end`, in jiffies, at the latest, and at the next multiple of `span`,
 * unless it is 0.
 */
RF_INLINE void rf_lease_take_credits(struct rf_lease *lease, struct rf_charged *charged,
				     __u64 jiffies, __u32 cost, __u64 end, __u32 span)
{
	enum rf_taken taken;
	__u32 wants;

	charged->start = span ? jiffies - jiffies % span : 0;
	charged->end = end;
	charged->room = ~0U;
	if (!rf_charged_read(charged, jiffies)) {
		rf_lease_end(lease);
		return;
	}
	rf_lease_enter(lease, charged->start, charged->end);
	rf_lease_charge(lease, cost);
	wants = rf_lease_wants(lease, charged->room, cost, span);
	if (!wants)
		return;
	taken = rf_charged_take(charged, wants);
	if (taken == RF_TAKEN_ALL) {
		rf_lease_charge(lease, wants);
		lease->credits += wants;
	} else if (taken == RF_TAKEN_SOME) {
		rf_lease_forget_spent(lease);
	}
}

/* ---- loans ---- */

/*
 * Of a loan, `credits` are the units left for the present frame, and `taken` is
 * {size:7 | period:5 | frame:5}. The size is {log:4 | eighths:3}: 2^log units, and that many
 * eighths of them more.
 */
#define RF_LEASE_FRAME_BITS 5
#define RF_LEASE_TERMS_BITS 10
#define RF_LOAN_EIGHTHS_BITS 3

RF_INLINE __u32 rf_lease_frame(const struct rf_lease *lease)
{
	return lease->taken & 31;
}

RF_INLINE __u32 rf_lease_period(const struct rf_lease *lease)
{
	return lease->taken >> RF_LEASE_FRAME_BITS & 31;
}

RF_INLINE __u32 rf_loan_units(__u32 size)
{
	const __u32 eighths = 8 + size % 8;

	return eighths << (size >> RF_LOAN_EIGHTHS_BITS & 15) >> RF_LOAN_EIGHTHS_BITS;
}

/* The largest size of at most so many units, at least 1. */
RF_INLINE __u32 rf_loan_size(__u32 units)
{
	const __u32 most = rf_least(units, RF_LOAN_OF_LEASE_MAX);
	__u32 log = 0;

	for (__u32 step = 8; step; step /= 2)
		log += step & -rf_less(0, most >> step >> log);
	return log << RF_LOAN_EIGHTHS_BITS | (most << RF_LOAN_EIGHTHS_BITS >> log) % 8;
}

/* The units of a loan that one frame passes. An interval meets two, unless there is only one. */
RF_INLINE __u32 rf_loan_in_frame(__u32 units, __u32 frame, __u32 period)
{
	return units >> rf_less(frame, period);
}

/* Does the lease have a loan that has not expired? */
RF_INLINE int rf_lease_has_loan(const struct rf_lease *lease, __u64 jiffies)
{
	/* The last jiffy of the frame is in the same period. */
	const __u64 last = (lease->until - 1) | ((1ULL << rf_lease_period(lease)) - 1);

	return lease->is_loan && jiffies <= last;
}

/*
 * Starts the frame of a loan in which `jiffies` lies, if the one before has ended. False: the lease
 * does not have a loan that is active.
 */
RF_INLINE int rf_lease_next_frame(struct rf_lease *lease, __u64 jiffies)
{
	if (!rf_lease_has_loan(lease, jiffies) || jiffies < lease->until)
		return 0;
	lease->until = (jiffies | ((1ULL << rf_lease_frame(lease)) - 1)) + 1;
	lease->credits = rf_loan_in_frame(rf_loan_units(lease->taken >> RF_LEASE_TERMS_BITS),
					  rf_lease_frame(lease), rf_lease_period(lease));
	return 1;
}

/* What windows can lend to a lease, and for how long; in one word. */
struct rf_loan_terms {
	__u32 room;   /* of the window that has the least */
	__u8 frame;   /* the longest */
	__u8 period;  /* the shortest */
	__u8 is_busy; /* the source sends enough for credits, and needs no loan */
	__u8 unused;
};

RF_INLINE struct rf_loan_terms rf_loan_terms(const struct rf_window *window,
					     const struct rf_policy *policy, __u64 jiffies,
					     __u32 cost)
{
	return (struct rf_loan_terms){
		.room = rf_loan_room_of(window, policy, jiffies),
		.frame = policy->loan_frame,
		.period = policy->loan_period,
		.is_busy = rf_lease_is_worth(window, policy, cost),
	};
}

/* The terms of several windows. */
RF_INLINE struct rf_loan_terms rf_loan_terms_join(struct rf_loan_terms one,
						  struct rf_loan_terms other)
{
	return (struct rf_loan_terms){
		.room = rf_least(one.room, other.room),
		.frame = rf_most(one.frame, other.frame),
		.period = rf_least(one.period, other.period),
		.is_busy = one.is_busy & other.is_busy,
	};
}

/* The units that the lease has borrowed on the same terms, for the present period. */
RF_INLINE __u32 rf_lease_borrowed(const struct rf_lease *lease, struct rf_loan_terms terms,
				  __u64 jiffies)
{
	if (!rf_lease_has_loan(lease, jiffies) || rf_lease_frame(lease) != terms.frame ||
	    rf_lease_period(lease) != terms.period)
		return 0;
	return rf_loan_units(lease->taken >> RF_LEASE_TERMS_BITS);
}

/* What a loan of `had` units passes more in a frame once it has that size. */
RF_INLINE __u32 rf_loan_gains(struct rf_loan_terms terms, __u32 had, __u32 size)
{
	return rf_loan_in_frame(rf_loan_units(size), terms.frame, terms.period) -
	       rf_loan_in_frame(had, terms.frame, terms.period);
}

/*
 * The size to which the loan of a lease grows. It takes half of the room, to leave the rest to any
 * CPU that needs it; all, if half is too little for a packet of `cost`.
 */
RF_INLINE __u32 rf_lease_grown(const struct rf_lease *lease, struct rf_loan_terms terms, __u32 had,
			       __u32 cost)
{
	const __u32 left = had ? lease->credits : 0;
	const __u32 half = rf_loan_size(had + (terms.room + 1) / 2);

	return left + rf_loan_gains(terms, had, half) >= cost ? half
							      : rf_loan_size(had + terms.room);
}

/* The units to borrow for a lease, after a packet of `cost`; 0: none. */
RF_INLINE __u32 rf_lease_wants_loan(const struct rf_lease *lease, struct rf_loan_terms terms,
				    __u64 jiffies, __u32 cost)
{
	const __u32 had = rf_lease_borrowed(lease, terms, jiffies);
	const __u32 left = had ? lease->credits : 0;
	const __u32 size = rf_lease_grown(lease, terms, had, cost);

	if (!terms.room || terms.frame > terms.period || left >= cost ||
	    left + rf_loan_gains(terms, had, size) < cost)
		return 0;
	return rf_loan_units(size) - had;
}

/* All windows have lent what rf_lease_wants_loan() returned. */
RF_INLINE void rf_lease_set_loan(struct rf_lease *lease, struct rf_loan_terms terms, __u64 jiffies,
				 __u32 cost)
{
	const __u32 had = rf_lease_borrowed(lease, terms, jiffies);
	const __u32 size = rf_lease_grown(lease, terms, had, cost);

	if (had) {
		rf_lease_next_frame(lease, jiffies);
	} else {
		rf_lease_end(lease);
		lease->reason = RF_UNDER_LIMIT;
		lease->over = 0;
		lease->has_credits = lease->is_loan = 1;
		rf_lease_set_until(lease, (jiffies | ((1ULL << terms.frame) - 1)) + 1);
	}
	lease->credits += rf_loan_gains(terms, had, size);
	lease->taken =
		size << RF_LEASE_TERMS_BITS | terms.period << RF_LEASE_FRAME_BITS | terms.frame;
}

/* ---- refusals: until the window could have room ---- */

/*
 * The time `reopens`, in the policy's clock, as jiffies, rounded down: the lease must expire before
 * there is room. Jiffies can lag behind the clock in ns, if a hypervisor stops the CPU that counts
 * them; after RF_JIFFIES_LAG jiffies the kernel lets a different CPU count.
 */
RF_INLINE __u64 rf_lease_until(const struct rf_policy *policy, const struct rf_ask *ask,
			       __u64 reopens)
{
	__u64 ticks;

	if (policy->clock == RF_JIFFIES)
		return reopens;
	if (reopens <= ask->time || !ask->tick_ns)
		return 0;
	ticks = (reopens - ask->time) / ask->tick_ns;
	return ticks > RF_JIFFIES_LAG ? ask->jiffies + ticks - RF_JIFFIES_LAG : 0;
}

/* Until when a packet of the same cost is refused, in jiffies; 0: unknown. */
RF_INLINE __u64 rf_refused_until(const struct rf_window *window, const struct rf_policy *policy,
				 const struct rf_ask *ask)
{
	const __u64 until = rf_lease_until(policy, ask, rf_reopens(window, policy, ask));

#ifdef RF_WITH_SHARES
	/* A share can grow at any time. */
	if (policy->flags & RF_FLEET && ask->tick_ns)
		return rf_least(until, rf_shared_refusal(window, ask->jiffies, ask->tick_ns));
#endif
	return until;
}

/* Repeats `reason` to packets that cost more than `threshold`, until `until`. */
RF_INLINE void rf_lease_repeat(struct rf_lease *lease, enum rf_reason reason, __u32 threshold,
			       __u64 until)
{
	rf_lease_end(lease);
	lease->reason = reason;
	lease->threshold = threshold;
	rf_lease_set_until(lease, until);
}

/* ---- the verdict of one window, and its lease ---- */

/* Can a lease repeat that verdict? If not, the caller does not touch leases. */
RF_INLINE int rf_lease_may_follow(const struct rf_policy *policy, int verdict)
{
	if (verdict == RF_UNDER)
		return rf_lease_may_hold_credits(policy);
	return verdict == RF_OVER && !(policy->flags & (RF_COUNT_REJECTED | RF_BANS_BY_SUM));
}

/*
 * Renews the lease after the window has returned `verdict`. The lease belongs to this source and to
 * packets to which only this limit applies, and its pending counts are 0. A lease that passes
 * packets expires at the next multiple of `span` jiffies; 0: no such expiry. The lease loses its
 * loan, which counts until it expires.
 */
RF_INLINE void rf_lease_renew(struct rf_lease *lease, struct rf_window *window,
			      const struct rf_policy *policy, const struct rf_ask *ask,
			      enum rf_verdict verdict, __u32 span)
{
	struct rf_charged charged = {.window = {window}, .policy = {policy}};
	const __u64 end = rf_lease_end_by(ask->jiffies, span);
	__u64 until;

	if (verdict == RF_UNDER && rf_lease_may_hold_credits(policy)) {
		lease->reason = RF_UNDER_LIMIT;
		lease->over = 0;
		rf_lease_take_credits(lease, &charged, ask->time, ask->cost, end, span);
	} else if (verdict == RF_OVER && !rf_counts_rejected(policy)) {
		lease->over = 1;
		until = rf_refused_until(window, policy, ask);
		if (policy->flags & RF_SHADOW)
			rf_lease_repeat(lease, RF_SHADOW_OVER, ask->cost - 1,
					until < end ? until : end);
		else
			rf_lease_repeat(lease, RF_OVER_LIMIT, ask->cost - 1, until);
	} else if (verdict != RF_LOST_RACES) {
		rf_lease_end(lease);
	}
}

#endif /* RINGFENCE_LEASE_H */
