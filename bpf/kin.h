/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kin: a source's windows under other limits that are or recently were active. If one of those
 * limits groups sources at least as finely as a new limit, the source is known: it is no newcomer
 * to the new limit, under which it still lacks a window. A change of rules therefore makes no
 * source a newcomer.
 */
#ifndef RINGFENCE_KIN_H
#define RINGFENCE_KIN_H

#include "windows.h"

/* Does `grouping` distinguish sources like this one at least as finely as the limit? */
static __always_inline int is_no_coarser(const struct question *question,
					 const struct rf_grouping *grouping,
					 const struct rf_policy *policy, int is_ipv6)
{
	__u32 lacks = policy->mask4 & ~grouping->mask4;

	if (is_ipv6) {
		const __u32 whole =
			rf_whole_address((__be32)question->source[0], grouping->mask6[0]);

		lacks = 0;
		for (int i = 0; i < 4; i++)
			lacks |= policy->mask6[i] & ~(grouping->mask6[i] | whole);
	}
	return !lacks;
}

/* Fast path: all limits group sources alike, and the known filter does not have this one. */
static __always_inline int is_stranger_at_once(const struct question *question,
					       const struct rf_policy *policy, int is_ipv6)
{
	return config.groupings == 1 &&
	       is_absent(known_filter_hash(question->source, policy, is_ipv6), is_ipv6);
}

/*
 * Does the source definitely lack a window that makes it known to that limit? By the known filter.
 */
static __always_inline int is_stranger(const struct question *question,
				       const struct rf_policy *policy, int is_ipv6)
{
	const __u32 groupings = config.groupings;

	for (__u32 i = 0; i < RF_GROUPINGS_MAX && i < groupings; i++) {
		const struct rf_grouping *grouping = &config.grouping[i];

		if (is_no_coarser(question, grouping, policy, is_ipv6) &&
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

/* A kin is the slot reference of a window (slot.h), with these flags instead of the tick. */
#define KIN_KNOWN 1U
#define KIN_OUT_OF_FORCE 2U /* of an inactive limit: the new window can take its slot */
#define KIN_ITSELF 4U	    /* the wanted window itself: another CPU has just made it */
#define KIN_ADMITTED 8U	    /* of a newcomer: the guard has admitted this very packet */

/*
 * Does the slot of that slot reference hold the window of `key`? The memory of the window, and so
 * the slot reference, might belong to a different key by now. The result holds until the slot's
 * generation changes.
 */
static __always_inline int slot_holds(__u64 slot_ref, const union key *key, int is_ipv6)
{
	__u32 index = rf_slot_ref_slot(slot_ref);
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
	return rf_slot_generation(word) == rf_slot_ref_generation(slot_ref) &&
	       rf_slot_state(word) >= RF_SLOT_NEW;
}

/*
 * No process marks the limits of unconfirmed rules when the rules are rolled back, so it is
 * detected here.
 */
static __always_inline __u32 kin_is_over(const struct rf_kin *kin, const struct question *question)
{
	if (kin->state == RF_KIN_UNCONFIRMED)
		return rf_rules_bank(question->who.rules) != (rf_load(&config.active) & 1);
	return kin->state == RF_KIN_OVER;
}

/* The kin of a source under entry `i` of config.kin, for the limit in `slot`; 0: none. */
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
	__u64 slot_ref;

	if (until <= question->jiffies || !is_no_coarser(question, grouping, policy, is_ipv6))
		return 0;
	set_key(&key, question->source, grouping->mask4, grouping->mask6, kin->limit_id, is_ipv6);
	source = look_up(&key, is_ipv6);
	if (!source)
		return 0;
	slot_ref = rf_load(&source->slot_ref);
	if (is_over && slot_holds(slot_ref, &key, is_ipv6))
		flags |= KIN_OUT_OF_FORCE;
	if (kin->limit_id == policy->id)
		flags |= KIN_ITSELF;
	return (slot_ref & ~(__u64)RF_SLOT_REF_TICKS) | flags;
}

/* The same for either family, depending on whether the limit of entry `i` is active. */
__noinline __u64 kin_at_any(const struct question *question, __u32 slot, __u32 i, __u32 is_over)
{
	if (!question || kin_is_over(&config.kin[i % RF_KIN_MAX], question) != is_over)
		return 0;
	return rf_rules_are_ipv6(question->who.rules) ? kin_at(question, slot, i, is_over, 1)
						      : kin_at(question, slot, i, is_over, 0);
}

/* Each round has one path to the next, so the verifier walks each round once. */
static __always_inline __u64 find_kin_among(const struct question *question, __u32 slot,
					    __u32 is_over)
{
	/* Volatile: if it knew the bounds, the verifier would distinguish all rounds. */
	const volatile __u32 *count = &config.kin_count;

	for (__u32 i = 0; i < RF_KIN_MAX && i < *count; i++) {
		const __u64 found = kin_at_any(question, slot, i, is_over);

		if (found)
			return found;
	}
	return 0;
}

/*
 * The kin of a source without a window under the limit in `slot`. 0: the source is a newcomer.
 * Inactive limits are searched first, because their slots can be taken.
 */
__noinline __u64 find_kin(const struct question *question, __u32 slot)
{
	__u64 found;

	if (!question || is_stranger_to(question, slot))
		return 0;
	found = find_kin_among(question, slot, 1);
	return found ? found : find_kin_among(question, slot, 0);
}

#endif /* RINGFENCE_KIN_H */
