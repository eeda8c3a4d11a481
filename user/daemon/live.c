// SPDX-License-Identifier: GPL-2.0
/* Documents of the last scan, rendered once for all viewers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/say.h"
#include "base/sort.h"
#include "base/time.h"
#include "base/units.h"
#include "daemon/live.h"
#include "daemon/recent.h"
#include "rules/policy.h"
#include "schema/reasons.h"
#include "snapshot/records.h"
#include "snapshot/totals.h"
#include "watch/privacy.h"

/* ---- rows of the last minute ---- */

#define LIVE_BUCKETS 11 /* of use: up to 10 %, up to 20 % …, and from 100 % on */

/* The use of a limit by its sources. */
struct live_use {
	uint64_t active, over, banned;
	uint64_t bucket[LIVE_BUCKETS];
};

/* A source or network of a scan, as the setting `sources` allows to show it. */
struct live_row {
	struct rf_source_row row; /* the sum of its sources, or the highest value */
	uint32_t use;		  /* in thousandths */
	int slot;		  /* of the limit */
	int place;		  /* of the limit in the document */
	uint64_t since_ns;
};

#define SCANS 61 /* a minute, with one scan per second */

struct row {
	struct rf_prefix source;
	uint32_t limit_id;
	uint64_t packets; /* a second, passed and dropped */
};

struct scan {
	uint64_t time_ms; /* since 1970 */
	int count;
	struct row row[RF_LIVE_SOURCES];
};

struct rf_recent {
	struct scan scan[SCANS];
	int newest, count;
};

static const struct scan *scan_at(const struct rf_recent *recent, int back)
{
	return &recent->scan[(recent->newest + SCANS - back) % SCANS];
}

/* Stores the rows of a scan in place of the oldest scan. Without memory, stores none. */
static void note_recent(struct rf_recent **recent, const struct rf_snapshot *snapshot,
			const struct live_row *rows, int count)
{
	const uint64_t since_ms = snapshot->since_ns / RF_NS_PER_MS;
	struct scan *scan;

	if (!*recent)
		*recent = calloc(1, sizeof(**recent));
	if (!*recent || !since_ms)
		return;
	(*recent)->newest = ((*recent)->newest + 1) % SCANS;
	(*recent)->count += (*recent)->count < SCANS;
	scan = &(*recent)->scan[(*recent)->newest];
	scan->time_ms = snapshot->time_ns / RF_NS_PER_MS;
	scan->count = count < RF_LIVE_SOURCES ? count : RF_LIVE_SOURCES;
	for (int i = 0; i < scan->count; i++)
		scan->row[i] = (struct row){
			rows[i].row.source, snapshot->bans.rules.policy[rows[i].slot].id,
			(rows[i].row.new_passed + rows[i].row.new_dropped) * 1000 / since_ms};
}

/* ---- as JSON ---- */

static const struct row *find_recent(const struct scan *scan, const struct row *row)
{
	for (int i = 0; i < scan->count; i++)
		if (scan->row[i].limit_id == row->limit_id &&
		    !rf_prefix_compare(&scan->row[i].source, &row->source))
			return &scan->row[i];
	return NULL;
}

static json_t *values(const struct rf_recent *recent, const struct row *row)
{
	json_t *json = json_array();

	for (int back = recent->count; back-- > 0;) {
		const struct row *then = find_recent(scan_at(recent, back), row);

		json_array_append_new(json, then ? json_integer(then->packets) : json_null());
	}
	return json;
}

/* The name of a limit; NULL: it was deleted. */
static const char *name_of(const struct rf_bank *rules, uint32_t id)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (id && rules->policy[slot].id == id)
			return rules->limit[slot].name;
	return NULL;
}

/* A source of the last scan, with its packets in each scan. */
struct recent_row {
	struct rf_prefix source;
	const char *limit;
	const struct rf_recent *recent;
	const struct row *last;
};

struct recent_document {
	const struct rf_recent *recent;
	struct recent_row row[RF_LIVE_SOURCES];
	int rows;
};

static json_t *make_values(const void *of)
{
	const struct recent_row *row = of;

	return values(row->recent, row->last);
}

static const struct rf_field recent_row_fields[] = {
	RF_FIELD_OF_PREFIX("source", struct recent_row, source, "address or network"),
	RF_FIELD("limit", struct recent_row, limit, "its limit"),
	RF_FIELD_MADE("packets_per_s", RF_FIELD_LIST, make_values, "of each scan; null: no row"),
	{},
};

static const void *time_at(const void *of, size_t i)
{
	const struct rf_recent *recent = ((const struct recent_document *)of)->recent;
	const size_t count = recent ? recent->count : 0;

	return i < count ? &scan_at(recent, count - 1 - i)->time_ms : NULL;
}

static const struct rf_field recent_fields[] = {
	RF_FIELD_MADE("times", RF_FIELD_LIST, NULL, "of the scans, in ms since 1970",
		      .item = time_at, .element = RF_FIELD_U64),
	RF_FIELD_ARRAY("sources", struct recent_document, row, rows, RF_FIELD_TUPLE,
		       recent_row_fields, "of the last scan"),
	{},
};

/* Leaves out sources that the present setting hides: it can have changed since the scan. */
static void take_recent(struct recent_document *document, const struct row *row,
			const struct rf_bank *rules, enum rf_told told)
{
	const char *name = name_of(rules, row->limit_id);
	struct rf_prefix today;

	if (name && rf_tell(told, &row->source, &today) && !rf_prefix_compare(&today, &row->source))
		document->row[document->rows++] =
			(struct recent_row){row->source, name, document->recent, row};
}

json_t *rf_recent_json(const struct rf_recent *recent, const struct rf_bank *rules,
		       enum rf_told told)
{
	const struct scan *last = recent && recent->count ? scan_at(recent, 0) : NULL;
	struct recent_document document = {.recent = recent};

	for (int i = 0; last && i < last->count; i++)
		take_recent(&document, &last->row[i], rules, told);
	return rf_record_json(recent_fields, &document);
}

/* ---- sources ---- */

#define CHOSEN 1024 /* sources, before they are summed up as networks */

/* ---- use ---- */

static uint32_t use_of(const struct rf_source_row *row)
{
	const struct rf_limit *limit = row->limit;
	const uint64_t whole = rf_has_burst(limit) ? limit->burst : limit->rate;
	const uint64_t use = whole ? row->used * 1000 / whole : 0;

	return use < 1000 ? use : 1000;
}

static int slot_of(const struct rf_snapshot *snapshot, const struct rf_source_row *row)
{
	return row->limit - snapshot->bans.rules.limit;
}

static uint64_t lost(const struct rf_source_row *row)
{
	return row->new_dropped + row->new_would_drop;
}

/* By slot of the limit. */
static void note_use(const struct rf_snapshot *snapshot, struct live_use use[RF_LIMITS_MAX])
{
	memset(use, 0, RF_LIMITS_MAX * sizeof(*use));
	for (size_t i = 0; i < snapshot->sources.count; i++) {
		const struct rf_source_row *row = &snapshot->sources.row[i];
		const uint32_t part = use_of(row);
		struct live_use *its = &use[slot_of(snapshot, row)];

		its->banned += row->banned_ns != 0;
		if (row->is_aggregate || (!part && !row->new_passed && !lost(row)))
			continue;
		its->active++;
		its->over += part >= 1000 || lost(row);
		its->bucket[part / 100]++;
	}
}

/* ---- the rows that matter ---- */

static bool comes_before(const struct rf_source_row *left, const struct rf_source_row *right)
{
	uint32_t use, other;

	if (lost(left) != lost(right))
		return lost(left) > lost(right);
	if (!left->banned_ns != !right->banned_ns)
		return left->banned_ns;
	use = use_of(left);
	other = use_of(right);
	if (use != other)
		return use > other;
	return left->new_passed > right->new_passed;
}

/* A heap whose first one matters least. */
static void sink(const struct rf_source_row **heap, int count, int at)
{
	for (int child; (child = 2 * at + 1) < count; at = child) {
		const struct rf_source_row *one = heap[at];

		if (child + 1 < count && comes_before(heap[child], heap[child + 1]))
			child++;
		if (!comes_before(one, heap[child]))
			return;
		heap[at] = heap[child];
		heap[child] = one;
	}
}

static int choose(const struct rf_snapshot *snapshot, const struct rf_source_row **heap, int most)
{
	int count = 0;

	for (size_t i = 0; i < snapshot->sources.count; i++) {
		const struct rf_source_row *row = &snapshot->sources.row[i];

		if (count < most) {
			heap[count++] = row;
			if (count == most)
				for (int at = most / 2; at-- > 0;)
					sink(heap, most, at);
		} else if (comes_before(row, heap[0])) {
			heap[0] = row;
			sink(heap, most, 0);
		}
	}
	return count;
}

static int compare_chosen(const void *a, const void *b)
{
	const struct rf_source_row *left = *(const struct rf_source_row *const *)a;
	const struct rf_source_row *right = *(const struct rf_source_row *const *)b;

	return comes_before(right, left) - comes_before(left, right);
}

/* ---- as they are shown ---- */

static void add(struct live_row *to, const struct rf_source_row *row)
{
	const uint32_t use = use_of(row);

	to->row.new_passed += row->new_passed;
	to->row.new_dropped += row->new_dropped;
	to->row.new_would_drop += row->new_would_drop;
	to->row.is_aggregate |= row->is_aggregate;
	if (row->banned_ns > to->row.banned_ns)
		to->row.banned_ns = row->banned_ns;
	if (use > to->use)
		to->use = use;
}

static struct live_row *find_live_row(struct live_row *rows, int count,
				      const struct rf_prefix *source, int slot)
{
	for (int i = 0; i < count; i++)
		if (rows[i].slot == slot && !rf_prefix_compare(&rows[i].row.source, source))
			return &rows[i];
	return NULL;
}

/*
 * Writes `most` rows at most, most drops first, and returns their number. Networks are made of the
 * 1,024 sources that matter most.
 */
static int live_rows(const struct rf_snapshot *snapshot, enum rf_told told, struct live_row *rows,
		     int most)
{
	const struct rf_source_row **chosen = calloc(CHOSEN, sizeof(*chosen));
	const int candidates =
		chosen && told != RF_TELL_NONE ? choose(snapshot, chosen, CHOSEN) : 0;
	int count = 0;

	if (candidates)
		rf_sort(chosen, candidates, sizeof(*chosen), compare_chosen);
	for (int i = 0; i < candidates; i++) {
		const int slot = slot_of(snapshot, chosen[i]);
		struct rf_prefix source;
		struct live_row *row;

		if (!rf_tell(told, &chosen[i]->source, &source))
			continue;
		row = find_live_row(rows, count, &source, slot);
		if (row) {
			add(row, chosen[i]);
		} else if (count < most) {
			rows[count] = (struct live_row){*chosen[i], use_of(chosen[i]), slot,
							.since_ns = snapshot->since_ns};
			rows[count++].row.source = source;
		}
	}
	free(chosen);
	return count;
}

/* ---- the last scan ---- */

/* ---- limits ---- */

/* A limit, as the page has it. */
struct live_limit {
	const struct rf_limit *limit;
	struct rf_limit_counters counted;
	struct live_use use;
};

/* All that the page has of a scan. */
struct live {
	const struct rf_snapshot *snapshot;
	const struct rf_counters *counters;
	const char *told;
	struct live_limit limit[RF_LIMITS_MAX];
	int place[RF_LIMITS_MAX]; /* by slot: the limit's index among them */
	int limits;
	struct live_row source[RF_LIVE_SOURCES];
	int sources;
};

static json_t *make_rate_text(const void *of)
{
	char rate[RF_RATE_TEXT_SIZE];

	rf_format_limit_rate(of, rate);
	return json_string(rate);
}

static json_t *make_use(const void *of)
{
	json_t *json = json_array();

	for (int i = 0; i < LIVE_BUCKETS; i++)
		json_array_append_new(json,
				      json_integer(((const struct live_limit *)of)->use.bucket[i]));
	return json;
}

static const struct rf_field rate_text_fields[] = {
	RF_FIELD_MADE("rate_text", RF_FIELD_TEXT, make_rate_text, "COUNT/TIME, as it is typed"),
	{},
};

static const struct rf_field limit_fields[] = {
	RF_FIELDS_VIA(struct live_limit, limit, rf_limit_name_fields),
	RF_FIELDS_VIA(struct live_limit, limit, rf_limit_rate_fields),
	RF_FIELDS_VIA(struct live_limit, limit, rate_text_fields),
	RF_FIELD("passed", struct live_limit, counted.passed.packets, "packets"),
	RF_FIELD("dropped", struct live_limit, counted.dropped.packets, "packets"),
	RF_FIELD("would_drop", struct live_limit, counted.would_drop.packets, "packets"),
	RF_FIELD("forfeited", struct live_limit, counted.forfeited.packets, "packets"),
	RF_FIELD("truncated", struct live_limit, counted.truncated.packets, "packets"),
	RF_FIELD("active", struct live_limit, use.active, "sources seen recently"),
	RF_FIELD("over", struct live_limit, use.over, "sources over it"),
	RF_FIELD("banned", struct live_limit, use.banned, "sources that it bans"),
	RF_FIELD_MADE("use", RF_FIELD_LIST, make_use, "sources by tenths of the limit"),
	{},
};

static void take_limits(struct live *live, const struct rf_metrics *metrics)
{
	const struct rf_bank *rules = &live->snapshot->bans.rules;
	struct live_use *use = calloc(RF_LIMITS_MAX, sizeof(*use));

	if (use)
		note_use(live->snapshot, use);
	for (int slot = 0; slot < RF_LIMITS_MAX && use; slot++) {
		const struct rf_limit *limit = &rules->limit[slot];
		const struct rf_limit_counters *counted;

		live->place[slot] = live->limits;
		if (!rules->policy[slot].id)
			continue;
		counted = rf_metrics_limit_counters(metrics, limit->name);
		live->limit[live->limits++] = (struct live_limit){
			limit, counted ? *counted : (struct rf_limit_counters){}, use[slot]};
	}
	free(use);
}

/* ---- sources ---- */

/* Packets per second; below 10, with one digit. */
static json_t *rate(uint64_t packets, uint64_t since_ns)
{
	const uint64_t tenths = since_ns ? packets * 10 * RF_NS_PER_MS / (since_ns / 1000) : 0;

	return tenths >= 100 || tenths % 10 == 0 ? json_integer(tenths / 10)
						 : json_real(tenths / 10.0);
}

static const struct live_row *live_row(const void *of)
{
	return of;
}

static json_t *make_dropped_rate(const void *of)
{
	return rate(live_row(of)->row.new_dropped, live_row(of)->since_ns);
}

static json_t *make_passed_rate(const void *of)
{
	return rate(live_row(of)->row.new_passed, live_row(of)->since_ns);
}

static json_t *make_would_drop_rate(const void *of)
{
	return rate(live_row(of)->row.new_would_drop, live_row(of)->since_ns);
}

static json_t *make_aggregate(const void *of)
{
	return json_integer(live_row(of)->row.is_aggregate);
}

static const struct rf_field source_fields[] = {
	RF_FIELD_OF_PREFIX("source", struct live_row, row.source, "address or network"),
	RF_FIELD("limit", struct live_row, place, "index in limits"),
	RF_FIELD("use", struct live_row, use, "thousandths of the limit"),
	RF_FIELD_MADE("dropped", RF_FIELD_REAL, make_dropped_rate, "packets per second"),
	RF_FIELD_MADE("passed", RF_FIELD_REAL, make_passed_rate, "packets per second"),
	RF_FIELD_MADE("would_drop", RF_FIELD_REAL, make_would_drop_rate, "packets per second"),
	RF_FIELD_OF_NS("banned_ms", struct live_row, row.banned_ns, "left of a ban; 0: no ban"),
	RF_FIELD_MADE("aggregate", RF_FIELD_INT, make_aggregate, "1: a window of newcomers"),
	{},
};

static void take_sources(struct live *live, struct rf_watched *one, enum rf_told told)
{
	live->sources = live_rows(live->snapshot, told, live->source, RF_LIVE_SOURCES);
	for (int i = 0; i < live->sources; i++)
		live->source[i].place = live->place[live->source[i].slot];
	note_recent(&one->recent, live->snapshot, live->source, live->sources);
}

/* ---- fences ---- */

/* Packets by reason, of passed or of dropped packets, without zeros. */
static json_t *reasons(const void *of, bool dropped)
{
	const struct rf_counters *counters = ((const struct live *)of)->counters;
	json_t *json = json_object();

	for (int i = 0; i < RF_REASON_COUNT; i++)
		if (rf_reason_is_drop(i) == dropped && counters->reason[i].packets)
			json_object_set_new(json, rf_reason_name(i),
					    json_integer(counters->reason[i].packets));
	return json;
}

static json_t *make_passed(const void *of)
{
	return reasons(of, false);
}

static json_t *make_dropped(const void *of)
{
	return reasons(of, true);
}

/* Of all that passed, and of all that were dropped. */
static json_t *make_bytes(const void *of)
{
	struct rf_count passed = {}, dropped = {};

	rf_counters_sum(((const struct live *)of)->counters, &passed, &dropped);
	return json_pack("[I, I]", (json_int_t)passed.bytes, (json_int_t)dropped.bytes);
}

static json_t *make_standing(const void *of)
{
	return json_string(rf_confirm_state_word(((const struct rf_snapshot *)of)->standing.state));
}

static json_t *make_newcomers(const void *of)
{
	const struct rf_snapshot *snapshot = of;

	return json_string(rf_newcomers_then_name(snapshot->bans.rules.newcomers.then));
}

static json_t *make_except_established(const void *of)
{
	const struct rf_snapshot *snapshot = of;

	return json_boolean(snapshot->bans.rules.newcomers.except_established);
}

static json_t *make_residents(const void *of)
{
	const struct rf_snapshot *snapshot = of;

	return json_pack("[I, I]", (json_int_t)snapshot->sums.residents[0],
			 (json_int_t)snapshot->sums.residents[1]);
}

static const struct rf_field snapshot_fields[] = {
	RF_FIELD_OF_NS("time", struct rf_snapshot, time_ns, "since 1970"),
	RF_FIELD_OF_NS("awake", struct rf_snapshot, awake_ns,
		       "the same moment, by a clock that does not step"),
	RF_FIELD_OF_NS("since", struct rf_snapshot, since_ns, "since the scan before"),
	RF_FIELD_MADE("confirmation", RF_FIELD_TEXT, make_standing,
		      "confirmed, pending, reverted or expired"),
	RF_FIELD_OF_NS("unconfirmed_ms", struct rf_snapshot, standing.confirm_ns,
		       "until unconfirmed rules are reverted, or since"),
	RF_FIELD_OF_NS("paused_ms", struct rf_snapshot, standing.paused_ns, "until a pause ends"),
	RF_FIELD_MADE("newcomers", RF_FIELD_TEXT, make_newcomers,
		      "off, pass, drop, aggregate or challenge"),
	RF_FIELD_MADE("except_established", RF_FIELD_BOOL, make_except_established,
		      "newcomers on open connections pass"),
	RF_FIELD("capacity", struct rf_snapshot, capacity, "windows of a family"),
	RF_FIELD_MADE("residents", RF_FIELD_LIST, make_residents, "of IPv4 and IPv6"),
	RF_FIELD("count", struct rf_snapshot, sources.count, "windows used recently"),
	{},
};

static const void *limit_at(const void *of, size_t i)
{
	const struct live *live = of;

	return i < (size_t)live->limits ? &live->limit[i] : NULL;
}

static const struct rf_field live_fields[] = {
	RF_FIELDS_VIA(struct live, snapshot, snapshot_fields),
	RF_FIELD("source_detail", struct live, told, "the setting of sources"),
	RF_FIELD_MADE("passed", RF_FIELD_NAMED, make_passed, "packets by reason"),
	RF_FIELD_MADE("dropped", RF_FIELD_NAMED, make_dropped, "packets by reason"),
	RF_FIELD_MADE("bytes", RF_FIELD_LIST, make_bytes, "passed and dropped"),
	RF_FIELD_LIST_OF("limits", limit_at, limit_fields, "active limits"),
	RF_FIELD_ARRAY("sources", struct live, source, sources, RF_FIELD_TUPLE, source_fields,
		       "those with most drops"),
	{},
};

/* ---- the document of a fence ---- */

struct document {
	const struct live *live; /* NULL: no scan */
	const struct rf_watching *watching;
	bool is_up, is_scanning, has_history;
	int schema;
	const char *fence;
	uint64_t interval_ns;
};

/* The names of all fences. */
static const void *fence_at(const void *of, size_t i)
{
	const struct rf_watching *watching = ((const struct document *)of)->watching;

	for (int at = 0; at < watching->count; at++)
		if (watching->of[at]->record && !i--)
			return watching->of[at]->record->fence;
	return NULL;
}

static const struct rf_field document_fields[] = {
	RF_FIELDS_VIA(struct document, live, live_fields),
	RF_FIELD("up", struct document, is_up, "a scan succeeded"),
	RF_FIELD("schema", struct document, schema, "1"),
	RF_FIELD("scanning", struct document, is_scanning, "the first scan is in progress"),
	RF_FIELD("fence", struct document, fence, "its name"),
	RF_FIELD_MADE("fences", RF_FIELD_LIST, NULL, "names", .item = fence_at,
		      .element = RF_FIELD_TEXT),
	RF_FIELD_OF_NS("interval", struct document, interval_ns, "between scans"),
	RF_FIELD("history", struct document, has_history, "it has a history"),
	{},
};

/* NULL: no memory. */
static struct live *take_live(struct rf_watched *one, const struct rf_settings *settings)
{
	static const char *const told[] = RF_TOLD_WORDS;
	struct live *live = calloc(1, sizeof(*live));

	if (!live)
		return NULL;
	live->snapshot = &one->snapshot;
	live->counters = rf_metrics_counters(one->record->metrics);
	live->told = told[settings->sources];
	take_limits(live, one->record->metrics);
	take_sources(live, one, settings->sources);
	return live;
}

/*
 * A line: the name, 1 during the first scan, and JSON, separated by tabs. A fence whose name has
 * control characters is left out.
 */
static void write_fence(FILE *out, const struct rf_watching *watching, struct rf_watched *one,
			const struct rf_settings *settings, uint64_t interval_ns)
{
	struct live *live = one->has_snapshot ? take_live(one, settings) : NULL;
	const struct document document = {
		.live = live,
		.watching = watching,
		.is_up = live,
		.is_scanning = !one->was_scanned,
		.has_history = one->record->history,
		.schema = RF_JSON_SCHEMA,
		.fence = one->record->fence,
		.interval_ns = interval_ns,
	};
	json_t *json =
		one->has_snapshot && !live ? NULL : rf_record_json(document_fields, &document);
	char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6));

	if (text && !strpbrk(one->record->fence, "\t\n")) {
		fputs(one->record->fence, out);
		fputs(document.is_scanning ? "\t1\t" : "\t0\t", out);
		fputs(text, out);
		fputc('\n', out);
	}
	free(text);
	json_decref(json);
	free(live);
}

void rf_live_put(struct rf_feed *feed, const struct rf_watching *watching,
		 const struct rf_settings *settings, uint64_t interval_ns)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return;
	for (int i = 0; i < watching->count; i++)
		if (watching->of[i]->record)
			write_fence(out, watching, watching->of[i], settings, interval_ns);
	if (fclose(out) || rf_feed_put(feed, RF_DOC_LIVE, text, length, rf_time_awake()))
		rf_warn("no memory for the page of %d fences", watching->count);
	free(text);
}

/* ---- metrics ---- */

static void put_page(struct rf_feed *feed, enum rf_document kind,
		     const struct rf_metrics_page *page)
{
	size_t length;
	char *text = rf_metrics_write(page, &length);

	if (!text || rf_feed_put(feed, kind, text, length, page->awake_ns))
		rf_warn("no memory for the metrics of %d fences", page->fences);
	free(text);
}

void rf_documents_put(struct rf_feed *feed, const struct rf_records *records, enum rf_told told,
		      uint64_t interval_ns)
{
	const struct rf_metrics **fence = calloc(records->count + 1, sizeof(*fence));
	struct rf_metrics_page page = {
		.fence = fence,
		.fences = records->count,
		.told = told,
		.awake_ns = rf_time_awake(),
		.interval_ns = interval_ns,
	};

	if (!fence)
		return;
	for (int i = 0; i < records->count; i++)
		fence[i] = records->of[i]->metrics;
	put_page(feed, RF_DOC_TEXT, &page);
	page.is_open = true;
	put_page(feed, RF_DOC_OPENMETRICS, &page);
	page.has_exemplars = true;
	put_page(feed, RF_DOC_WITH_EXEMPLARS, &page);
	free(fence);
}
