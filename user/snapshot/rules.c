// SPDX-License-Identifier: GPL-2.0
#include "snapshot/rules.h"

int rf_rules_see(const struct rf_fence *fence, enum rf_rules_which which,
		 struct rf_rules_seen *seen, struct rf_error *error)
{
	const int err = which == RF_RULES_CONFIRMED
				? rf_fence_ruleset_confirmed(fence, &seen->set, error)
				: rf_fence_ruleset(fence, &seen->set, error);

	if (err)
		return err;
	seen->standing = rf_fence_standing(fence);
	seen->tick_ns = rf_fence_tick_ns(fence);
	/* After the rules: what expires between the two readings is not shown. */
	if (seen->set.listed_count && seen->tick_ns)
		seen->now = rf_fence_jiffies(fence);
	rf_ruleset_expire(&seen->set, seen->now);
	return 0;
}

void rf_rules_unsee(struct rf_rules_seen *seen)
{
	rf_ruleset_free(&seen->set);
}
