/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Leases: what a CPU may answer without the window, in front of the limiter. Pure functions like
 * limiter.h, so that tests and the explorer run them; a lease is its CPU's alone, and only what
 * touches a window is atomic.
 *
 * Over the limit: refuse what costs more than `threshold`, until the window may have more. Under
 * the limit: spend credits, which were charged to the window when they were taken, until the cell
 * ends in which they were charged. So the bounds of limiter.h hold, and what is new is this:
 *
 *   Credits that are not spent when their cell ends stay charged. They are at most 1/32 of L in N
 *   consecutive cells over all CPUs: a CPU holds no more than 1/64 of what it passed in this cell
 *   and in the one before, and all CPUs together passed no more than L in either N cells. So an
 *   even sender loses nothing up to 31/32 of the rate that limiter.h says. Credits are also at
 *   most 1/16 of the room that is left, so that the last of it is anybody's. A refusal ends them,
 *   and what was passed before it no longer counts: those lost were its share.
 *
 *   Credits never go back. Whoever closes a cell relies on a head that only grows while it is in
 *   that cell: of two sums of it the larger one is taken for the later. One that was read before
 *   credits went back, and is written after the head moved on, would make the next cell forget as
 *   much of what it admitted.
 *
 * A packet that several limits let pass is charged to all of them, and its credits are: as many
 * units to each, as many as the one with the least room allows, until the first of their cells
 * ends. What was passed up to there and since the last such end is what a share is of: 1/96, since
 * the times before are not N cells of a limit whose cells are longer, but N and the end of another,
 * in which as much again may have passed. Where some were charged and another was not, since it
 * lost the race, those credits are lost, and the share starts anew. The same share where leases are
 * to end before their cells do, at the multiples of a span.
 *
 * No credits: of `log`, `token` and `leaky`, where what is charged early would count at another
 * time than it passes; where the window is not timed in jiffies, which may lag behind its clock;
 * of a limit that is `exact`; where limits count in different units.
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
#define RF_CREDITS_MAX (1U << 14)
#define RF_TAKEN_MAX ((1U << 20) - 1) /* that is a share of RF_CREDITS_MAX, all but */
#define RF_SPENT_UNIT 16U
#define RF_SPENT_LOG_MAX 14		/* and 1 more has four bits */
#define RF_PENDING_MAX (1U << 19)	/* bytes; so `packets`, 14 bytes each, cannot wrap */
#define RF_LEASE_GRACE 2		/* ticks */
#define RF_UNTIL_MAX ((1ULL << 40) - 1) /* jiffies: 34 years, if there are 1000 a second */
#ifndef RF_JIFFIES_LAG
#define RF_JIFFIES_LAG 5 /* MAX_STALLED_JIFFIES of the kernel's tick */
#endif

/* What the words of a lease grow by; the first field has the lowest bits, or the highest. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define RF_CREDIT_ONE 1U
#define RF_PACKET_ONE 1U
#define RF_WANTED (1U << 16)
#define RF_BYTE_ONE 1U
#else
#define RF_CREDIT_ONE (1U << 12)
#define RF_PACKET_ONE (1U << 16)
#define RF_WANTED (1U << 15)
#define RF_BYTE_ONE (1U << 10)
#endif

/* ---- what a lease answers: a reason, in four bits of which the highest tells a drop ---- */

#define RF_ANSWER_DROP 8U

/* Of those reasons that it may repeat, see enum rf_reason. */
RF_INLINE __u32 rf_answer_of(enum rf_reason reason)
{
	return reason < RF_FIRST_DROP ? reason : reason - RF_FIRST_DROP + RF_ANSWER_DROP;
}

RF_INLINE enum rf_reason rf_answer_reason(__u32 answer)
{
	return answer + answer / RF_ANSWER_DROP * (RF_FIRST_DROP - RF_ANSWER_DROP);
}

RF_INLINE int rf_answer_is_drop(__u32 answer)
{
	return answer >= RF_ANSWER_DROP;
}

RF_INLINE __u32 rf_who_rules(__u32 generation, __u32 class, int is_ipv6)
{
	return generation << 9 | class << 1 | is_ipv6;
}

/* What `rules` says, of a packet or of a lease. */
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

/* Are they of that generation, or of one since then? Modulo 2^23. */
RF_INLINE int rf_rules_are_since(__u32 rules, __u32 since_generation)
{
	return (__s32)((rules & ~511U) - (since_generation << 9)) >= 0;
}

RF_INLINE int rf_rules_are_of(__u32 rules, __u32 generation)
{
	return rf_rules_generation(rules) == (generation & 0x7fffff);
}

/* The limits whose packets it counts: each once, `slot0` in any case. */
RF_INLINE void rf_lease_set_slots(struct rf_lease *lease, const __u8 slot[RF_CHARGED_MAX],
				  int count)
{
	lease->slot0 = slot[0];
	lease->slot1 = count > 1 ? slot[1] : slot[0];
	lease->slot2 = count > 2 ? slot[2] : slot[0];
	lease->slot3 = count > 3 ? slot[3] : slot[0];
}

/* 1 or 0 without a branch, which the verifier would follow twice from each before. */
RF_INLINE __u32 rf_lease_has_several(const struct rf_lease *lease)
{
	__u32 differ = lease->slot1 ^ lease->slot0; /* less than 32 */

	RF_OPAQUE(differ);
	return (differ + 31) >> 5;
}

/* Is its answer one of limits? */
RF_INLINE int rf_lease_has_slots(const struct rf_lease *lease)
{
	return lease->answer != rf_answer_of(RF_ALLOWED) &&
	       lease->answer != rf_answer_of(RF_DENIED) &&
	       lease->answer != rf_answer_of(RF_NO_LIMIT);
}

/* … and reads them back; returns how many, 0 where it is the answer of none. */
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

/* As what its packets count for the limit that is number `i` of its slots: an answer of its own. */
RF_INLINE enum rf_reason rf_lease_reason(const struct rf_lease *lease, int i)
{
	if (!(lease->over >> i & 1))
		return RF_UNDER_LIMIT;
	return rf_answer_is_drop(lease->answer) ? rf_answer_reason(lease->answer) : RF_SHADOW_OVER;
}

/* The whole key: another source is never taken for it. */
RF_INLINE int rf_lease_is_for(const struct rf_lease *lease, const struct rf_who *who)
{
	return lease->source == who->source[0] && lease->rules == who->rules;
}

/*
 * May it answer? A lease hides its source from the slots, so it ends before that seems idle. (One
 * that answers nothing for 128 ticks seems young again. It is no less right for that, but where its
 * window was evicted meanwhile, and its source is one that hardly ever sends.)
 */
RF_INLINE int rf_lease_is_live(const struct rf_lease *lease, __u64 jiffies, __u32 tick)
{
	return jiffies < lease->until && (__s8)(lease->ends - tick) > 0;
}

/* Is its window there for certain? No source is evicted so soon after it was seen, by a guard. */
RF_INLINE int rf_lease_is_fresh(const struct rf_lease *lease, __u32 tick)
{
	return (__s8)(lease->ends + RF_LEASE_GRACE - tick) > 0;
}

/*
 * Is one worth its lines, after a packet of `cost` passed? Credits are a share of what a CPU passed
 * in two cells, and none where that is too little; so much must have passed in the window, then,
 * that an even sender gets one.
 */
RF_INLINE int rf_lease_is_worth(const struct rf_window *window, const struct rf_policy *policy,
				__u32 cost)
{
	const __u64 passed = rf_word_used(rf_load(&window->head));

	return passed >= (__u64)RF_CREDITS_PER_SPENT / 2 * (policy->cells + 1U) * cost;
}

/*
 * Does a live one answer `cost`? Then it has counted it: its line is all that was touched, and what
 * can be told later is not written here. Whole words are added to, and no field of them can carry
 * over: `credits` are no fewer than `cost`, and see RF_PENDING_MAX.
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
 * The end of a lease that is to end soon, in jiffies: at the next multiple of `span`, so that
 * credits are taken by the same ends in between. 0: it need not.
 */
RF_INLINE __u64 rf_lease_end_by(__u64 jiffies, __u32 span)
{
	return span ? jiffies - jiffies % span + span : RF_FOREVER;
}

/* A lease that answers nothing any more. */
RF_INLINE void rf_lease_end(struct rf_lease *lease)
{
	lease->until = 0;
	lease->credits = lease->taken = lease->spent_before = 0;
	lease->has_credits = 0;
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

/* What `head` has room for; the cell on the edge, where it counts, in full. */
RF_INLINE __u32 rf_head_room(const struct rf_window *window, const struct rf_policy *policy,
			     __u64 head)
{
	const __u32 edge = rf_word_epoch(head) - policy->cells;
	const __u64 word = rf_load(&window->cell[edge % RF_CELLS]);
	__u64 used = rf_word_used(head);

	if (rf_is_weighted(policy) && rf_word_epoch(word) == edge)
		used += rf_word_used(word);
	return used < policy->limit ? policy->limit - used : 0;
}

/* In the cell that `until` ends. */
RF_INLINE __u32 rf_lease_spent(const struct rf_lease *lease)
{
	return (__u32)lease->taken - (__u32)lease->credits;
}

/* In the cell before, or less: down to a power of two. */
RF_INLINE __u32 rf_lease_spent_before(const struct rf_lease *lease)
{
	return lease->spent_before ? RF_SPENT_UNIT << (lease->spent_before - 1) : 0;
}

/*
 * How many more. Those that it has are a part of its share, left over by a packet that cost more;
 * and too few for a packet like the last one, of `cost`, would be of no use to anybody.
 */
RF_INLINE __u32 rf_lease_wants(const struct rf_lease *lease, __u32 room, __u32 cost, __u32 span)
{
	__u32 in_parts = span + 255; /* without a branch, too; it is less than 256 */
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

/* `units` more were charged, by themselves or as credits. */
RF_INLINE void rf_lease_charge(struct rf_lease *lease, __u32 units)
{
	const __u32 taken = (__u32)lease->taken + units; /* a cost is less than 2^20 */

	lease->taken = taken < RF_TAKEN_MAX ? taken : RF_TAKEN_MAX;
}

/* What was spent, as the next cell remembers it: log2 of its RF_SPENT_UNITs, plus 1; 0: none. */
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

/* Credits, from `start` to `end`; those of another time are no more. */
RF_INLINE void rf_lease_enter(struct rf_lease *lease, __u64 start, __u64 end)
{
	if (lease->has_credits && lease->until == end)
		return;
	lease->spent_before =
		lease->has_credits && lease->until == start ? rf_lease_spent_log(lease) : 0;
	lease->taken = 0;
	lease->credits = 0;
	lease->has_credits = 1;
	rf_lease_set_until(lease, end);
}

/*
 * What was charged to some of the windows and not to all is lost. Its share begins anew, so that
 * what is lost is never more than such a share of what passes.
 */
RF_INLINE void rf_lease_forget_spent(struct rf_lease *lease)
{
	lease->taken = lease->credits;
	lease->spent_before = 0;
}

/* The windows that a packet was charged to, NULL between them, and their limits. */
struct rf_charged {
	struct rf_window *window[RF_CHARGED_MAX];
	const struct rf_policy *policy[RF_CHARGED_MAX];
	__u64 head[RF_CHARGED_MAX];
	__u64 start; /* jiffies: the last of their cells to begin, */
	__u64 end;   /* the first of them to end */
	__u32 room;  /* the least */
};

/* False where a window has moved on meanwhile, by more than a tag can tell. */
RF_INLINE int rf_charged_read(struct rf_charged *charged, __u64 jiffies)
{
	RF_UNROLL
	for (int i = 0; i < RF_CHARGED_MAX; i++) {
		const struct rf_policy *policy = charged->policy[i];
		__u64 head, now, end;
		__u32 ahead, room;

		if (!charged->window[i])
			continue;
		head = rf_load(&charged->window[i]->head);
		now = rf_epoch(policy, jiffies);
		ahead = rf_word_epoch(head) - (__u32)now;
		end = (now + ahead + 1) * policy->cell;
		room = rf_head_room(charged->window[i], policy, head);
		if (ahead > RF_CELLS_AHEAD)
			return 0;
		charged->head[i] = head;
		if (end - policy->cell > charged->start)
			charged->start = end - policy->cell;
		if (end < charged->end)
			charged->end = end;
		if (room < charged->room)
			charged->room = room;
	}
	return 1;
}

enum rf_taken {
	RF_TAKEN_NONE,
	RF_TAKEN_SOME, /* one lost a race, and those before it were charged */
	RF_TAKEN_ALL,
};

/* Charges `units` to each of them, while they are as they were read. */
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
 * After a packet that passed: takes credits for those to come, by compare-and-swap, since a
 * fetch-add that finds no room would leave its cost behind. One try; none is an answer, too. `end`
 * is a time in jiffies at which they end in any case; with `span`, at the multiples of
 * that.
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

/* ---- refusals: until the window may have more ---- */

/*
 * That time in jiffies, rounded down: then no jiffy before it is too late. Jiffies may lag behind
 * the clock in ns, where the CPU that counts them is kept from it (by a hypervisor, say); the
 * kernel lets another one step in after RF_JIFFIES_LAG of them.
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

/* How long what costs as much is refused again, in jiffies; 0: not told. */
RF_INLINE __u64 rf_refused_until(const struct rf_window *window, const struct rf_policy *policy,
				 const struct rf_ask *ask)
{
	return rf_lease_until(policy, ask, rf_reopens(window, policy, ask));
}

/* Repeats that answer, to packets that cost more than `threshold`, until then. */
RF_INLINE void rf_lease_repeat(struct rf_lease *lease, enum rf_reason reason, __u32 threshold,
			       __u64 until)
{
	rf_lease_end(lease);
	lease->answer = rf_answer_of(reason);
	lease->threshold = threshold;
	rf_lease_set_until(lease, until);
}

/* ---- the answer of one window, and what follows from it ---- */

/* Can a lease follow from that verdict? Else the one that may stand there is left alone. */
RF_INLINE int rf_lease_may_follow(const struct rf_policy *policy, int verdict)
{
	if (verdict == RF_UNDER)
		return rf_lease_may_hold_credits(policy);
	return verdict == RF_OVER && !rf_counts_rejected(policy);
}

/*
 * `lease` is of this source and of packets that are charged to this limit alone, with nothing
 * pending; the window has answered `verdict`. What lets pass ends within `span` jiffies; 0: it need
 * not.
 */
RF_INLINE void rf_lease_renew(struct rf_lease *lease, struct rf_window *window,
			      const struct rf_policy *policy, const struct rf_ask *ask,
			      enum rf_verdict verdict, __u32 span)
{
	struct rf_charged charged = {.window = {window}, .policy = {policy}};
	const __u64 end = rf_lease_end_by(ask->jiffies, span);
	__u64 until;

	if (verdict == RF_UNDER && rf_lease_may_hold_credits(policy)) {
		lease->answer = rf_answer_of(RF_UNDER_LIMIT);
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
