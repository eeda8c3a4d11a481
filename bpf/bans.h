/* SPDX-License-Identifier: GPL-2.0 */
/* Bans in the data path: find, start, refuse. How the table works is in ringfence/ban_table.h. */
#ifndef RINGFENCE_BANS_H
#define RINGFENCE_BANS_H

#include "ban_sets.h"
#include "lease_table.h"

/* The key of a ban of this source under the limit in `slot`. */
static __always_inline void set_ban_key(const struct question *question, __u32 slot,
					struct rf_ban *whom)
{
	const struct rf_policy *policy = &bank_of(question)->policy[slot % RF_LIMITS_MAX];
	const int is_ipv6 = rf_rules_are_ipv6(question->who.rules);

	mask_source(whom->source, question->source, policy->mask4, policy->mask6, is_ipv6);
	whom->whose = rf_ban_whose(policy->id, is_ipv6);
	whom->since = question->jiffies;
}

/* Until when the limit in `slot` bans the source; 0: no ban. */
__noinline __u64 find_ban(const struct question *question, __u32 slot)
{
	struct rf_ban_set *set;
	struct rf_ban whom;
	__u32 tag;

	if (!question)
		return 0;
	set_ban_key(question, slot, &whom);
	set = find_set(&whom, &tag);
	return set ? rf_ban_find(set, &whom, tag, question->jiffies) : 0;
}

/* The first ban by a limit in the bit set `slots`, as {until | slot:5}; 0: no ban. */
__noinline __u64 find_ban_of(const struct question *question, __u32 slots)
{
	if (!question)
		return 0;
	for (int i = 0; i < RF_LIMITS_MAX && slots; i++) {
		const __u32 slot = first_slot(slots);
		const __u64 until = find_ban(question, slot);

		if (until)
			return until * RF_LIMITS_MAX | slot;
		slots &= slots - 1;
	}
	return 0;
}

/*
 * Until when the source of this window is banned; 0: no ban. If the window records no ban, no
 * look-up is needed. Otherwise the table decides, because the command line lifts bans there.
 */
static __always_inline __u64 banned_until(const struct question *question,
					  const struct rf_source *source,
					  const struct rf_policy *policy, __u32 slot)
{
	if (!policy->ban || (source && source->banned_until <= question->jiffies))
		return 0;
	return find_ban(question, slot);
}

/*
 * Bans a source that exceeded the limit. Packets during a ban do not prolong it. As ban_in_set().
 */
__noinline __u64 start_ban(const struct question *question, struct rf_source *source, __u32 slot)
{
	struct rf_ban whom;

	if (!question || !source || is_paused(question))
		return 0;
	if (source->banned_until & RF_BAN_NOT_BEFORE &&
	    (source->banned_until & ~RF_BAN_NOT_BEFORE) > question->jiffies)
		return 0; /* other sources of its prefix have used up the limit */
	set_ban_key(question, slot, &whom);
	return ban_in_set(&whom, bank_of(question)->policy[slot % RF_LIMITS_MAX].ban, source);
}

/* Drops and counts a packet of a source that the limit in `slot` bans. `source` can be NULL. */
__noinline int refuse_banned(struct question *question, struct rf_source *source, __u32 slot,
			     __u64 until)
{
	const struct rf_policy *policy;

	if (!question)
		return RF_BANNED;
	slot %= RF_LIMITS_MAX;
	question->limits = 1U << slot;
	policy = &bank_of(question)->policy[slot];
	lease_same_answer(question, RF_BANNED, until, slot);
	if (!source)
		source = rf_rules_are_ipv6(question->who.rules)
				 ? find_source(question->source, policy, 1)
				 : find_source(question->source, policy, 0);
	count_source(source, policy, RF_BANNED, 1, is_paused(question));
	count_limit(policy, RF_BANNED, 1, question->len_bytes, is_paused(question));
	return RF_BANNED;
}

#endif /* RINGFENCE_BANS_H */
