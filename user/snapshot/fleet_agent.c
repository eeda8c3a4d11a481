// SPDX-License-Identifier: GPL-2.0
/* What an agent tells of itself, as user/agent/status.c writes it. Pure. */
#include <jansson.h>
#include <stdio.h>

#include "base/text.h"
#include "base/units.h"
#include "snapshot/fleet_seen.h"

static bool read_members(json_t *members, struct rf_agent_seen *agent)
{
	json_t *slot;
	size_t i;

	if (!json_is_array(members))
		agent->is_settled = false; /* who is heard is not known */
	json_array_foreach (members, i, slot) {
		const json_int_t number = json_integer_value(slot);

		if (!json_is_integer(slot) || number < 0 || number >= RF_FLEET_HOSTS_MAX)
			return false;
		agent->member[number / 64] |= 1ULL << number % 64;
	}
	return true;
}

static bool read_all(json_t *all, struct rf_agent_seen *agent, uint64_t now_ns)
{
	json_int_t started, written, hosts, grace, slot, shares, contested, sent, put_off;
	json_int_t times = 0, ns = 0; /* an agent of an older build does not tell them */
	int alone, learning, refused;
	json_t *members, *trouble;

	if (json_unpack(all,
			"{s:I, s:I, s:I, s:I, s:{s:{s:o}}, s:{s:I, s:i, s:i, s:i, s:o},"
			" s?I, s?I, s:{s:I, s:I}, s:{s:I, s:I}}",
			"started_ns", &started, "written_ns", &written, "hosts", &hosts, "grace_ms",
			&grace, "engine", "heartbeats", "trouble", &trouble, "membership", "slot",
			&slot, "alone", &alone, "learning", &learning, "refused", &refused, "heard",
			&members, "alone_times", &times, "alone_ns", &ns, "sources", "shares",
			&shares, "contested", &contested, "counts", "asks_sent", &sent,
			"asks_put_off", &put_off) ||
	    started <= 0 || written < started || hosts < 0 || hosts > RF_FLEET_HOSTS_MAX ||
	    slot < 0 || slot >= RF_FLEET_HOSTS_MAX || grace <= 0 || shares < 0 || contested < 0 ||
	    sent < 0 || put_off < 0 || times < 0 || ns < 0)
		return false;
	*agent = (struct rf_agent_seen){
		.is_up = now_ns < (uint64_t)written + RF_AGENT_STALE_NS,
		.is_settled = !alone && !learning && !refused,
		.started_ns = started,
		.grace_ns = grace * RF_NS_PER_MS,
		.hosts = hosts,
		.slot = slot,
		.shares = shares,
		.contested = contested,
		.asks_sent = sent,
		.asks_put_off = put_off,
		.alone_times = times,
		.alone_ns = ns,
	};
	if (json_is_string(trouble))
		snprintf(agent->trouble, sizeof(agent->trouble), "%s", json_string_value(trouble));
	rf_hide_controls(agent->trouble, false);
	return read_members(members, agent);
}

void rf_agent_read(struct rf_agent_seen *agent, const char *text, uint64_t now_ns)
{
	json_t *all = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	if (!read_all(all, agent, now_ns))
		*agent = (struct rf_agent_seen){};
	json_decref(all);
}

uint32_t rf_agent_members(const struct rf_agent_seen *agent)
{
	uint32_t members = 0;

	for (int i = 0; i < RF_FLEET_HOSTS_MAX / 64; i++)
		members += __builtin_popcountll(agent->member[i]);
	return members;
}
