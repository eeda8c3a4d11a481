// SPDX-License-Identifier: GPL-2.0
/* Parts of a history that several commands print. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/printable.h"
#include "base/time.h"
#include "cli/out.h"
#include "cli/recorded.h"
#include "cli/table.h"

json_t *rf_json_time(uint64_t time_ns)
{
	char text[RF_TIME_TEXT_SIZE];

	rf_format_utc(time_ns, text);
	return time_ns ? json_string(text) : json_null();
}

int rf_recorded_list(json_t *json, const char *key, struct rf_reader *reader,
		     enum rf_question question, const struct rf_asked *asked,
		     struct rf_error *error)
{
	uint64_t row[RF_ROW_MAX / sizeof(uint64_t)];
	json_t *list = json_array();
	struct rf_cursor cursor;

	rf_ask(&cursor, reader, question, asked);
	while (rf_cursor_next(&cursor, row))
		json_array_append_new(list, rf_row_json(question, row));
	json_object_set_new(json, key, list);
	return rf_cursor_end(&cursor, error);
}

/* ---- counts ---- */

static json_t *reasons_json(const struct rf_recorded *recorded)
{
	json_t *reasons = json_object();

	for (int i = 0; i < recorded->counts; i++) {
		const struct rf_recorded_count *count = &recorded->count[i];

		if (!strcmp(count->kind, "passed") || !strcmp(count->kind, "dropped"))
			json_object_set_new(reasons, count->name,
					    rf_row_json(RF_ASK_COUNTS_OF, count));
	}
	return reasons;
}

/* The object of a limit in the list; made when it is asked for first. */
static json_t *find_limit(json_t *limits, const char *name)
{
	size_t i;
	json_t *limit;

	json_array_foreach (limits, i, limit)
		if (!strcmp(json_string_value(json_object_get(limit, "name")), name))
			return limit;
	limit = json_pack("{s:s, s:i, s:i, s:i, s:i, s:{s:i, s:i, s:i, s:i}}", "name", name,
			  "passed", 0, "dropped", 0, "would_drop", 0, "forfeited", 0, "bytes",
			  "passed", 0, "dropped", 0, "would_drop", 0, "forfeited", 0);
	json_array_append_new(limits, limit);
	return limit;
}

static json_t *limits_json(const struct rf_recorded *recorded)
{
	json_t *limits = json_array();

	for (int i = 0; i < recorded->counts; i++) {
		const struct rf_recorded_count *count = &recorded->count[i];
		json_t *limit;

		if (strcmp(count->kind, "limit") != 0)
			continue;
		limit = find_limit(limits, count->name);
		json_object_set_new(limit, count->outcome, json_integer(count->packets));
		json_object_set_new(json_object_get(limit, "bytes"), count->outcome,
				    json_integer(count->bytes));
	}
	return limits;
}

json_t *rf_recorded_json(const struct rf_recorded *recorded)
{
	const uint64_t shadow = rf_recorded_packets(recorded, "passed", "shadow_over", "");

	return json_pack("{s:o, s:o, s:f, s:{s:I, s:I, s:I}, s:{s:I, s:I}, s:o, s:o}", "from",
			 rf_json_time(recorded->from_ns), "until", rf_json_time(recorded->to_ns),
			 "seconds", recorded->seconds, "packets", "passed",
			 (json_int_t)recorded->passed.packets, "dropped",
			 (json_int_t)recorded->dropped.packets, "would_drop", (json_int_t)shadow,
			 "bytes", "passed", (json_int_t)recorded->passed.bytes, "dropped",
			 (json_int_t)recorded->dropped.bytes, "reasons", reasons_json(recorded),
			 "limits", limits_json(recorded));
}

/* Packets and bytes, or packets and bits per second. */
static void print_count(const char *label, uint64_t packets, uint64_t bytes, double seconds)
{
	if (seconds > 0)
		rf_out("%-44s %15.0f %18.0f\n", label, packets / seconds, bytes * 8 / seconds);
	else
		rf_out("%-44s %15" PRIu64 " %18" PRIu64 "\n", label, packets, bytes);
}

static void print_kind(const struct rf_recorded *recorded, const char *kind, double seconds)
{
	for (int i = 0; i < recorded->counts; i++) {
		const struct rf_recorded_count *count = &recorded->count[i];
		char label[128];

		if (strcmp(count->kind, kind) != 0)
			continue;
		for (int reason = 0; reason < RF_REASON_COUNT; reason++)
			if (!strcmp(rf_reason_name(reason), count->name))
				snprintf(label, sizeof(label), "  %s: %s", kind,
					 rf_reason_text(reason));
		print_count(label, count->packets, count->bytes, seconds);
	}
}

static bool is_of_limit(const struct rf_recorded_count *count, const char *name)
{
	return !strcmp(count->kind, "limit") && !strcmp(count->name, name);
}

static void print_limit(const struct rf_recorded *recorded, const char *name, double seconds)
{
	rf_out("limit %s\n", name);
	for (int i = 0; i < recorded->counts; i++) {
		const struct rf_recorded_count *count = &recorded->count[i];
		char label[64];

		if (!is_of_limit(count, name))
			continue;
		snprintf(label, sizeof(label), "  %s",
			 !strcmp(count->outcome, "would_drop") ? "would drop, passed"
			 : !strcmp(count->outcome, "forfeited")
				 ? "charged, dropped by another limit"
				 : count->outcome);
		print_count(label, count->packets, count->bytes, seconds);
	}
}

/* Each once: the counts of a limit do not follow each other where outcomes came later. */
static void print_limits(const struct rf_recorded *recorded, double seconds)
{
	for (int i = 0; i < recorded->counts; i++) {
		const struct rf_recorded_count *count = &recorded->count[i];
		int first = 0;

		while (first < i && !is_of_limit(&recorded->count[first], count->name))
			first++;
		if (first == i && !strcmp(count->kind, "limit"))
			print_limit(recorded, count->name, seconds);
	}
}

void rf_recorded_print(const struct rf_recorded *recorded, double seconds)
{
	print_count("passed", recorded->passed.packets, recorded->passed.bytes, seconds);
	print_count("dropped", recorded->dropped.packets, recorded->dropped.bytes, seconds);
	print_kind(recorded, "passed", seconds);
	print_kind(recorded, "dropped", seconds);
	print_limits(recorded, seconds);
}

/* ---- sources ---- */

struct listing {
	const struct rf_recorded_sources *sources;
	double seconds;
};

static void fill(const void *context, size_t i, struct rf_cells *cells)
{
	const struct listing *listing = context;
	const struct rf_recorded_source *row = &listing->sources->row[i];
	const uint64_t number[] = {row->passed, row->dropped, row->would_drop};

	rf_format_prefix(&row->source, cells->text[0]);
	snprintf(cells->text[1], RF_CELL_SIZE, "%s", row->limit);
	for (int k = 0; k < 3; k++) {
		if (listing->seconds > 0)
			rf_format_short(number[k] / listing->seconds, cells->text[2 + k]);
		else
			snprintf(cells->text[2 + k], RF_CELL_SIZE, "%" PRIu64, number[k]);
	}
	snprintf(cells->text[5], RF_CELL_SIZE, "%.*f%%%s", row->used < 100, row->used / 10.0,
		 row->is_banned ? " banned" : "");
}

void rf_recorded_sources_print(const struct rf_recorded_sources *sources, size_t count,
			       double seconds)
{
	static const struct rf_column totals[] = {
		{"source", false, 0},  {"limit", false, 0},	 {"passed", true, 10},
		{"dropped", true, 10}, {"would drop", true, 10}, {"used", true, 6},
	};
	static const struct rf_column rates[] = {
		{"source", false, 0},	 {"limit", false, 0},	     {"passed/s", true, 9},
		{"dropped/s", true, 10}, {"would drop/s", true, 13}, {"used", true, 6},
	};
	const struct listing listing = {sources, seconds};
	const struct rf_table table = {seconds > 0 ? rates : totals, 6, 2, count, &listing, fill};

	rf_table_print(&table);
}

json_t *rf_recorded_sources_json(const struct rf_recorded_sources *sources, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, rf_row_json(RF_ASK_SOURCES_OF, &sources->row[i]));
	return list;
}

/* ---- events ---- */

json_t *rf_recorded_event_json(const char *fence, const struct rf_recorded_event *event)
{
	struct rf_recorded_event row = *event;

	row.fence = fence;
	return rf_row_json(RF_ASK_EVENTS, &row);
}

/* ": 812k dropped since 14:01:38", of an end; of a start there is no more than its first second. */
static void format_dropped(const struct rf_recorded_event *event, char *text, size_t size)
{
	char dropped[RF_SHORT_TEXT_SIZE], time[RF_TIME_TEXT_SIZE], since[RF_TIME_TEXT_SIZE];
	const bool is_end = rf_event_is_end(event->type) && event->first_seen_ns;
	bool is_same_day;

	*text = '\0';
	if (!event->dropped)
		return;
	rf_format_short(event->dropped, dropped);
	rf_format_local(event->time_ns, time);
	rf_format_local(event->first_seen_ns, since);
	is_same_day = !strncmp(time, since, RF_DATE_LENGTH);
	snprintf(text, size, ": %s dropped%s%s", dropped, is_end ? " since " : "",
		 is_end ? since + (is_same_day ? RF_DATE_LENGTH + 1 : 0) : "");
}

void rf_recorded_event_text(const struct rf_recorded_event *event, const char *fence, bool has_id,
			    char text[RF_EVENT_TEXT_SIZE])
{
	const bool is_told = has_id && *event->id;
	char dropped[64];

	format_dropped(event, dropped, sizeof(dropped));
	snprintf(text, RF_EVENT_TEXT_SIZE, "%s%s%.32s%s%.64s%s%.32s%s%s%.255s%s%.64s%s", fence,
		 *fence ? " " : "", event->type, *event->source ? " " : "", event->source,
		 *event->limit ? " limit " : "", event->limit, dropped, *event->detail ? ": " : "",
		 event->detail, is_told ? " [" : "", is_told ? event->id : "", is_told ? "]" : "");
	rf_hide_controls(text, false);
}

void rf_recorded_event_print(const struct rf_recorded_event *event)
{
	char time[RF_TIME_TEXT_SIZE], text[RF_EVENT_TEXT_SIZE];

	rf_format_local(event->time_ns, time);
	rf_recorded_event_text(event, "", false, text);
	rf_out_text("  %s  %s\n", time, text);
}

void rf_event_lines_put(struct rf_event_lines *lines, uint64_t time_ns, const char *text)
{
	char time[RF_TIME_TEXT_SIZE];

	rf_format_local(time_ns, time);
	if (strncmp(lines->day, time, RF_DATE_LENGTH) != 0) {
		snprintf(lines->day, sizeof(lines->day), "%.*s", RF_DATE_LENGTH, time);
		rf_out("%s%s\n", lines->indent, lines->day);
	}
	/* In a pipe, a line is an event. */
	if (isatty(STDOUT_FILENO))
		rf_out_text("%s%s %s\n", lines->indent, time + RF_DATE_LENGTH + 1, text);
	else
		rf_out("%s%s %s\n", lines->indent, time + RF_DATE_LENGTH + 1, text);
}
