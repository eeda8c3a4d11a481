// SPDX-License-Identifier: GPL-2.0
/* stats at TIME, top at TIME, show ADDRESS at TIME; report: what histories have of a time */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "base/time.h"
#include "cli/out.h"
#include "cli/recorded.h"
#include "cli/view.h"

#define BARS_TEXT_SIZE(count) (4 * (count) + 1)

/* ---- numbers as a row of bars, one character each ---- */

#define LEVELS 8

static const char *const blocks[LEVELS + 1] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const marks[LEVELS + 1] = {" ", ".", ".", ":", "-", "=", "+", "*", "#"};

/* By the environment, as setlocale() reads it: the first of these that is not empty counts. */
static bool is_utf8(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		const char *value = getenv(variables[i]);
		const char *codeset = value ? strchr(value, '.') : NULL;

		if (value && *value)
			return codeset && (!strncasecmp(codeset, ".UTF-8", 6) ||
					   !strncasecmp(codeset, ".utf8", 5));
	}
	return false;
}

/* Rounded up, so that only 0 has no bar. */
static size_t level_of(uint64_t number, uint64_t most)
{
	return most ? (number * (double)LEVELS + most - 1) / most : 0;
}

/*
 * The greatest number has the tallest bar; 0 has none. Blocks where the locale's codeset is UTF-8,
 * else ASCII. `text` has RF_BARS_TEXT_SIZE(count) bytes.
 */
static void format_bars(const uint64_t *number, size_t count, char *text)
{
	const char *const *level = is_utf8() ? blocks : marks;
	uint64_t most = 0;

	for (size_t i = 0; i < count; i++)
		most = number[i] > most ? number[i] : most;
	*text = '\0';
	for (size_t i = 0; i < count; i++)
		text = stpcpy(text, level[level_of(number[i], most)]);
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

/* {"reasons":{…},"limits":[…],"packets":{…},"bytes":{…}} of an interval. */
static json_t *recorded_json(const struct rf_recorded *recorded)
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

/* The reasons and limits of an interval; per second, if `seconds` is not 0. */
static void recorded_print(const struct rf_recorded *recorded, double seconds)
{
	print_count("passed", recorded->passed.packets, recorded->passed.bytes, seconds);
	print_count("dropped", recorded->dropped.packets, recorded->dropped.bytes, seconds);
	print_kind(recorded, "passed", seconds);
	print_kind(recorded, "dropped", seconds);
	print_limits(recorded, seconds);
}

/* ---- sources ---- */

struct shown_sources {
	const struct rf_recorded_sources *sources;
	double seconds;
};

static void fill_source(const void *context, size_t i, struct rf_cells *cells)
{
	const struct shown_sources *listing = context;
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

/* A table of the first `count` sources; per second, if `seconds` is not 0. */
static void recorded_sources_print(const struct rf_recorded_sources *sources, size_t count,
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
	const struct shown_sources listing = {sources, seconds};
	const struct rf_table table = {
		seconds > 0 ? rates : totals, 6, 2, count, &listing, fill_source};

	rf_table_print(&table);
}

static json_t *recorded_sources_json(const struct rf_recorded_sources *sources, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, rf_row_json(RF_ASK_SOURCES_OF, &sources->row[i]));
	return list;
}

/* Prints it with date and time, indented. */
static void recorded_event_print(const struct rf_recorded_event *event)
{
	char time[RF_TIME_TEXT_SIZE], text[RF_EVENT_TEXT_SIZE];

	rf_format_local(event->time_ns, time);
	rf_recorded_event_text(event, "", false, text);
	rf_out_text("  %s  %s\n", time, text);
}

/* ---- at TIME: stats ---- */

static int show_stats(struct rf_reader *reader, const char *fence, const void *context,
		      json_t **json, struct rf_error *error)
{
	const uint64_t *at_ns = context;
	struct rf_recorded recorded = {};
	char time[RF_TIME_TEXT_SIZE], label[96];
	int err = rf_reader_at(reader, *at_ns, &recorded, error);

	if (!err && json) {
		*json = rf_view_merged(json_pack("{s:o}", "fence", rf_json_text(fence)),
				       recorded_json(&recorded));
	} else if (!err) {
		rf_format_local(recorded.from_ns, time);
		snprintf(label, sizeof(label), "fence %s, %s, %.3g s", fence, time,
			 recorded.seconds);
		rf_out("%-44s %15s %18s\n", label, "packets/s", "bit/s");
		recorded_print(&recorded, recorded.seconds);
	}
	rf_recorded_free(&recorded);
	return err;
}

int rf_stats_at(const struct rf_options *options, uint64_t at_ns, struct rf_error *error)
{
	return rf_show_histories(options, show_stats, true, &at_ns, error);
}

/* ---- at TIME: top ---- */

static double length_of(const struct rf_recorded_sources *sources)
{
	return (sources->to_ns - sources->from_ns) / 1e9;
}

static void print_top(const struct rf_recorded_sources *sources, size_t count)
{
	char time[RF_TIME_TEXT_SIZE];

	rf_format_local(sources->from_ns, time);
	rf_out("from %s, for %.3g s\n", time, length_of(sources));
	if (count)
		recorded_sources_print(sources, count, length_of(sources));
	else
		rf_out("no source of these sent packets then\n");
	if (count < sources->count)
		rf_out("… and %zu more; 'top N' shows N\n", sources->count - count);
}

static int show_top(struct rf_reader *reader, const char *fence, const void *context, json_t **json,
		    struct rf_error *error)
{
	const struct rf_top *top = context;
	struct rf_recorded_sources sources = {};
	const struct rf_asked asked = {
		.time_ns = top->at_ns,
		.limit = top->limit,
		.within = top->is_within ? &top->within : NULL,
		.order = top->order + 1,
	};
	const int err = rf_reader_sources_at(reader, &asked, &sources, error);
	const size_t count = sources.count < top->rows ? sources.count : top->rows;
	if (!err && json)
		*json = json_pack("{s:o, s:o, s:o, s:f, s:o}", "fence", rf_json_text(fence), "from",
				  rf_json_time(sources.from_ns), "until",
				  rf_json_time(sources.to_ns), "seconds", length_of(&sources),
				  "sources", recorded_sources_json(&sources, count));
	else if (!err)
		print_top(&sources, count);
	rf_recorded_sources_free(&sources);
	return err;
}

int rf_top_at(const struct rf_options *options, const struct rf_top *top, struct rf_error *error)
{
	return rf_show_histories(options, show_top, false, top, error);
}

/* ---- at TIME: show ---- */

#define EVENTS_AROUND_NS (300 * RF_NS_PER_S) /* before and after the time that is asked for */

static const char *what_of(const struct rf_cells_row *row)
{
	if (row->is_difference)
		return "differences of counters";
	return row->counts_refused ? "cells, with refused packets" : "cells";
}

static void print_cells(const struct rf_cells_row *row)
{
	char source[RF_PREFIX_TEXT_SIZE], number[32], length[RF_DURATION_TEXT_SIZE];
	char time[RF_TIME_TEXT_SIZE], line[1024] = "", bars[BARS_TEXT_SIZE(RF_CELLS_ROW_MAX)];

	rf_format_prefix(&row->source, source);
	rf_format_ms((row->cell_ns + RF_NS_PER_MS / 2) / RF_NS_PER_MS, length);
	rf_format_local(row->first_ns, time);
	format_bars(row->cell, row->count, bars);
	rf_out_text("%s, limit %s: %s of %s each, from %s on%s:\n", source, row->limit,
		    what_of(row), length, time,
		    row->is_incomplete ? " (some before are missing)" : "");
	for (unsigned int i = 0; i < row->count; i++) {
		snprintf(number, sizeof(number), " %" PRIu64, row->cell[i]);
		if (strlen(line) + strlen(number) < sizeof(line))
			strcat(line, number);
	}
	rf_out("  %s\n", bars);
	rf_out_text("  %s\n", line + (*line == ' '));
}

/* `context` is a list of JSON; NULL: they are printed. */
static void visit_cells(void *context, const struct rf_cells_row *row)
{
	char source[RF_PREFIX_TEXT_SIZE];
	json_t *cells = context, *list;

	if (!cells) {
		print_cells(row);
		return;
	}
	list = json_array();
	rf_format_prefix(&row->source, source);
	for (unsigned int i = 0; i < row->count; i++)
		json_array_append_new(list, json_integer(row->cell[i]));
	json_array_append_new(cells, json_pack("{s:s, s:o, s:o, s:f, s:b, s:b, s:b, s:o}", "source",
					       source, "limit", rf_json_text(row->limit), "from",
					       rf_json_time(row->first_ns), "cell_ms",
					       row->cell_ns / 1e6, "differences",
					       row->is_difference, "incomplete", row->is_incomplete,
					       "refused", row->counts_refused, "cells", list));
}

static struct rf_asked events_around(const struct rf_asked *asked)
{
	return (struct rf_asked){
		.from_ns = asked->time_ns - EVENTS_AROUND_NS,
		.to_ns = asked->time_ns + EVENTS_AROUND_NS,
		.of = asked->of,
	};
}

static int print_event_around(void *context, const struct rf_recorded_event *event)
{
	(void)context;
	recorded_event_print(event);
	return 0;
}

static void print_source(const struct rf_recorded_sources *sources, const char *text)
{
	char time[RF_TIME_TEXT_SIZE];

	rf_format_local(sources->from_ns, time);
	rf_out("%s, from %s, for %.3g s\n", text, time, length_of(sources));
	if (sources->count)
		recorded_sources_print(sources, sources->count, length_of(sources));
	else
		rf_out_text("  not recorded: it sent nothing that a limit counts, or less than the "
			    "64 sources with the most packets and the 64 with the most drops\n");
}

static int print_past(struct rf_reader *reader, const struct rf_asked *asked, const char *text,
		      const struct rf_recorded_sources *sources, struct rf_error *error)
{
	const struct rf_asked around = events_around(asked);
	int err;

	print_source(sources, text);
	err = rf_reader_cells(reader, asked->time_ns, asked->of, visit_cells, NULL, error);
	if (!err)
		err = rf_reader_events(reader, RF_ASK_EVENTS, &around, print_event_around, NULL,
				       error);
	return err;
}

static int make_past(struct rf_reader *reader, const struct rf_asked *asked, const char *text,
		     const struct rf_recorded_sources *sources, json_t *json,
		     struct rf_error *error)
{
	const struct rf_asked around = events_around(asked);
	json_t *cells = json_array();
	int err = rf_reader_cells(reader, asked->time_ns, asked->of, visit_cells, cells, error);

	json_object_set_new(json, "source", json_string(text));
	json_object_set_new(json, "from", rf_json_time(sources->from_ns));
	json_object_set_new(json, "until", rf_json_time(sources->to_ns));
	json_object_set_new(json, "limits", recorded_sources_json(sources, sources->count));
	json_object_set_new(json, "cells", cells);
	if (!err)
		err = rf_recorded_list(json, "events", reader, RF_ASK_EVENTS, &around, error);
	return err;
}

static int show_source(struct rf_reader *reader, const char *fence, const void *context,
		       json_t **json, struct rf_error *error)
{
	const struct rf_asked *asked = context;
	struct rf_recorded_sources sources = {};
	char text[RF_PREFIX_TEXT_SIZE];
	int err = rf_reader_sources_at(reader, asked, &sources, error);

	rf_format_prefix(asked->of, text);
	if (!err && json) {
		*json = json_pack("{s:o}", "fence", rf_json_text(fence));
		err = make_past(reader, asked, text, &sources, *json, error);
	} else if (!err) {
		err = print_past(reader, asked, text, &sources, error);
	}
	rf_recorded_sources_free(&sources);
	return err;
}

int rf_show_at(const struct rf_options *options, const struct rf_prefix *source, uint64_t at_ns,
	       struct rf_error *error)
{
	const struct rf_asked asked = {.time_ns = at_ns, .of = source};

	return rf_show_histories(options, show_source, false, &asked, error);
}

#define SOURCES 10
#define EVENTS 40

/* What a report is about, and what was found. */
struct subject {
	const char *fence;
	char id[RF_EVENT_ID_SIZE];	  /* "": a time */
	struct rf_recorded_attack attack; /* with this id; of a time only its range */
	struct rf_prefix source;
	bool has_source;
	struct rf_recorded recorded;
	struct rf_recorded_sources sources;
	struct rf_recorded_most peak;
	uint64_t rules_since_ns;
	char *rules;
};

/* ---- report: which one ---- */

/* The last attack; a flood before what is a part of one. */
static void find_last(struct rf_reader *reader, struct subject *subject)
{
	struct rf_recorded_event event;
	struct rf_error unused;
	struct rf_cursor cursor;

	rf_ask(&cursor, reader, RF_ASK_LAST_ATTACK, NULL);
	if (rf_cursor_next(&cursor, &event))
		snprintf(subject->id, sizeof(subject->id), "%s", event.id);
	rf_cursor_end(&cursor, &unused);
}

static int find_event(struct rf_reader *reader, const char *fence, const char *id,
		      struct subject *subject, struct rf_error *error)
{
	const struct rf_asked asked = {.id = subject->id};
	struct rf_recorded_attack *attack = &subject->attack;
	struct rf_error unused;
	char text[96];
	int found;

	if (id)
		snprintf(subject->id, sizeof(subject->id), "%s", id);
	else
		find_last(reader, subject);
	if (!*subject->id)
		return rf_error_failed(
			error, -ENOENT,
			"no attack on fence '%s' is in its history; 'ringfence report "
			"since -1h' reports the last hour",
			fence);
	found = rf_ask_one(reader, RF_ASK_ATTACK, &asked, attack, error);
	if (found) {
		rf_hide_controls(attack->source, false);
		rf_hide_controls(attack->limit, false);
		subject->has_source =
			*attack->of && !rf_parse_prefix(attack->of, &subject->source, &unused);
		return found < 0 ? found : 0;
	}
	snprintf(text, sizeof(text), "%.64s", subject->id);
	rf_hide_controls(text, false);
	return rf_error_failed(
		error, -ENOENT,
		"'%s': no event of fence '%s' has this id; 'ringfence report' without "
		"one reports the last attack",
		text, fence);
}

static int find_subject(struct rf_reader *reader, const char *fence, const struct rf_report *asked,
			struct subject *subject, struct rf_error *error)
{
	struct rf_recorded_attack *attack = &subject->attack;

	subject->fence = fence;
	if (asked->since_ns) {
		attack->from_ns = asked->since_ns;
		attack->to_ns = asked->until_ns ?: rf_time_wall();
		attack->is_over = true;
		return 0;
	}
	if (find_event(reader, fence, asked->id, subject, error))
		return -ENOENT;
	if (!attack->is_over)
		attack->to_ns = rf_time_wall();
	return 0;
}

/* ---- report: what happened ---- */

/* Its range, and the events in it: all of a time, those with the id of an attack. */
static struct rf_asked range_of(const struct subject *subject)
{
	return (struct rf_asked){
		.from_ns = subject->attack.from_ns,
		.to_ns = subject->attack.to_ns,
		.id = *subject->id ? subject->id : NULL,
	};
}

static enum rf_question events_of(const struct subject *subject)
{
	return *subject->id ? RF_ASK_EVENTS_OF_ID : RF_ASK_EVENTS;
}

static int read_subject(struct rf_reader *reader, struct subject *subject, struct rf_error *error)
{
	const struct rf_asked range = range_of(subject);
	const uint64_t from_ns = range.from_ns, to_ns = range.to_ns;
	const struct rf_prefix *of = subject->has_source ? &subject->source : NULL;
	struct rf_extent extent;
	int err = rf_ask_one(reader, RF_ASK_EXTENT, NULL, &extent, error);

	err = err < 0 ? err : 0;
	if (!err && (!extent.first_ns || to_ns < extent.first_ns || from_ns > extent.last_ns))
		err = rf_error_failed(error, -ENODATA,
				      "nothing was recorded of fence '%s' in that time; 'ringfence "
				      "history list' shows what there is",
				      subject->fence);
	if (!err)
		err = rf_reader_between(reader, from_ns, to_ns, &subject->recorded, error);
	if (!err)
		err = rf_reader_sources_between(reader, from_ns, to_ns, of, SOURCES,
						&subject->sources, error);
	if (!err)
		err = rf_ask_one(reader, RF_ASK_PEAK, &range, &subject->peak, error);
	if (err < 0)
		return err;
	subject->rules = rf_reader_rules(reader, from_ns, &subject->rules_since_ns);
	return 0;
}

/* ---- report: text ---- */

static void print_when(const struct subject *subject)
{
	char from[RF_TIME_TEXT_SIZE], to[RF_TIME_TEXT_SIZE], length[RF_DURATION_TEXT_SIZE];

	rf_format_local(subject->attack.from_ns, from);
	rf_format_local(subject->attack.to_ns, to);
	rf_format_left(subject->attack.to_ns - subject->attack.from_ns, length);
	if (*subject->id)
		rf_out("fence %s, %s, id %s\n", subject->fence, subject->attack.type, subject->id);
	else
		rf_out("fence %s\n", subject->fence);
	rf_out("from %s to %s, %s%s\n", from, to, length, subject->attack.is_over ? "" : " so far");
}

static void print_peak(const struct subject *subject)
{
	char rate[RF_SHORT_TEXT_SIZE], time[RF_TIME_TEXT_SIZE];

	if (subject->peak.rate <= 0)
		return;
	rf_format_short(subject->peak.rate, rate);
	rf_format_local(subject->peak.time_ns, time);
	rf_out("%sat most %s packets dropped in a second, at %s\n",
	       subject->attack.is_of_source ? "the whole fence: " : "", rate, time);
}

/* What its events tell is exact; what the history has of it began and ended some seconds off. */
static void print_own(const struct subject *subject)
{
	const struct rf_recorded_attack *own = &subject->attack;

	if (!subject->attack.is_of_source)
		return;
	rf_out("source %s, limit %s: %" PRIu64 " packets passed, %" PRIu64 " were dropped%s\n",
	       *own->source ? own->source : "(not told)", *own->limit ? own->limit : "-",
	       own->passed, own->dropped, subject->attack.is_over ? "" : " when it began");
}

static int print_gaps(struct rf_reader *reader, const struct subject *subject,
		      struct rf_error *error)
{
	const struct rf_asked range = range_of(subject);
	char from[RF_TIME_TEXT_SIZE], to[RF_TIME_TEXT_SIZE];
	struct rf_recorded_gap gap;
	struct rf_cursor cursor;
	int listed = 0;

	rf_ask(&cursor, reader, RF_ASK_GAPS, &range);
	while (rf_cursor_next(&cursor, &gap)) {
		rf_format_local(gap.start_ns, from);
		rf_format_local(gap.end_ns, to);
		if (!listed++)
			rf_out("\nnot recorded\n");
		rf_out_text("  %s to %s: %s; meanwhile %" PRIu64 " packets passed, %" PRIu64
			    " were dropped\n",
			    from, to, rf_gap_text(gap.why), gap.passed, gap.dropped);
	}
	return rf_cursor_end(&cursor, error);
}

static int print_event(void *context, const struct rf_recorded_event *event)
{
	int *listed = context;

	if (!*listed)
		rf_out("\nevents\n");
	if ((*listed)++ < EVENTS)
		recorded_event_print(event);
	return 0;
}

static void print_sources(const struct subject *subject)
{
	const struct rf_recorded_sources *sources = &subject->sources;

	if (!sources->count)
		return;
	rf_out("\n%s\n", subject->attack.is_of_source
				 ? "the source, as it was recorded every 10 s"
				 : "sources with the most drops, of those recorded");
	recorded_sources_print(sources, sources->count, 0);
}

static void print_counts(const struct subject *subject)
{
	rf_out("\n%-44s %15s %18s\n",
	       subject->attack.is_of_source ? "the whole fence, in that time" : "", "packets",
	       "bytes");
	recorded_print(&subject->recorded, 0);
}

static void print_rules(struct subject *subject)
{
	char since[RF_TIME_TEXT_SIZE];

	if (!subject->rules)
		return;
	rf_format_local(subject->rules_since_ns, since);
	rf_hide_controls(subject->rules, true);
	rf_out("\nrules in force at the beginning, since %s\n%s", since, subject->rules);
}

static int print_report(struct rf_reader *reader, struct subject *subject, struct rf_error *error)
{
	const struct rf_asked range = range_of(subject);
	int err, listed = 0;

	print_when(subject);
	print_own(subject);
	print_peak(subject);
	if (subject->attack.is_of_source)
		print_sources(subject);
	print_counts(subject);
	if (!subject->attack.is_of_source)
		print_sources(subject);
	err = rf_reader_events(reader, events_of(subject), &range, print_event, &listed, error);
	if (listed > EVENTS)
		rf_out("  … and %d more\n", listed - EVENTS);
	if (!err)
		err = print_gaps(reader, subject, error);
	print_rules(subject);
	return err;
}

/* ---- report: JSON ---- */

static json_t *own_json(const struct subject *subject)
{
	const struct rf_recorded_attack *own = &subject->attack;

	if (!subject->attack.is_of_source)
		return json_null();
	return json_pack("{s:o, s:o, s:I, s:I}", "source",
			 *own->source ? rf_json_text(own->source) : json_null(), "limit",
			 *own->limit ? rf_json_text(own->limit) : json_null(), "passed",
			 (json_int_t)own->passed, "dropped", (json_int_t)own->dropped);
}

static int make_json(struct rf_reader *reader, struct subject *subject, json_t **json,
		     struct rf_error *error)
{
	const struct rf_recorded_sources *sources = &subject->sources;
	const char *id = *subject->id ? subject->id : NULL, *type = subject->attack.type;
	const struct rf_asked range = range_of(subject);
	struct rf_asked events = range;
	int err;

	events.most = EVENTS;
	*json = json_pack("{s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "fence",
			  rf_json_text(subject->fence), "id", id ? rf_json_text(id) : json_null(),
			  "type", *type ? rf_json_text(type) : json_null(), "own",
			  own_json(subject), "over", subject->attack.is_over, "peak",
			  rf_row_json(RF_ASK_PEAK, &subject->peak), "sources",
			  recorded_sources_json(sources, sources->count));
	err = rf_recorded_list(*json, "events", reader, events_of(subject), &events, error);
	if (!err)
		err = rf_recorded_list(*json, "gaps", reader, RF_ASK_GAPS, &range, error);
	json_object_set_new(*json, "rules",
			    subject->rules ? rf_json_text(subject->rules) : json_null());
	*json = rf_view_merged(*json, recorded_json(&subject->recorded));
	return err;
}

static int report_one(struct rf_reader *reader, const char *fence, const void *context,
		      json_t **json, struct rf_error *error)
{
	struct subject subject = {};
	int err = find_subject(reader, fence, context, &subject, error);

	if (!err)
		err = read_subject(reader, &subject, error);
	if (!err)
		err = json ? make_json(reader, &subject, json, error)
			   : print_report(reader, &subject, error);
	rf_recorded_free(&subject.recorded);
	rf_recorded_sources_free(&subject.sources);
	free(subject.rules);
	return err;
}

int rf_cmd_report(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_report asked;
	struct rf_reader *reader;
	char fence[RF_NAME_SIZE];
	json_t *json = NULL;
	int err = rf_parse_report(words, &asked, error);

	if (err)
		return err;
	err = rf_recorded_open(options, &reader, fence, error);
	if (!err)
		err = report_one(reader, fence, &asked, options->json ? &json : NULL, error);
	if (!err && options->json)
		err = rf_out_json(json, false, error);
	rf_reader_close(reader);
	return err;
}
