// SPDX-License-Identifier: GPL-2.0
/* How large a share a source would like, and how small a one is enough. Units are the limit's. */
#include "fleet/private.h"

#define COUNT_NS 1000000ULL /* a rate is measured over so long at least */
#define UNIT_SHIFT 4	    /* of rf_claimant.unit_used */

static uint32_t most_of(const struct rf_fleet_limit *limit)
{
	const uint32_t beyond = limit->limit > limit->first ? limit->limit - limit->first : 0;

	return beyond < limit->pool ? beyond : limit->pool;
}

static uint32_t capped(uint64_t share, const struct rf_fleet_limit *limit)
{
	return share < most_of(limit) ? share : most_of(limit);
}

/* So many units would come in W, at the rate since the ask before. */
static uint64_t demand(const struct rf_claimant *claimant, const struct rf_fleet_limit *limit,
		       const struct rf_fleet_ask *ask)
{
	const uint64_t packets = ask->passed + ask->dropped - claimant->passed - claimant->dropped;
	const uint64_t time_ns = ask->time_ns - claimant->counted_ns;
	const double units = (double)packets * claimant->unit_used / (1 << UNIT_SHIFT) *
			     limit->window_ns / (time_ns ? time_ns : 1);

	if (!claimant->counted_ns || (int64_t)time_ns <= 0)
		return 0;
	return units < RF_LIMIT_MAX ? (uint64_t)units : RF_LIMIT_MAX;
}

/* The first ask of a window shows how many units a packet has: what it used, it has passed. */
static void count(struct rf_claimant *claimant, const struct rf_fleet_ask *ask)
{
	if (claimant->counted_ns && ask->time_ns < claimant->counted_ns + COUNT_NS)
		return;
	if (!claimant->counted_ns)
		claimant->unit_used = 1 << UNIT_SHIFT;
	if (!claimant->counted_ns && ask->passed && ask->used / ask->passed)
		claimant->unit_used = (uint64_t)ask->used * (1 << UNIT_SHIFT) / ask->passed;
	claimant->counted_ns = ask->time_ns;
	claimant->passed = ask->passed;
	claimant->dropped = ask->dropped;
}

/*
 * Half more than its rate takes, so that a source of an even rate asks once. As long as there is no
 * rate: a part of the limit, or twice what it has used.
 */
uint32_t rf_claims_wants(struct rf_claimant *claimant, const struct rf_fleet_limit *limit,
			 const struct rf_fleet_ask *ask)
{
	const uint64_t rate = demand(claimant, limit, ask);
	uint64_t wants = limit->limit / 16 + 1;

	count(claimant, ask);
	if (wants < 2ULL * ask->used)
		wants = 2ULL * ask->used;
	if (wants < rate + rate / 2)
		wants = rate + rate / 2;
	return capped(wants, limit);
}

bool rf_claims_yields(const struct rf_claimant *claimant, uint64_t now)
{
	return now < claimant->yields_until_ns && claimant->yields_to < claimant->wants;
}

uint32_t rf_claims_may_want(const struct rf_claimant *claimant, uint64_t now)
{
	return rf_claims_yields(claimant, now) ? claimant->yields_to : claimant->wants;
}

bool rf_claims_falls(const struct rf_fleet_limit *limit, uint32_t seen, uint32_t used)
{
	return seen > used && seen - used > seen / 8 && seen - used > limit->limit / 16;
}

/* What was used stays claimed as long as it is in the window, so a share of that costs nobody more.
 */
uint32_t rf_claims_needs(const struct rf_fleet_limit *limit, uint32_t used, bool falls)
{
	const uint64_t spare = limit->limit / 64 + 1;

	if (used <= limit->first / 2)
		return 0;
	if (falls)
		return capped((used > limit->first ? used - limit->first : 0) + spare, limit);
	return capped(used + used / 2 + spare, limit);
}

void rf_claims_show(struct rf_claimant *claimant, uint64_t passed, uint64_t dropped, uint64_t now)
{
	if (!claimant->since_ns)
		claimant->since_ns = now;
	claimant->shown_ns = now;
	claimant->shown_passed = passed;
	claimant->shown_dropped = dropped;
}
