/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fast path of several limits: the source has a window under each of them, as nearly always. The
 * steps are the same as in limits.h, in the same order: peek at all, charge all, count.
 *
 * Four limits cost four look-ups of 30 ns, and a call costs 9 ns. No window therefore costs a call
 * if all have room in the present cell. Cache misses of cold windows overlap: all windows are
 * looked up before any is read, and everything that the charges need is loaded before the first
 * charge, because no load starts before an atomic operation has completed.
 */
#ifndef RINGFENCE_LIMITS_KNOWN_H
#define RINGFENCE_LIMITS_KNOWN_H

#include "charge.h"

/* Time is read once for all limits, and divided once for limits whose cells have one length. */
struct clocks {
	__u64 ns;    /* set if a limit uses this clock */
	__u64 epoch; /* of the cell length below */
	__u64 cell;  /* {time_shift | length | clock}; 0: no division yet */
};

static __always_inline __u64 epoch_by(struct clocks *clocks, const struct question *question,
				      const struct rf_policy *policy)
{
	const int is_ns = policy->clock != RF_JIFFIES;
	const __u64 cell = ((__u64)policy->time_shift << 56) ^ (policy->cell << 1 | is_ns);

	if (cell != clocks->cell) {
		clocks->cell = cell;
		clocks->epoch = rf_epoch(policy, is_ns ? clocks->ns : question->jiffies);
	}
	return clocks->epoch;
}

/* Do both limits group sources alike? Then one read of the known filter is enough for both. */
static __always_inline int group_alike(const struct rf_policy *a, const struct rf_policy *b,
				       int is_ipv6)
{
	__u32 differ = a->mask4 ^ b->mask4;

	if (is_ipv6) {
		differ = 0;
		for (int i = 0; i < 4; i++)
			differ |= a->mask6[i] ^ b->mask6[i];
	}
	return !differ;
}

/*
 * Does the source definitely lack a window in place `i`? `before`: the same for the place before.
 */
static __always_inline int is_absent_at(const struct question *question, __u32 i, int before,
					int is_ipv6)
{
	if (!question->is_exhausted)
		return 0;
	if (i && group_alike(policy_of(question, i), policy_of(question, i - 1), is_ipv6))
		return before;
	return is_newcomer(question, question->slot[i % RF_CHARGED_MAX]);
}

/*
 * Looks up the windows, and stops at the first place without one, which it returns;
 * RF_CHARGED_MAX: all were found. `wants_ns`: a limit uses the clock in ns. `is_absent`: the known
 * filter has reported that the last window is missing.
 */
static __always_inline __u32 find_all(const struct question *question, struct sources *sources,
				      int *wants_ns, int *is_absent, int is_ipv6)
{
	RF_UNROLL
	for (__u32 i = 0; i < RF_CHARGED_MAX; i++) {
		const struct rf_policy *policy = policy_of(question, i);

		if (i >= question->count)
			break;
		*wants_ns |= policy->clock != RF_JIFFIES;
		*is_absent = is_absent_at(question, i, *is_absent, is_ipv6);
		if (!*is_absent)
			sources->of[i] = find_source(question->source, policy, is_ipv6);
		if (!sources->of[i])
			return i;
	}
	return RF_CHARGED_MAX;
}

/*
 * Marks the missing windows, of which the first is in place `first`, and touches the windows behind
 * it. `is_absent` is from find_all. Not in find_all, since the verifier walks all code behind that
 * once for each combination of windows.
 */
static __always_inline int mark_missing(struct question *question, __u32 first, int is_absent,
					int is_ipv6)
{
	question->missing = 1U << first % RF_CHARGED_MAX;
	RF_UNROLL
	for (__u32 i = 1; i < RF_CHARGED_MAX; i++) {
		struct rf_source *source = NULL;

		if (i >= question->count)
			break;
		if (i <= first)
			continue;
		is_absent = is_absent_at(question, i, is_absent, is_ipv6);
		if (!is_absent)
			source = find_source(question->source, policy_of(question, i), is_ipv6);
		if (source)
			touch(question, source, is_ipv6);
		else
			question->missing |= 1U << i;
	}
	return STEP_MISSING;
}

__noinline int mark_missing4(struct question *question, __u32 first, int is_absent)
{
	return question ? mark_missing(question, first, is_absent, 0) : STEP_MISSING;
}

__noinline int mark_missing6(struct question *question, __u32 first, int is_absent)
{
	return question ? mark_missing(question, first, is_absent, 1) : STEP_MISSING;
}

static __always_inline void touch_all(struct question *question, const struct sources *sources,
				      int is_ipv6)
{
	RF_UNROLL
	for (__u32 i = 0; i < RF_CHARGED_MAX; i++) {
		struct rf_source *source = source_in(sources, i);

		if (source)
			touch(question, source, is_ipv6);
	}
}

/*
 * Is the head in the present cell, and does it have room? Also false if the head is not enough to
 * decide.
 */
static __always_inline int has_room_now(const struct question *question,
					const struct rf_source *source,
					const struct rf_policy *policy, struct clocks *clocks,
					__u32 *enough)
{
	const __u64 head = rf_load(&source->window.head);
	__u64 now;

	if (!rf_is_ring(policy))
		return 0;
	now = epoch_by(clocks, question, policy);
	if (!rf_is_present_at_once(policy, head, now)) {
		read_ahead(&source->window, policy, head, now);
		return 0;
	}
	return rf_may_add(&source->window, policy, head, now, rf_cost(policy, question->len_bytes),
			  question->jiffies, enough);
}

/* Fast path: every head has room in the present cell, and no limit bans the source. */
static __always_inline int all_have_room(const struct question *question, struct sources *sources,
					 struct clocks *clocks)
{
	int has_room = 1;

	RF_UNROLL
	for (__u32 i = 0; i < RF_CHARGED_MAX; i++) {
		const struct rf_policy *policy = policy_of(question, i);
		const struct rf_source *source = source_in(sources, i);

		if (!source)
			break;
		if (!has_room_now(question, source, policy, clocks, &sources->enough[i]))
			has_room = 0;
		if (policy->ban && source->banned_until > question->jiffies)
			has_room = 0;
	}
	return has_room;
}

/* Another CPU has taken the room since all_have_room. Does the limit refuse the packet? */
__noinline int lose_race(struct question *question, struct rf_source *source, __u32 i)
{
	if (!question || !source)
		return 0;
	i %= RF_CHARGED_MAX;
	return lose_room(question, source, i, rf_not_added(policy_of(question, i)));
}

/* As take_refuses, after all_have_room. */
static __always_inline int take_at_once_refuses(struct question *question,
						const struct sources *sources,
						struct clocks *clocks)
{
	RF_UNROLL
	for (__u32 i = 0; i < RF_CHARGED_MAX; i++) {
		const struct rf_policy *policy = policy_of(question, i);
		struct rf_source *source = source_in(sources, i);

		if (!source)
			break;
		if (rf_add(&source->window, policy, epoch_by(clocks, question, policy),
			   rf_cost(policy, question->len_bytes), question->jiffies,
			   sources->enough[i]) != RF_UNDER &&
		    lose_race(question, source, i))
			return 1;
	}
	return 0;
}

/* The packet passes: each limit counts it. */
static __always_inline void count_all(const struct question *question,
				      const struct sources *sources)
{
	if (question->over) {
		count_passed(question, source_in(sources, 0), source_in(sources, 1),
			     source_in(sources, 2), source_in(sources, 3));
		return;
	}
	RF_UNROLL
	for (__u32 i = 0; i < RF_CHARGED_MAX; i++) {
		struct rf_source *source = source_in(sources, i);

		if (!source)
			break;
		count_source(source, policy_of(question, i), RF_UNDER_LIMIT, 1,
			     is_paused(question));
		count_limit(policy_of(question, i), RF_UNDER_LIMIT, 1, question->len_bytes,
			    is_paused(question));
		count_received(question, source, policy_of(question, i));
		if (!sources->enough[i])
			consider_asking_at(question, source, i, 0);
	}
}

/*
 * The reason, which each limit has counted; or STEP_MISSING; or STEP_REFUSED for refuse_known,
 * which needs the stack that this function uses.
 */
static __always_inline int ask_known(struct question *question, int is_ipv6)
{
	struct sources sources = {};
	struct clocks clocks = {};
	int has_room, wants_ns = 0, is_absent = 0;
	__u32 missing;

	set_slots(question);
	question->until = rf_lease_end_by(question->jiffies, bank_of(question)->lease_span);
	question->is_exhausted =
		guard_is_exhausted(bank_of(question), question->jiffies, !question->in_force);
	missing = find_all(question, &sources, &wants_ns, &is_absent, is_ipv6);
	if (missing != RF_CHARGED_MAX) {
		touch_all(question, &sources, is_ipv6);
		return is_ipv6 ? mark_missing6(question, missing, is_absent)
			       : mark_missing4(question, missing, is_absent);
	}
	if (wants_ns)
		clocks.ns = read_ns();
	has_room = all_have_room(question, &sources, &clocks);
	touch_all(question, &sources, is_ipv6);
	if (has_room ? take_at_once_refuses(question, &sources, &clocks)
		     : windows_refuse(question, &sources))
		return STEP_REFUSED;
	count_all(question, &sources);
	if (config.lease_shift)
		lease_all(question, &sources);
	return question->over ? RF_SHADOW_OVER : RF_UNDER_LIMIT;
}

__noinline int ask_known4(struct question *question)
{
	return question ? ask_known(question, 0) : RF_MAP_ERROR;
}

__noinline int ask_known6(struct question *question)
{
	return question ? ask_known(question, 1) : RF_MAP_ERROR;
}

/* The refusal that ask_known left. Looks up the window again. */
__noinline int refuse_known(struct question *question)
{
	const struct rf_policy *policy;
	struct rf_source *source;
	enum rf_reason reason;
	__u64 until = 0;
	__u32 slot;

	if (!question)
		return RF_OVER_LIMIT;
	slot = question->slot[refused_at(question)] % RF_LIMITS_MAX;
	policy = &bank_of(question)->policy[slot];
	source = rf_rules_are_ipv6(question->who.rules) ? find_source(question->source, policy, 1)
							: find_source(question->source, policy, 0);
	if (source)
		return refuse_packet(question, source);
	/* The window was evicted since then. */
	if (question->refusal == REFUSED_BY_PEEK)
		until = banned_until(question, NULL, policy, slot);
	if (until)
		return refuse_banned(question, NULL, slot, until);
	reason = reason_refused(question);
	question->limits = 1U << slot;
	count_limit(policy, reason, 1, question->len_bytes, is_paused(question));
	return reason;
}

#endif /* RINGFENCE_LIMITS_KNOWN_H */
