// SPDX-License-Identifier: GPL-2.0
#include "watch/pace.h"
#include "base/units.h"

#define INTERVAL_MAX_NS (60 * RF_NS_PER_S)
#define WEIGHT 4 /* a new cost counts as a quarter */

struct rf_pace rf_pace_start(uint64_t asked_ns)
{
	return (struct rf_pace){
		.asked_ns = asked_ns,
		.interval_ns = asked_ns,
		.said_ns = asked_ns,
	};
}

void rf_pace_note(struct rf_pace *pace, uint64_t cost_ns)
{
	uint64_t least;

	if (!pace->has_begun) {
		pace->has_begun = true;
		return;
	}
	if (!pace->cost_ns)
		pace->cost_ns = cost_ns;
	else
		pace->cost_ns = (pace->cost_ns * (WEIGHT - 1) + cost_ns) / WEIGHT;
	least = pace->cost_ns * 100 / RF_PACE_PERCENT;
	if (least > INTERVAL_MAX_NS)
		least = INTERVAL_MAX_NS;
	pace->interval_ns = least > pace->asked_ns ? least : pace->asked_ns;
}

bool rf_pace_has_news(struct rf_pace *pace)
{
	const uint64_t said = pace->said_ns, now = pace->interval_ns;

	if (now < said + said / 2 && said < now + now / 2)
		return false;
	pace->said_ns = now;
	return true;
}

struct rf_jump rf_moment_compare(const struct rf_moment *before, const struct rf_moment *now)
{
	const uint64_t boot = now->boot - before->boot, awake = now->awake - before->awake;
	const int64_t stepped = (int64_t)(now->wall - before->wall) - (int64_t)boot;
	const int64_t least = RF_NS_PER_S;
	struct rf_jump jump = {};

	if (boot > awake + RF_NS_PER_S)
		jump.slept_ns = boot - awake;
	if (stepped >= least || stepped <= -least)
		jump.stepped_ns = stepped;
	return jump;
}
