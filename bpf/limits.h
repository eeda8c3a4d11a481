/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Evaluates the limits that apply to a packet: all of them are charged, or none.
 *
 * One limit (ask_limit): find the window, or create one; refuse a banned source; charge the window;
 * start a ban or fill a lease; count.
 *
 * Several limits (ask_several):
 *   1. ask_known        all windows exist, as nearly always: peek, charge, count. Done.
 *   2. refuse_missing   a window is missing, and that limit bans the source. Done.
 *   3. meet_newcomer    check the guard, and create the missing windows, or refuse.
 *   4. ask_limits       the same as 1, with the new windows.
 *
 * Each step is called only from here: stack frames of nested functions add up.
 */
#ifndef RINGFENCE_LIMITS_H
#define RINGFENCE_LIMITS_H

#include "limits_known.h"
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

/* Evaluates the window that a newcomer shares with its prefix. Counts the packet. */
__noinline int ask_aggregate(struct question *question, __u32 slot)
{
	const struct rf_policy *policy;
	struct rf_source *source;
	struct rf_counters *sums;
	enum rf_reason reason;
	__u32 first = 0;

	sums = bpf_map_lookup_elem(&counters, &first);
	if (!question || !sums)
		return RF_MAP_ERROR;
	sums->newcomers_aggregated++;
	slot %= RF_LIMITS_MAX;
	policy = &bank_of(question)->policy[slot];
	source = charge_aggregate(question, policy, slot, rf_rules_are_ipv6(question->who.rules));
	if (!source)
		return RF_MAP_ERROR;
	reason = reason_of(policy, take_for(&source->window, policy, question));
	count_source(source, policy, reason, 1, is_paused(question));
	count_limit(policy, reason, 1, question->len_bytes, is_paused(question));
	return reason;
}

/*
 * Charges a packet without a source to the limit with `match other`, and returns `reason` if the
 * packet passes. Counts the packet for that limit only. The window is the first of the limit's slot
 * in `aggregates`, which such a limit does not use for prefixes.
 */
static __always_inline __u32 ask_other(const struct rf_bank *bank, __u64 jiffies, __u32 len_bytes,
				       __u32 reason, int is_paused)
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
	count_limit(policy, found, 1, len_bytes, is_paused);
	return found == RF_UNDER_LIMIT ? reason : found;
}

/* The only limit, in `slot`, has returned `verdict`: takes and fills a lease, if it is worth one.
 */
static __always_inline void lease_one(struct question *question, struct rf_window *window,
				      __u32 slot, int verdict)
{
	if (verdict != RF_UNDER) {
		question->who.place = take_lease(question);
		if (question->who.place != NO_LEASE)
			lease_refusal(question, window, slot);
	} else if (!class_asked(question)->is_mixed) {
		question->slot[0] = slot;
		question->count = 1;
		question->until = rf_lease_end_by(question->jiffies, bank_of(question)->lease_span);
		if (lease_passed(question, window, NULL, NULL, NULL))
			lease_windows(question, window, NULL, NULL, NULL);
	}
}

/* Evaluates a single limit. Counts the packet for that limit. */
static __always_inline enum rf_reason ask_limit(struct question *question,
						const struct rf_bank *bank, __u32 slot,
						struct rf_counters *sums, int is_ipv6)
{
	const struct rf_policy *policy = &bank->policy[slot];
	struct rf_source *source;
	enum rf_reason reason;
	int verdict, is_near;
	struct rf_ask *ask;
	__u64 until;

	RF_OPAQUE(policy); /* otherwise the compiler recomputes it at each use */
	question->is_exhausted =
		guard_is_exhausted(bank, question->jiffies, policy->flags & RF_SHADOW);
	source = find_known(question, policy, is_ipv6);
	if (source)
		touch(question, source, is_ipv6);
	until = banned_until(question, source, policy, slot);
	if (until)
		return refuse_banned(question, source, slot, until);
	if (!source)
		source = meet_one(question, bank_of(question), slot, sums, is_ipv6);
	if (!source) {
		if (!question->aggregated && !charges_prefix(question, slot))
			return refuse_newcomer(bank_of(question), slot);
		return ask_aggregate(question, slot);
	}
	ask = set_ask(question, policy);
	verdict = take(&source->window, policy, ask, &is_near);
	reason = reason_of(policy, verdict);
	if (reason == RF_OVER_LIMIT && policy->ban && may_ban(question, source, policy))
		until = start_ban(question, source, slot);
	if (until) {
		lease_same_answer(question, RF_BANNED, until, slot);
	} else if (config.lease_shift && rf_lease_may_follow(policy, verdict)) {
		lease_one(question, &source->window, slot, verdict);
	}
	/* In this order the frame is one unit of 32 bytes smaller, by newer compilers. */
	count_limit(policy, reason, 1, question->len_bytes, is_paused(question));
	count_source(source, policy, reason, 1, is_paused(question));
	count_received(question, source, policy);
	if (is_near)
		consider_asking(question, source, policy, slot, reason != RF_UNDER_LIMIT);
	return reason;
}

/* ---- several limits ---- */

/* Limits with a ban under which the source lacks a window, as a bit set of slots. */
static __always_inline __u32 slots_missing(const struct question *question)
{
	__u32 slots = 0;

	RF_UNROLL
	for (__u32 i = 0; i < RF_CHARGED_MAX; i++)
		if (question->missing >> i & 1)
			slots |= 1U << question->slot[i] % RF_LIMITS_MAX;
	return slots & bank_of(question)->bans;
}

/*
 * Refuses a source that is banned by a limit under which it lacks a window, and counts the packet;
 * STEP_MISSING: it is not banned.
 */
__noinline int refuse_missing(struct question *question)
{
	__u64 ban;

	if (!question)
		return STEP_MISSING;
	ban = find_ban_of(question, slots_missing(question));
	if (!ban)
		return STEP_MISSING;
	return refuse_banned(question, NULL, ban % RF_LIMITS_MAX, ban / RF_LIMITS_MAX);
}

/* Looks up all windows after meet_newcomer. `missing`: windows that could not be created. */
static __always_inline void find_new_sources(struct question *question, struct sources *sources,
					     int is_ipv6)
{
	question->missing = 0;
	*sources = (struct sources){}; /* the verifier forgets the previous contents */
	RF_UNROLL
	for (__u32 i = 0; i < RF_CHARGED_MAX; i++) {
		const __u32 slot = question->slot[i] % RF_LIMITS_MAX;
		const struct rf_policy *policy = &bank_of(question)->policy[slot];

		if (i >= question->count)
			break;
		if (question->aggregated >> i & 1)
			sources->of[i] = charge_aggregate(question, policy, slot, is_ipv6);
		else
			sources->of[i] = find_source(question->source, policy, is_ipv6);
		if (!sources->of[i])
			question->missing |= 1U << i;
	}
}

/*
 * Evaluates several limits after meet_newcomer, whose result is in question->met. Each limit counts
 * the packet.
 */
static __always_inline enum rf_reason ask_limits(struct question *question, int is_ipv6)
{
	const enum rf_reason found = question->met;
	struct sources sources = {};

	find_new_sources(question, &sources, is_ipv6);
	/* A window was created, and evicted again. */
	if (found == RF_UNDER_LIMIT && is_missing_in_force(question))
		return RF_NO_WINDOW;
	if (windows_refuse(question, &sources))
		return refuse(question, &sources);
	count_passed(question, sources.of[0], sources.of[1], sources.of[2], sources.of[3]);
	if (found != RF_UNDER_LIMIT)
		return found;
	if (is_unknown_to_all(question))
		return RF_MAP_ERROR;
	lease_all(question, &sources);
	return question->over ? RF_SHADOW_OVER : RF_UNDER_LIMIT;
}

/* The verifier checks these separately, once. */
__noinline int ask_limits4(struct question *question)
{
	return question ? ask_limits(question, 0) : RF_MAP_ERROR;
}

__noinline int ask_limits6(struct question *question)
{
	return question ? ask_limits(question, 1) : RF_MAP_ERROR;
}

static __always_inline enum rf_reason ask_several(struct question *question, int is_ipv6)
{
	int reason = is_ipv6 ? ask_known6(question) : ask_known4(question);

	if (reason == STEP_REFUSED)
		return refuse_known(question);
	if (reason == STEP_MISSING && bank_of(question)->bans & question->limits)
		reason = refuse_missing(question);
	if (reason != STEP_MISSING)
		return reason;
	reason = meet_newcomer(question);
	if (reason >= RF_FIRST_DROP)
		return reason;
	question->met = reason;
	return is_ipv6 ? ask_limits6(question) : ask_limits4(question);
}

/* Fast path, without calling ask(): no list and no ban to look up, and several limits apply. */
static __always_inline int is_for_several(struct question *question, int is_ipv6)
{
	const struct rf_bank *bank = bank_of(question);
	const __u32 listed = is_ipv6 ? RF_BANK_PREFIXES6 : RF_BANK_PREFIXES4;
	const __u32 limits = bank->packet_class[rf_rules_packet_class(question->who.rules)].limits &
			     bank->prefix_class[0];

	if (bank->flags & listed || bank->bans_all | (limits & bank->rate0) ||
	    !(limits & (limits - 1)))
		return 0;
	question->limits = limits;
	return 1;
}

#endif /* RINGFENCE_LIMITS_H */
