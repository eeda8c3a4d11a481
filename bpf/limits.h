/* SPDX-License-Identifier: GPL-2.0 */
/* The limits that a packet is charged to: all of them, or none. */
#ifndef RINGFENCE_LIMITS_H
#define RINGFENCE_LIMITS_H

#include "bans.h"
#include "lease_table.h"
#include "newcomers.h"

/* ---- one limit ---- */

static __always_inline enum rf_reason reason_of(const struct rf_policy *policy, int verdict)
{
	if (verdict == RF_UNDER)
		return RF_UNDER_LIMIT;
	if (policy->flags & RF_SHADOW)
		return RF_SHADOW_OVER;
	return verdict == RF_OVER ? RF_OVER_LIMIT : RF_CONTENDED;
}

/* The answer of the window that a newcomer shares with its prefix, counted. */
__noinline int ask_aggregate(const struct question *question, __u32 slot)
{
	const struct rf_policy *policy;
	struct rf_source *source;
	enum rf_reason reason;
	struct rf_ask ask;

	if (!question)
		return RF_MAP_ERROR;
	slot %= RF_LIMITS_MAX;
	policy = &bank_of(question)->policy[slot];
	source = find_aggregate(question, policy, slot, rf_rules_are_ipv6(question->who.rules));
	if (!source)
		return RF_MAP_ERROR;
	set_ask(&ask, question, policy);
	reason = reason_of(policy, take_any(&source->window, policy, &ask));
	count_source(source, reason, 1);
	count_limit(policy, reason, 1, question->len_bytes);
	return reason;
}

/*
 * What has no source, under the limit that asks for it: `reason` where it passes, and nothing is
 * counted but by the limit. Its window is the first of its slot in `aggregates`, where no prefix is
 * charged to it.
 */
static __always_inline __u32 ask_other(const struct rf_bank *bank, __u64 jiffies, __u32 len_bytes,
				       __u32 reason)
{
	const __u32 slot = (bank->other - 1) % RF_LIMITS_MAX;
	const struct rf_policy *policy = &bank->policy[slot];
	const __u32 set = slot + (policy->flags & RF_OTHER_SET ? RF_LIMITS_MAX : 0);
	struct rf_ask ask = {.jiffies = jiffies, .tick_ns = config.tick_ns};
	__u32 index = set * RF_AGGREGATES, found;
	struct rf_source *source = bpf_map_lookup_elem(&aggregates, &index);

	if (!source || !bank->other)
		return reason;
	ask.time = read_clock(policy, jiffies);
	ask.cost = rf_cost(policy, len_bytes);
	found = reason_of(policy, take_any(&source->window, policy, &ask));
	count_limit(policy, found, 1, len_bytes);
	return found == RF_UNDER_LIMIT ? reason : found;
}

/* The one limit's answer, counted. */
static __always_inline enum rf_reason ask_limit(struct question *question,
						const struct rf_bank *bank, __u32 slot,
						struct rf_counters *sums, int is_ipv6)
{
	const struct rf_policy *policy = &bank->policy[slot];
	struct rf_source *source;
	enum rf_reason reason;
	struct rf_ask ask;
	__u64 until;
	int verdict;

	source = find_known(question, bank, policy, is_ipv6);
	if (source)
		touch(question, source, is_ipv6);
	until = banned_until(question, source, policy, slot);
	if (until)
		return refuse_banned(question, source, slot, until);
	if (!source)
		source = meet_one(question, bank, slot, sums, is_ipv6);
	if (!source) {
		reason = refuse_newcomer(bank, slot);
		if (reason != RF_ASK_AGGREGATE)
			return reason;
		sums->newcomers_aggregated++;
		return ask_aggregate(question, slot);
	}
	set_ask(&ask, question, policy);
	verdict = take(&source->window, policy, &ask);
	reason = reason_of(policy, verdict);
	if (reason == RF_OVER_LIMIT && policy->ban)
		until = start_ban(question, source, slot);
	if (until) {
		lease_same_answer(question, RF_BANNED, until, slot);
	} else if (config.lease_shift && rf_lease_may_follow(policy, verdict) &&
		   (verdict != RF_UNDER || rf_lease_is_worth(&source->window, policy, ask.cost))) {
		const __u32 place = take_lease(question);

		if (place != NO_LEASE)
			lease_window(question, place, &source->window, &ask,
				     slot + verdict * RF_LIMITS_MAX);
	}
	count_source(source, reason, 1);
	count_limit(policy, reason, 1, question->len_bytes);
	return reason;
}

/* ---- several limits ---- */

static __always_inline const struct rf_policy *policy_of(const struct question *question, int i)
{
	return &bank_of(question)->policy[question->slot[i] % RF_LIMITS_MAX];
}

/* The windows of a packet's limits; NULL: not charged to that one. */
struct sources {
	struct rf_source *of[RF_CHARGED_MAX];
};

__noinline __u64 refused_until(const struct question *question, const struct rf_window *window,
			       __u32 slot)
{
	const struct rf_policy *policy;
	struct rf_ask ask;

	if (!question || !window)
		return 0;
	policy = &bank_of(question)->policy[slot % RF_LIMITS_MAX];
	set_ask(&ask, question, policy);
	return rf_refused_until(window, policy, &ask);
}

/*
 * The limit in place `i` refuses the packet: counted, and it alone is told, if it counts what it
 * rejects. `reason` is RF_PEEKED_FULL where it was only peeked at.
 */
__noinline int refuse_packet(struct question *question, struct rf_source *source, __u32 i,
			     __u32 reason)
{
	const struct rf_policy *policy;
	__u32 slot, place;
	struct rf_ask ask;
	__u64 until = 0;
	int is_own;

	if (!question || !source)
		return RF_OVER_LIMIT;
	i %= RF_CHARGED_MAX;
	slot = question->slot[i] % RF_LIMITS_MAX;
	policy = &bank_of(question)->policy[slot];
	is_own = !(question->aggregated >> i & 1);
	set_ask(&ask, question, policy);
	if (reason == RF_PEEKED_FULL)
		until = banned_until(question, source, policy, slot);
	if (until) {
		reason = RF_BANNED;
	} else if (reason == RF_PEEKED_FULL) {
		reason = RF_OVER_LIMIT;
		/* It may have room by now, and then it is charged. */
		if (rf_counts_rejected(policy) &&
		    take_any(&source->window, policy, &ask) == RF_UNDER)
			count_forfeited(policy, question->len_bytes);
	}
	if (reason == RF_OVER_LIMIT && is_own && policy->ban)
		until = start_ban(question, source, slot);
	if (until) {
		lease_same_answer(question, RF_BANNED, until, slot);
	} else if (reason == RF_OVER_LIMIT && is_own) {
		place = config.lease_shift && rf_lease_may_follow(policy, RF_OVER)
				? take_lease_for(question)
				: NO_LEASE;
		if (place != NO_LEASE)
			lease_window(question, place, &source->window, &ask,
				     slot + RF_OVER * RF_LIMITS_MAX);
	}
	count_source(source, reason, 1);
	count_limit(policy, reason, 1, question->len_bytes);
	return reason;
}

/* Which of the limits in force has no room: its place, or RF_CHARGED_MAX. */
__noinline int peek_all(const struct question *question, struct rf_source *first,
			struct rf_source *second, struct rf_source *third, struct rf_source *fourth)
{
	const struct sources sources = {{first, second, third, fourth}};
	struct rf_ask ask;

	if (!question)
		return RF_CHARGED_MAX;
	RF_UNROLL
	for (__u32 i = 0; i < RF_CHARGED_MAX; i++) {
		const struct rf_policy *policy = policy_of(question, i);
		const struct rf_source *source = sources.of[i];

		if (i >= question->in_force || !source)
			continue;
		set_ask(&ask, question, policy);
		if (banned_until(question, source, policy, question->slot[i]) ||
		    !peek(&source->window, policy, &ask))
			return i;
	}
	return RF_CHARGED_MAX;
}

/* Those that were charged before the limit in place `refuses` had no more room. */
__noinline int count_all_forfeited(const struct question *question, __u32 refuses)
{
	if (!question)
		return 0;
	RF_UNROLL
	for (__u32 i = 0; i < RF_CHARGED_MAX; i++)
		if (i < refuses && !(question->missing >> i & 1))
			count_forfeited(policy_of(question, i), question->len_bytes);
	return 0;
}

/* A shadow is over: how long it will be, and which. */
static __always_inline void note_shadow(struct question *question, __u32 i, __u64 until)
{
	question->over |= 1U << i;
	if (until < question->until)
		question->until = until;
}

/*
 * The limit in place `i` was asked and had no room: {place | verdict << 8} if the packet is refused
 * for it; RF_CHARGED_MAX: it is a shadow.
 */
static __always_inline __u32 lose_room(struct question *question, struct rf_source *source, __u32 i,
				       int verdict)
{
	__u64 until = 0;

	if (i < question->in_force) {
		count_all_forfeited(question, i);
		return i | verdict << 8;
	}
	if (verdict == RF_OVER && !rf_counts_rejected(policy_of(question, i)))
		until = refused_until(question, &source->window, question->slot[i]);
	note_shadow(question, i, until);
	return RF_CHARGED_MAX;
}

/*
 * Charges all of them, until one in force has lost its room meanwhile: its place and how, as
 * {place | verdict << 8}; RF_CHARGED_MAX: none has.
 */
__noinline int take_all(struct question *question, struct rf_source *first,
			struct rf_source *second, struct rf_source *third, struct rf_source *fourth)
{
	const struct sources sources = {{first, second, third, fourth}};
	struct rf_ask ask;

	if (!question)
		return RF_CHARGED_MAX;
	RF_UNROLL
	for (__u32 i = 0; i < RF_CHARGED_MAX; i++) {
		const struct rf_policy *policy = policy_of(question, i);
		struct rf_source *source = sources.of[i];
		__u32 refuses;
		int verdict;

		if (!source)
			continue;
		set_ask(&ask, question, policy);
		verdict = take_shallow(&source->window, policy, &ask);
		if (verdict == RF_UNDER)
			continue;
		refuses = lose_room(question, source, i, verdict);
		if (refuses != RF_CHARGED_MAX)
			return refuses;
	}
	return RF_CHARGED_MAX;
}

/* It passes: counted by each limit. */
__noinline int count_passed(const struct question *question, struct rf_source *first,
			    struct rf_source *second, struct rf_source *third,
			    struct rf_source *fourth)
{
	const struct sources sources = {{first, second, third, fourth}};

	if (!question)
		return 0;
	RF_UNROLL
	for (__u32 i = 0; i < RF_CHARGED_MAX; i++) {
		const __u32 reason = question->over >> i & 1 ? RF_SHADOW_OVER : RF_UNDER_LIMIT;
		struct rf_source *source = sources.of[i];

		if (!source)
			continue;
		count_source(source, reason, 1);
		count_limit(policy_of(question, i), reason, 1, question->len_bytes);
	}
	return 0;
}

/* Can a lease follow, since all of its limits have a window of its own and agree? */
__noinline int lease_may_follow_all(const struct question *question)
{
	if (!question || !config.lease_shift || question->missing || question->aggregated ||
	    !question->until)
		return 0;
	return all_are_over(question) || may_share_credits(question, bank_of(question));
}

/*
 * The window in place `i`; NULL: there are fewer. Hidden from the compiler, which else asks the
 * number of limits instead of the pointer, and Linux 6.1 does not see that this is the same.
 */
static __always_inline struct rf_source *source_in(const struct sources *sources, __u32 i)
{
	struct rf_source *source = sources->of[i];

	RF_OPAQUE(source);
	return source;
}

/* The same for a lease; NULL, too, where it is a shadow that is over. */
static __always_inline struct rf_window *window_in(const struct question *question,
						   const struct sources *sources, __u32 i)
{
	struct rf_source *source = source_in(sources, i);

	return source && !(question->over >> i & 1) ? &source->window : NULL;
}

static __always_inline void lease_all(struct question *question, const struct sources *sources)
{
	if (!lease_may_follow_all(question))
		return;
	question->place = take_lease_for(question);
	if (question->place == NO_LEASE)
		return;
	lease_windows(question, window_in(question, sources, 0), window_in(question, sources, 1),
		      window_in(question, sources, 2), window_in(question, sources, 3));
}

/* Which limits, those in force first. */
static __always_inline void set_slots(struct question *question)
{
	const __u32 among = bank_of(question)->shadows;
	__u32 shadows = question->limits & among, enforced = question->limits & ~among;
	__u32 count = 0, in_force = 0;

	RF_UNROLL
	for (int i = 0; i < RF_CHARGED_MAX; i++) {
		const __u32 bits = enforced ? enforced : shadows;

		if (!bits)
			break;
		question->slot[i] = first_slot(bits);
		count++;
		if (enforced) {
			enforced &= enforced - 1;
			in_force++;
		} else {
			shadows &= shadows - 1;
		}
	}
	question->count = count;
	question->in_force = in_force;
}

/* Is there a limit in force under which it has no window? */
static __always_inline int is_missing_in_force(const struct question *question)
{
	return question->missing & ((1U << question->in_force % 8) - 1);
}

/* Is there no window at all, so that nothing is charged? */
static __always_inline int is_unknown_to_all(const struct question *question)
{
	return question->missing == (1U << question->count % 8) - 1;
}

/*
 * Makes the windows that are missing, or notes where that of the prefix is taken. RF_UNDER_LIMIT:
 * the limits are to be asked; RF_NEWCOMER_OPEN: so it is if those limits that can be asked let it
 * pass; a reason to drop: there is nothing to ask.
 */
static __always_inline enum rf_reason meet_newcomer(struct question *question, int is_ipv6)
{
	enum rf_reason reason = RF_UNDER_LIMIT;
	int admitted = -1, is_shadow, is_unknown;
	const struct rf_bank *bank;
	struct rf_counters *sums;
	__u32 first = 0;

	sums = bpf_map_lookup_elem(&counters, &first);
	if (!sums)
		return RF_MAP_ERROR;
	bank = bank_of(question);
	is_shadow = !is_missing_in_force(question);
	is_unknown = !question->in_force && is_unknown_to_all(question);
	question->lease_life = config.times.young_lease;
	RF_UNROLL
	for (__u32 i = 0; i < RF_CHARGED_MAX; i++) {
		const __u32 slot = question->slot[i] % RF_LIMITS_MAX;
		enum rf_reason refused;
		__u64 kin;

		if (!(question->missing >> i & 1))
			continue;
		kin = kin_under(question, bank, slot, sums);
		if (!kin && admitted < 0)
			admitted = guard_admits(bank, question->jiffies, is_shadow, sums);
		if ((kin || admitted) && make_window(question, slot, kin, is_ipv6))
			continue;
		refused = refuse_newcomer(bank, slot);
		if (refused >= RF_FIRST_DROP && refused != RF_ASK_AGGREGATE)
			return refused;
		if (refused == RF_ASK_AGGREGATE)
			question->aggregated |= 1U << i;
		else if (i < question->in_force || is_unknown)
			reason = refused;
	}
	if (question->aggregated)
		sums->newcomers_aggregated++;
	return reason;
}

__noinline int meet_newcomer4(struct question *question)
{
	return question ? meet_newcomer(question, 0) : RF_MAP_ERROR;
}

__noinline int meet_newcomer6(struct question *question)
{
	return question ? meet_newcomer(question, 1) : RF_MAP_ERROR;
}

/* The limits that ban, and under which it has no window. */
static __always_inline __u32 slots_missing(const struct question *question)
{
	__u32 slots = 0;

	RF_UNROLL
	for (__u32 i = 0; i < RF_CHARGED_MAX; i++)
		if (question->missing >> i & 1)
			slots |= 1U << question->slot[i] % RF_LIMITS_MAX;
	return slots & bank_of(question)->bans;
}

/* A limit bans the source, though it has no window under it? Then that is the answer, counted. */
__noinline int refuse_missing(struct question *question)
{
	__u64 ban;

	if (!question)
		return RF_WINDOWS_MISSING;
	ban = find_ban_of(question, slots_missing(question));
	if (!ban)
		return RF_WINDOWS_MISSING;
	return refuse_banned(question, NULL, ban % RF_LIMITS_MAX, ban / RF_LIMITS_MAX);
}

/* Again, now that they were made. What is missing still could not be had. */
static __always_inline void find_new_sources(struct question *question, struct sources *sources,
					     int is_ipv6)
{
	question->missing = 0;
	*sources =
		(struct sources){}; /* so that it is all the same to the verifier what was there */
	RF_UNROLL
	for (__u32 i = 0; i < RF_CHARGED_MAX; i++) {
		const __u32 slot = question->slot[i] % RF_LIMITS_MAX;
		const struct rf_policy *policy = &bank_of(question)->policy[slot];

		if (i >= question->count)
			break;
		if (question->aggregated >> i & 1)
			sources->of[i] = find_aggregate(question, policy, slot, is_ipv6);
		else
			sources->of[i] = find_source(question->source, policy, is_ipv6);
		if (!sources->of[i])
			question->missing |= 1U << i;
	}
}

/* Peeks at all, then charges all: as take_all answers; of a peek the verdict is RF_UNDER. */
static __always_inline __u32 ask_windows(struct question *question, const struct sources *sources)
{
	const __u32 place = peek_all(question, source_in(sources, 0), source_in(sources, 1),
				     source_in(sources, 2), source_in(sources, 3));

	if (place < RF_CHARGED_MAX)
		return place | RF_UNDER << 8;
	return take_all(question, source_in(sources, 0), source_in(sources, 1),
			source_in(sources, 2), source_in(sources, 3));
}

/* Why, by that verdict. */
static __always_inline __u32 reason_refused(__u32 verdict)
{
	if (verdict == RF_UNDER)
		return RF_PEEKED_FULL;
	return verdict == RF_OVER ? RF_OVER_LIMIT : RF_CONTENDED;
}

/* The index of a pointer on the stack has to be a constant. */
static __always_inline enum rf_reason
refuse_place(struct question *question, const struct sources *sources, __u32 place, __u32 reason)
{
	if (place == 0)
		return refuse_packet(question, sources->of[0], place, reason);
	if (place == 1)
		return refuse_packet(question, sources->of[1], place, reason);
	if (place == 2)
		return refuse_packet(question, sources->of[2], place, reason);
	return refuse_packet(question, sources->of[3], place, reason);
}

/*
 * The answer of several limits, counted by them, once meet_newcomer has made the windows that were
 * missing; it is not called from here, since the stacks of functions that call each other add up.
 */
static __always_inline enum rf_reason ask_limits(struct question *question, int is_ipv6)
{
	const enum rf_reason found = question->met;
	struct sources sources = {};
	__u32 refuses;

	find_new_sources(question, &sources, is_ipv6);
	/* One that was made is gone again. */
	if (found == RF_UNDER_LIMIT && is_missing_in_force(question))
		return RF_NO_WINDOW;
	refuses = ask_windows(question, &sources);
	if (refuses != RF_CHARGED_MAX)
		return refuse_place(question, &sources, refuses & 0xff,
				    reason_refused(refuses >> 8));
	count_passed(question, sources.of[0], sources.of[1], sources.of[2], sources.of[3]);
	if (found != RF_UNDER_LIMIT)
		return found;
	if (is_unknown_to_all(question))
		return RF_MAP_ERROR;
	lease_all(question, &sources);
	return question->over ? RF_SHADOW_OVER : RF_UNDER_LIMIT;
}

/* Several limits, on their own for the verifier. */
__noinline int ask_limits4(struct question *question)
{
	return question ? ask_limits(question, 0) : RF_MAP_ERROR;
}

__noinline int ask_limits6(struct question *question)
{
	return question ? ask_limits(question, 1) : RF_MAP_ERROR;
}

#endif /* RINGFENCE_LIMITS_H */
