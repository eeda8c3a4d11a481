// SPDX-License-Identifier: GPL-2.0
/* Events of the fleet: a host that does not hear it, and members that are gone. */
#include <stdio.h>
#include <string.h>

#include "watch/episodes.h"

/* ---- alone ---- */

static void describe_alone(const struct rf_fleet_seen *seen, struct rf_event *event)
{
	const struct rf_agent_seen *agent = &seen->agent;
	const char *why = "";

	if (!agent->is_up)
		why = "no agent serves the fence";
	else if (*agent->trouble)
		why = agent->trouble;
	if (seen->standing.alone < RF_BUCKETS)
		snprintf(event->detail, sizeof(event->detail), "%u of %d parts of the sources%s%s",
			 seen->standing.alone, RF_BUCKETS, *why ? ": " : "", why);
	else
		snprintf(event->detail, sizeof(event->detail), "%s", why);
}

static void feed_alone(struct rf_events *events, const struct rf_fleet_seen *seen)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_FLEET_ALONE);

	if (!events->alone.number) {
		describe_alone(seen, &event);
		if (seen->limits && seen->standing.alone)
			rf_episode_start(events, &events->alone, &event);
	} else if (!seen->limits) {
		rf_events_end_fleet(events, "no limit is of the fleet any more");
	} else if (!seen->standing.alone) {
		rf_events_end_fleet(events, "");
	}
}

void rf_events_end_fleet(struct rf_events *events, const char *why)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_FLEET_BACK);

	if (!events->alone.number)
		return;
	snprintf(event.detail, sizeof(event.detail), "%s", why);
	rf_episode_end(events, &events->alone, &event);
}

/* ---- members ---- */

/* Adds the numbers of those that are gone; returns how many they are. */
static int list_gone(const struct rf_events *events, const struct rf_agent_seen *agent,
		     char text[RF_EVENT_DETAIL_SIZE / 2])
{
	const size_t size = RF_EVENT_DETAIL_SIZE / 2;
	size_t length = 0;
	int count = 0;

	for (int slot = 0; slot < RF_FLEET_HOSTS_MAX; slot++) {
		const uint64_t bit = 1ULL << slot % 64;

		if (!(events->member[slot / 64] & ~agent->member[slot / 64] & bit))
			continue;
		count++;
		if (length < size)
			length += snprintf(text + length, size - length, "%s%d", length ? ", " : "",
					   slot);
	}
	return count;
}

/* While the engine learns, or is not heard, the agent knows not all members. */
static void feed_members(struct rf_events *events, const struct rf_fleet_seen *seen)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_MEMBER_GONE);
	const struct rf_agent_seen *agent = &seen->agent;
	char gone[RF_EVENT_DETAIL_SIZE / 2] = "";
	struct rf_episode one;
	int count;

	if (!seen->limits || !agent->is_up || !agent->is_settled ||
	    memcmp(events->member, agent->member, sizeof(events->member)) == 0)
		return;
	count = list_gone(events, agent, gone);
	snprintf(event.detail, sizeof(event.detail), "%s %s; %u of %u hosts are left",
		 count == 1 ? "number" : "numbers", gone, rf_agent_members(agent), agent->hosts);
	if (count)
		rf_episode_start(events, &one, &event);
	memcpy(events->member, agent->member, sizeof(events->member));
	events->has_changed = true;
}

void rf_events_feed_fleet(struct rf_events *events, const struct rf_snapshot *snapshot)
{
	feed_alone(events, &snapshot->fleet);
	feed_members(events, &snapshot->fleet);
}
