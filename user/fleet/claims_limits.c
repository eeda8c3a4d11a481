// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "fleet/private.h"

static bool is_same(const struct rf_fleet_limit *limit, const struct rf_fleet_limit *other)
{
	return limit->definition == other->definition && strcmp(limit->name, other->name) == 0;
}

static bool has_claims(const struct rf_claims *claims, uint32_t number)
{
	struct rf_claimant *claimant = NULL;

	while ((claimant = rf_claim_table_next(&claims->table, claimant)))
		if (claimant->key.limit == number)
			return true;
	return false;
}

/* Its shares count no more: the windows have another definition now. */
static void end_claims(struct rf_claims *claims, uint32_t number, uint64_t now)
{
	struct rf_claimant *claimant = NULL;

	while ((claimant = rf_claim_table_next(&claims->table, claimant)))
		if (claimant->key.limit == number) {
			rf_claims_lose(claims, claimant, now);
			rf_claims_touch(claims, claimant);
		}
}

static struct rf_fleet_limit *place_for(struct rf_claims *claims,
					const struct rf_fleet_limit *limit)
{
	struct rf_fleet_limit *free = NULL;

	for (uint32_t i = 0; i < RF_FLEET_LIMITS_MAX; i++)
		if (*claims->limit[i].name && is_same(&claims->limit[i], limit))
			return &claims->limit[i];
	for (uint32_t i = 0; i < RF_FLEET_LIMITS_MAX && !free; i++)
		if (!*claims->limit[i].name ||
		    (!claims->limit[i].in_force && !has_claims(claims, i)))
			free = &claims->limit[i];
	if (free)
		*free = (struct rf_fleet_limit){};
	return free;
}

static bool is_among(const struct rf_fleet_limit *limit, const struct rf_fleet_limit *limits,
		     uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (is_same(limit, &limits[i]) && limit->limit_id == limits[i].limit_id &&
		    limit->tag == limits[i].tag)
			return true;
	return false;
}

void rf_claims_take_limits(struct rf_claims *claims, uint64_t now,
			   const struct rf_fleet_limit *limits, uint32_t count)
{
	struct rf_fleet_limit *place;

	for (uint32_t i = 0; i < RF_FLEET_LIMITS_MAX; i++) {
		if (!claims->limit[i].in_force || is_among(&claims->limit[i], limits, count))
			continue;
		claims->limit[i].in_force = false;
		end_claims(claims, i, now);
	}
	for (uint32_t i = 0; i < count; i++) {
		place = place_for(claims, &limits[i]);
		if (!place)
			continue; /* until claims of others have ended, nothing is asked for it */
		*place = limits[i];
		place->in_force = true;
	}
}

int rf_claims_limit_of(const struct rf_claims *claims, uint32_t limit_id, uint32_t tag)
{
	for (int i = 0; i < RF_FLEET_LIMITS_MAX; i++)
		if (claims->limit[i].in_force && claims->limit[i].limit_id == limit_id &&
		    claims->limit[i].tag == tag)
			return i;
	return -1;
}

uint64_t rf_claims_window_ns(const struct rf_claims *claims)
{
	uint64_t longest = 0;

	for (int i = 0; i < RF_FLEET_LIMITS_MAX; i++)
		if (*claims->limit[i].name && claims->limit[i].window_ns > longest)
			longest = claims->limit[i].window_ns;
	return longest;
}
