// SPDX-License-Identifier: GPL-2.0
/* Bans of the fleet, as the agent tells of them: how many were taken and told, and what is wrong.
 */
#include <string.h>

#include "cli/fleet_agent.h"
#include "cli/fleet_findings.h"

#define BANS "bans"

static json_int_t sum(const json_t *numbers)
{
	json_int_t all = 0;
	const char *key;
	json_t *number;

	json_object_foreach ((json_t *)numbers, key, number)
		all += json_integer_value(number);
	return all;
}

void rf_fleet_read_bans(const json_t *status, struct rf_fleet_bans_seen *seen)
{
	const json_t *bans = json_object_get(status, "bans");

	*seen = (struct rf_fleet_bans_seen){
		.is_known = bans,
		.takes = json_is_true(json_object_get(bans, "takes")),
		.taken = json_integer_value(json_object_get(bans, "taken")),
		.told = json_integer_value(json_object_get(bans, "told")),
		.refused = sum(json_object_get(bans, "refused")),
	};
	rf_fleet_text(bans, "trouble", seen->trouble, sizeof(seen->trouble));
	if (!*seen->trouble)
		rf_fleet_text(bans, "engine_trouble", seen->trouble, sizeof(seen->trouble));
}

void rf_fleet_check_bans(const struct rf_fleet_facts *facts, struct rf_findings *findings)
{
	const int before = findings->count;
	const json_t *membership = json_object_get(facts->status, "membership");
	struct rf_fleet_bans_seen seen;

	rf_fleet_read_bans(facts->status, &seen);
	if (!seen.is_known)
		return;
	if (*seen.trouble && json_is_null(json_object_get(membership, "alone_ms")))
		rf_findings_add(findings, RF_PROBLEM, BANS, "%s", seen.trouble);
	if (seen.refused)
		rf_findings_add(findings, RF_NOTE, BANS,
				"%lld of other hosts were refused: too long, too wide, too many, "
				"or with the engine's address",
				(long long)seen.refused);
	if (findings->count != before)
		return;
	if (seen.takes)
		rf_findings_add(
			findings, RF_OK, BANS,
			"%lld of other hosts are taken; %lld were told since the agent started",
			(long long)seen.taken, (long long)seen.told);
	else
		rf_findings_add(
			findings, RF_OK, BANS,
			"no bans of other hosts are taken; %lld were told since the agent started",
			(long long)seen.told);
}
