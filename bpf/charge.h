/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One packet and several limits, step by step: peek at all windows, charge all, count, lease. A
 * limit that refuses after others were charged makes their charge forfeited, and that is counted.
 *
 * Places are 0 to 3, in the order of question->slot: limits in force first, then shadows.
 */
#ifndef RINGFENCE_CHARGE_H
#define RINGFENCE_CHARGE_H

#include "bans.h"
#include "take.h"

/* Puts the slots of question->limits in order: limits in force first, then shadows. */
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
		RF_OPAQUE(policy); /* otherwise the compiler computes it anew at each use */
	return policy;
}

/* The windows of a packet, by place; NULL: this limit does not charge it. */
struct sources {
	struct rf_source *of[RF_CHARGED_MAX];
	__u32 enough[RF_CHARGED_MAX]; /* of each, see rf_fits_at(); 0: it may have to ask for more
				       */
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
 * The limit in place `i` refuses the packet. It alone counts the packet, and with `count rejected`
 * it alone is charged. `reason`: RF_PEEKED_FULL where only a peek found no room.
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
	question->limits = 1U << slot;
	policy = &bank_of(question)->policy[slot];
	is_own = !(question->aggregated >> i & 1);
	set_ask(&ask, question, policy);
	if (reason == RF_PEEKED_FULL)
		until = banned_until(question, source, policy, slot);
	if (until) {
		reason = RF_BANNED;
	} else if (reason == RF_PEEKED_FULL) {
		reason = RF_OVER_LIMIT;
		/* A peek leaves an old head, by which may_ban() would count nothing. */
		ask.cost |= NEVER_FITS * rf_bans_by_sum(policy);
		/* Room may have appeared since the peek: then the charge is forfeited. */
		if (policy->flags & (RF_COUNT_REJECTED | RF_BANS_BY_SUM) &&
		    take_any(&source->window, policy, &ask) == RF_UNDER)
			count_forfeited(policy, question->len_bytes);
	}
	if (reason != RF_BANNED)
		count_received(question, source, policy);
	consider_asking(question, source, policy, slot, 1);
	if (reason == RF_OVER_LIMIT && is_own && policy->ban && may_ban(question, source, policy))
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
	count_source(source, policy, reason, 1, is_paused(question));
	count_limit(policy, reason, 1, question->len_bytes, is_paused(question));
	return reason;
}

/* The verifier allows only constant indices of pointers on the stack. */
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

/* ---- peek at all, charge all ---- */

/* The place of the first limit in force that has no room; RF_CHARGED_MAX: all have room. */
__noinline int peek_all(const struct question *question, struct rf_source *first,
			struct rf_source *second, struct rf_source *third, struct rf_source *fourth)
{
	const struct sources sources = {.of = {first, second, third, fourth}};
	struct rf_ask ask;

	if (!question)
		return RF_CHARGED_MAX;
	RF_UNROLL
	for (__u32 i = 0; i < RF_CHARGED_MAX; i++) {
		const struct rf_policy *policy = policy_of(question, i);
		const struct rf_source *source = sources.of[i];

		if (i >= question->in_force || !source)
			continue;
		if (banned_until(question, source, policy, question->slot[i]))
			return i;
		set_ask(&ask, question, policy);
		if (!peek(&source->window, policy, &ask))
			return i;
	}
	return RF_CHARGED_MAX;
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

/* The shadow in place `i` is over its limit, until then. */
static __always_inline void note_shadow(struct question *question, __u32 i, __u64 until)
{
	question->over |= 1U << i;
	if (until < question->until)
		question->until = until;
}

/*
 * The limit in place `i` could not be charged. Returns {place | verdict << 8} where that refuses
 * the packet; RF_CHARGED_MAX where the limit is a shadow.
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
 * Charges all windows, and stops at a limit in force that has lost its room since the peek. Returns
 * {place | verdict << 8} of that limit; RF_CHARGED_MAX: all were charged.
 */
__noinline int take_all(struct question *question, struct rf_source *first,
			struct rf_source *second, struct rf_source *third, struct rf_source *fourth)
{
	const struct sources sources = {.of = {first, second, third, fourth}};
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

/* Peeks at all, then charges all. Returns as take_all; verdict RF_UNDER: a peek found no room. */
static __always_inline __u32 ask_windows(struct question *question, const struct sources *sources)
{
	const __u32 place = peek_all(question, source_in(sources, 0), source_in(sources, 1),
				     source_in(sources, 2), source_in(sources, 3));

	if (place < RF_CHARGED_MAX)
		return place | RF_UNDER << 8;
	return take_all(question, source_in(sources, 0), source_in(sources, 1),
			source_in(sources, 2), source_in(sources, 3));
}

/* The reason to drop, by the verdict of ask_windows. */
static __always_inline __u32 reason_refused(__u32 verdict)
{
	if (verdict == RF_UNDER)
		return RF_PEEKED_FULL;
	return verdict == RF_OVER ? RF_OVER_LIMIT : RF_CONTENDED;
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

/* May a lease repeat this answer? All limits need a window of the source's own, and must agree. */
__noinline int lease_may_follow_all(const struct question *question)
{
	if (!question || !config.lease_shift || question->missing || question->aggregated ||
	    !question->until)
		return 0;
	return all_are_over(question) || may_share_credits(question, bank_of(question));
}

/* The window that a lease charges; NULL also where a shadow is over its limit. */
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
	question->who.place = take_lease_for(question);
	if (question->who.place == NO_LEASE)
		return;
	lease_windows(question, window_in(question, sources, 0), window_in(question, sources, 1),
		      window_in(question, sources, 2), window_in(question, sources, 3));
}

#endif /* RINGFENCE_CHARGE_H */
