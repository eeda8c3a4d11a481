/* SPDX-License-Identifier: GPL-2.0 */
/* Sources without a window: how many get one, and what becomes of the others. */
#ifndef RINGFENCE_NEWCOMERS_H
#define RINGFENCE_NEWCOMERS_H

#include "new_window.h"
#include "take.h"

/* ---- the guard ---- */

/* What a flood finds: no call, and nothing written. */
static __always_inline int guard_is_exhausted(const struct rf_window *window,
					      const struct rf_policy *policy, __u64 time)
{
	const __u64 head = rf_load(&window->head);

	return rf_word_epoch(head) == (__u32)rf_epoch(policy, time) &&
	       rf_word_used(head) >= policy->limit;
}

/*
 * May this newcomer have a window? `is_shadow`: none but shadow limits would give it one; such
 * newcomers have a guard of their own, so that they neither use up the other one nor evict whom it
 * protects.
 */
static __always_inline int guard_admits(const struct rf_bank *bank, __u64 jiffies, int is_shadow,
					struct rf_counters *sums)
{
	const struct rf_policy *policy = &bank->newcomers.policy;
	struct rf_ask ask = {.jiffies = jiffies, .tick_ns = config.tick_ns, .cost = 1};
	struct rf_window *window;

	if (bank->newcomers.then == RF_NEWCOMERS_OFF)
		return 1;
	window = is_shadow ? &config.guard[bank->newcomers.guard & 1].shadows
			   : &config.guard[bank->newcomers.guard & 1].limits;
	ask.time = read_clock(policy, jiffies);
	if (guard_is_exhausted(window, policy, ask.time) ||
	    take_any(window, policy, &ask) != RF_UNDER) {
		sums->shadow_newcomers += is_shadow;
		return 0;
	}
	sums->newcomers_admitted++;
	return 1;
}

/*
 * Is it for certain a newcomer that the guard refuses, and closed? Asked before the leases: of
 * those it would look at four cache lines in vain, and here at one.
 */
static __always_inline int is_closed_out(const struct question *question,
					 const struct rf_bank *bank, __u32 limits, int is_ipv6)
{
	const struct rf_newcomers *newcomers = &bank->newcomers;
	const __u32 listed = is_ipv6 ? RF_BANK_PREFIXES6 : RF_BANK_PREFIXES4;
	__u32 in_force;

	if ((bank->flags & (RF_BANK_CLOSED | listed)) != RF_BANK_CLOSED)
		return 0;
	in_force = limits & bank->prefix_class[0] & ~bank->shadows;
	if (!in_force ||
	    !guard_is_exhausted(&config.guard[newcomers->guard & 1].limits, &newcomers->policy,
				read_clock(&newcomers->policy, question->jiffies)))
		return 0;
	return is_stranger_at_once(question, &bank->policy[first_slot(in_force)], is_ipv6);
}

/*
 * What becomes of a source that gets no window, to one limit: beyond the guard, or because no slot
 * is to be had. RF_ASK_AGGREGATE: it is charged to the window of its prefix.
 */
static __always_inline enum rf_reason refuse_newcomer(const struct rf_bank *bank, __u32 slot)
{
	const int is_shadow = bank->shadows >> slot & 1;

	switch (bank->newcomers.then) {
	case RF_NEWCOMERS_OFF:
		return is_shadow ? RF_MAP_ERROR : RF_NO_WINDOW;
	case RF_NEWCOMERS_CLOSED:
		return is_shadow ? RF_NEWCOMER_OPEN : RF_NEWCOMER_CLOSED;
	case RF_NEWCOMERS_AGGREGATE:
		return is_shadow ? RF_NEWCOMER_OPEN : RF_ASK_AGGREGATE;
	default:
		return RF_NEWCOMER_OPEN;
	}
}

/* ---- a source that meets limits without a window ---- */

/* No guard is for whom no guard is asked, and a guard is not for known sources. */
static __always_inline __u64 kin_under(const struct question *question, const struct rf_bank *bank,
				       __u32 slot, struct rf_counters *sums)
{
	__u64 kin;

	if (bank->newcomers.then == RF_NEWCOMERS_OFF)
		return 0;
	kin = find_kin(question, slot);
	sums->newcomers_known += kin && !(kin & KIN_ITSELF);
	return kin;
}

/* The new window of a source that has none under the limit; NULL: it gets none. */
static __always_inline struct rf_source *meet_one(struct question *question,
						  const struct rf_bank *bank, __u32 slot,
						  struct rf_counters *sums, int is_ipv6)
{
	const __u64 kin = kin_under(question, bank, slot, sums);

	if (!kin && !guard_admits(bank, question->jiffies, bank->shadows >> slot & 1, sums))
		return NULL;
	if (!rf_seat_is_resident(kin))
		question->lease_life = config.times.young_lease;
	return make_and_find(question, &bank->policy[slot], slot, kin, sums, is_ipv6);
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

#endif /* RINGFENCE_NEWCOMERS_H */
