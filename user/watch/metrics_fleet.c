// SPDX-License-Identifier: GPL-2.0
/* Metrics of a fence that is in a fleet: taken from scans. */
#include <string.h>

#include "watch/metrics_of.h"

/* A value that is kept beside the counters, over restarts of the daemon. */
static void keep(struct rf_metrics *metrics, const char *key, uint64_t value)
{
	rf_monotonic_add(metrics->told, key, value - rf_monotonic_told(metrics->told, key));
}

/*
 * A counter of the agent, which begins at 0 with each start of it. `before` is where the agent's
 * count is kept.
 */
static void count(struct rf_metrics *metrics, const char *key, const char *before, bool is_same,
		  uint64_t now)
{
	const uint64_t then = is_same ? rf_monotonic_told(metrics->told, before) : 0;

	keep(metrics, before, now);
	rf_monotonic_add(metrics->told, key, now > then ? now - then : 0);
}

static void take_agent(struct rf_metrics *metrics, const struct rf_agent_seen *agent)
{
	const bool is_same = rf_monotonic_told(metrics->told, "agent/started") == agent->started_ns;

	keep(metrics, "agent/started", agent->started_ns);
	count(metrics, "fleet/sent", "agent/sent", is_same, agent->asks_sent);
	count(metrics, "fleet/put_off", "agent/put_off", is_same, agent->asks_put_off);
	count(metrics, "fleet/alone_times", "agent/alone_times", is_same, agent->alone_times);
	count(metrics, "fleet/alone_ns", "agent/alone_ns", is_same, agent->alone_ns);
}

void rf_metrics_take_fleet(struct rf_metrics *metrics, const struct rf_fleet_seen *seen)
{
	const struct rf_agent_seen *agent = &seen->agent;
	struct rf_fleet_metrics *fleet = &metrics->fleet;

	fleet->is_told = seen->limits;
	fleet->seen = *seen;
	if (!fleet->is_told)
		return;
	fleet->asks_lost = rf_monotonic_see(metrics->told, "fleet/lost", seen->standing.asks_lost);
	if (agent->is_up)
		take_agent(metrics, agent);
	fleet->asks_sent = rf_monotonic_add(metrics->told, "fleet/sent", 0);
	fleet->asks_put_off = rf_monotonic_add(metrics->told, "fleet/put_off", 0);
	fleet->alone_times = rf_monotonic_add(metrics->told, "fleet/alone_times", 0);
	fleet->alone_ns = rf_monotonic_add(metrics->told, "fleet/alone_ns", 0);
}
