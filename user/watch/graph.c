// SPDX-License-Identifier: GPL-2.0
/* Counters of a range of the past, point by point. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "watch/graph.h"
#include "watch/reading.h"

#define SECONDS_MS (2 * 3600 * 1000) /* a longer range is made from minutes */
#define MINUTE_MS 60000
#define INTERVAL_MOST_MS (4 * MINUTE_MS) /* scans are a minute apart, unless one is late */
#define NUMBER_MASK ((1 << RF_SCAN_SHIFT) - 1)

/* A graph that is being made. Times are ms. */
struct making {
	struct rf_reader *reader;
	struct rf_graph *graph;
	int64_t from, to, step;
	int line_of[NUMBER_MASK + 1]; /* by the number of the series; -1: not shown */
};

static int fail_memory(struct rf_error *error)
{
	return rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
}

/* ---- steps ---- */

/* The shortest step of a round length that makes few enough points. */
static int64_t choose_step(int64_t span, int64_t least)
{
	static const int64_t round[] = {1,   2,	  5,   10,   15,   30,	 60,	120,
					300, 600, 900, 1800, 3600, 7200, 21600, 43200};
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(round) &&
	       (round[i] * 1000 < least || span / (round[i] * 1000) > RF_GRAPH_POINTS))
		i++;
	return round[i] * 1000;
}

/* Seconds are gone after a while; then a short range is made from minutes as well. */
static bool has_seconds(struct rf_reader *reader, int64_t from, int64_t to)
{
	struct rf_db *db = &reader->db;
	const int64_t first = rf_db_int(db, INT64_MAX, "SELECT min(time) FROM totals", "");
	const int64_t minute = rf_db_int(db, INT64_MAX, "SELECT min(time) FROM minutes", "");

	return to - from <= SECONDS_MS && (first <= from + (to - from) / 2 || first <= minute);
}

static int prepare(struct making *making)
{
	struct rf_graph *graph = making->graph;

	graph->is_minutes = !has_seconds(making->reader, making->from, making->to);
	making->step = choose_step(making->to - making->from, graph->is_minutes ? MINUTE_MS : 0);
	making->from -= making->from % making->step;
	graph->points = (making->to - making->from + making->step - 1) / making->step;
	if (graph->points > 2 * RF_GRAPH_POINTS)
		graph->points = 2 * RF_GRAPH_POINTS;
	graph->from_ns = rf_from_ms(making->from);
	graph->step_ns = rf_from_ms(making->step);
	graph->seconds = calloc(graph->points, sizeof(*graph->seconds));
	graph->sources = calloc(graph->points, sizeof(*graph->sources));
	graph->peak = calloc(graph->points, sizeof(*graph->peak));
	graph->line = calloc(RF_GRAPH_LINES, sizeof(*graph->line));
	return graph->seconds && graph->sources && graph->peak && graph->line ? 0 : -ENOMEM;
}

/* Some points, and the part of an interval that each of them has. */
struct cover {
	int first, end;
	int64_t from, to; /* of the interval */
	bool is_split;
};

/*
 * An interval of MS that ended at TIME. One that is no longer than a step counts where it ended; a
 * longer one is split, or the points between two ends would look like a gap.
 */
static struct cover cover_of(const struct making *making, int64_t time, int64_t ms)
{
	struct cover cover = {.from = time - 1, .to = time};
	int64_t first, end = (time - 1 - making->from) / making->step + 1;

	if (time <= making->from)
		return (struct cover){};
	if (ms > making->step) {
		cover.is_split = true;
		cover.from = time - (ms < INTERVAL_MOST_MS ? ms : INTERVAL_MOST_MS);
	}
	first = cover.from > making->from ? (cover.from - making->from) / making->step : 0;
	cover.first = first < making->graph->points ? first : making->graph->points;
	cover.end = end < making->graph->points ? end : making->graph->points;
	return cover;
}

static double share_of(const struct making *making, const struct cover *cover, int point)
{
	const int64_t begin = making->from + point * making->step, end = begin + making->step;
	const int64_t from = cover->from > begin ? cover->from : begin;
	const int64_t to = cover->to < end ? cover->to : end;

	return cover->is_split ? (double)(to - from) / (double)(cover->to - cover->from) : 1;
}

/* ---- lines ---- */

static int add_line(struct making *making, sqlite3_stmt *stmt)
{
	struct rf_graph *graph = making->graph;
	const int64_t number = sqlite3_column_int64(stmt, 0);
	struct rf_graph_line *line = &graph->line[graph->lines];

	if (number < 0 || number > NUMBER_MASK || graph->lines == RF_GRAPH_LINES)
		return 0;
	line->packets = calloc(graph->points, sizeof(*line->packets));
	if (!line->packets)
		return -ENOMEM;
	snprintf(line->kind, sizeof(line->kind), "%s", rf_db_text(stmt, 1));
	snprintf(line->name, sizeof(line->name), "%s", rf_db_text(stmt, 2));
	snprintf(line->outcome, sizeof(line->outcome), "%s", rf_db_text(stmt, 3));
	making->line_of[number] = graph->lines++;
	return 0;
}

static int add_lines(struct making *making, struct rf_error *error)
{
	struct rf_db *db = &making->reader->db;
	sqlite3_stmt *stmt =
		rf_db_begin(db,
			    "SELECT series, kind, name, outcome FROM series WHERE kind IN "
			    "('passed', 'dropped', 'limit') ORDER BY series",
			    "");
	int err = 0;

	memset(making->line_of, -1, sizeof(making->line_of));
	while (!err && rf_db_row(db, stmt)) {
		err = add_line(making, stmt);
		if (err)
			rf_db_end(stmt);
	}
	if (err)
		return fail_memory(error);
	return db->failed ? rf_reader_fail(making->reader, error) : 0;
}

/* ---- points ---- */

/* What is in the last point may have ended after it. */
static sqlite3_stmt *begin_rows(const struct making *making, const char *sql)
{
	return rf_db_begin(&making->reader->db, sql, "ii", making->from,
			   making->to + making->step + INTERVAL_MOST_MS);
}

/* Rows of time, ms, sources. */
static void take_intervals(struct making *making, const char *sql)
{
	struct rf_db *db = &making->reader->db;
	struct rf_graph *graph = making->graph;
	sqlite3_stmt *stmt = begin_rows(making, sql);

	while (rf_db_row(db, stmt)) {
		const int64_t ms = sqlite3_column_int64(stmt, 1);
		const int64_t sources = sqlite3_column_int64(stmt, 2);
		const struct cover cover = cover_of(making, sqlite3_column_int64(stmt, 0), ms);

		for (int point = cover.first; point < cover.end; point++) {
			graph->seconds[point] += ms / 1000.0 * share_of(making, &cover, point);
			if (sources > graph->sources[point])
				graph->sources[point] = sources < UINT32_MAX ? sources : UINT32_MAX;
		}
	}
}

/* Drops have their most a second as well. `peak` -1: to be derived. */
static void add_counts(const struct making *making, struct rf_graph_line *line,
		       const struct cover *cover, int64_t ms, double packets, double peak)
{
	struct rf_graph *graph = making->graph;
	const bool is_drop = strcmp(line->kind, "dropped") == 0;

	if (peak < 0)
		peak = ms > 0 ? packets * 1000.0 / ms : 0;
	for (int point = cover->first; point < cover->end; point++) {
		line->packets[point] += packets * share_of(making, cover, point);
		if (is_drop && peak > graph->peak[point])
			graph->peak[point] = peak;
	}
}

/* Rows of time, ms, number, packets, the most packets in a second. */
static void take_counts(struct making *making, const char *sql)
{
	struct rf_db *db = &making->reader->db;
	sqlite3_stmt *stmt = begin_rows(making, sql);

	while (rf_db_row(db, stmt)) {
		const int64_t ms = sqlite3_column_int64(stmt, 1);
		const int line = making->line_of[sqlite3_column_int64(stmt, 2) & NUMBER_MASK];
		const struct cover cover = cover_of(making, sqlite3_column_int64(stmt, 0), ms);

		if (line >= 0)
			add_counts(making, &making->graph->line[line], &cover, ms,
				   sqlite3_column_int64(stmt, 3), sqlite3_column_int64(stmt, 4));
	}
}

static void take_points(struct making *making)
{
	if (making->graph->is_minutes) {
		take_intervals(making, "SELECT time, ms, sources FROM minutes WHERE time > ? AND "
				       "time <= ?");
		take_counts(making, "SELECT time, ms, id, packets, peak FROM minutes CROSS JOIN "
				    "minute_counts ON id >= minute << 16 AND id < (minute + 1) << "
				    "16 WHERE time > ? AND time <= ?");
		return;
	}
	take_intervals(making, "SELECT time, ms, sources FROM totals WHERE time > ? AND time <= ?");
	take_counts(making, "SELECT time, ms, id, packets, -1 FROM totals CROSS JOIN counts ON id "
			    ">= scan << 16 AND id < (scan + 1) << 16 WHERE time > ? AND time <= ?");
}

int rf_reader_graph(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns,
		    struct rf_graph *graph, struct rf_error *error)
{
	struct making *making = calloc(1, sizeof(*making));
	int err;

	*graph = (struct rf_graph){};
	if (!making)
		return fail_memory(error);
	making->reader = reader;
	making->graph = graph;
	making->from = rf_to_ms(from_ns);
	making->to = rf_to_ms(to_ns);
	err = prepare(making);
	err = err ? fail_memory(error) : add_lines(making, error);
	if (!err)
		take_points(making);
	if (!err && reader->db.failed)
		err = rf_reader_fail(reader, error);
	free(making);
	return err;
}

void rf_graph_free(struct rf_graph *graph)
{
	for (int i = 0; i < graph->lines; i++)
		free(graph->line[i].packets);
	free(graph->line);
	free(graph->seconds);
	free(graph->sources);
	free(graph->peak);
	*graph = (struct rf_graph){};
}
