// SPDX-License-Identifier: GPL-2.0
/* This host: settings, fence and limits, agent. */
#include <inttypes.h>
#include <string.h>

#include "base/time.h"
#include "cli/fleet_agent.h"
#include "cli/fleet_findings.h"
#include "ringfence/fleet.h"
#include "rules/policy.h"

#define SETTINGS "settings"
#define FENCE "fence"
#define LIMITS "limits"
#define AGENT "agent"

/* ---- settings ---- */

void rf_fleet_check_settings(const struct rf_fleet_facts *facts, struct rf_findings *findings)
{
	char wrong[256];

	rf_fleet_text(facts->probe, "settings", wrong, sizeof(wrong));
	if (!facts->settings_file) {
		rf_findings_add(findings, RF_PROBLEM, SETTINGS, "this host is in no fleet");
		rf_findings_remedy(findings, "ringfence fleet join %s redis HOST:PORT hosts N",
				   facts->fence);
	} else if (facts->probe_error)
		rf_findings_add(findings, RF_PROBLEM, SETTINGS, "%.250s", facts->probe_error);
	else if (*wrong) /* it says what to do; 'fleet join' would lose the file's other lines */
		rf_findings_add(findings, RF_PROBLEM, SETTINGS, "%s", wrong);
	else
		rf_findings_add(findings, RF_OK, SETTINGS, "%s", facts->settings_file);
}

/* ---- limits ---- */

static void check_limit(const struct rf_bank *bank, int slot, struct rf_findings *findings)
{
	const struct rf_limit *limit = &bank->limit[slot];
	const uint64_t first = rf_bank_first(bank, limit);

	if (!(limit->flags & RF_FLEET)) {
		const char *why = rf_policy_no_fleet(limit, &bank->policy[slot]);

		rf_findings_add(findings, RF_NOTE, LIMITS, "'%s' is this host's alone%s%.200s",
				limit->name, why ? ", and must be: " : "", why ? why : "");
		if (!why)
			rf_findings_remedy(findings, "ringfence limit change %s fleet",
					   limit->name);
	} else if (bank->hosts && rf_fleet_is_loose(limit->rate, bank->hosts, first)) {
		rf_findings_add(findings, RF_NOTE, LIMITS,
				"'%s': all hosts together pass up to %" PRIu64 " of its %" PRIu64
				", by its 'first'",
				limit->name,
				(uint64_t)rf_fleet_bound(limit->rate, bank->hosts, first),
				(uint64_t)limit->rate);
		rf_findings_remedy(findings, "ringfence limit change %s first 0", limit->name);
	}
}

static void check_limits(const struct rf_bank *bank, struct rf_findings *findings)
{
	int slots[RF_LIMITS_MAX];
	const int count = rf_bank_slots(bank, slots);
	const int shared = __builtin_popcount(rf_bank_fleet(bank));

	if (shared)
		rf_findings_add(findings, RF_OK, LIMITS, "%d of %d shared", shared, count);
	else {
		rf_findings_add(findings, RF_PROBLEM, LIMITS, "no limit has the word 'fleet'");
		rf_findings_remedy(findings, "ringfence limit add any rate 20k/1s fleet");
	}
	for (int i = 0; i < count; i++)
		check_limit(bank, slots[i], findings);
}

/* ---- the fence ---- */

void rf_fleet_check_fence(const struct rf_fleet_facts *facts, struct rf_findings *findings)
{
	if (!facts->open) {
		rf_findings_add(findings, RF_PROBLEM, FENCE, "%.300s", facts->open_error);
		rf_findings_remedy(findings, "ringfence attach IF fence %s fleet", facts->fence);
		return;
	}
	if (!rf_fence_has_shares(facts->open)) {
		rf_findings_add(findings, RF_PROBLEM, FENCE,
				"it was attached without the word 'fleet'; save its rules, detach "
				"it, and attach it with 'fleet'");
		rf_findings_remedy(findings, "ringfence save dev %s > rules", facts->fence);
		return;
	}
	if (!facts->bank->hosts) {
		rf_findings_add(findings, RF_PROBLEM, FENCE,
				"it does not know how many hosts share its limits");
		rf_findings_remedy(findings, "ringfence fleet hosts N dev %s", facts->fence);
	} else
		rf_findings_add(findings, RF_OK, FENCE, "has shares, for %" PRIu32 " hosts",
				facts->bank->hosts);
	check_limits(facts->bank, findings);
}

/* ---- the agent ---- */

static void check_membership(const struct rf_fleet_facts *facts, struct rf_findings *findings)
{
	const json_t *membership = json_object_get(facts->status, "membership");
	const json_t *engine = json_object_get(facts->status, "engine");
	const json_int_t alone_ms = json_integer_value(json_object_get(membership, "alone_ms"));
	const json_int_t hosts = json_integer_value(json_object_get(facts->status, "hosts"));
	char trouble[RF_FLEET_TROUBLE_SIZE], since[RF_DURATION_TEXT_SIZE];

	rf_fleet_text(json_object_get(engine, "heartbeats"), "trouble", trouble, sizeof(trouble));
	rf_format_ms(alone_ms, since);
	if (json_is_true(json_object_get(json_object_get(facts->status, "key"), "refused"))) {
		rf_findings_add(findings, RF_PROBLEM, AGENT, "alone for %s: %s", since, trouble);
		rf_findings_remedy(findings, "systemctl restart ringfence-fleet@%s", facts->fence);
	} else if (json_is_true(json_object_get(membership, "full"))) {
		rf_findings_add(
			findings, RF_PROBLEM, AGENT,
			"alone for %s: all %lld numbers of the fleet are taken; on each host "
			"raise them",
			since, (long long)hosts);
		rf_findings_remedy(findings, "ringfence fleet hosts %lld", (long long)hosts + 1);
	} else if (json_integer_value(json_object_get(membership, "learning")))
		rf_findings_add(findings, RF_NOTE, AGENT,
				"alone for %s: the engine has forgotten who has what, and learns; "
				"wait",
				since);
	else
		rf_findings_add(findings, RF_PROBLEM, AGENT, "alone for %s: %s", since,
				*trouble ? trouble : "it has not heard the engine yet; wait");
}

void rf_fleet_check_agent(const struct rf_fleet_facts *facts, struct rf_findings *findings)
{
	char version[64];

	if (!facts->status) {
		rf_findings_add(findings, RF_PROBLEM, AGENT, "%.300s", facts->status_error);
		return;
	}
	rf_fleet_text(facts->status, "version", version, sizeof(version));
	if (strcmp(version, RINGFENCE_VERSION) != 0) {
		rf_findings_add(findings, RF_NOTE, AGENT,
				"it is of version %s, this program of " RINGFENCE_VERSION, version);
		rf_findings_remedy(findings, "systemctl restart ringfence-fleet@%s", facts->fence);
	}
	if (!json_is_true(json_object_get(facts->status, "attached")))
		rf_findings_add(findings, RF_PROBLEM, AGENT, "it waits for the fence");
	else if (json_is_null(
			 json_object_get(json_object_get(facts->status, "membership"), "alone_ms")))
		rf_findings_add(findings, RF_OK, AGENT, "hears the engine");
	else
		check_membership(facts, findings);
}
