/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One packet and several limits, step by step: peek at all windows, charge all, count, lease. If a
 * limit refuses after others were charged, their charge is forfeited, which is counted.
 *
 * Places are 0 to 3, in the order of question->slot: enforced limits first, then shadows.
 */
#ifndef RINGFENCE_CHARGE_H
#define RINGFENCE_CHARGE_H

#include "bans.h"
#include "take.h"

/* Stores the slots of question->limits in order: enforced limits first, then shadows. */
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

static __always_inline const struct rf_policy *policy_of(const struct question *question, int i)
{
	const struct rf_policy *policy =
		&bank_of(question)->policy[question->slot[i] % RF_LIMITS_MAX];

	if (HAS_SHARES)
		RF_OPAQUE(policy); /* otherwise the compiler recomputes it at each use */
	return policy;
}

/* The windows of a packet, by place; NULL: this limit does not charge it. */
struct sources {
	struct rf_source *of[RF_CHARGED_MAX];
	__u32 enough[RF_CHARGED_MAX]; /* of each, see rf_fits_at(); 0: the source might need a
					 larger share */
};

/*
 * The window in place `i`; NULL: there are fewer limits. Opaque: otherwise the compiler tests the
 * number of limits instead of the pointer, and the verifier of Linux 6.1 cannot follow that.
 */
static __always_inline struct rf_source *source_in(const struct sources *sources, __u32 i)
{
	struct rf_source *source = sources->of[i];

	RF_OPAQUE(source);
	return source;
}

/* ---- a limit refuses ---- */

__noinline __u64 refused_until(struct question *question, const struct rf_window *window,
			       __u32 slot)
{
	const struct rf_policy *policy;

	if (!question || !window)
		return 0;
	policy = &bank_of(question)->policy[slot % RF_LIMITS_MAX];
	return rf_refused_until(window, policy, set_ask(question, policy));
}

/* The limit in place `i` refuses the packet. */
static __always_inline void note_refusal(struct question *question, __u32 i, enum refusal refusal)
{
	question->refused_at = i;
	question->refusal = refusal;
}

/* The place of the limit that refuses. */
static __always_inline __u32 refused_at(const struct question *question)
{
	return question->refused_at % RF_CHARGED_MAX;
}

/* The reason to drop, unless the source is banned. */
static __always_inline enum rf_reason reason_refused(const struct question *question)
{
	return question->refusal == REFUSED_CONTENDED ? RF_CONTENDED : RF_OVER_LIMIT;
}

/*
 * A limit refuses the packet, for the reason in question->refusal. Only this limit counts the
 * packet, and with `count rejected` only this limit is charged. `source`: its window.
 */
__noinline int refuse_packet(struct question *question, struct rf_source *source)
{
	const struct rf_policy *policy;
	enum rf_reason reason;
	struct rf_ask *ask;
	__u64 until = 0;
	__u32 slot, i;
	int is_own;

	if (!question || !source)
		return RF_OVER_LIMIT;
	i = refused_at(question);
	slot = question->slot[i] % RF_LIMITS_MAX;
	question->limits = 1U << slot;
	policy = &bank_of(question)->policy[slot];
	is_own = !(question->aggregated >> i & 1);
	reason = reason_refused(question);
	ask = set_ask(question, policy);
	if (question->refusal == REFUSED_BY_PEEK)
		until = banned_until(question, source, policy, slot);
	if (until) {
		reason = RF_BANNED;
	} else if (question->refusal == REFUSED_BY_PEEK) {
		/* A peek leaves an old head, by which may_ban() would count nothing. */
		if (rf_bans_by_sum(policy))
			ask->cost = NEVER_FITS;
		/* If room has appeared since the peek, the charge is forfeited. */
		if (policy->flags & (RF_COUNT_REJECTED | RF_BANS_BY_SUM) &&
		    take_any(&source->window, policy, ask) == RF_UNDER)
			count_forfeited(policy, question->len_bytes);
	}
	if (reason != RF_BANNED)
		count_received(question, source, policy);
	consider_asking(question, source, policy, slot, 1);
	if (reason == RF_OVER_LIMIT && is_own && policy->ban && may_ban(question, source, policy))
		until = start_ban(question, source, slot);
	if (until) {
		lease_same_answer(question, RF_BANNED, until, slot);
	} else if (reason == RF_OVER_LIMIT && is_own && config.lease_shift &&
		   rf_lease_may_follow(policy, RF_OVER)) {
		question->who.place = take_lease(question);
		if (question->who.place != NO_LEASE)
			lease_refusal(question, &source->window, slot);
	}
	count_source(source, policy, reason, 1, is_paused(question));
	count_limit(policy, reason, 1, question->len_bytes, is_paused(question));
	return reason;
}

/* The verifier allows only constant indices of pointers on the stack. */
static __always_inline enum rf_reason refuse(struct question *question,
					     const struct sources *sources)
{
	const __u32 place = refused_at(question);

	if (place == 0)
		return refuse_packet(question, sources->of[0]);
	if (place == 1)
		return refuse_packet(question, sources->of[1]);
	if (place == 2)
		return refuse_packet(question, sources->of[2]);
	return refuse_packet(question, sources->of[3]);
}

/* ---- peek at all, charge all ---- */

/* Does an enforced limit refuse the packet? The first one without room does. */
__noinline int peek_refuses(struct question *question, struct rf_source *first,
			    struct rf_source *second, struct rf_source *third,
			    struct rf_source *fourth)
{
	const struct sources sources = {.of = {first, second, third, fourth}};
	struct rf_ask *ask;

	if (!question)
		return 0;
	RF_UNROLL
	for (__u32 i = 0; i < RF_CHARGED_MAX; i++) {
		const struct rf_policy *policy = policy_of(question, i);
		const struct rf_source *source = sources.of[i];

		if (i >= question->in_force || !source)
			continue;
		ask = set_ask(question, policy);
		if (banned_until(question, source, policy, question->slot[i]) ||
		    !peek(&source->window, policy, ask)) {
			note_refusal(question, i, REFUSED_BY_PEEK);
			return 1;
		}
	}
	return 0;
}

/* The limit in place `refuses` lost its room: the charges before it are forfeited. */
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

/* The shadow in place `i` is exceeded until `until`. */
static __always_inline void note_shadow(struct question *question, __u32 i, __u64 until)
{
	question->over |= 1U << i;
	if (until < question->until)
		question->until = until;
}

/* The limit in place `i` could not be charged. Does it refuse the packet? No shadow does. */
static __always_inline int lose_room(struct question *question, struct rf_source *source, __u32 i,
				     enum rf_verdict verdict)
{
	__u64 until = 0;

	if (i < question->in_force) {
		count_all_forfeited(question, i);
		note_refusal(question, i, verdict == RF_OVER ? REFUSED_OVER : REFUSED_CONTENDED);
		return 1;
	}
	if (verdict == RF_OVER && !rf_counts_rejected(policy_of(question, i)))
		until = refused_until(question, &source->window, question->slot[i]);
	note_shadow(question, i, until);
	return 0;
}

/*
 * Charges all windows. Does an enforced limit refuse the packet? The first one that lost its room
 * since the peek does; the windows behind it are not charged.
 */
__noinline int take_refuses(struct question *question, struct rf_source *first,
			    struct rf_source *second, struct rf_source *third,
			    struct rf_source *fourth)
{
	const struct sources sources = {.of = {first, second, third, fourth}};
	struct rf_ask *ask;

	if (!question)
		return 0;
	RF_UNROLL
	for (__u32 i = 0; i < RF_CHARGED_MAX; i++) {
		const struct rf_policy *policy = policy_of(question, i);
		struct rf_source *source = sources.of[i];
		enum rf_verdict verdict;

		if (!source)
			continue;
		ask = set_ask(question, policy);
		verdict = take_shallow(&source->window, policy, ask);
		if (verdict != RF_UNDER && lose_room(question, source, i, verdict))
			return 1;
	}
	return 0;
}

/* Peeks at all, then charges all. Does an enforced limit refuse the packet? */
static __always_inline int windows_refuse(struct question *question, const struct sources *sources)
{
	return peek_refuses(question, source_in(sources, 0), source_in(sources, 1),
			    source_in(sources, 2), source_in(sources, 3)) ||
	       take_refuses(question, source_in(sources, 0), source_in(sources, 1),
			    source_in(sources, 2), source_in(sources, 3));
}

/* ---- all have let the packet pass ---- */

/* The packet passes: each limit counts it. */
__noinline int count_passed(const struct question *question, struct rf_source *first,
			    struct rf_source *second, struct rf_source *third,
			    struct rf_source *fourth)
{
	const struct sources sources = {.of = {first, second, third, fourth}};

	if (!question)
		return 0;
	RF_UNROLL
	for (__u32 i = 0; i < RF_CHARGED_MAX; i++) {
		const __u32 reason = question->over >> i & 1 ? RF_SHADOW_OVER : RF_UNDER_LIMIT;
		struct rf_source *source = sources.of[i];

		if (!source)
			continue;
		count_source(source, policy_of(question, i), reason, 1, is_paused(question));
		count_limit(policy_of(question, i), reason, 1, question->len_bytes,
			    is_paused(question));
		count_received(question, source, policy_of(question, i));
		consider_asking_at(question, source, i, reason == RF_SHADOW_OVER);
	}
	return 0;
}

/* Can a lease repeat this verdict? All limits need a window for this source, and must agree. */
__noinline int lease_may_follow_all(const struct question *question)
{
	if (!question || !config.lease_shift || question->missing || question->aggregated ||
	    !question->until)
		return 0;
	return all_are_over(question) || may_share_credits(question, bank_of(question));
}

/* The window that a lease charges; also NULL for an exceeded shadow. */
static __always_inline struct rf_window *window_in(const struct question *question,
						   const struct sources *sources, __u32 i)
{
	struct rf_source *source = source_in(sources, i);

	return source && !(question->over >> i & 1) ? &source->window : NULL;
}

static __always_inline void lease_all(struct question *question, const struct sources *sources)
{
	struct rf_window *first = window_in(question, sources, 0);
	struct rf_window *second = window_in(question, sources, 1);
	struct rf_window *third = window_in(question, sources, 2);
	struct rf_window *fourth = window_in(question, sources, 3);

	if (!lease_may_follow_all(question))
		return;
	if (lease_passed(question, first, second, third, fourth))
		lease_windows(question, first, second, third, fourth);
}

#endif /* RINGFENCE_CHARGE_H */
