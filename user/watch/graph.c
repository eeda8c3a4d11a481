// SPDX-License-Identifier: GPL-2.0
/* A range of the past: its counters point by point, and its sources with bars over time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "watch/reading.h"

#define NUMBER_MASK ((1 << RF_SCAN_SHIFT) - 1)
#define INTERVALS_MAX 240 /* that are read of a range, for its sources */
#define SOURCES_MAX 32768 /* that are summed up */

/* A graph that is being made. */
struct making {
	struct rf_reader *reader;
	struct rf_graph *graph;
	struct rf_asked asked;
	int line_of[NUMBER_MASK + 1]; /* by the number of the series; -1: not shown */
};

static int prepare(struct making *making, struct rf_error *error)
{
	struct rf_asked step, *asked = &making->asked;
	struct rf_graph *graph = making->graph;
	const int err = rf_ask_one(making->reader, RF_ASK_GRAPH_STEP, asked, &step, error);
	int64_t from = asked->from_ns / RF_NS_PER_MS;
	const int64_t to = asked->to_ns / RF_NS_PER_MS;

	if (err < 0)
		return err;
	from -= from % step.step;
	asked->is_minute = step.is_minute;
	graph->is_minutes = step.is_minute;
	asked->step = step.step;
	asked->points = (to - from + step.step - 1) / step.step;
	if (asked->points > 2 * RF_GRAPH_POINTS)
		asked->points = 2 * RF_GRAPH_POINTS;
	graph->points = asked->points;
	asked->from_ns = from * RF_NS_PER_MS;
	graph->from_ns = asked->from_ns;
	graph->step_ns = step.step * RF_NS_PER_MS;
	graph->seconds = calloc(graph->points, sizeof(*graph->seconds));
	graph->sources = calloc(graph->points, sizeof(*graph->sources));
	graph->peak = calloc(graph->points, sizeof(*graph->peak));
	graph->line = calloc(RF_GRAPH_LINES, sizeof(*graph->line));
	return graph->seconds && graph->sources && graph->peak && graph->line
		       ? 0
		       : rf_reader_fail_memory(error);
}

static int add_line(struct making *making, const struct rf_graph_series *series,
		    struct rf_error *error)
{
	struct rf_graph *graph = making->graph;
	struct rf_graph_line *line = &graph->line[graph->lines];

	if (series->series < 0 || series->series > NUMBER_MASK || graph->lines == RF_GRAPH_LINES)
		return 0;
	line->packets = calloc(graph->points, sizeof(*line->packets));
	if (!line->packets)
		return rf_reader_fail_memory(error);
	memcpy(line->kind, series->kind, sizeof(line->kind));
	memcpy(line->name, series->name, sizeof(line->name));
	memcpy(line->outcome, series->outcome, sizeof(line->outcome));
	making->line_of[series->series] = graph->lines++;
	return 0;
}

static int add_lines(struct making *making, struct rf_error *error)
{
	struct rf_graph_series series;
	struct rf_cursor cursor;
	int err = 0, failed;

	memset(making->line_of, -1, sizeof(making->line_of));
	rf_ask(&cursor, making->reader, RF_ASK_GRAPH_LINES, NULL);
	while (!err && rf_cursor_next(&cursor, &series))
		err = add_line(making, &series, error);
	failed = rf_cursor_end(&cursor, error);
	return failed ?: err;
}

/* What was seen, and how many sources there were. */
static int add_points(struct making *making, struct rf_error *error)
{
	struct rf_graph *graph = making->graph;
	struct rf_graph_point point;
	struct rf_cursor cursor;

	rf_ask(&cursor, making->reader, RF_ASK_GRAPH_POINTS, &making->asked);
	while (rf_cursor_next(&cursor, &point)) {
		graph->seconds[point.point] += point.seconds;
		if (point.sources > graph->sources[point.point])
			graph->sources[point.point] = point.sources;
	}
	return rf_cursor_end(&cursor, error);
}

/* The packets of each line. Drops have their most a second as well. */
static int add_counts(struct making *making, struct rf_error *error)
{
	struct rf_graph *graph = making->graph;
	struct rf_graph_point point;
	struct rf_cursor cursor;

	rf_ask(&cursor, making->reader, RF_ASK_GRAPH_COUNTS, &making->asked);
	while (rf_cursor_next(&cursor, &point)) {
		const int number = making->line_of[point.series];

		if (number < 0)
			continue;
		graph->line[number].packets[point.point] += point.packets;
		if (point.peak > graph->peak[point.point] &&
		    !strcmp(graph->line[number].kind, "dropped"))
			graph->peak[point.point] = point.peak;
	}
	return rf_cursor_end(&cursor, error);
}

int rf_reader_graph(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns,
		    struct rf_graph *graph, struct rf_error *error)
{
	struct making *making = calloc(1, sizeof(*making));
	int err;

	*graph = (struct rf_graph){};
	if (!making)
		return rf_reader_fail_memory(error);
	making->reader = reader;
	making->graph = graph;
	making->asked =
		(struct rf_asked){.from_ns = from_ns, .to_ns = to_ns, .points = RF_GRAPH_POINTS};
	err = prepare(making, error);
	if (!err)
		err = add_lines(making, error);
	if (!err)
		err = add_points(making, error);
	if (!err)
		err = add_counts(making, error);
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

/* ---- sources ---- */

static void add_bar(void *into, const void *row)
{
	const struct rf_bar_sum *from = row;
	struct rf_bar_sum *sum = into;

	rf_source_add(&sum->sum, &from->sum);
	if (from->at >= 0 && from->at < RF_GRAPH_BARS)
		sum->bar[from->at] += from->sum.passed + from->sum.dropped;
}

static int take_most(struct rf_reader *reader, struct rf_bar_sum *sum, size_t count, int most,
		     struct rf_graph_sources *sources, struct rf_error *error)
{
	rf_sort(sum, count, sizeof(*sum), rf_source_compare);
	sources->row = calloc(most, sizeof(*sources->row));
	if (!sources->row)
		return rf_reader_fail_memory(error);
	for (size_t i = 0; i < count && sources->count < most; i++) {
		struct rf_graph_source *row = &sources->row[sources->count];

		memcpy(row->bar, sum[i].bar, sizeof(row->bar));
		sources->count += rf_source_name(reader, &sum[i].sum, &row->sum);
	}
	return reader->db.failed ? rf_reader_fail(reader, error) : 0;
}

int rf_reader_graph_sources(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns, int most,
			    struct rf_graph_sources *sources, struct rf_error *error)
{
	struct rf_asked asked = {
		.from_ns = from_ns, .to_ns = to_ns, .points = RF_GRAPH_BARS, .most = INTERVALS_MAX};
	struct rf_recorded_number share;
	struct rf_bar_sum *sum = NULL;
	size_t count;
	int err = rf_ask_one(reader, RF_ASK_GRAPH_SHARE, &asked, &share, error);

	*sources = (struct rf_graph_sources){};
	if (err < 0)
		return err;
	asked.one_in = share.number;
	sources->one_in = share.number;
	err = rf_ask_folded(reader, RF_ASK_GRAPH_SOURCES, &asked, RF_SOURCE_KEY_SIZE, SOURCES_MAX,
			    add_bar, &sum, &count, error);
	if (!err)
		err = take_most(reader, sum, count, most, sources, error);
	free(sum);
	return err;
}

void rf_graph_sources_free(struct rf_graph_sources *sources)
{
	free(sources->row);
	*sources = (struct rf_graph_sources){};
}
