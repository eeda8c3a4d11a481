// SPDX-License-Identifier: GPL-2.0
/* The other hosts, as they say of themselves. */
#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "cli/fleet_agent.h"
#include "cli/fleet_findings.h"

#define HOSTS "hosts"
#define SILENT_MOST 8 /* findings of silent hosts */

static json_int_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void add_difference(void *context, const char *limit, const char *how, const char *hosts)
{
	struct rf_findings *findings = context;

	if (strcmp(how, "other") == 0)
		rf_findings_add(findings, RF_PROBLEM, HOSTS,
				"limit '%s' is another one on %.200s: together they pass the sum",
				limit, hosts);
	else
		rf_findings_add(findings, RF_PROBLEM, HOSTS, "limit '%s' is %s %.200s", limit,
				strcmp(how, "missing here") == 0 ? "missing here, and there on"
								 : "missing on",
				hosts);
	rf_findings_remedy(findings, "ringfence limit list");
}

static void check_figures(const json_t *status, const json_t *hosts, struct rf_findings *findings)
{
	char list[RF_HOST_LIST_SIZE], grace[RF_DURATION_TEXT_SIZE];

	if (rf_fleet_others(hosts, "hosts", number(status, "hosts"), list)) {
		rf_findings_add(findings, RF_PROBLEM, HOSTS,
				"another number of hosts than here, %lld, on %.200s: their limits "
				"are not shared with this host",
				(long long)number(status, "hosts"), list);
		rf_findings_remedy(findings, "ringfence fleet hosts %lld",
				   (long long)number(status, "hosts"));
	}
	rf_format_ms(number(status, "grace_ms"), grace);
	if (rf_fleet_others(hosts, "grace_ms", number(status, "grace_ms"), list))
		rf_findings_add(
			findings, RF_PROBLEM, HOSTS,
			"another grace than here, %s, on %.180s: it must be the same; 'fleet "
			"join' sets it",
			grace, list);
}

/* Versions that differ are as usual while hosts are upgraded. */
static void check_versions(const json_t *status, const json_t *hosts, struct rf_findings *findings)
{
	char list[RF_HOST_LIST_SIZE] = "", here[64], there[64];
	const json_t *host;
	int count = 0;
	size_t i;

	rf_fleet_text(status, "version", here, sizeof(here));
	json_array_foreach (hosts, i, host) {
		rf_fleet_text(host, "version", there, sizeof(there));
		if (*there && strcmp(here, there) != 0)
			rf_fleet_add_label(list, ++count, host);
	}
	if (count)
		rf_findings_add(findings, RF_NOTE, HOSTS,
				"another version than here, %s, on %.200s", here, list);
}

static void check_silence(const json_t *host, json_int_t grace_ms, json_int_t void_ms,
			  struct rf_findings *findings)
{
	const json_int_t silent_ms = number(host, "silent_ms");
	char label[RF_HOST_LABEL_SIZE], since[RF_DURATION_TEXT_SIZE];

	if (silent_ms <= grace_ms)
		return;
	rf_fleet_label(host, label);
	rf_format_ms(silent_ms, since);
	rf_findings_add(findings, RF_NOTE, HOSTS, "%s is silent for %s%s", label, since,
			silent_ms >= void_ms ? "; if it will not come back, forget it"
					     : ": its claims still count");
	if (silent_ms >= void_ms)
		rf_findings_remedy(findings, "ringfence fleet gone %lld",
				   (long long)number(host, "slot"));
}

static void check_spare(const json_t *status, size_t members, struct rf_findings *findings)
{
	const json_int_t hosts = number(status, "hosts");

	if (hosts < 2 || (json_int_t)members < hosts)
		return;
	rf_findings_add(findings, RF_NOTE, HOSTS,
			"all %lld numbers are in use: a host that reboots is alone until its old "
			"claims have ended; have one to spare",
			(long long)hosts);
	rf_findings_remedy(findings, "ringfence fleet hosts %lld", (long long)hosts + 1);
}

void rf_fleet_check_hosts(const struct rf_fleet_facts *facts, struct rf_findings *findings)
{
	const json_t *hosts = json_object_get(facts->hosts, "hosts"), *host;
	const int before = findings->count;
	size_t i;

	if (!hosts)
		return;
	rf_fleet_each_difference(hosts, add_difference, findings);
	check_figures(facts->status, hosts, findings);
	check_versions(facts->status, hosts, findings);
	json_array_foreach (hosts, i, host)
		if (findings->count < before + SILENT_MOST)
			check_silence(host, number(facts->status, "grace_ms"),
				      number(facts->hosts, "void_after_ms"), findings);
	check_spare(facts->status, json_array_size(hosts), findings);
	if (findings->count == before)
		rf_findings_add(findings, RF_OK, HOSTS, "%zu, with the same limits",
				json_array_size(hosts));
}
