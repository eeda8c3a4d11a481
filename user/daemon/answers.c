// SPDX-License-Identifier: GPL-2.0
/* Answers of the scanner to what viewers ask: from histories, and of one source from its fence. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/time.h"
#include "base/units.h"
#include "daemon/answers.h"
#include "daemon/fences.h"
#include "daemon/query.h"
#include "snapshot/records.h"
#include "snapshot/shown.h"
#include "watch/privacy.h"
#include "watch/reader.h"

/* ---- ranges of a history ---- */

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

/* NULL: `error` says why; likewise below. */
static json_t *range_json(struct rf_reader *reader, const struct rf_query *query,
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
static struct rf_graph_source *find_source_row(struct rf_graph_source *of, int count,
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
		same = find_source_row(sources->row, count, row);
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

static json_t *sources_json(struct rf_reader *reader, const struct rf_query *query,
			    enum rf_told told, struct rf_error *error)
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

/* With a source in the query: its events alone. */
static json_t *events_json(struct rf_reader *reader, const struct rf_query *query,
			   enum rf_told told, struct rf_error *error)
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

/* ---- one source ---- */

#define ROWS_MAX 64

/* ---- now ---- */

/* What the last scan found, which `show` reads again to learn. */
static void add_recent(const struct rf_snapshot *snapshot, const struct rf_prefix *source,
		       struct rf_shown *read)
{
	struct rf_case *its = &read->its;

	its->recent_ms = snapshot->since_ns / RF_NS_PER_MS;
	for (size_t i = 0; i < snapshot->sources.count; i++) {
		const struct rf_source_row *row = &snapshot->sources.row[i];

		if (row->is_aggregate || !rf_prefix_contains(&row->source, source))
			continue;
		for (int j = 0; j < its->answers; j++)
			if (!strcmp(its->answer[j].limit->name, row->limit->name))
				its->answer[j].recent =
					(struct rf_charged){row->new_passed, row->new_dropped};
	}
}

/* As `show` has it: the verdict, lists and windows. NULL: `error` says why. */
static json_t *shown(const struct rf_watched *one, const struct rf_prefix *source,
		     struct rf_error *error)
{
	struct rf_shown *read = NULL;
	json_t *json = NULL;

	if (!one->scanner || !one->has_snapshot)
		return json_null();
	if (!rf_shown_read(rf_scanner_fence(one->scanner), source, &read, error)) {
		if (rf_verdict_wants_recent(&read->its))
			add_recent(&one->snapshot, source, read);
		json = rf_record_json(rf_shown_fields, read);
		if (!json)
			rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
	}
	rf_shown_free(read);
	return json;
}

/* ---- the past ---- */

static void add_cells(void *context, const struct rf_cells_row *row)
{
	char source[RF_PREFIX_TEXT_SIZE];
	json_t *values = json_array();

	if (json_array_size(context) >= ROWS_MAX)
		return json_decref(values);
	for (unsigned int i = 0; i < row->count; i++)
		json_array_append_new(values, json_integer(row->cell[i]));
	rf_format_prefix(&row->source, source);
	json_array_append_new(context,
			      json_pack("{s:s, s:o, s:I, s:I, s:b, s:o}", "source", source, "limit",
					rf_json_text(row->limit), "first",
					(json_int_t)(row->first_ns / RF_NS_PER_MS), "cell_us",
					(json_int_t)(row->cell_ns / 1000), "incomplete",
					row->is_incomplete, "cells", values));
}

/* What was recorded as an address is not told as one, once the setting is another. */
static json_t *recorded(struct rf_reader *reader, const struct rf_query *query,
			const struct rf_prefix *source, struct rf_error *error)
{
	json_t *json = json_array();

	if (!rf_reader_cells(reader, query->to_ms * RF_NS_PER_MS, source, add_cells, json, error))
		return json;
	json_decref(json);
	return NULL;
}

/* `reader` may be NULL: there is no history. NULL: `error` says why. */
static json_t *source_json(const struct rf_watched *one, struct rf_reader *reader,
			   const struct rf_query *query, enum rf_told told, struct rf_error *error)
{
	const bool is_full = told == RF_TELL_FULL;
	struct rf_prefix source;
	json_t *json, *past, *present;

	if (rf_parse_prefix(query->source, &source, error))
		return NULL;
	rf_tell(told, &source, &source);
	json = reader ? events_json(reader, query, told, error)
		      : json_pack("{s:b, s:[]}", "recorded", 0, "rows");
	past = json && reader && is_full ? recorded(reader, query, &source, error) : json_array();
	present = past && is_full ? shown(one, &source, error) : json_null();
	if (!json || !past || !present) {
		json_decref(json);
		json_decref(past);
		json_decref(present);
		return NULL;
	}
	json_object_set_new(json, "past", past);
	json_object_set_new(json, "now", present);
	return json;
}

/* ---- answers ---- */

#define CREDIT_MAX_NS (RF_NS_PER_S / 2) /* what a page asks at first */
#define WAIT_NS (50 * RF_NS_PER_MS)

/* ---- who is asked ---- */

static const struct rf_watched *find_watched(const struct rf_watching *watching, const char *fence)
{
	for (int i = 0; i < watching->count; i++) {
		const struct rf_record *record = watching->of[i]->record;

		if (record && (!*fence || strcmp(record->fence, fence) == 0))
			return watching->of[i];
	}
	return NULL;
}

static json_t *ask(struct rf_reader *reader, const struct rf_query *query, enum rf_told told,
		   struct rf_error *error)
{
	switch (query->kind) {
	case RF_QUERY_RANGE:
		return range_json(reader, query, error);
	case RF_QUERY_SOURCES:
		return sources_json(reader, query, told, error);
	default:
		return events_json(reader, query, told, error);
	}
}

/* Without a history there is the present alone, which is no error. */
static json_t *ask_fence(const struct rf_watched *one, const struct rf_query *query,
			 const struct rf_settings *settings, struct rf_error *error)
{
	const bool of_source = query->kind == RF_QUERY_SOURCE;
	struct rf_reader *reader = NULL;
	json_t *json;

	if (!one->record->history && !of_source)
		return json_pack("{s:b}", "recorded", 0);
	if (one->record->history &&
	    rf_reader_open(&reader, settings->history, one->record->fence, error))
		return NULL;
	json = of_source ? source_json(one, reader, query, settings->sources, error)
			 : ask(reader, query, settings->sources, error);
	rf_reader_close(reader);
	return json;
}

static json_t *answer(const struct rf_watching *watching, const struct rf_settings *settings,
		      const struct rf_query *query, uint32_t *status)
{
	const struct rf_watched *one = find_watched(watching, query->fence);
	struct rf_error error = {};
	json_t *json = NULL;

	*status = 200;
	if (!one) {
		*status = 404;
		return json_pack("{s:s}", "error", "no such fence is watched");
	}
	if (query->kind == RF_QUERY_RECENT)
		return rf_recent_json(one->recent, &one->snapshot.bans.rules, settings->sources);
	if (query->kind == RF_QUERY_SOURCE && settings->sources == RF_TELL_NONE)
		return json_pack("{s:s}", "error", "the setting 'sources none' hides sources");
	json = ask_fence(one, query, settings, &error);
	if (json)
		return json;
	*status = 500;
	return json_pack("{s:o}", "error", rf_json_text(error.text));
}

static void send_answer(struct rf_feed *feed, const struct rf_query *query, json_t *json,
			uint32_t status)
{
	struct rf_answer_head head = {.query = *query, .status = status};
	char *text, *all;

	json_object_set_new(json, "schema", json_integer(1));
	text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6));
	all = text ? malloc(sizeof(head) + strlen(text)) : NULL;
	if (all) {
		memcpy(all, &head, sizeof(head));
		memcpy(all + sizeof(head), text, strlen(text));
		rf_feed_put(feed, RF_DOC_ANSWER, all, sizeof(head) + strlen(text), rf_time_awake());
	}
	free(all);
	free(text);
}

/* ---- when ---- */

static uint64_t cpu_time(void)
{
	struct timespec spent;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
	return spent.tv_sec * RF_NS_PER_S + spent.tv_nsec;
}

static void earn(struct rf_answers *answers)
{
	const uint64_t now = rf_time_awake();

	if (!answers->credited_ns)
		answers->credit_ns = CREDIT_MAX_NS;
	else
		answers->credit_ns += (now - answers->credited_ns) * RF_ANSWERS_PERCENT / 100;
	if (answers->credit_ns > CREDIT_MAX_NS)
		answers->credit_ns = CREDIT_MAX_NS;
	answers->credited_ns = now;
}

/*
 * The page process may be anybody's by now: what it asks is judged again. A pipe that nobody writes
 * to any more is closed: it would wake us for ever, and signals would not get through.
 */
static bool next_query(struct rf_child *child, struct rf_query *query)
{
	const ssize_t got = read(child->ask_fd, query, sizeof(*query));

	if (!got)
		rf_child_stop_asking(child);
	return got == sizeof(*query) && rf_query_is_sound(query) && query->kind != RF_QUERY_LIVE;
}

uint64_t rf_answers_turn(struct rf_answers *answers, struct rf_child *child,
			 const struct rf_watching *watching, const struct rf_settings *settings)
{
	const uint64_t before = cpu_time();
	struct rf_query query;
	uint64_t spent;
	uint32_t status;
	json_t *json;

	earn(answers);
	/* The answer before has not left yet: then nobody reads. */
	if (child->feed.next[RF_DOC_ANSWER].bytes || !answers->credit_ns)
		return rf_time_awake() + WAIT_NS;
	if (!next_query(child, &query))
		return 0;
	json = answer(watching, settings, &query, &status);
	send_answer(&child->feed, &query, json, status);
	json_decref(json);
	spent = cpu_time() - before;
	answers->credit_ns -= spent < answers->credit_ns ? spent : answers->credit_ns;
	return 0;
}
