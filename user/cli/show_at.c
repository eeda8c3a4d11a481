// SPDX-License-Identifier: GPL-2.0
/* show ADDRESS at TIME: a source, its cells and the events around that time, from a history */
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

/* Rounded up: only 0 has no bar. */
static size_t level_of(uint64_t number, uint64_t most)
{
	return most ? (number * (double)LEVELS + most - 1) / most : 0;
}

/*
 * The maximum has the tallest bar; 0 has none. Uses blocks if the locale's codeset is UTF-8, else
 * ASCII. `text` has RF_BARS_TEXT_SIZE(count) bytes.
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

/* ---- the source ---- */

#define EVENTS_AROUND_NS (300 * RF_NS_PER_S) /* before and after the requested time */

struct show_at {
	const char *fence;
	char source[RF_PREFIX_TEXT_SIZE];
	struct rf_recorded_sources sources;
	struct rf_cells_row *cells;
	size_t cells_count;
	bool is_short_of_memory;
	json_t *events;
};

static json_t *make_cell_ms(const void *of)
{
	return json_real(((const struct rf_cells_row *)of)->cell_ns / 1e6);
}

static const struct rf_field cells_fields[] = {
	RF_FIELD_OF_PREFIX("source", struct rf_cells_row, source, "address or network"),
	RF_FIELD("limit", struct rf_cells_row, limit, "of the limit"),
	RF_FIELD_OF_TIME("from", struct rf_cells_row, first_ns, "start of the first one, UTC"),
	RF_FIELD_MADE("cell_ms", RF_FIELD_REAL, make_cell_ms, "length of a cell"),
	RF_FIELD("differences", struct rf_cells_row, is_difference,
		 "of counters, in packets: no cells"),
	RF_FIELD("incomplete", struct rf_cells_row, is_incomplete, "some before are missing"),
	RF_FIELD("refused", struct rf_cells_row, counts_refused, "refused packets are counted"),
	RF_FIELD_ARRAY("cells", struct rf_cells_row, cell, count, RF_FIELD_U64, NULL,
		       "count of each cell"),
	{},
};

static const struct rf_field show_at_fields[] = {
	RF_FIELD("fence", struct show_at, fence, "its name"),
	RF_FIELD("source", struct show_at, source, "as requested"),
	RF_FIELD_OF_TIME("from", struct show_at, sources.from_ns, "start of the interval, UTC"),
	RF_FIELD_OF_TIME("until", struct show_at, sources.to_ns, "end of the interval, UTC"),
	RF_FIELD_OBJECTS("limits", struct show_at, sources.row, sources.count,
			 rf_recorded_source_fields, "those recorded"),
	RF_FIELD_OBJECTS("cells", struct show_at, cells, cells_count, cells_fields,
			 "of each limit that was recorded"),
	RF_FIELD_READ("events", struct show_at, events, RF_FIELD_LIST, rf_recorded_event_fields,
		      "in their order"),
	{},
};

RF_RECORD(show_at, show_at_fields);

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

static void take_cells(void *context, const struct rf_cells_row *row)
{
	struct show_at *shown = context;
	struct rf_cells_row *cells =
		reallocarray(shown->cells, shown->cells_count + 1, sizeof(*cells));

	if (!cells) {
		shown->is_short_of_memory = true;
		return;
	}
	shown->cells = cells;
	cells[shown->cells_count++] = *row;
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
	rf_recorded_event_print(event);
	return 0;
}

static void print_source(const struct show_at *shown)
{
	const struct rf_recorded_sources *sources = &shown->sources;
	char time[RF_TIME_TEXT_SIZE];

	rf_format_local(sources->from_ns, time);
	rf_out("%s, from %s, for %.3g s\n", shown->source, time,
	       rf_recorded_sources_seconds(sources));
	if (sources->count)
		rf_recorded_sources_print(sources, sources->count,
					  rf_recorded_sources_seconds(sources));
	else
		rf_out_text("  not recorded: it sent nothing that a limit counts, or less than the "
			    "64 sources with the most packets and the 64 with the most drops\n");
	for (size_t i = 0; i < shown->cells_count; i++)
		print_cells(&shown->cells[i]);
}

static int read_source(struct rf_reader *reader, const struct rf_asked *asked,
		       struct show_at *shown, struct rf_error *error)
{
	int err = rf_reader_sources_at(reader, asked, &shown->sources, error);

	rf_format_prefix(asked->of, shown->source);
	if (!err)
		err = rf_reader_cells(reader, asked->time_ns, asked->of, take_cells, shown, error);
	if (!err && shown->is_short_of_memory)
		err = rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
	return err;
}

static int show_source(struct rf_reader *reader, const char *fence, const void *context,
		       json_t **json, struct rf_error *error)
{
	const struct rf_asked *asked = context, around = events_around(asked);
	struct show_at shown = {.fence = fence};
	int err = read_source(reader, asked, &shown, error);

	if (!err && json) {
		err = rf_recorded_list(reader, RF_ASK_EVENTS, &around, rf_recorded_event_fields,
				       &shown.events, error);
		*json = rf_record_json(show_at_fields, &shown);
	} else if (!err) {
		print_source(&shown);
		err = rf_reader_events(reader, RF_ASK_EVENTS, &around, print_event_around, NULL,
				       error);
	}
	json_decref(shown.events);
	free(shown.cells);
	rf_recorded_sources_free(&shown.sources);
	return err;
}

int rf_show_at(const struct rf_options *options, const struct rf_prefix *source, uint64_t at_ns,
	       struct rf_error *error)
{
	const struct rf_asked asked = {.time_ns = at_ns, .of = source};

	return rf_show_histories(options, show_source, false, &asked, error);
}
