// SPDX-License-Identifier: GPL-2.0
/*
 * Replies of the scanner to viewers' requests: from histories, and for one source from its fence.
 */
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

#define SOURCES_READ 128 /* before they are reported as networks */
#define SOURCES_MAX 40
#define EVENTS_MAX 200

/* ---- counters ---- */

/* With one digit if it is small. */
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

/* A line of the graph, which has its points. */
struct page_line {
	const struct rf_graph *graph;
	const struct rf_graph_line *line;
};

static json_t *make_rate(const void *of)
{
	const struct page_line *line = of;

	return rates(line->graph, line->line->packets);
}

static const struct rf_field graph_line_fields[] = {
	RF_FIELD("kind", struct rf_graph_line, kind, "passed, dropped or limit"),
	RF_FIELD("name", struct rf_graph_line, name, "of the reason or limit"),
	RF_FIELD("outcome", struct rf_graph_line, outcome, "of a limit"),
	{},
};

static const struct rf_field line_fields[] = {
	RF_FIELDS_VIA(struct page_line, line, graph_line_fields),
	RF_FIELD_MADE("rate", RF_FIELD_LIST, make_rate, "packets a second; null: a gap"),
	{},
};

/* The page's data of a range. */
struct page_range {
	struct rf_graph graph;
	struct rf_extent extent;
	struct page_line line[RF_GRAPH_LINES]; /* those with a packet */
	uint32_t lines;
	json_t *gaps;
};

static void take_lines(struct page_range *range)
{
	const struct rf_graph *graph = &range->graph;

	for (int i = 0; i < graph->lines; i++)
		if (!is_empty(graph, &graph->line[i]))
			range->line[range->lines++] = (struct page_line){graph, &graph->line[i]};
}

/* Values that only some points have: null without observations. */
static json_t *make_peaks(const void *of)
{
	const struct rf_graph *graph = &((const struct page_range *)of)->graph;
	json_t *json = json_array();

	for (int i = 0; i < graph->points; i++)
		json_array_append_new(json,
				      graph->seconds[i] > 0 ? number(graph->peak[i]) : json_null());
	return json;
}

static json_t *make_counts(const void *of)
{
	const struct rf_graph *graph = &((const struct page_range *)of)->graph;
	json_t *json = json_array();

	for (int i = 0; i < graph->points; i++)
		json_array_append_new(json, graph->seconds[i] > 0 ? json_integer(graph->sources[i])
								  : json_null());
	return json;
}

static json_t *make_why(const void *of)
{
	return json_string(rf_gap_text(((const struct rf_recorded_gap *)of)->why));
}

static const struct rf_field gap_fields[] = {
	RF_FIELD_OF_NS("from", struct rf_recorded_gap, start_ns, "since 1970"),
	RF_FIELD_OF_NS("to", struct rf_recorded_gap, end_ns, "since 1970"),
	RF_FIELD_MADE("reason", RF_FIELD_TEXT, make_why, "for people"),
	{},
};

static json_t *make_true(const void *of)
{
	(void)of;
	return json_true();
}

#define RECORDED RF_FIELD_MADE("recorded", RF_FIELD_BOOL, make_true, "false: without a history")

static const struct rf_field range_fields[] = {
	RECORDED,
	RF_FIELD_OF_NS("from", struct page_range, graph.from_ns, "since 1970"),
	RF_FIELD_OF_NS("step", struct page_range, graph.step_ns, "between two points"),
	RF_FIELD("points", struct page_range, graph.points, "how many"),
	RF_FIELD("minutes", struct page_range, graph.is_minutes, "made from minutes"),
	RF_FIELD_OF_NS("first", struct page_range, extent.first_ns, "of the history"),
	RF_FIELD_OF_NS("last", struct page_range, extent.last_ns, "of the history"),
	RF_FIELD_OBJECTS("lines", struct page_range, line, lines, line_fields, "with a packet"),
	RF_FIELD_MADE("peak", RF_FIELD_LIST, make_peaks, "most drops a second by one reason"),
	RF_FIELD_MADE("sources", RF_FIELD_LIST, make_counts, "sources seen"),
	RF_FIELD_READ("gaps", struct page_range, gaps, RF_FIELD_LIST, gap_fields, "in the range"),
	{},
};

static int add_gaps(struct rf_reader *reader, const struct rf_asked *asked, json_t *gaps,
		    struct rf_error *error)
{
	struct rf_recorded_gap gap;
	struct rf_cursor cursor;

	rf_ask(&cursor, reader, RF_ASK_GAPS, asked);
	while (json_array_size(gaps) < EVENTS_MAX && rf_cursor_next(&cursor, &gap))
		json_array_append_new(gaps, rf_record_json(gap_fields, &gap));
	return rf_cursor_end(&cursor, error);
}

/* NULL: `error` has the reason; likewise below. */
static json_t *range_json(struct rf_reader *reader, const struct rf_query *query,
			  struct rf_error *error)
{
	const struct rf_asked asked = {.from_ns = query->from_ms * RF_NS_PER_MS,
				       .to_ns = query->to_ms * RF_NS_PER_MS};
	struct page_range range = {.gaps = json_array()};
	int err = rf_reader_graph(reader, asked.from_ns, asked.to_ns, &range.graph, error);
	json_t *json = NULL;

	if (!err)
		err = rf_ask_one(reader, RF_ASK_EXTENT, NULL, &range.extent, error);
	if (err >= 0)
		err = add_gaps(reader, &asked, range.gaps, error);
	if (err >= 0) {
		take_lines(&range);
		json = rf_record_json(range_fields, &range);
	}
	json_decref(range.gaps);
	rf_graph_free(&range.graph);
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

static const void *bar_at(const void *of, size_t i)
{
	return i < RF_GRAPH_BARS ? &((const struct rf_graph_source *)of)->bar[i] : NULL;
}

static const struct rf_field source_fields[] = {
	RF_FIELD_OF_PREFIX("source", struct rf_graph_source, sum.source, "address or network"),
	RF_FIELD("limit", struct rf_graph_source, sum.limit, "its name"),
	RF_FIELD("passed", struct rf_graph_source, sum.passed, "packets"),
	RF_FIELD("dropped", struct rf_graph_source, sum.dropped, "packets"),
	RF_FIELD("would_drop", struct rf_graph_source, sum.would_drop, "packets"),
	RF_FIELD("use", struct rf_graph_source, sum.used, "the most, in thousandths of the limit"),
	RF_FIELD("banned", struct rf_graph_source, sum.is_banned, "at some time"),
	RF_FIELD_MADE("bars", RF_FIELD_LIST, NULL, "packets over the range", .item = bar_at,
		      .element = RF_FIELD_U64),
	{},
};

static const struct rf_field sources_fields[] = {
	RECORDED,
	RF_FIELD("one_in", struct rf_graph_sources, one_in, "of so many intervals one was read"),
	RF_FIELD_OBJECTS("rows", struct rf_graph_sources, row, count, source_fields,
			 "most drops first"),
	{},
};

static json_t *sources_json(struct rf_reader *reader, const struct rf_query *query,
			    enum rf_told told, struct rf_error *error)
{
	struct rf_graph_sources sources;
	json_t *json = NULL;

	if (!rf_reader_graph_sources(reader, query->from_ms * RF_NS_PER_MS,
				     query->to_ms * RF_NS_PER_MS, SOURCES_READ, &sources, error)) {
		tell_sources(&sources, told);
		json = rf_record_json(sources_fields, &sources);
	}
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

/* The source as it can be shown; false: it differs from the requested one. */
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

/* The page requests one fence, and identifies events by time: number and fence are omitted. */
#define FIELD_OF_NUMBER(...)
#define FIELD_OF_FENCE(...)
#define FIELD_OF_COUNT(key, member, help) RF_FIELD(key, struct rf_recorded_event, member, help),
#define FIELD_OF_TYPE FIELD_OF_COUNT
#define FIELD_OF_TEXT FIELD_OF_COUNT
#define FIELD_OF_LIMIT FIELD_OF_COUNT
#define FIELD_OF_SOURCE FIELD_OF_COUNT
#define FIELD_OF_TIME(key, member, help) \
	RF_FIELD_OF_NS(key, struct rf_recorded_event, member, help),
#define RECORDED_FIELD(key, kind, when, member, help) FIELD_OF_##kind(#key, member, help)

static const struct rf_field event_fields[] = {
#include "schema/events.def"
	{},
};

static const struct rf_field listing_fields[] = {
	RECORDED,
	RF_FIELD_READ("rows", struct listing, rows, RF_FIELD_LIST, event_fields,
		      "the newest first"),
	{},
};

static int add_event(void *context, const struct rf_recorded_event *event)
{
	const struct listing *listing = context;
	struct rf_recorded_event row = *event;
	char source[RF_PREFIX_TEXT_SIZE];
	char *detail;

	if (!tell_source(listing, event->source, source))
		return 0;
	detail = rf_tell_text(listing->told, event->detail);
	row.source = source;
	row.detail = detail ?: "";
	json_array_append_new(listing->rows, rf_record_json(event_fields, &row));
	free(detail);
	return 0;
}

/* With a source in the query: only its events. */
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
		json = rf_record_json(listing_fields, &listing);
	json_decref(listing.rows);
	return json;
}

/* ---- one source ---- */

#define ROWS_MAX 64

/* ---- now ---- */

/* The last scan's findings, which `show` reads again. */
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

/* As in `show`: the verdict, lists and windows. NULL: `error` has the reason. */
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

static json_t *make_cell_us(const void *of)
{
	return json_integer(((const struct rf_cells_row *)of)->cell_ns / 1000);
}

static const struct rf_field cells_fields[] = {
	RF_FIELD_OF_PREFIX("source", struct rf_cells_row, source, "address or network"),
	RF_FIELD("limit", struct rf_cells_row, limit, "its name"),
	RF_FIELD_OF_NS("first", struct rf_cells_row, first_ns, "start of the first cell"),
	RF_FIELD_MADE("cell_us", RF_FIELD_U64, make_cell_us, "length of a cell"),
	RF_FIELD("incomplete", struct rf_cells_row, is_incomplete, "cells are missing"),
	RF_FIELD_ARRAY("cells", struct rf_cells_row, cell, count, RF_FIELD_U64, NULL, "packets"),
	{},
};

static void add_cells(void *context, const struct rf_cells_row *row)
{
	if (json_array_size(context) < ROWS_MAX)
		json_array_append_new(context, rf_record_json(cells_fields, row));
}

/* A source that was recorded as an address is not shown as one after the setting has changed. */
static json_t *recorded(struct rf_reader *reader, const struct rf_query *query,
			const struct rf_prefix *source, struct rf_error *error)
{
	json_t *json = json_array();

	if (!rf_reader_cells(reader, query->to_ms * RF_NS_PER_MS, source, add_cells, json, error))
		return json;
	json_decref(json);
	return NULL;
}

/* `reader` can be NULL: there is no history. NULL: `error` has the reason. */
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

/* ---- replies ---- */

#define CREDIT_MAX_NS (RF_NS_PER_S / 2) /* the initial request of a page */
#define WAIT_NS (50 * RF_NS_PER_MS)

/* ---- sources of replies ---- */

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

/* Without a history only the present is available, which is no error. */
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

	json_object_set_new(json, "schema", json_integer(RF_JSON_SCHEMA));
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
 * The page process might be compromised: its requests are validated again. A pipe without a writer
 * is closed: otherwise it would wake the loop for ever, and block signals.
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
	/* The previous reply has not left yet: the page process does not read. */
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
