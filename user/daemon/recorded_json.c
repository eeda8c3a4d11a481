// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/units.h"
#include "daemon/recorded_json.h"
#include "watch/graph.h"

#define SOURCES_READ 128 /* before they are told as networks */
#define SOURCES_MAX 40
#define EVENTS_MAX 200

/* ---- counters ---- */

/* With one digit where it is small. */
static json_t *number(double value)
{
	const double round = value < 10 ? (long long)(value * 10 + 0.5) / 10.0
					: (double)(long long)(value + 0.5);

	return round == (long long)round ? json_integer((json_int_t)round) : json_real(round);
}

static json_t *rates(const struct rf_graph *graph, const double *packets)
{
	json_t *json = json_array();

	for (int i = 0; i < graph->points; i++)
		json_array_append_new(json, graph->seconds[i] > 0
						    ? number(packets[i] / graph->seconds[i])
						    : json_null());
	return json;
}

static bool is_empty(const struct rf_graph *graph, const struct rf_graph_line *line)
{
	for (int i = 0; i < graph->points; i++)
		if (line->packets[i] > 0)
			return false;
	return true;
}

static json_t *lines(const struct rf_graph *graph)
{
	json_t *json = json_array();

	for (int i = 0; i < graph->lines; i++) {
		const struct rf_graph_line *line = &graph->line[i];

		if (!is_empty(graph, line))
			json_array_append_new(
				json, json_pack("{s:s, s:o, s:s, s:o}", "kind", line->kind, "name",
						rf_json_text(line->name), "outcome", line->outcome,
						"rate", rates(graph, line->packets)));
	}
	return json;
}

/* What only some points have: null where nothing was seen. */
static json_t *peaks(const struct rf_graph *graph)
{
	json_t *json = json_array();

	for (int i = 0; i < graph->points; i++)
		json_array_append_new(json,
				      graph->seconds[i] > 0 ? number(graph->peak[i]) : json_null());
	return json;
}

static json_t *counts(const struct rf_graph *graph)
{
	json_t *json = json_array();

	for (int i = 0; i < graph->points; i++)
		json_array_append_new(json, graph->seconds[i] > 0 ? json_integer(graph->sources[i])
								  : json_null());
	return json;
}

static int add_gaps(struct rf_reader *reader, const struct rf_asked *asked, json_t *gaps,
		    struct rf_error *error)
{
	struct rf_recorded_gap gap;
	struct rf_cursor cursor;

	rf_ask(&cursor, reader, RF_ASK_GAPS, asked);
	while (json_array_size(gaps) < EVENTS_MAX && rf_cursor_next(&cursor, &gap))
		json_array_append_new(gaps, json_pack("{s:I, s:I, s:s}", "from",
						      (json_int_t)(gap.start_ns / RF_NS_PER_MS),
						      "to", (json_int_t)(gap.end_ns / RF_NS_PER_MS),
						      "why", rf_gap_text(gap.why)));
	return rf_cursor_end(&cursor, error);
}

static json_t *graph_json(const struct rf_graph *graph, const struct rf_extent *extent)
{
	return json_pack("{s:b, s:I, s:I, s:i, s:b, s:I, s:I, s:o, s:o, s:o}", "recorded", 1,
			 "from", (json_int_t)(graph->from_ns / RF_NS_PER_MS), "step",
			 (json_int_t)(graph->step_ns / RF_NS_PER_MS), "points", graph->points,
			 "minutes", graph->is_minutes, "first",
			 (json_int_t)(extent->first_ns / RF_NS_PER_MS), "last",
			 (json_int_t)(extent->last_ns / RF_NS_PER_MS), "lines", lines(graph),
			 "peak", peaks(graph), "sources", counts(graph));
}

json_t *rf_range_json(struct rf_reader *reader, const struct rf_query *query,
		      struct rf_error *error)
{
	const uint64_t from_ns = query->from_ms * RF_NS_PER_MS, to_ns = query->to_ms * RF_NS_PER_MS;
	const struct rf_asked asked = {.from_ns = from_ns, .to_ns = to_ns};
	json_t *gaps = json_array(), *json = NULL;
	struct rf_extent extent;
	struct rf_graph graph;
	int err = rf_reader_graph(reader, from_ns, to_ns, &graph, error);

	if (!err)
		err = rf_ask_one(reader, RF_ASK_EXTENT, NULL, &extent, error);
	if (err >= 0)
		err = add_gaps(reader, &asked, gaps, error);
	if (err >= 0)
		json = graph_json(&graph, &extent);
	if (json)
		json_object_set(json, "gaps", gaps);
	json_decref(gaps);
	rf_graph_free(&graph);
	return json;
}

/* ---- sources ---- */

/* Networks are the sums of their sources. */
static struct rf_graph_source *find(struct rf_graph_source *of, int count,
				    const struct rf_graph_source *row)
{
	for (int i = 0; i < count; i++)
		if (!rf_prefix_compare(&of[i].sum.source, &row->sum.source) &&
		    strcmp(of[i].sum.limit, row->sum.limit) == 0)
			return &of[i];
	return NULL;
}

static void add(struct rf_graph_source *to, const struct rf_graph_source *row)
{
	to->sum.passed += row->sum.passed;
	to->sum.dropped += row->sum.dropped;
	to->sum.would_drop += row->sum.would_drop;
	to->sum.is_banned |= row->sum.is_banned;
	if (row->sum.used > to->sum.used)
		to->sum.used = row->sum.used;
	for (int i = 0; i < RF_GRAPH_BARS; i++)
		to->bar[i] += row->bar[i];
}

static void tell_sources(struct rf_graph_sources *sources, enum rf_told told)
{
	int count = 0;

	for (int i = 0; i < sources->count; i++) {
		struct rf_graph_source *row = &sources->row[i], *same;

		if (!rf_tell(told, &row->sum.source, &row->sum.source))
			continue;
		same = find(sources->row, count, row);
		if (same)
			add(same, row);
		else
			sources->row[count++] = *row;
	}
	sources->count = count < SOURCES_MAX ? count : SOURCES_MAX;
}

static json_t *row_json(const struct rf_graph_source *row)
{
	char source[RF_PREFIX_TEXT_SIZE];
	json_t *bars = json_array();

	for (int i = 0; i < RF_GRAPH_BARS; i++)
		json_array_append_new(bars, json_integer(row->bar[i]));
	rf_format_prefix(&row->sum.source, source);
	return json_pack("{s:s, s:o, s:I, s:I, s:I, s:I, s:b, s:o}", "source", source, "limit",
			 rf_json_text(row->sum.limit), "passed", (json_int_t)row->sum.passed,
			 "dropped", (json_int_t)row->sum.dropped, "would_drop",
			 (json_int_t)row->sum.would_drop, "use", (json_int_t)row->sum.used,
			 "banned", row->sum.is_banned, "bars", bars);
}

json_t *rf_sources_json(struct rf_reader *reader, const struct rf_query *query, enum rf_told told,
			struct rf_error *error)
{
	struct rf_graph_sources sources;
	json_t *rows = json_array(), *json = NULL;
	int err =
		rf_reader_graph_sources(reader, query->from_ms * RF_NS_PER_MS,
					query->to_ms * RF_NS_PER_MS, SOURCES_READ, &sources, error);

	if (!err)
		tell_sources(&sources, told);
	for (int i = 0; i < sources.count && !err; i++)
		json_array_append_new(rows, row_json(&sources.row[i]));
	if (!err)
		json = json_pack("{s:b, s:I, s:O}", "recorded", 1, "one_in",
				 (json_int_t)sources.one_in, "rows", rows);
	json_decref(rows);
	rf_graph_sources_free(&sources);
	return json;
}

/* ---- events ---- */

struct listing {
	json_t *rows;
	enum rf_told told;
	struct rf_prefix only;
	bool has_only;
};

/* The source as it may be told; false: it is of another one than was asked for. */
static bool tell_source(const struct listing *listing, const char *text,
			char told[RF_PREFIX_TEXT_SIZE])
{
	struct rf_prefix source;
	struct rf_error ignored;

	*told = '\0';
	if (rf_parse_prefix(text, &source, &ignored))
		return !listing->has_only;
	if (rf_tell(listing->told, &source, &source))
		rf_format_prefix(&source, told);
	return !listing->has_only || rf_prefix_contains(&listing->only, &source) ||
	       rf_prefix_contains(&source, &listing->only);
}

static int add_event(void *context, const struct rf_recorded_event *event)
{
	const struct listing *listing = context;
	char source[RF_PREFIX_TEXT_SIZE];
	char *detail;

	if (!tell_source(listing, event->source, source))
		return 0;
	detail = rf_tell_text(listing->told, event->detail);
	json_array_append_new(
		listing->rows,
		json_pack("{s:I, s:s, s:s, s:o, s:s, s:s, s:s, s:I, s:I, s:I, s:o}", "time",
			  (json_int_t)(event->time_ns / RF_NS_PER_MS), "type", event->type, "id",
			  event->id, "limit", rf_json_text(event->limit), "source", source,
			  "reason", event->reason, "rate", event->rate, "passed",
			  (json_int_t)event->passed, "dropped", (json_int_t)event->dropped,
			  "first_seen", (json_int_t)(event->first_seen_ns / RF_NS_PER_MS), "detail",
			  rf_json_text(detail ?: "")));
	free(detail);
	return 0;
}

json_t *rf_events_json(struct rf_reader *reader, const struct rf_query *query, enum rf_told told,
		       struct rf_error *error)
{
	const struct rf_asked asked = {
		.from_ns = query->from_ms * RF_NS_PER_MS,
		.to_ns = query->to_ms * RF_NS_PER_MS,
		.most = query->has_source ? 10 * EVENTS_MAX : EVENTS_MAX,
	};
	struct listing listing = {.rows = json_array(), .told = told};
	struct rf_error ignored;
	json_t *json = NULL;
	int err;

	listing.has_only =
		query->has_source && !rf_parse_prefix(query->source, &listing.only, &ignored);
	err = rf_reader_events(reader, RF_ASK_LATEST_EVENTS, &asked, add_event, &listing, error);
	if (!err)
		json = json_pack("{s:b, s:O}", "recorded", 1, "rows", listing.rows);
	json_decref(listing.rows);
	return json;
}
