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

#define SCANS 61 /* a minute, where there is one a second */

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

/* Keeps the rows of a scan, and forgets those of the oldest one. Without memory nothing is kept. */
static void note_recent(struct rf_recent **recent, const struct rf_snapshot *snapshot,
			const struct rf_live_row *rows, int count)
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

/* The name of a limit; NULL: it is no longer in force. */
static const char *name_of(const struct rf_bank *rules, uint32_t id)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (id && rules->policy[slot].id == id)
			return rules->limit[slot].name;
	return NULL;
}

static void add_source(json_t *to, const struct rf_recent *recent, const struct row *row,
		       const struct rf_bank *rules, enum rf_told told)
{
	const char *name = name_of(rules, row->limit_id);
	char source[RF_PREFIX_TEXT_SIZE];
	struct rf_prefix today;

	/* The setting may have been another one when the scan was kept. */
	if (!name || !rf_tell(told, &row->source, &today) ||
	    rf_prefix_compare(&today, &row->source))
		return;
	rf_format_prefix(&row->source, source);
	json_array_append_new(
		to, json_pack("[s, o, o]", source, rf_json_text(name), values(recent, row)));
}

json_t *rf_recent_json(const struct rf_recent *recent, const struct rf_bank *rules,
		       enum rf_told told)
{
	json_t *times = json_array(), *sources = json_array();
	const struct scan *last = recent && recent->count ? scan_at(recent, 0) : NULL;

	for (int back = last ? recent->count : 0; back-- > 0;)
		json_array_append_new(times, json_integer(scan_at(recent, back)->time_ms));
	for (int i = 0; last && i < last->count; i++)
		add_source(sources, recent, &last->row[i], rules, told);
	return json_pack("{s:o, s:o}", "times", times, "sources", sources);
}

/* ---- sources ---- */

#define CHOSEN 1024 /* sources, before they are told as networks */

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
static void note_use(const struct rf_snapshot *snapshot, struct rf_live_use use[RF_LIMITS_MAX])
{
	memset(use, 0, RF_LIMITS_MAX * sizeof(*use));
	for (size_t i = 0; i < snapshot->sources.count; i++) {
		const struct rf_source_row *row = &snapshot->sources.row[i];
		const uint32_t part = use_of(row);
		struct rf_live_use *its = &use[slot_of(snapshot, row)];

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

/* ---- as they are told ---- */

static void add(struct rf_live_row *to, const struct rf_source_row *row)
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

static struct rf_live_row *find_live_row(struct rf_live_row *rows, int count,
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
static int live_rows(const struct rf_snapshot *snapshot, enum rf_told told,
		     struct rf_live_row *rows, int most)
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
		struct rf_live_row *row;

		if (!rf_tell(told, &chosen[i]->source, &source))
			continue;
		row = find_live_row(rows, count, &source, slot);
		if (row) {
			add(row, chosen[i]);
		} else if (count < most) {
			rows[count] = (struct rf_live_row){*chosen[i], use_of(chosen[i]), slot};
			rows[count++].row.source = source;
		}
	}
	free(chosen);
	return count;
}

/* ---- the last scan ---- */

/* ---- limits ---- */

/* A limit in force, as the page has it. */
struct live_limit {
	const struct rf_limit *limit;
	struct rf_limit_counters counted;
	struct rf_live_use use;
};

/* All that the page has of a scan. */
struct live {
	const struct rf_snapshot *snapshot;
	const struct rf_counters *counters;
	const char *told;
	struct live_limit limit[RF_LIMITS_MAX];
	int place[RF_LIMITS_MAX]; /* by slot: the limit's index among them */
	int limits;
	json_t *sources;
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

	for (int i = 0; i < RF_LIVE_BUCKETS; i++)
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
	RF_FIELD("active", struct live_limit, use.active, "sources seen lately"),
	RF_FIELD("over", struct live_limit, use.over, "sources over it"),
	RF_FIELD("banned", struct live_limit, use.banned, "sources that it bans"),
	RF_FIELD_MADE("use", RF_FIELD_LIST, make_use, "sources by tenths of the limit"),
	{},
};

static void take_limits(struct live *live, const struct rf_metrics *metrics)
{
	const struct rf_bank *rules = &live->snapshot->bans.rules;
	struct rf_live_use *use = calloc(RF_LIMITS_MAX, sizeof(*use));

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

/* Packets a second, with one digit where they are few. */
static json_t *rate(uint64_t packets, uint64_t since_ns)
{
	const uint64_t tenths = since_ns ? packets * 10 * RF_NS_PER_MS / (since_ns / 1000) : 0;

	return tenths >= 100 || tenths % 10 == 0 ? json_integer(tenths / 10)
						 : json_real(tenths / 10.0);
}

/* source, limit, use in thousandths, dropped, passed, would drop a second, ban in ms, aggregate */
static json_t *source_json(const struct rf_live_row *row, int place, uint64_t since_ns)
{
	const struct rf_source_row *its = &row->row;
	char source[RF_PREFIX_TEXT_SIZE];

	rf_format_prefix(&its->source, source);
	return json_pack("[s, i, i, o, o, o, I, i]", source, place, (int)row->use,
			 rate(its->new_dropped, since_ns), rate(its->new_passed, since_ns),
			 rate(its->new_would_drop, since_ns),
			 (json_int_t)(its->banned_ns / RF_NS_PER_MS), (int)its->is_aggregate);
}

static json_t *sources(struct rf_watched *one, enum rf_told told, const int place[RF_LIMITS_MAX])
{
	struct rf_live_row *rows = calloc(RF_LIVE_SOURCES, sizeof(*rows));
	const int count = rows ? live_rows(&one->snapshot, told, rows, RF_LIVE_SOURCES) : 0;
	json_t *json = json_array();

	for (int i = 0; i < count; i++)
		json_array_append_new(
			json, source_json(&rows[i], place[rows[i].slot], one->snapshot.since_ns));
	if (rows)
		note_recent(&one->recent, &one->snapshot, rows, count);
	free(rows);
	return json;
}

/* ---- fences ---- */

/* Packets by reason, of passed or of dropped ones. What is 0 is left out. */
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
	return json_string(rf_trial_state_word(((const struct rf_snapshot *)of)->standing.state));
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
	RF_FIELD_MADE("standing", RF_FIELD_TEXT, make_standing,
		      "settled, or as trial.state of status"),
	RF_FIELD_OF_NS("trial_ms", struct rf_snapshot, standing.trial_ns,
		       "until a trial ends, or since"),
	RF_FIELD_OF_NS("paused_ms", struct rf_snapshot, standing.paused_ns, "until a pause ends"),
	RF_FIELD("capacity", struct rf_snapshot, capacity, "windows of a family"),
	RF_FIELD_MADE("residents", RF_FIELD_LIST, make_residents, "of IPv4 and IPv6"),
	RF_FIELD("count", struct rf_snapshot, sources.count, "windows in use lately"),
	{},
};

static const void *limit_at(const void *of, size_t i)
{
	const struct live *live = of;

	return i < (size_t)live->limits ? &live->limit[i] : NULL;
}

static json_t *make_sources(const void *of)
{
	return json_incref(((const struct live *)of)->sources);
}

static const struct rf_field live_fields[] = {
	RF_FIELDS_VIA(struct live, snapshot, snapshot_fields),
	RF_FIELD("told", struct live, told, "how much of sources is told"),
	RF_FIELD_MADE("passed", RF_FIELD_NAMED, make_passed, "packets by reason"),
	RF_FIELD_MADE("dropped", RF_FIELD_NAMED, make_dropped, "packets by reason"),
	RF_FIELD_MADE("bytes", RF_FIELD_LIST, make_bytes, "passed and dropped"),
	RF_FIELD_LIST_OF("limits", limit_at, limit_fields, "in force"),
	RF_FIELD_MADE("sources", RF_FIELD_LIST, make_sources, "see source_json()"),
	{},
};

static json_t *names(const struct rf_watching *watching)
{
	json_t *json = json_array();

	for (int i = 0; i < watching->count; i++)
		if (watching->of[i]->record)
			json_array_append_new(json, rf_json_text(watching->of[i]->record->fence));
	return json;
}

static json_t *scan_json(struct rf_watched *one, const struct rf_settings *settings)
{
	static const char *const told[] = RF_TOLD_WORDS;
	struct live *live = calloc(1, sizeof(*live));
	json_t *json;

	if (!live)
		return NULL;
	*live = (struct live){
		.snapshot = &one->snapshot,
		.counters = rf_metrics_counters(one->record->metrics),
		.told = told[settings->sources],
	};
	take_limits(live, one->record->metrics);
	live->sources = sources(one, settings->sources, live->place);
	json = rf_record_json(live_fields, live);
	json_decref(live->sources);
	free(live);
	if (json)
		json_object_set_new(json, "up", json_true());
	return json;
}

/*
 * A line: the name, 1 while the first scan is under way, and JSON, with tabs between them. Names
 * have no control characters, or the line is left out.
 */
static void write_fence(FILE *out, const struct rf_watching *watching, struct rf_watched *one,
			const struct rf_settings *settings, uint64_t interval_ns)
{
	json_t *json = one->has_snapshot ? scan_json(one, settings) : json_pack("{s:b}", "up", 0);
	char *text;

	if (strpbrk(one->record->fence, "\t\n"))
		return json_decref(json);
	json_object_set_new(json, "schema", json_integer(1));
	json_object_set_new(json, "scanning", json_boolean(!one->was_scanned));
	json_object_set_new(json, "fence", rf_json_text(one->record->fence));
	json_object_set_new(json, "fences", names(watching));
	json_object_set_new(json, "interval", json_integer(interval_ns / RF_NS_PER_MS));
	json_object_set_new(json, "history", json_boolean(one->record->history != NULL));
	text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6));
	if (text) {
		fputs(one->record->fence, out);
		fputs(one->was_scanned ? "\t0\t" : "\t1\t", out);
		fputs(text, out);
		fputc('\n', out);
	}
	free(text);
	json_decref(json);
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
