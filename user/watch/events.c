// SPDX-License-Identifier: GPL-2.0
/* What is made of each scan. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "watch/episodes.h"

struct rf_events *rf_events_open(const char *state)
{
	struct rf_events *events = calloc(1, sizeof(*events));

	if (!events)
		return NULL;
	events->tokens_ns = RF_EVENTS_BURST * RF_EVENT_TOKEN_NS;
	events->has_changed = true;
	if (state)
		rf_events_restore(events, state);
	return events;
}

void rf_events_close(struct rf_events *events)
{
	free(events);
}

bool rf_events_changed(const struct rf_events *events)
{
	return events->has_changed;
}

/* ---- numbers ---- */

void rf_events_number_after(struct rf_events *events, uint64_t last, uint64_t time_ns)
{
	if (last > events->seq && last <= RF_EVENT_SEQ_MAX)
		events->seq = last;
	if (events->seq)
		return;
	events->seq = time_ns / RF_NS_PER_MS;
	events->is_numbered_anew = true;
}

/* ---- a scan ---- */

/* Of ids that were given before, without a memory of them, none is given again. */
static void make_base(struct rf_events *events, const struct rf_snapshot *snapshot)
{
	uint32_t hash = 2166136261U; /* FNV-1a */
	uint64_t time = snapshot->time_ns;

	for (size_t i = 0; i < sizeof(time); i++, time >>= 8)
		hash = (hash ^ (time & 0xff)) * 16777619U;
	for (const char *p = snapshot->identity; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 16777619U;
	snprintf(events->base, sizeof(events->base), "%07x", hash >> 4);
}

static void note_attached(struct rf_events *events, const struct rf_snapshot *snapshot)
{
	struct rf_event event;

	if (!*events->base)
		make_base(events, snapshot);
	if (*events->identity && strcmp(events->identity, snapshot->identity) != 0)
		rf_events_gone(events, events->time_ns, events->sink, events->context);
	memcpy(events->fence, snapshot->fence, sizeof(events->fence));
	if (*events->identity)
		return;
	memcpy(events->identity, snapshot->identity, sizeof(events->identity));
	event = rf_event_of(events, RF_EVENT_ATTACHED);
	if (events->is_numbered_anew)
		snprintf(event.detail, sizeof(event.detail),
			 "no earlier number was found: numbers begin at the clock");
	events->is_numbered_anew = false;
	rf_episode_start(events, &events->attached, &event);
}

static void note_time(struct rf_events *events, const struct rf_snapshot *snapshot)
{
	const int64_t most = RF_EVENTS_BURST * RF_EVENT_TOKEN_NS;

	events->time_ns = snapshot->time_ns;
	events->passed_ns = 0;
	if (events->awake_ns && snapshot->awake_ns > events->awake_ns)
		events->passed_ns = snapshot->awake_ns - events->awake_ns;
	events->awake_ns = snapshot->awake_ns;
	events->tokens_ns += events->passed_ns > (uint64_t)most ? most : (int64_t)events->passed_ns;
	if (events->tokens_ns > most)
		events->tokens_ns = most;
}

void rf_events_feed(struct rf_events *events, const struct rf_snapshot *snapshot,
		    rf_event_sink sink, void *context)
{
	events->sink = sink;
	events->context = context;
	note_time(events, snapshot);
	note_attached(events, snapshot);
	rf_events_feed_rules(events, snapshot);
	rf_events_feed_pause(events, snapshot);
	rf_events_feed_fence(events, snapshot);
	rf_events_feed_bypass(events, snapshot);
	rf_events_feed_fleet(events, snapshot);
	rf_events_feed_bans(events, snapshot);
	rf_events_feed_sources(events, snapshot);
	rf_events_tell_left_out(events, false);
	events->before = snapshot->counters;
	events->has_before = true;
}

void rf_events_gone(struct rf_events *events, uint64_t time_ns, rf_event_sink sink, void *context)
{
	struct rf_event event;

	events->sink = sink;
	events->context = context;
	events->time_ns = time_ns;
	if (!*events->identity)
		return;
	rf_events_end_sources(events);
	rf_events_end_fleet(events, "the fence is gone");
	rf_events_end_bypass(events);
	rf_events_end_pause(events);
	rf_events_end_fence(events);
	event = rf_event_of(events, RF_EVENT_DETACHED);
	rf_episode_end(events, &events->attached, &event);
	rf_events_tell_left_out(events, true);
	*events->identity = '\0';
	events->has_rules = events->has_before = false;
	events->bans_seen = 0;
	events->has_changed = true;
}
