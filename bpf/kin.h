/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who is no newcomer to a limit, though it has no window there: a source that has a window of
 * another limit which tells sources apart no less. So a change of rules makes nobody a newcomer.
 */
#ifndef RINGFENCE_KIN_H
#define RINGFENCE_KIN_H

#include "windows.h"

/* Does it tell sources apart at least as finely as the limit does? */
static __always_inline int is_no_coarser(const struct rf_grouping *grouping,
					 const struct rf_policy *policy, int is_ipv6)
{
	__u32 lacks = policy->mask4 & ~grouping->mask4;

	if (is_ipv6) {
		lacks = 0;
		for (int i = 0; i < 4; i++)
			lacks |= policy->mask6[i] & ~grouping->mask6[i];
	}
	return !lacks;
}

/* Where all limits tell sources apart alike, as nearly always. */
static __always_inline int is_stranger_at_once(const struct question *question,
					       const struct rf_policy *policy, int is_ipv6)
{
	return config.groupings == 1 &&
	       is_absent(known_filter_hash(question->source, policy, is_ipv6), is_ipv6);
}

/* Is it certain that it has no window which would make it known to that limit? */
static __always_inline int is_stranger(const struct question *question,
				       const struct rf_policy *policy, int is_ipv6)
{
	const __u32 groupings = config.groupings;

	for (__u32 i = 0; i < RF_GROUPINGS_MAX && i < groupings; i++) {
		const struct rf_grouping *grouping = &config.grouping[i];

		if (is_no_coarser(grouping, policy, is_ipv6) &&
		    !is_absent(hash_masked(question->source, grouping->mask4, grouping->mask6,
					   is_ipv6),
			       is_ipv6))
			return 0;
	}
	return groupings != 0;
}

__noinline int is_stranger_to(const struct question *question, __u32 slot)
{
	const struct rf_policy *policy;

	if (!question)
		return 0;
	policy = &bank_of(question)->policy[slot % RF_LIMITS_MAX];
	return rf_rules_are_ipv6(question->who.rules) ? is_stranger(question, policy, 1)
						      : is_stranger(question, policy, 0);
}

/* A seat whose tick gives way to these. */
#define KIN_KNOWN 1U
#define KIN_OUT_OF_FORCE 2U /* its slot may go to the new window */
#define KIN_ITSELF 4U	    /* it is the window that is wanted: another CPU has just made it */

/*
 * Does that slot hold the window of `key`? The memory of a window that was looked up may be another
 * one's by now, and its seat with it. While the slot keeps its generation the answer stays true.
 */
static __always_inline int slot_holds(__u64 seat, const union key *key, int is_ipv6)
{
	__u32 index = rf_seat_slot(seat);
	__u64 word;

	if (is_ipv6) {
		const struct rf_slot6 *slot = bpf_map_lookup_elem(&slots6, &index);

		if (!slot)
			return 0;
		word = rf_load(&slot->word);
		if (slot->key.limit_id != key->v6.limit_id)
			return 0;
		for (int i = 0; i < 4; i++)
			if (slot->key.source[i] != key->v6.source[i])
				return 0;
	} else {
		const struct rf_slot4 *slot = bpf_map_lookup_elem(&slots4, &index);

		if (!slot)
			return 0;
		word = rf_load(&slot->word);
		if (slot->key.source != key->v4.source || slot->key.limit_id != key->v4.limit_id)
			return 0;
	}
	return rf_slot_generation(word) == rf_seat_generation(seat) &&
	       rf_slot_state(word) >= RF_SLOT_NEW;
}

/* The seat of its window that makes it known to `policy`, of the limit number `i` of the kin. */
static __always_inline __u64 kin_at(const struct question *question, __u32 slot, __u32 i,
				    __u32 is_over, int is_ipv6)
{
	const struct rf_policy *policy = &bank_of(question)->policy[slot % RF_LIMITS_MAX];
	const struct rf_kin *kin = &config.kin[i % RF_KIN_MAX];
	const struct rf_grouping *grouping = &kin->grouping;
	const __u64 until = rf_load(&kin->until);
	const struct rf_source *source;
	__u32 flags = KIN_KNOWN;
	union key key = {};
	__u64 seat;

	if (until <= question->jiffies || kin->is_over != is_over ||
	    !is_no_coarser(grouping, policy, is_ipv6))
		return 0;
	set_key(&key, question->source, grouping->mask4, grouping->mask6, kin->limit_id, is_ipv6);
	source = look_up(&key, is_ipv6);
	if (!source)
		return 0;
	seat = rf_load(&source->seat);
	if (is_over && slot_holds(seat, &key, is_ipv6))
		flags |= KIN_OUT_OF_FORCE;
	if (kin->limit_id == policy->id)
		flags |= KIN_ITSELF;
	return (seat & ~(__u64)RF_SEAT_TICKS) | flags;
}

/* First those of limits that are over, then the others. */
__noinline __u64 kin_at_any(const struct question *question, __u32 slot, __u32 i)
{
	const __u32 is_over = i < RF_KIN_MAX;

	if (!question)
		return 0;
	return rf_rules_are_ipv6(question->who.rules) ? kin_at(question, slot, i, is_over, 1)
						      : kin_at(question, slot, i, is_over, 0);
}

/*
 * The seat of a window that makes the source known to the limit in `slot`: of a limit that tells
 * sources apart no less, of one that is over if there is any. 0: it is a newcomer.
 */
__noinline __u64 find_kin(const struct question *question, __u32 slot)
{
	/* Read anew in each round, or the verifier tells all rounds apart by its bounds. */
	const volatile __u32 *count = &config.kin_count;
	__u64 found = 0;

	if (!question || is_stranger_to(question, slot))
		return 0;
	for (__u32 i = 0; i < 2 * RF_KIN_MAX && !found; i++)
		if (i % RF_KIN_MAX < *count)
			found = kin_at_any(question, slot, i);
	return found;
}

#endif /* RINGFENCE_KIN_H */
