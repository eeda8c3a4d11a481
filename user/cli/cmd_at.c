// SPDX-License-Identifier: GPL-2.0
/* stats at TIME, top at TIME, show ADDRESS at TIME */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
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

static uint64_t drops_of(const struct rf_recorded_source *row)
{
	return row->dropped + row->would_drop;
}

static int compare_packets(const void *a, const void *b)
{
	const struct rf_recorded_source *left = a, *right = b;
	const uint64_t l = left->passed + left->dropped, r = right->passed + right->dropped;

	return l < r ? 1 : l > r ? -1 : 0;
}

static int compare_used(const void *a, const void *b)
{
	const struct rf_recorded_source *left = a, *right = b;

	return left->used < right->used ? 1 : left->used > right->used ? -1 : 0;
}

static int compare_drops(const void *a, const void *b)
{
	const uint64_t l = drops_of(a), r = drops_of(b);

	return l < r ? 1 : l > r ? -1 : compare_packets(a, b);
}

static int (*const orders[])(const void *, const void *) = {
	[RF_BY_DROPS] = compare_drops,
	[RF_BY_RATE] = compare_packets,
	[RF_BY_USED] = compare_used,
};

/* Leaves the rows that are asked for, in their order. */
static void choose(struct rf_recorded_sources *sources, const struct rf_top *top)
{
	size_t left = 0;

	for (size_t i = 0; i < sources->count; i++) {
		const struct rf_recorded_source *row = &sources->row[i];

		if ((!top->limit || !strcmp(row->limit, top->limit)) &&
		    (!top->is_within || rf_prefix_contains(&top->within, &row->source)))
			sources->row[left++] = *row;
	}
	sources->count = left;
	if (left)
		rf_sort(sources->row, left, sizeof(*sources->row), orders[top->order]);
}

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
	int err = rf_reader_sources_at(reader, top->at_ns, &sources, error);
	size_t count;

	choose(&sources, top);
	count = sources.count < top->rows ? sources.count : top->rows;
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

struct asked {
	const struct rf_prefix *source;
	uint64_t at_ns;
};

/* The past of a source, on its way to the reader. */
struct shown {
	const struct asked *asked;
	const char *fence, *text;
	json_t *cells, *events; /* NULL: print */
	int printed;
};

/* The rows of the source, of its networks, or of a network those in it. */
static void choose_source(struct rf_recorded_sources *sources, const struct rf_prefix *source)
{
	size_t left = 0;

	for (size_t i = 0; i < sources->count; i++)
		if (rf_prefix_contains(&sources->row[i].source, source) ||
		    rf_prefix_contains(source, &sources->row[i].source))
			sources->row[left++] = sources->row[i];
	sources->count = left;
}

static const char *what_of(const struct rf_cells_row *row)
{
	if (row->is_difference)
		return "differences of counters";
	return row->counts_refused ? "cells, with refused packets" : "cells";
}

static void print_cells(struct shown *shown, const struct rf_cells_row *row)
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
	shown->printed++;
}

static void visit_cells(void *context, const struct rf_cells_row *row)
{
	struct shown *shown = context;
	char source[RF_PREFIX_TEXT_SIZE];
	json_t *list;

	if (!shown->cells) {
		print_cells(shown, row);
		return;
	}
	list = json_array();
	rf_format_prefix(&row->source, source);
	for (unsigned int i = 0; i < row->count; i++)
		json_array_append_new(list, json_integer(row->cell[i]));
	json_array_append_new(
		shown->cells,
		json_pack("{s:s, s:o, s:o, s:f, s:b, s:b, s:b, s:o}", "source", source, "limit",
			  rf_json_text(row->limit), "from", rf_json_time(row->first_ns), "cell_ms",
			  row->cell_ns / 1e6, "differences", row->is_difference, "incomplete",
			  row->is_incomplete, "refused", row->counts_refused, "cells", list));
}

static bool is_of(const char *text, const struct rf_prefix *source)
{
	struct rf_error unused;
	struct rf_prefix other;

	return *text && !rf_parse_prefix(text, &other, &unused) &&
	       (rf_prefix_contains(&other, source) || rf_prefix_contains(source, &other));
}

static int visit_event(void *context, const struct rf_recorded_event *event)
{
	struct shown *shown = context;

	if (!is_of(event->source, shown->asked->source))
		return 0;
	if (shown->events)
		json_array_append_new(shown->events, rf_recorded_event_json(shown->fence, event));
	else
		rf_recorded_event_print(event);
	return 0;
}

static int read_rest(struct rf_reader *reader, struct shown *shown, struct rf_error *error)
{
	const struct asked *asked = shown->asked;
	int err = rf_reader_cells(reader, asked->at_ns, asked->source, visit_cells, shown, error);

	if (err)
		return err;
	return rf_reader_events(reader, asked->at_ns - EVENTS_AROUND_NS,
				asked->at_ns + EVENTS_AROUND_NS, NULL, visit_event, shown, error);
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

static int show_source(struct rf_reader *reader, const char *fence, const void *context,
		       json_t **json, struct rf_error *error)
{
	const struct asked *asked = context;
	struct rf_recorded_sources sources = {};
	char text[RF_PREFIX_TEXT_SIZE];
	struct shown shown = {.asked = asked, .fence = fence, .text = text};
	int err = rf_reader_sources_at(reader, asked->at_ns, &sources, error);

	rf_format_prefix(asked->source, text);
	choose_source(&sources, asked->source);
	if (json) {
		shown.cells = json_array();
		shown.events = json_array();
	} else if (!err) {
		print_source(&sources, text);
	}
	if (!err)
		err = read_rest(reader, &shown, error);
	if (!err && json) {
		*json = json_pack("{s:o, s:s, s:o, s:o, s:o, s:O, s:O}", "fence",
				  rf_json_text(fence), "source", text, "from",
				  rf_json_time(sources.from_ns), "until",
				  rf_json_time(sources.to_ns), "limits",
				  rf_recorded_sources_json(&sources, sources.count), "cells",
				  shown.cells, "events", shown.events);
	}
	json_decref(shown.cells);
	json_decref(shown.events);
	rf_recorded_sources_free(&sources);
	return err;
}

int rf_show_at(const struct rf_options *options, const struct rf_prefix *source, uint64_t at_ns,
	       struct rf_error *error)
{
	const struct asked asked = {source, at_ns};

	return rf_show_histories(options, show_source, false, &asked, error);
}
