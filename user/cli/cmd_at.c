// SPDX-License-Identifier: GPL-2.0
/* stats at TIME, top at TIME, show ADDRESS at TIME */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "cli/bars.h"
#include "cli/out.h"
#include "cli/recorded.h"
#include "cli/view.h"

#define EVENTS_AROUND_NS (300 * RF_NS_PER_S) /* before and after the time that is asked for */

/* ---- stats ---- */

static int show_stats(struct rf_reader *reader, const char *fence, const void *context,
		      json_t **json, struct rf_error *error)
{
	const uint64_t *at_ns = context;
	struct rf_recorded recorded = {};
	char time[RF_TIME_TEXT_SIZE], label[96];
	int err = rf_reader_at(reader, *at_ns, &recorded, error);

	if (!err && json) {
		*json = rf_view_merged(json_pack("{s:o}", "fence", rf_json_text(fence)),
				       rf_recorded_json(&recorded));
	} else if (!err) {
		rf_format_local(recorded.from_ns, time);
		snprintf(label, sizeof(label), "fence %s, %s, %.3g s", fence, time,
			 recorded.seconds);
		rf_out("%-44s %15s %18s\n", label, "packets/s", "bit/s");
		rf_recorded_print(&recorded, recorded.seconds);
	}
	rf_recorded_free(&recorded);
	return err;
}

int rf_stats_at(const struct rf_options *options, uint64_t at_ns, struct rf_error *error)
{
	return rf_show_histories(options, show_stats, true, &at_ns, error);
}

/* ---- top ---- */

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
		rf_recorded_sources_print(sources, count, length_of(sources));
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
				  "sources", rf_recorded_sources_json(&sources, count));
	else if (!err)
		print_top(&sources, count);
	rf_recorded_sources_free(&sources);
	return err;
}

int rf_top_at(const struct rf_options *options, const struct rf_top *top, struct rf_error *error)
{
	return rf_show_histories(options, show_top, false, top, error);
}

/* ---- show ---- */

static const char *what_of(const struct rf_cells_row *row)
{
	if (row->is_difference)
		return "differences of counters";
	return row->counts_refused ? "cells, with refused packets" : "cells";
}

static void print_cells(const struct rf_cells_row *row)
{
	char source[RF_PREFIX_TEXT_SIZE], number[32], length[RF_DURATION_TEXT_SIZE];
	char time[RF_TIME_TEXT_SIZE], line[1024] = "", bars[RF_BARS_TEXT_SIZE(RF_CELLS_ROW_MAX)];

	rf_format_prefix(&row->source, source);
	rf_format_ms((row->cell_ns + RF_NS_PER_MS / 2) / RF_NS_PER_MS, length);
	rf_format_local(row->first_ns, time);
	rf_bars(row->cell, row->count, bars);
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

static int print_event(void *context, const struct rf_recorded_event *event)
{
	(void)context;
	rf_recorded_event_print(event);
	return 0;
}

static void print_source(const struct rf_recorded_sources *sources, const char *text)
{
	char time[RF_TIME_TEXT_SIZE];

	rf_format_local(sources->from_ns, time);
	rf_out("%s, from %s, for %.3g s\n", text, time, length_of(sources));
	if (sources->count)
		rf_recorded_sources_print(sources, sources->count, length_of(sources));
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
		err = rf_reader_events(reader, RF_ASK_EVENTS, &around, print_event, NULL, error);
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
	json_object_set_new(json, "limits", rf_recorded_sources_json(sources, sources->count));
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
