// SPDX-License-Identifier: GPL-2.0
/* Results that require several queries, or that SQL cannot compute. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/time.h"
#include "schema/settings.h"
#include "watch/reading.h"

#define LATELY_NS (10 * RF_NS_PER_S)
#define INTERVALS 3
/* How late a row of cells is at the most; of longer cells, two of these more. */
#define CELLS_NS (15 * RF_NS_PER_S)

/* ---- gaps ---- */

static const struct {
	const char *why, *text;
} gap_texts[] = {
	{"down", "ringfence-watch did not run"},
	{"detached", "the fence was not attached"},
	{"slept", "the machine slept, or its clock was set forward"},
	{"clock", "the clock was set back"},
	{"stalled", "ringfence-watch was stopped or very slow"},
	{"disk", "the disk was nearly full"},
	{"reader", "another reader did not finish"},
	{"errors", "writing failed"},
};

const char *rf_gap_text(const char *why)
{
	for (size_t i = 0; i < ARRAY_SIZE(gap_texts); i++)
		if (!strcmp(gap_texts[i].why, why))
			return gap_texts[i].text;
	return why;
}

static int fail_in_gap(const struct rf_recorded_gap *gap, struct rf_error *error)
{
	char from[RF_TIME_TEXT_SIZE], to[RF_TIME_TEXT_SIZE];

	rf_format_local(gap->start_ns, from);
	rf_format_local(gap->end_ns, to);
	return rf_error_failed(error, -ENODATA, "no data was recorded from %s to %s: %s", from, to,
			       rf_gap_text(gap->why));
}

/* No data was recorded at `time_ns`: an error with the reason. Returns -ENODATA. */
static int fail_gap(struct rf_reader *reader, uint64_t time_ns, struct rf_error *error)
{
	const struct rf_asked asked = {.from_ns = time_ns, .to_ns = time_ns};
	char then[RF_TIME_TEXT_SIZE], edge[RF_TIME_TEXT_SIZE];
	struct rf_recorded_gap gap;
	struct rf_extent extent;
	struct rf_cursor cursor;
	int err = rf_ask_one(reader, RF_ASK_EXTENT, NULL, &extent, error), failed;

	if (err < 0)
		return err;
	rf_ask(&cursor, reader, RF_ASK_GAPS, &asked);
	err = rf_cursor_next(&cursor, &gap) ? fail_in_gap(&gap, error) : 0;
	failed = rf_cursor_end(&cursor, error);
	if (failed || err)
		return failed ?: err;
	rf_format_local(time_ns, then);
	rf_format_local(time_ns < extent.first_ns ? extent.first_ns : extent.last_ns, edge);
	if (!extent.first_ns)
		return rf_error_failed(error, -ENODATA, "the history of fence '%s' is still empty",
				       reader->fence);
	if (time_ns < extent.first_ns)
		return rf_error_failed(error, -ENODATA,
				       "the history of fence '%s' starts at %s, after %s",
				       reader->fence, edge, then);
	if (time_ns > extent.last_ns)
		return rf_error_failed(error, -ENODATA,
				       "the history of fence '%s' ends at %s; does "
				       "ringfence-watch run? 'systemctl status ringfence-watch'",
				       reader->fence, edge);
	return rf_error_failed(error, -ENODATA, "no data was recorded at %s", then);
}

/* ---- counts ---- */

void rf_recorded_free(struct rf_recorded *recorded)
{
	free(recorded->count);
	*recorded = (struct rf_recorded){};
}

static void sum_up(struct rf_recorded *recorded)
{
	for (int i = 0; i < recorded->counts; i++) {
		const struct rf_recorded_count *one = &recorded->count[i];
		struct rf_count *sum = !strcmp(one->kind, "passed")    ? &recorded->passed
				       : !strcmp(one->kind, "dropped") ? &recorded->dropped
								       : NULL;

		if (sum) {
			sum->packets += one->packets;
			sum->bytes += one->bytes;
		}
	}
}

int rf_reader_at(struct rf_reader *reader, uint64_t time_ns, struct rf_recorded *recorded,
		 struct rf_error *error)
{
	struct rf_asked asked = {.time_ns = time_ns};
	struct rf_interval interval;
	const int found = rf_ask_one(reader, RF_ASK_INTERVAL_AT, &asked, &interval, error);
	size_t count;
	int err;

	*recorded = (struct rf_recorded){};
	if (found <= 0)
		return found < 0 ? found : fail_gap(reader, time_ns, error);
	recorded->from_ns = interval.from_ns;
	recorded->to_ns = interval.to_ns;
	recorded->seconds = interval.seconds;
	asked.is_minute = interval.is_minute;
	asked.number = interval.number;
	err = rf_ask_all(reader, RF_ASK_COUNTS_OF, &asked, &recorded->count, &count, error);
	recorded->counts = count;
	sum_up(recorded);
	return err;
}

static void add_count(void *into, const void *row)
{
	const struct rf_series_sum *count = row;
	struct rf_series_sum *sum = into;

	sum->packets += count->packets;
	sum->bytes += count->bytes;
}

static int compare_series(const void *a, const void *b)
{
	const struct rf_series_sum *left = a, *right = b;

	return (left->series > right->series) - (left->series < right->series);
}

/* Takes the sums in the order of their numbers, under their names. */
static int name_counts(struct rf_reader *reader, struct rf_series_sum *sum, size_t count,
		       struct rf_recorded *recorded, struct rf_error *error)
{
	int found = 0;

	rf_sort(sum, count, sizeof(*sum), compare_series);
	recorded->count = calloc(count + 1, sizeof(*recorded->count));
	if (!recorded->count)
		return rf_reader_fail_memory(error);
	for (size_t i = 0; i < count && found >= 0; i++) {
		const struct rf_asked asked = {.number = sum[i].series};
		struct rf_recorded_count *named = &recorded->count[recorded->counts];

		found = rf_ask_one(reader, RF_ASK_SERIES, &asked, named, error);
		named->packets = sum[i].packets;
		named->bytes = sum[i].bytes;
		recorded->counts += found == 1;
	}
	return found < 0 ? found : 0;
}

int rf_reader_between(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns,
		      struct rf_recorded *recorded, struct rf_error *error)
{
	const struct rf_asked asked = {.from_ns = from_ns, .to_ns = to_ns};
	struct rf_recorded_number seen = {};
	struct rf_series_sum *sum = NULL;
	size_t count;
	int err = rf_ask_one(reader, RF_ASK_MS_BETWEEN, &asked, &seen, error);

	*recorded = (struct rf_recorded){
		.from_ns = from_ns, .to_ns = to_ns, .seconds = seen.number / 1000.0};
	if (err < 0)
		return err;
	err = rf_ask_folded(reader, RF_ASK_COUNTS_BETWEEN, &asked, sizeof(sum->series), SIZE_MAX,
			    add_count, &sum, &count, error);
	if (!err)
		err = name_counts(reader, sum, count, recorded, error);
	free(sum);
	sum_up(recorded);
	return err;
}

uint64_t rf_recorded_packets(const struct rf_recorded *recorded, const char *kind, const char *name,
			     const char *outcome)
{
	for (int i = 0; i < recorded->counts; i++) {
		const struct rf_recorded_count *count = &recorded->count[i];

		if (!strcmp(count->kind, kind) && !strcmp(count->name, name) &&
		    !strcmp(count->outcome, outcome))
			return count->packets;
	}
	return 0;
}

/* ---- sources ---- */

void rf_recorded_sources_free(struct rf_recorded_sources *sources)
{
	free(sources->row);
	*sources = (struct rf_recorded_sources){};
}

static int fail_none(struct rf_reader *reader, uint64_t time_ns, struct rf_error *error)
{
	struct rf_recorded_number scan;
	const int found = rf_ask_one(reader, RF_ASK_ANY_SAMPLE, NULL, &scan, error);

	if (found)
		return found < 0 ? found : fail_gap(reader, time_ns, error);
	return rf_error_failed(
		error, -ENODATA,
		"no source of fence '%s' was recorded: sources are recorded every 10 "
		"s, and under 'sources none' never; 'sources prefix' in " RF_SETTINGS_FILE
		" records them",
		reader->fence);
}

int rf_reader_sources_at(struct rf_reader *reader, const struct rf_asked *asked,
			 struct rf_recorded_sources *sources, struct rf_error *error)
{
	struct rf_asked of_interval = *asked;
	struct rf_interval interval;
	const int found = rf_ask_one(reader, RF_ASK_SAMPLE_AT, asked, &interval, error);

	*sources = (struct rf_recorded_sources){};
	if (found <= 0)
		return found < 0 ? found : fail_none(reader, asked->time_ns, error);
	sources->from_ns = interval.from_ns;
	sources->to_ns = interval.to_ns;
	sources->share = interval.one_in;
	of_interval.number = interval.number;
	return rf_ask_all(reader, RF_ASK_SOURCES_OF, &of_interval, &sources->row, &sources->count,
			  error);
}

/* ---- sums of sources ---- */

static void add_sum(struct rf_source_sum *into, const struct rf_source_sum *row)
{
	into->passed += row->passed;
	into->dropped += row->dropped;
	into->would_drop += row->would_drop;
	if (row->used > into->used)
		into->used = row->used;
	into->banned |= row->banned;
}

/* For rf_sort(): most drops first, then most packets. */
static int compare_sums(const void *a, const void *b)
{
	const struct rf_source_sum *left = a, *right = b;
	const uint64_t l = left->dropped + left->would_drop, r = right->dropped + right->would_drop;
	const int order = strcmp(left->source, right->source);

	if (l != r)
		return l < r ? 1 : -1;
	if (left->passed != right->passed)
		return left->passed < right->passed ? 1 : -1;
	if (order)
		return order;
	return (left->limit > right->limit) - (left->limit < right->limit);
}

/* The sum under the names of its source and limit. False: one of them cannot be parsed. */
static bool name_sum(struct rf_reader *reader, const struct rf_source_sum *sum,
		     struct rf_recorded_source *row)
{
	const struct rf_asked asked = {.number = sum->limit};
	struct rf_error unused;

	*row = (struct rf_recorded_source){
		.passed = sum->passed,
		.dropped = sum->dropped,
		.would_drop = sum->would_drop,
		.used = sum->used,
		.is_banned = sum->banned,
	};
	return !rf_parse_prefix(sum->source, &row->source, &unused) &&
	       rf_ask_one(reader, RF_ASK_LIMIT_NAME, &asked, row, &unused) == 1;
}

static void add_source(void *into, const void *row)
{
	add_sum(into, row);
}

/* Is it the source, or a network of one with the other? */
static bool is_of(const struct rf_source_sum *sum, const struct rf_prefix *of)
{
	struct rf_error unused;
	struct rf_prefix prefix;

	return !of || (!rf_parse_prefix(sum->source, &prefix, &unused) &&
		       (rf_prefix_contains(&prefix, of) || rf_prefix_contains(of, &prefix)));
}

int rf_reader_sources_between(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns,
			      const struct rf_prefix *of, size_t most,
			      struct rf_recorded_sources *sources, struct rf_error *error)
{
	const struct rf_asked asked = {.from_ns = from_ns, .to_ns = to_ns};
	struct rf_source_sum *sum;
	size_t count;
	int err = rf_ask_folded(reader, RF_ASK_SOURCES_BETWEEN, &asked, RF_SOURCE_KEY_SIZE,
				SIZE_MAX, add_source, &sum, &count, error);

	*sources = (struct rf_recorded_sources){.from_ns = from_ns, .to_ns = to_ns, .share = 1};
	rf_sort(sum, count, sizeof(*sum), compare_sums);
	sources->row = calloc((count < most ? count : most) + 1, sizeof(*sources->row));
	if (!err && !sources->row)
		err = rf_reader_fail_memory(error);
	for (size_t i = 0; i < count && sources->count < most && !err; i++)
		if (is_of(&sum[i], of))
			sources->count += name_sum(reader, &sum[i], &sources->row[sources->count]);
	free(sum);
	return err ? err : reader->db.failed ? rf_reader_fail(reader, error) : 0;
}

/* ---- cells ---- */

/* Visits the rows of cells of each pack that the question finds. */
static int each_cells(struct rf_reader *reader, enum rf_question question,
		      const struct rf_asked *asked, rf_row_visit visit, void *context,
		      struct rf_error *error)
{
	struct rf_recorded_pack pack;
	struct rf_cells_unpack unpack;
	struct rf_cells_row row;
	struct rf_cursor cursor;
	int found = 0, result = 0, err;

	rf_ask(&cursor, reader, question, asked);
	while (!result && found >= 0 && rf_cursor_next(&cursor, &pack)) {
		found = rf_cells_unpack_begin(&unpack, pack.data.data, pack.data.size);
		/* Can its rows lie that early, as late as they are written? */
		if (!found && asked->time_ns &&
		    pack.end_ns > asked->time_ns + RF_NS_PER_S + CELLS_NS + 2 * unpack.cell_ns)
			continue;
		while (!result && found >= 0 &&
		       (found = rf_cells_unpack_next(&unpack, &row)) == 1) {
			snprintf(row.limit, sizeof(row.limit), "%s", pack.limit);
			result = visit(context, &row);
		}
	}
	err = rf_cursor_end(&cursor, error);
	if (found < 0)
		return rf_error_failed(error, -EIO,
				       "%.300s: packed cells are damaged; run 'ringfence history "
				       "check'",
				       reader->path);
	return err ? err : result;
}

/* Which rows a visitor gets: of a second, and of a source or a network around it or in it. */
struct cells_of {
	uint64_t time_ns;
	const struct rf_prefix *source;
	rf_cells_visit visit;
	void *context;
};

static int visit_if_of(void *context, const struct rf_cells_row *row)
{
	const struct cells_of *of = context;

	if ((rf_prefix_contains(&row->source, of->source) ||
	     rf_prefix_contains(of->source, &row->source)) &&
	    row->first_ns < of->time_ns + RF_NS_PER_S &&
	    row->first_ns + row->count * row->cell_ns > of->time_ns)
		of->visit(of->context, row);
	return 0;
}

int rf_reader_cells(struct rf_reader *reader, uint64_t time_ns, const struct rf_prefix *source,
		    rf_cells_visit visit, void *context, struct rf_error *error)
{
	const struct rf_asked asked = {.time_ns = time_ns};
	struct cells_of of = {time_ns, source, visit, context};

	return each_cells(reader, RF_ASK_CELLS_AT, &asked, visit_if_of, &of, error);
}

int rf_reader_each_cells(struct rf_reader *reader, const char *limit, uint64_t from_ns,
			 uint64_t to_ns, rf_row_visit visit, void *context, struct rf_error *error)
{
	const struct rf_asked asked = {.limit = limit, .from_ns = from_ns, .to_ns = to_ns};

	return each_cells(reader, RF_ASK_CELLS_BETWEEN, &asked, visit, context, error);
}

/* ---- rows for visitors ---- */

int rf_reader_each_peak(struct rf_reader *reader, const char *limit, uint64_t from_ns,
			uint64_t to_ns, rf_peak_visit visit, void *context, struct rf_error *error)
{
	const struct rf_asked asked = {.limit = limit, .from_ns = from_ns, .to_ns = to_ns};
	struct rf_recorded_peak peak;
	struct rf_cursor cursor;
	int result = 0, err;

	rf_ask(&cursor, reader, RF_ASK_PEAKS, &asked);
	while (!result && rf_cursor_next(&cursor, &peak))
		result = visit(context, &peak);
	err = rf_cursor_end(&cursor, error);
	return err ? err : result;
}

int rf_reader_events(struct rf_reader *reader, enum rf_question question,
		     const struct rf_asked *asked, rf_event_visit visit, void *context,
		     struct rf_error *error)
{
	struct rf_recorded_event event;
	struct rf_cursor cursor;
	int result = 0, err;

	rf_ask(&cursor, reader, question, asked);
	while (!result && rf_cursor_next(&cursor, &event))
		result = visit(context, &event);
	err = rf_cursor_end(&cursor, error);
	return err ? err : result;
}

/* ---- other ---- */

char *rf_reader_rules(struct rf_reader *reader, uint64_t time_ns, uint64_t *since_ns)
{
	const struct rf_asked asked = {.time_ns = time_ns};
	struct rf_recorded_rules rules;
	struct rf_error unused;
	struct rf_cursor cursor;
	char *text = NULL;

	rf_ask(&cursor, reader, RF_ASK_RULES, &asked);
	if (rf_cursor_next(&cursor, &rules)) {
		text = strdup(rules.text);
		*since_ns = rules.since_ns;
	}
	rf_cursor_end(&cursor, &unused);
	return text;
}

int64_t rf_ask_number(struct rf_reader *reader, enum rf_question question, int64_t most)
{
	const struct rf_asked asked = {.most = most};
	struct rf_recorded_number number = {};
	struct rf_error unused;

	rf_ask_one(reader, question, &asked, &number, &unused);
	return number.number;
}

bool rf_reader_is_written(struct rf_reader *reader)
{
	struct rf_interval last;
	struct rf_error unused;
	uint64_t wait_ns;

	if (rf_ask_one(reader, RF_ASK_LAST_SCAN, NULL, &last, &unused) != 1)
		return false;
	wait_ns = INTERVALS * (last.to_ns - last.from_ns);
	return rf_time_wall() <= last.to_ns + (wait_ns > LATELY_NS ? wait_ns : LATELY_NS);
}

/* ---- check ---- */

static void complain_of_sums(struct rf_reader *reader, char complaint[256], char remedy[256])
{
	struct rf_checked_sums sums = {};
	struct rf_asked asked = {.after = -1};
	struct rf_error unused;
	char from[RF_TIME_TEXT_SIZE];

	while (rf_ask_one(reader, RF_ASK_SUMS_AFTER, &asked, &sums, &unused) == 1 &&
	       !sums.is_different)
		asked.after = sums.first;
	if (!sums.is_different)
		return;
	rf_format_local(sums.from_ns, from);
	snprintf(complaint, 256, "sums of sources from %s on differ from their rows", from);
	snprintf(remedy, 256, "sqlite3 %.160s 'UPDATE sums SET kept = 0' disables the sums",
		 reader->path);
}

int rf_reader_check(struct rf_reader *reader, char complaint[256], char remedy[256],
		    struct rf_error *error)
{
	struct rf_db *db = &reader->db;
	sqlite3_stmt *stmt = rf_db_begin(db, "PRAGMA integrity_check(1)", "");

	*complaint = '\0';
	snprintf(remedy, 256, "ringfence-watch moves it aside when it starts");
	if (rf_db_row(db, stmt)) {
		if (strcmp(rf_db_text(stmt, 0), "ok") != 0)
			snprintf(complaint, 256, "%.255s", rf_db_text(stmt, 0));
		rf_db_end(stmt);
	}
	complaint[strcspn(complaint, "\n")] = '\0';
	if (!*complaint && !db->failed)
		complain_of_sums(reader, complaint, remedy);
	if (rf_db_is_damage(db->failed))
		snprintf(complaint, 256, "%s", sqlite3_errstr(db->failed));
	else if (db->failed)
		return rf_reader_fail(reader, error);
	return 0;
}

/* ---- graphs: the counters of a range, point by point ---- */

#define NUMBER_MASK ((1 << RF_SCAN_SHIFT) - 1)
#define INTERVALS_MAX 240 /* that are read of a range, for its sources */
#define SOURCES_MAX 32768 /* that are summed up */

/* A graph that is being made. */
struct making {
	struct rf_reader *reader;
	struct rf_graph *graph;
	struct rf_asked asked;
	struct rf_graph_part *part; /* by the numbers of their intervals */
	size_t parts;
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

static int compare_parts(const void *a, const void *b)
{
	const struct rf_graph_part *left = a, *right = b;

	return (left->number > right->number) - (left->number < right->number);
}

/* The sources that were seen, and their number. */
static int add_parts(struct making *making, struct rf_error *error)
{
	struct rf_graph *graph = making->graph;
	const int err = rf_ask_all(making->reader, RF_ASK_GRAPH_PARTS, &making->asked,
				   &making->part, &making->parts, error);

	if (making->parts)
		rf_sort(making->part, making->parts, sizeof(*making->part), compare_parts);
	for (size_t i = 0; i < making->parts; i++) {
		const struct rf_graph_part *part = &making->part[i];

		graph->seconds[part->point] += part->seconds * part->share;
		if (part->sources > graph->sources[part->point])
			graph->sources[part->point] = part->sources;
	}
	return err;
}

/* The first part of the interval; if it is missing, of the next one. */
static size_t find_part(const struct making *making, int64_t number)
{
	size_t first = 0, end = making->parts;

	while (first < end) {
		const size_t middle = first + (end - first) / 2;

		if (making->part[middle].number < number)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

/* Drops have their most a second as well. */
static void add_count_of(struct making *making, const struct rf_graph_count *count,
			 const struct rf_graph_part *part)
{
	struct rf_graph_line *line = &making->graph->line[making->line_of[count->series]];
	double *peak = &making->graph->peak[part->point], its = count->peak;

	line->packets[part->point] += count->packets * part->share;
	if (!making->asked.is_minute)
		its = part->seconds > 0 ? count->packets / part->seconds : 0;
	if (its > *peak && !strcmp(line->kind, "dropped"))
		*peak = its;
}

/* The packets of each line. */
static int add_counts(struct making *making, struct rf_error *error)
{
	struct rf_graph_count count;
	struct rf_cursor cursor;
	size_t first = 0;

	if (!making->parts)
		return 0;
	making->asked.number = making->part[0].number;
	making->asked.last = making->part[making->parts - 1].number;
	rf_ask(&cursor, making->reader, RF_ASK_GRAPH_COUNTS, &making->asked);
	while (rf_cursor_next(&cursor, &count)) {
		if (making->line_of[count.series] < 0)
			continue;
		if (first == making->parts || making->part[first].number != count.number)
			first = find_part(making, count.number);
		for (size_t i = first; i < making->parts && making->part[i].number == count.number;
		     i++)
			add_count_of(making, &count, &making->part[i]);
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
		err = add_parts(making, error);
	if (!err)
		err = add_counts(making, error);
	free(making->part);
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

/* ---- graphs: its sources, with bars over time ---- */

static void add_bar(void *into, const void *row)
{
	const struct rf_bar_sum *from = row;
	struct rf_bar_sum *sum = into;

	add_sum(&sum->sum, &from->sum);
	if (from->at >= 0 && from->at < RF_GRAPH_BARS)
		sum->bar[from->at] += from->sum.passed + from->sum.dropped;
}

static int take_most(struct rf_reader *reader, struct rf_bar_sum *sum, size_t count, int most,
		     struct rf_graph_sources *sources, struct rf_error *error)
{
	rf_sort(sum, count, sizeof(*sum), compare_sums);
	sources->row = calloc(most, sizeof(*sources->row));
	if (!sources->row)
		return rf_reader_fail_memory(error);
	for (size_t i = 0; i < count && sources->count < most; i++) {
		struct rf_graph_source *row = &sources->row[sources->count];

		memcpy(row->bar, sum[i].bar, sizeof(row->bar));
		sources->count += name_sum(reader, &sum[i].sum, &row->sum);
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
