// SPDX-License-Identifier: GPL-2.0
/* Metrics of a fence that is in a fleet: taken from scans, and written. */
#include <string.h>

#include "base/units.h"
#include "watch/metrics_write.h"

/* ---- taking ---- */

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

/* ---- writing ---- */

static void write_one(struct rf_writer *writer, const struct rf_metrics *metrics, uint64_t value)
{
	rf_sample_begin(writer, "", metrics->fence);
	rf_sample_count(writer, value);
}

/* Without an agent there is nothing of it to tell. */
static void write_of_agent(struct rf_writer *writer, const struct rf_metrics *metrics,
			   uint64_t value)
{
	if (metrics->fleet.is_told && metrics->fleet.seen.agent.is_up)
		write_one(writer, metrics, value);
}

void rf_write_fleet_alone(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	if (metrics->fleet.is_told)
		write_one(writer, metrics, metrics->fleet.seen.standing.alone != 0);
}

void rf_write_fleet_alone_times(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	if (!metrics->fleet.is_told)
		return;
	rf_sample_begin(writer, "_total", metrics->fence);
	rf_sample_count(writer, metrics->fleet.alone_times);
}

void rf_write_fleet_alone_seconds(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	if (!metrics->fleet.is_told)
		return;
	rf_sample_begin(writer, "_total", metrics->fence);
	rf_sample_seconds(writer, metrics->fleet.alone_ns);
}

/* By the clock of the fence: its deadline is a grace after the last heartbeat that was answered. */
void rf_write_fleet_heard(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	const struct rf_fleet_seen *seen = &metrics->fleet.seen;
	const int64_t left_ns = seen->standing.left_ns;
	const int64_t grace_ns = seen->agent.grace_ns;

	if (!metrics->fleet.is_told || !grace_ns || left_ns == INT64_MIN)
		return;
	rf_sample_begin(writer, "", metrics->fence);
	rf_sample_seconds(writer, left_ns < grace_ns ? grace_ns - left_ns : 0);
}

void rf_write_fleet_agent(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	if (metrics->fleet.is_told)
		write_one(writer, metrics, metrics->fleet.seen.agent.is_up);
}

void rf_write_fleet_hosts(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	write_of_agent(writer, metrics, metrics->fleet.seen.agent.hosts);
}

void rf_write_fleet_members(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	const uint32_t members = rf_agent_members(&metrics->fleet.seen.agent);

	if (members) /* this host is one; else nobody knows */
		write_of_agent(writer, metrics, members);
}

void rf_write_fleet_shares(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	write_of_agent(writer, metrics, metrics->fleet.seen.agent.shares);
}

void rf_write_fleet_contested(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	write_of_agent(writer, metrics, metrics->fleet.seen.agent.contested);
}

void rf_write_fleet_asks(struct rf_writer *writer, const struct rf_metrics *metrics)
{
	const struct {
		const char *outcome;
		uint64_t count;
	} rows[] = {
		{"sent", metrics->fleet.asks_sent},
		{"put_off", metrics->fleet.asks_put_off},
		{"lost", metrics->fleet.asks_lost},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows) && metrics->fleet.is_told; i++) {
		rf_sample_begin(writer, "_total", metrics->fence);
		rf_sample_label(writer, "outcome", rows[i].outcome);
		rf_sample_count(writer, rows[i].count);
	}
}
