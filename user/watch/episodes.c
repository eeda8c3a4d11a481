// SPDX-License-Identifier: GPL-2.0
/* Which events are told, and which are left out; what joins a start and its end. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "watch/episodes.h"

#define STRETCHED_NS (3 * RF_NS_PER_S / 2)

/* ---- telling ---- */

struct rf_event rf_event_of(const struct rf_events *events, enum rf_event_type type)
{
	struct rf_event event = {.type = type, .time_ns = events->time_ns};

	memcpy(event.fence, events->fence, sizeof(event.fence));
	if (events->passed_ns > STRETCHED_NS)
		event.interval_ns = events->passed_ns;
	return event;
}

/* Of single sources there may be very many: they leave room for the others. */
static bool is_of_source(enum rf_event_type type)
{
	return type <= RF_EVENT_BAN_ENDED;
}

/* A start pays for its end too, which so never has to wait. */
static int64_t cost(enum rf_event_type type)
{
	switch (type) {
	case RF_EVENT_SOURCE_LIMITED:
	case RF_EVENT_BAN_STARTED:
	case RF_EVENT_NEWCOMERS_LIMITED:
	case RF_EVENT_FLOOD_STARTED:
	case RF_EVENT_ATTACHED:
	case RF_EVENT_FLEET_ALONE:
	case RF_EVENT_BYPASS_STARTED:
	case RF_EVENT_PAUSED:
		return 2 * RF_EVENT_TOKEN_NS;
	case RF_EVENT_SOURCE_RELEASED:
	case RF_EVENT_BAN_ENDED:
	case RF_EVENT_NEWCOMERS_RELEASED:
	case RF_EVENT_FLOOD_ENDED:
	case RF_EVENT_DETACHED:
	case RF_EVENT_FLEET_BACK:
	case RF_EVENT_BYPASS_ENDED:
	case RF_EVENT_RESUMED:
		return 0;
	default:
		return RF_EVENT_TOKEN_NS;
	}
}

static bool may_tell(const struct rf_events *events, enum rf_event_type type)
{
	const int64_t reserved = is_of_source(type) ? RF_EVENTS_RESERVED : 0;

	return events->tokens_ns >= reserved * RF_EVENT_TOKEN_NS + cost(type);
}

/* Keeps the worst sources of what is left out, the worst one first. */
static void note_worst(struct rf_event *left_out, const struct rf_event *event)
{
	struct rf_event_worst one = {true, event->source, "", event->dropped};
	unsigned int at = left_out->worst_count;

	if (!event->has_source)
		return;
	memcpy(one.limit, event->limit, sizeof(one.limit));
	while (at && left_out->worst[at - 1].dropped < one.dropped)
		at--;
	if (at == RF_EVENT_WORST)
		return;
	if (left_out->worst_count < RF_EVENT_WORST)
		left_out->worst_count++;
	memmove(&left_out->worst[at + 1], &left_out->worst[at],
		(left_out->worst_count - at - 1) * sizeof(one));
	left_out->worst[at] = one;
}

static void give(struct rf_events *events, struct rf_event *event)
{
	events->tokens_ns -= cost(event->type);
	events->sink(events->context, event);
}

void rf_events_leave_out(struct rf_events *events, struct rf_event *event)
{
	events->has_changed = true;
	event->seq = ++events->seq;
	events->left_out.left_out[event->type]++;
	note_worst(&events->left_out, event);
}

bool rf_events_tell(struct rf_events *events, struct rf_event *event)
{
	if (!may_tell(events, event->type)) {
		rf_events_leave_out(events, event);
		return false;
	}
	events->has_changed = true;
	event->seq = ++events->seq;
	give(events, event);
	return true;
}

static bool has_left_out(const struct rf_events *events)
{
	for (int type = 0; type < RF_EVENT_TYPES; type++)
		if (events->left_out.left_out[type])
			return true;
	return false;
}

void rf_events_tell_left_out(struct rf_events *events, bool at_once)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_SUPPRESSED);

	if (!has_left_out(events))
		return;
	events->left_out_ns += events->passed_ns;
	if (!at_once && events->left_out_ns < RF_EVENTS_SUPPRESSED_S * RF_NS_PER_S)
		return;
	memcpy(event.left_out, events->left_out.left_out, sizeof(event.left_out));
	memcpy(event.worst, events->left_out.worst, sizeof(event.worst));
	event.worst_count = events->left_out.worst_count;
	events->left_out = (struct rf_event){};
	events->left_out_ns = 0;
	events->has_changed = true;
	event.seq = ++events->seq;
	give(events, &event); /* also where there is no room: there are few of them */
}

/* ---- episodes ---- */

static void name_event(const struct rf_events *events, const struct rf_episode *episode,
		       struct rf_event *event)
{
	snprintf(event->id, sizeof(event->id), "%s-%s-%" PRIu64, events->fence, events->base,
		 episode->number);
	event->first_seen_ns = episode->first_ns;
}

void rf_episode_start(struct rf_events *events, struct rf_episode *episode, struct rf_event *event)
{
	*episode = (struct rf_episode){
		.number = ++events->number,
		.first_ns = events->time_ns - (events->has_before ? events->passed_ns : 0),
		.dropped = event->dropped,
		.passed = event->passed,
	};
	name_event(events, episode, event);
	episode->is_told = rf_events_tell(events, event);
}

void rf_episode_end(struct rf_events *events, struct rf_episode *episode, struct rf_event *event)
{
	if (episode->is_told) {
		event->dropped = episode->dropped;
		event->passed = episode->passed;
		name_event(events, episode, event);
		event->seq = ++events->seq;
		give(events, event);
	}
	*episode = (struct rf_episode){};
	events->has_changed = true;
}

bool rf_episode_go_on(struct rf_events *events, struct rf_episode *episode, bool is_on,
		      struct rf_event *event)
{
	if (!episode->number) {
		if (is_on)
			rf_episode_start(events, episode, event);
		return false;
	}
	episode->dropped += event->dropped;
	episode->passed += event->passed;
	episode->quiet_ns = is_on ? 0 : episode->quiet_ns + events->passed_ns;
	return episode->quiet_ns >= RF_EVENTS_QUIET_S * RF_NS_PER_S;
}
