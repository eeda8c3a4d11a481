/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sources without a window. The guard, a limit on all newcomers together, determines how many of
 * them get a window under each limit that matches the packet; the others pass, are dropped, or are
 * charged to the window of their prefix. A source that has a window under another limit is known
 * (kin.h) and does not count against the guard. Its sibling windows evict no active newcomer, and
 * are evicted in favour of newcomers, so they cost newcomers nothing. A known source for which no
 * slot is found is charged to the window of its prefix, regardless of the guard's policy for
 * newcomers.
 */
#ifndef RINGFENCE_NEWCOMERS_H
#define RINGFENCE_NEWCOMERS_H

#include "new_window.h"
#include "take.h"

/* ---- the guard ---- */

/*
 * Does the guard admit this newcomer? `is_shadow`: only shadow limits need a window.
 * `is_exhausted`: the guard is already known to be used up. A newcomer that examine() has exempted
 * is charged to a separate window with the same rate, which a flood cannot use up.
 */
static __always_inline int guard_admits(struct question *question, int is_shadow, int is_exhausted,
					struct rf_counters *sums)
{
	const struct rf_bank *bank = bank_of(question);
	const struct rf_policy *policy = &bank->newcomers.policy;
	struct rf_window *window = guard_window(bank, is_shadow);

	if (bank->newcomers.then == RF_NEWCOMERS_OFF)
		return 1;
	if (question->proof && !is_shadow) {
		window = &config.guard[bank->newcomers.guard & 1].proofs;
		is_exhausted = 0;
	}
	set_ask(question, policy)->cost = 1;
	if (is_exhausted || take_any(window, policy, &question->ask) != RF_UNDER) {
		sums->shadow_newcomers += is_shadow;
		return 0;
	}
	sums->newcomers_admitted++;
	return 1;
}

/* Does the guard drop newcomers, and can no list let them pass? */
static __always_inline int guard_may_drop(const struct rf_bank *bank, int is_ipv6)
{
	const __u32 listed = is_ipv6 ? RF_BANK_PREFIXES6 : RF_BANK_PREFIXES4;

	return (bank->flags & (RF_BANK_DROPS_NEWCOMERS | listed)) == RF_BANK_DROPS_NEWCOMERS;
}

/*
 * Fast path: is this definitely a newcomer that the guard drops? Checked before the leases, where a
 * newcomer costs four cache lines; here it costs one.
 */
static __always_inline int is_dropped_newcomer(const struct question *question,
					       const struct rf_bank *bank, __u32 limits,
					       int is_ipv6)
{
	__u32 in_force;

	in_force = limits & bank->prefix_class[0] & ~bank->shadows;
	if (!in_force || in_force & bank->rate0 || !guard_is_exhausted(bank, question->jiffies, 0))
		return 0;
	return is_stranger_at_once(question, &bank->policy[first_slot(in_force)], is_ipv6);
}

/*
 * Does that limit charge the window of its prefix for a newcomer that gets no window? A source with
 * an open connection is treated as known, and noted: a window that it gets later starts with this
 * charge.
 */
static __always_inline int charges_prefix(const struct question *question, __u32 slot)
{
	const struct rf_bank *bank = bank_of(question);

	if (bank->shadows >> slot & 1)
		return 0;
	if (bank->newcomers.then == RF_NEWCOMERS_AGGREGATE)
		return 1;
	if (question->proof != RF_ESTABLISHED)
		return 0;
	note_left_out(question, rf_rules_are_ipv6(question->who.rules));
	return 1;
}

/*
 * The reason of one limit for a newcomer that gets no window and is not charged to another window:
 * it exceeds the newcomers rate, or no slot was available.
 */
static __always_inline enum rf_reason refuse_newcomer(const struct rf_bank *bank, __u32 slot)
{
	const int is_shadow = bank->shadows >> slot & 1;

	switch (bank->newcomers.then) {
	case RF_NEWCOMERS_OFF:
		return is_shadow ? RF_MAP_ERROR : RF_NO_WINDOW;
	case RF_NEWCOMERS_DROP:
	case RF_NEWCOMERS_CHALLENGE:
		return is_shadow ? RF_NEWCOMER_PASS : RF_NEWCOMER_DROP;
	default:
		return RF_NEWCOMER_PASS;
	}
}

/* ---- a source that meets limits without a window ---- */

/*
 * The kin of a source, which the guard does not refuse; 0: a newcomer, or there is no guard.
 * `admitted`: the guard has admitted this packet, which has made the kin.
 */
static __always_inline __u64 kin_under(const struct question *question, const struct rf_bank *bank,
				       __u32 slot, int admitted, struct rf_counters *sums)
{
	__u64 kin;

	if (bank->newcomers.then == RF_NEWCOMERS_OFF)
		return 0;
	kin = find_kin(question, slot);
	if (kin && admitted)
		return kin | KIN_ADMITTED;
	sums->newcomers_known += kin && !(kin & KIN_ITSELF);
	return kin;
}

/* A new window under the limit in `slot`; NULL: the source gets none. */
static __always_inline struct rf_source *meet_one(struct question *question,
						  const struct rf_bank *bank, __u32 slot,
						  struct rf_counters *sums, int is_ipv6)
{
	const __u64 kin = kin_under(question, bank, slot, 0, sums);
	struct rf_source *source;

	if (!kin &&
	    !guard_admits(question, bank->shadows >> slot & 1, question->is_exhausted, sums))
		return NULL;
	if (!rf_slot_ref_is_resident(kin))
		question->lease_life = config.times.probation_lease;
	source = make_and_find(question, &bank->policy[slot], slot, kin, sums, is_ipv6);
	question->aggregated = kin && !source && !(bank->shadows >> slot & 1);
	return source;
}

/* Is a window missing under an enforced limit? */
static __always_inline int is_missing_in_force(const struct question *question)
{
	return question->missing & ((1U << question->in_force % 8) - 1);
}

/* Are all windows missing? Then no window is charged. */
static __always_inline int is_unknown_to_all(const struct question *question)
{
	return question->missing == (1U << question->count % 8) - 1;
}

/* The same for a packet that no enforced limit matches. */
static __always_inline int is_unknown_to_shadows(const struct question *question)
{
	return !question->in_force && is_unknown_to_all(question);
}

/* question->guard */
enum guard {
	GUARD_NOT_ASKED,
	GUARD_ADMITS,
	GUARD_REFUSES,
};

/*
 * A separate function, because the request takes stack that meet_at() needs for the functions it
 * calls.
 */
__noinline int ask_guard(struct question *question, struct rf_counters *sums)
{
	int is_shadow, is_exhausted;

	if (!question || !sums)
		return 0;
	is_shadow = !is_missing_in_force(question);
	is_exhausted = question->is_exhausted && is_shadow == !question->in_force;
	question->guard = guard_admits(question, is_shadow, is_exhausted, sums) ? GUARD_ADMITS
										: GUARD_REFUSES;
	return 0;
}

/*
 * The same as meet_newcomer() for one limit, in place `i`. The guard is evaluated once for the
 * packet. A separate function, because its stack adds to the stack of the functions it calls.
 */
__noinline int meet_at(struct question *question, __u32 i)
{
	const struct rf_bank *bank;
	struct rf_counters *sums;
	enum rf_reason refused;
	__u32 slot, first = 0;
	__u64 kin;

	sums = bpf_map_lookup_elem(&counters, &first);
	if (!question || !sums)
		return RF_MAP_ERROR;
	bank = bank_of(question);
	slot = question->slot[i % RF_CHARGED_MAX] % RF_LIMITS_MAX;
	kin = kin_under(question, bank, slot, question->guard == GUARD_ADMITS, sums);
	if (!kin && question->guard == GUARD_NOT_ASKED)
		ask_guard(question, sums);
	if ((kin || question->guard == GUARD_ADMITS) &&
	    make_window(question, slot, kin, rf_rules_are_ipv6(question->who.rules)))
		return RF_UNDER_LIMIT;
	/* A known source is charged to the window of its prefix regardless of the guard. */
	if (is_sibling(kin) ? !(bank->shadows >> slot & 1) : charges_prefix(question, slot)) {
		question->aggregated |= 1U << i % RF_CHARGED_MAX;
		return RF_UNDER_LIMIT;
	}
	refused = is_sibling(kin) ? RF_NEWCOMER_PASS : refuse_newcomer(bank, slot);
	if (refused < RF_FIRST_DROP && i >= question->in_force && !is_unknown_to_shadows(question))
		refused = RF_UNDER_LIMIT;
	return refused;
}

/*
 * Creates the missing windows, or marks the limits that charge the window of the prefix. Returns
 *
 *   RF_UNDER_LIMIT     evaluate the limits
 *   RF_NEWCOMER_PASS   evaluate the limits that have a window; the reason if they pass the packet
 *   a reason to drop   evaluate no limit
 */
__noinline int meet_newcomer(struct question *question)
{
	int reason = RF_UNDER_LIMIT, found;
	struct rf_counters *sums;
	__u32 first = 0;

	sums = bpf_map_lookup_elem(&counters, &first);
	if (!question || !sums)
		return RF_MAP_ERROR;
	question->lease_life = config.times.probation_lease;
	question->guard = GUARD_NOT_ASKED;
	for (__u32 i = 0; i < RF_CHARGED_MAX; i++) {
		if (!(question->missing >> i & 1))
			continue;
		found = meet_at(question, i);
		if (found >= RF_FIRST_DROP)
			return found;
		if (found != RF_UNDER_LIMIT)
			reason = found;
	}
	sums->newcomers_aggregated += question->aggregated != 0;
	return reason;
}

#endif /* RINGFENCE_NEWCOMERS_H */
