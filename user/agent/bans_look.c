// SPDX-License-Identifier: GPL-2.0
#include "agent/bans_private.h"

#define LOOKS 32 /* in a turn: a look-up opens the fence's tries */

static bool is_there(const struct rf_fence *fence, const struct rf_prefix *ban)
{
	struct rf_prefix_value value;
	struct rf_error ignored = {};

	return rf_fence_value_around(fence, ban, &value, &ignored) ||
	       value.deny_until > rf_fence_jiffies(fence);
}

bool rf_fleet_bans_are_there(struct rf_fleet_bans *bans, const struct rf_fence *fence)
{
	for (uint32_t i = 0; i < LOOKS && i < bans->count; i++) {
		const struct rf_taken_ban *taken = &bans->taken[bans->looked++ % bans->count];

		if (taken->until_ns && !is_there(fence, &taken->prefix))
			return false;
	}
	return true;
}
