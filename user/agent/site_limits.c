// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "agent/private.h"
#include "ringfence/fleet.h"

static struct rf_fleet_limit limit_from(const struct rf_site *site, const struct rf_limit *limit,
					const struct rf_policy *policy)
{
	struct rf_fleet_limit of = {
		.definition = limit->definition,
		.limit_id = policy->id,
		.tag = policy->tag,
		.limit = policy->limit,
		.first = policy->first,
		.pool = rf_fleet_pool(policy->limit, site->hosts, policy->first),
		.window_ns = limit->window_ns,
		.per4 = limit->per4,
		.per6 = limit->per6,
		.bans = policy->flags & RF_BANS_BY_SUM,
	};

	memcpy(of.name, limit->name, sizeof(of.name));
	of.name[sizeof(of.name) - 1] = '\0';
	return of;
}

/* Without a limit of the fleet nothing is alone. */
static void count_time_alone(struct rf_site *site)
{
	const struct rf_alone_seen seen = rf_site_hearing(site);

	if (site->limits && !site->alone.began_ns) {
		rf_alone_begin(&site->alone, &seen);
	} else if (!site->limits && site->alone.began_ns) {
		rf_alone_look(&site->alone, &seen);
		rf_alone_end(&site->alone, seen.now);
	}
}

int rf_site_read_limits(struct rf_site *site, uint64_t now, struct rf_error *error)
{
	const uint64_t in_force = rf_fence_standing(&site->fence).in_force;
	struct rf_fleet_limit limits[RF_LIMITS_MAX];
	struct rf_bank bank;
	uint32_t count = 0;
	int err = rf_fence_bank(&site->fence, &bank, error);

	if (err)
		return err;
	site->hosts = bank.hosts;
	for (int i = 0; i < RF_LIMITS_MAX; i++)
		if (bank.policy[i].id && bank.policy[i].flags & RF_FLEET)
			limits[count++] = limit_from(site, &bank.limit[i], &bank.policy[i]);
	site->in_force = in_force; /* read before: what changed meanwhile is read again */
	site->limits = count;
	count_time_alone(site);
	rf_claims_take_limits(site->claims, now, limits, count);
	return 0;
}
