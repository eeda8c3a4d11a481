// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/time.h"
#include "base/units.h"
#include "watch/event.h"

static const char *const names[RF_EVENT_TYPES] = {
	[RF_EVENT_SOURCE_LIMITED] = "source_limited",
	[RF_EVENT_SOURCE_RELEASED] = "source_released",
	[RF_EVENT_BAN_STARTED] = "ban_started",
	[RF_EVENT_BAN_ENDED] = "ban_ended",
	[RF_EVENT_NEWCOMERS_LIMITED] = "newcomers_limited",
	[RF_EVENT_NEWCOMERS_RELEASED] = "newcomers_released",
	[RF_EVENT_FLOOD_STARTED] = "flood_started",
	[RF_EVENT_FLOOD_ENDED] = "flood_ended",
	[RF_EVENT_WINDOWS_FULL] = "windows_full",
	[RF_EVENT_MAP_ERRORS] = "map_errors",
	[RF_EVENT_RULES_CHANGED] = "rules_changed",
	[RF_EVENT_TRIAL_REVERTED] = "trial_reverted",
	[RF_EVENT_ATTACHED] = "attached",
	[RF_EVENT_DETACHED] = "detached",
	[RF_EVENT_ACTION] = "action",
	[RF_EVENT_FLEET_ALONE] = "fleet_alone",
	[RF_EVENT_FLEET_BACK] = "fleet_back",
	[RF_EVENT_MEMBER_GONE] = "member_gone",
	[RF_EVENT_BYPASS_STARTED] = "bypass_started",
	[RF_EVENT_BYPASS_ENDED] = "bypass_ended",
	[RF_EVENT_PAUSED] = "paused",
	[RF_EVENT_RESUMED] = "resumed",
	[RF_EVENT_SUPPRESSED] = "suppressed",
};

const char *rf_event_type_name(enum rf_event_type type)
{
	return names[type];
}

enum rf_event_type rf_event_type_find(const char *name)
{
	int type = 0;

	while (type < RF_EVENT_TYPES && strcmp(names[type], name) != 0)
		type++;
	return type;
}

bool rf_event_is_end(const char *name)
{
	switch (rf_event_type_find(name)) {
	case RF_EVENT_SOURCE_RELEASED:
	case RF_EVENT_BAN_ENDED:
	case RF_EVENT_NEWCOMERS_RELEASED:
	case RF_EVENT_FLOOD_ENDED:
	case RF_EVENT_DETACHED:
	case RF_EVENT_FLEET_BACK:
	case RF_EVENT_BYPASS_ENDED:
	case RF_EVENT_RESUMED:
		return true;
	default:
		return false;
	}
}

/* ---- privacy ---- */

/* Adds to a text that may be cut. */
__attribute__((format(printf, 2, 3))) static void add(char text[RF_EVENT_DETAIL_SIZE],
						      const char *format, ...)
{
	const size_t length = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + length, RF_EVENT_DETAIL_SIZE - length, format, args);
	va_end(args);
}

static void describe_left_out(struct rf_event *event)
{
	char source[RF_PREFIX_TEXT_SIZE];
	const char *before = "";

	*event->detail = '\0';
	for (int type = 0; type < RF_EVENT_TYPES; type++) {
		if (!event->left_out[type])
			continue;
		add(event->detail, "%s%" PRIu64 " %s", before, event->left_out[type], names[type]);
		before = ", ";
	}
	before = "; worst: ";
	for (unsigned int i = 0; i < event->worst_count; i++) {
		if (!event->worst[i].has_source)
			continue;
		rf_format_prefix(&event->worst[i].source, source);
		add(event->detail, "%s%s", before, source);
		before = ", ";
	}
}

void rf_event_tell(enum rf_told told, const struct rf_event *event, struct rf_event *result)
{
	*result = *event;
	result->has_source = event->has_source && rf_tell(told, &event->source, &result->source);
	if (!result->has_source)
		result->source = (struct rf_prefix){};
	for (unsigned int i = 0; i < event->worst_count; i++) {
		struct rf_event_worst *worst = &result->worst[i];

		worst->has_source =
			worst->has_source && rf_tell(told, &event->worst[i].source, &worst->source);
		if (!worst->has_source)
			worst->source = (struct rf_prefix){};
	}
	if (event->type == RF_EVENT_SUPPRESSED)
		describe_left_out(result);
}

/* ---- JSON ---- */

/* ADDRESS/LENGTH, also of a whole address. */
static json_t *prefix_json(const struct rf_prefix *prefix)
{
	char text[RF_PREFIX_TEXT_SIZE], full[RF_PREFIX_TEXT_SIZE + 8];

	rf_format_prefix(prefix, text);
	if (strchr(text, '/'))
		return json_string(text);
	snprintf(full, sizeof(full), "%s/%u", text, prefix->length);
	return json_string(full);
}

static void set_text(json_t *json, const char *key, const char *text)
{
	if (*text)
		json_object_set_new(json, key, rf_json_text(text));
}

static void set_time(json_t *json, const char *key, uint64_t time_ns)
{
	char text[RF_TIME_TEXT_SIZE];

	rf_format_utc(time_ns, text);
	json_object_set_new(json, key, json_string(text));
}

static json_t *worst_json(const struct rf_event *event)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < event->worst_count; i++) {
		const struct rf_event_worst *worst = &event->worst[i];
		json_t *one = json_object();

		if (worst->has_source)
			json_object_set_new(one, "source", prefix_json(&worst->source));
		set_text(one, "limit", worst->limit);
		json_object_set_new(one, "dropped", json_integer(worst->dropped));
		json_array_append_new(list, one);
	}
	return list;
}

static void set_left_out(json_t *json, const struct rf_event *event)
{
	json_t *counts = json_object();
	uint64_t sum = 0;

	for (int type = 0; type < RF_EVENT_TYPES; type++) {
		sum += event->left_out[type];
		if (event->left_out[type])
			json_object_set_new(counts, names[type],
					    json_integer(event->left_out[type]));
	}
	json_object_set_new(json, "left_out", json_integer(sum));
	json_object_set_new(json, "counts", counts);
	json_object_set_new(json, "worst", worst_json(event));
}

json_t *rf_event_json(const struct rf_event *event)
{
	json_t *json = json_object();

	json_object_set_new(json, "schema", json_integer(RF_EVENT_SCHEMA));
	json_object_set_new(json, "seq", json_integer(event->seq));
	set_time(json, "time", event->time_ns);
	set_text(json, "type", names[event->type]);
	set_text(json, "id", event->id);
	set_text(json, "fence", event->fence);
	set_text(json, "limit", event->limit);
	if (event->has_source)
		json_object_set_new(json, "source", prefix_json(&event->source));
	set_text(json, "reason", event->reason);
	set_text(json, "rate", event->rate);
	if (event->first_seen_ns) {
		json_object_set_new(json, "dropped", json_integer(event->dropped));
		json_object_set_new(json, "passed", json_integer(event->passed));
		set_time(json, "first_seen", event->first_seen_ns);
	}
	if (event->interval_ns)
		json_object_set_new(json, "interval",
				    json_real((double)(event->interval_ns / RF_NS_PER_MS) / 1000));
	set_text(json, "detail", event->detail);
	if (event->type == RF_EVENT_SUPPRESSED)
		set_left_out(json, event);
	return json;
}
