// SPDX-License-Identifier: GPL-2.0
/* Events of the whole fence: floods, newcomers, windows. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "watch/episodes.h"

/* What is new in a scan. */
struct news {
	uint64_t reason[RF_REASON_COUNT];
	uint64_t map_error[RF_MAP_ERROR_COUNT];
	uint64_t passed, dropped, aggregated;
	uint64_t sources; /* that lose packets */
	const struct rf_source_row *worst;
};

static uint64_t growth(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

static void find_sources(const struct rf_snapshot *snapshot, struct news *news)
{
	for (size_t i = 0; i < snapshot->sources.count; i++) {
		const struct rf_source_row *row = &snapshot->sources.row[i];

		if (!row->new_dropped)
			continue;
		news->sources++;
		if (!news->worst || row->new_dropped > news->worst->new_dropped)
			news->worst = row;
	}
}

static void find_news(const struct rf_events *events, const struct rf_snapshot *snapshot,
		      struct news *news)
{
	const struct rf_counters *before = &events->before, *now = &snapshot->counters;

	*news = (struct news){};
	for (int i = 0; i < RF_REASON_COUNT; i++) {
		news->reason[i] = growth(before->reason[i].packets, now->reason[i].packets);
		*(rf_reason_is_drop(i) ? &news->dropped : &news->passed) += news->reason[i];
	}
	for (int i = 0; i < RF_MAP_ERROR_COUNT; i++)
		news->map_error[i] = growth(before->map_error[i], now->map_error[i]);
	news->aggregated = growth(before->newcomers_aggregated, now->newcomers_aggregated);
	find_sources(snapshot, news);
}

static enum rf_reason main_reason(const struct news *news)
{
	enum rf_reason most = RF_OVER_LIMIT;

	for (enum rf_reason i = 0; i < RF_REASON_COUNT; i++)
		if (rf_reason_is_drop(i) && news->reason[i] > news->reason[most])
			most = i;
	return most;
}

static void set_reason(struct rf_event *event, enum rf_reason reason)
{
	snprintf(event->reason, sizeof(event->reason), "%s", rf_reason_name(reason));
}

/* ---- floods ---- */

static void describe_flood(const struct news *news, struct rf_event *event)
{
	const struct rf_source_row *worst = news->worst;

	event->dropped = news->dropped;
	event->passed = news->passed;
	if (news->dropped)
		set_reason(event, main_reason(news));
	if (worst) {
		event->has_source = true;
		event->source = worst->source;
		memcpy(event->limit, worst->limit->name, sizeof(event->limit));
		rf_format_limit_rate(worst->limit, event->rate);
	}
	snprintf(event->detail, sizeof(event->detail), "%" PRIu64 " source%s over a limit",
		 news->sources, news->sources == 1 ? "" : "s");
}

/* What is under way goes on down to half of what starts it. */
static bool is_flood(const struct rf_events *events, const struct news *news)
{
	const uint64_t part = events->flood.number ? 2 : 1;
	const uint64_t packets =
		news->dropped + news->reason[RF_NEWCOMER_OPEN] + news->reason[RF_MAP_ERROR];
	const double seconds = (double)events->passed_ns / RF_NS_PER_S;

	return (double)packets * part >= RF_EVENTS_FLOOD_PACKETS * seconds ||
	       news->sources * part >= RF_EVENTS_FLOOD_SOURCES;
}

static void feed_flood(struct rf_events *events, const struct news *news)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_FLOOD_STARTED);

	describe_flood(news, &event);
	if (!rf_episode_go_on(events, &events->flood, is_flood(events, news), &event))
		return;
	event = rf_event_of(events, RF_EVENT_FLOOD_ENDED);
	rf_episode_end(events, &events->flood, &event);
}

/* ---- newcomers ---- */

static void describe_newcomers(const struct rf_snapshot *snapshot, const struct news *news,
			       struct rf_event *event)
{
	const struct rf_newcomers *newcomers = &snapshot->bans.rules.newcomers;

	event->dropped = news->reason[RF_NEWCOMER_CLOSED];
	event->passed = news->reason[RF_NEWCOMER_OPEN];
	if (event->dropped)
		set_reason(event, RF_NEWCOMER_CLOSED);
	else if (event->passed)
		set_reason(event, RF_NEWCOMER_OPEN);
	if (newcomers->then != RF_NEWCOMERS_OFF)
		rf_format_rate(newcomers->rate, newcomers->window_ns, event->rate);
	if (news->aggregated)
		snprintf(event->detail, sizeof(event->detail),
			 "%" PRIu64 " packets were charged to their networks", news->aggregated);
}

static void feed_newcomers(struct rf_events *events, const struct rf_snapshot *snapshot,
			   const struct news *news)
{
	struct rf_event event = rf_event_of(events, RF_EVENT_NEWCOMERS_LIMITED);
	const bool is_on = news->reason[RF_NEWCOMER_CLOSED] || news->reason[RF_NEWCOMER_OPEN] ||
			   news->aggregated;

	describe_newcomers(snapshot, news, &event);
	if (!rf_episode_go_on(events, &events->newcomers, is_on, &event))
		return;
	event = rf_event_of(events, RF_EVENT_NEWCOMERS_RELEASED);
	rf_episode_end(events, &events->newcomers, &event);
}

/* ---- windows ---- */

static bool is_full(enum rf_map_error error)
{
	return error == RF_NONE_IDLE || error == RF_INSERT_FULL;
}

/* Told once until there was none for a while. There is no event of its end. */
static void feed_errors(struct rf_events *events, const struct news *news,
			struct rf_episode *episode, enum rf_event_type type)
{
	struct rf_event event = rf_event_of(events, type);
	bool is_on = false;

	event.passed = news->reason[RF_MAP_ERROR];
	event.dropped = news->reason[RF_NO_WINDOW];
	for (enum rf_map_error i = 0; i < RF_MAP_ERROR_COUNT; i++) {
		const size_t length = strlen(event.detail);

		if (!news->map_error[i] || is_full(i) != (type == RF_EVENT_WINDOWS_FULL))
			continue;
		snprintf(event.detail + length, sizeof(event.detail) - length, "%s%s %" PRIu64,
			 is_on ? ", " : "", rf_map_error_name(i), news->map_error[i]);
		is_on = true;
	}
	if (!rf_episode_go_on(events, episode, is_on, &event))
		return;
	*episode = (struct rf_episode){};
	events->has_changed = true;
}

/* ---- all of it ---- */

void rf_events_feed_fence(struct rf_events *events, const struct rf_snapshot *snapshot)
{
	struct news news;

	if (!events->has_before || !events->passed_ns)
		return;
	find_news(events, snapshot, &news);
	feed_flood(events, &news);
	feed_newcomers(events, snapshot, &news);
	feed_errors(events, &news, &events->full, RF_EVENT_WINDOWS_FULL);
	feed_errors(events, &news, &events->errors, RF_EVENT_MAP_ERRORS);
}

void rf_events_end_fence(struct rf_events *events)
{
	struct rf_event flood = rf_event_of(events, RF_EVENT_FLOOD_ENDED);
	struct rf_event newcomers = rf_event_of(events, RF_EVENT_NEWCOMERS_RELEASED);

	if (events->newcomers.number)
		rf_episode_end(events, &events->newcomers, &newcomers);
	if (events->flood.number)
		rf_episode_end(events, &events->flood, &flood);
	events->full = events->errors = (struct rf_episode){};
}
