// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/time.h"
#include "base/units.h"
#include "watch/event.h"

const char *rf_event_type_name(enum rf_event_type type)
{
	return rf_event_rows[type].name;
}

enum rf_event_type rf_event_type_find(const char *name)
{
	int type = 0;

	while (type < RF_EVENT_TYPES && strcmp(rf_event_rows[type].name, name) != 0)
		type++;
	return type;
}

bool rf_event_is_end(const char *name)
{
	const enum rf_event_type type = rf_event_type_find(name);

	return type < RF_EVENT_TYPES && rf_event_rows[type].part == RF_EVENT_END;
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
		add(event->detail, "%s%" PRIu64 " %s", before, event->left_out[type],
		    rf_event_rows[type].name);
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

static json_t *counts_json(const struct rf_event *event)
{
	json_t *counts = json_object();

	for (int type = 0; type < RF_EVENT_TYPES; type++)
		if (event->left_out[type])
			json_object_set_new(counts, rf_event_rows[type].name,
					    json_integer(event->left_out[type]));
	return counts;
}

static uint64_t sum_left_out(const struct rf_event *event)
{
	uint64_t sum = 0;

	for (int type = 0; type < RF_EVENT_TYPES; type++)
		sum += event->left_out[type];
	return sum;
}

struct field {
	const char *key;
	enum rf_event_kind kind;
	enum rf_event_when when;
	size_t at; /* in struct rf_event */
};

#define EVENT_FIELD(key, kind, when, member, help) \
	{#key, RF_EVENT_IS_##kind, RF_EVENT_##when, offsetof(struct rf_event, member)},
#define RECORDED_FIELD EVENT_FIELD
static const struct field fields[] = {
#include "schema/events.def"
};

static bool is_told(const struct rf_event *event, const struct field *field)
{
	switch (field->when) {
	case RF_EVENT_SEEN:
		return event->first_seen_ns;
	case RF_EVENT_SUPPRESSED_ONLY:
		return event->type == RF_EVENT_SUPPRESSED;
	case RF_EVENT_GIVEN:
		if (field->kind == RF_EVENT_IS_SOURCE)
			return event->has_source;
		return field->kind != RF_EVENT_IS_SECONDS || event->interval_ns;
	case RF_EVENT_ALWAYS:
		break;
	}
	return true;
}

static void set_field(json_t *json, const struct rf_event *event, const struct field *field)
{
	const void *at = (const char *)event + field->at;
	const char *key = field->key;

	switch (field->kind) {
	case RF_EVENT_IS_SCHEMA:
		json_object_set_new(json, key, json_integer(RF_EVENT_SCHEMA));
		break;
	case RF_EVENT_IS_TYPE:
		set_text(json, key, rf_event_rows[event->type].name);
		break;
	case RF_EVENT_IS_TEXT:
		set_text(json, key, at);
		break;
	case RF_EVENT_IS_COUNT:
		json_object_set_new(json, key, json_integer(*(const uint64_t *)at));
		break;
	case RF_EVENT_IS_TIME:
		set_time(json, key, *(const uint64_t *)at);
		break;
	case RF_EVENT_IS_SECONDS:
		json_object_set_new(
			json, key,
			json_real((double)(*(const uint64_t *)at / RF_NS_PER_MS) / 1000));
		break;
	case RF_EVENT_IS_SOURCE:
		json_object_set_new(json, key, prefix_json(at));
		break;
	case RF_EVENT_IS_SUM:
		json_object_set_new(json, key, json_integer(sum_left_out(event)));
		break;
	case RF_EVENT_IS_COUNTS:
		json_object_set_new(json, key, counts_json(event));
		break;
	case RF_EVENT_IS_WORST:
		json_object_set_new(json, key, worst_json(event));
		break;
	}
}

json_t *rf_event_json(const struct rf_event *event)
{
	json_t *json = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (is_told(event, &fields[i]))
			set_field(json, event, &fields[i]);
	return json;
}
