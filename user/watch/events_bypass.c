// SPDX-License-Identifier: GPL-2.0
/* Events of packets that do not meet the program. */
#include <stdio.h>
#include <string.h>

#include "watch/episodes.h"

static void describe(const struct rf_snapshot *snapshot, struct rf_event *event)
{
	char text[RF_BYPASS_TEXT_SIZE];

	for (int i = 0; i < snapshot->interfaces; i++) {
		const struct rf_interface_seen *seen = &snapshot->interface[i];
		const size_t length = strlen(event->detail);

		if (seen->bypass.met != RF_BYPASSED)
			continue;
		rf_bypass_format(&seen->bypass, text);
		snprintf(event->detail + length, sizeof(event->detail) - length, "%s%s: %s",
			 length ? "; " : "", seen->name, text);
	}
}

/* Ends as soon as the program of each interface counts again; without packets it goes on. */
void rf_events_feed_bypass(struct rf_events *events, const struct rf_snapshot *snapshot)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_BYPASS_STARTED);
	bool is_bypassed = false, is_met = false;

	for (int i = 0; i < snapshot->interfaces; i++) {
		is_bypassed |= snapshot->interface[i].bypass.met == RF_BYPASSED;
		is_met |= snapshot->interface[i].bypass.met == RF_MET;
	}
	if (events->bypass.number && is_met && !is_bypassed)
		rf_events_end_bypass(events);
	if (events->bypass.number || !is_bypassed)
		return;
	describe(snapshot, &event);
	rf_episode_start(events, &events->bypass, &event);
}

void rf_events_end_bypass(struct rf_events *events)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_BYPASS_ENDED);

	if (events->bypass.number)
		rf_episode_end(events, &events->bypass, &event);
}
