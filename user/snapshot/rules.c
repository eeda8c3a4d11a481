// SPDX-License-Identifier: GPL-2.0
#include "snapshot/rules.h"

int rf_fence_rules_read(const struct rf_fence *fence, enum rf_rules_which which,
			struct rf_fence_rules *rules, struct rf_error *error)
{
	const int err = which == RF_RULES_CONFIRMED
				? rf_fence_ruleset_confirmed(fence, &rules->set, error)
				: rf_fence_ruleset(fence, &rules->set, error);

	if (err)
		return err;
	rules->standing = rf_fence_standing(fence);
	rules->tick_ns = rf_fence_tick_ns(fence);
	/* After the rules: entries that expire between the two readings are left out. */
	if (rules->set.listed_count && rules->tick_ns)
		rules->now = rf_fence_jiffies(fence);
	rf_ruleset_expire(&rules->set, rules->now);
	return 0;
}

void rf_fence_rules_free(struct rf_fence_rules *rules)
{
	rf_ruleset_free(&rules->set);
}

static uint64_t left_until(const struct rf_fence_rules *rules, uint64_t until)
{
	if (until == RF_FOREVER)
		return RF_FOREVER;
	return until > rules->now ? (until - rules->now) * rules->tick_ns : 0;
}

bool rf_list_entry_of(const struct rf_fence_rules *rules, const struct rf_listed *listed,
		      enum rf_list list, const struct rf_owner_set *of, struct rf_list_entry *entry)
{
	uint8_t owner[RF_LIST_CLAIMS];

	*entry = (struct rf_list_entry){
		.prefix = listed->prefix,
		.left_ns = left_until(rules, rf_listed_until(listed, list)),
		.owners = rf_listed_owners(listed, list, of, owner),
	};
	for (int i = 0; i < entry->owners; i++)
		entry->owner[i] = (struct rf_entry_owner){
			owner[i], rf_owner_name(&rules->set.owners, owner[i]),
			left_until(rules, rf_listed_until_by(listed, list, owner[i]))};
	return entry->owners;
}
