// SPDX-License-Identifier: GPL-2.0
/* Counters of a scan as differences to the scan before, gaps between scans, and minutes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/reasons.h"
#include "snapshot/totals.h"
#include "watch/reading.h"
#include "watch/recorder.h"

#define CLOCK_STEP_NS RF_NS_PER_S    /* back */
#define JUMP_NS (3600 * RF_NS_PER_S) /* after a larger jump, no records are deleted for a while */
#define SLEEP_NS (2 * RF_NS_PER_S)   /* the clock went further than the machine was awake */
#define INTERVAL_MAX_NS (30 * RF_NS_PER_S) /* a longer one is a gap */
#define SERIES_MAX ((1 << RF_SCAN_SHIFT) - 1)
#define STATE_KEY "counters"

/* ---- numbers of series and of limits ---- */

static int find_number(struct rf_history *history, const struct rf_series *series)
{
	struct rf_db *db = &history->db;
	struct rf_graph_series row = {};

	snprintf(row.kind, sizeof(row.kind), "%s", series->kind);
	snprintf(row.name, sizeof(row.name), "%s", series->name);
	snprintf(row.outcome, sizeof(row.outcome), "%s", series->outcome);
	rf_db_insert(db, &rf_tables[RF_TABLE_SERIES], &row);
	return rf_db_int(db, 0,
			 "SELECT series FROM series WHERE kind = ? AND name = ? AND outcome = ?",
			 "ttt", series->kind, series->name, series->outcome);
}

/* 0: none is left, or the database failed. `kind` and `outcome` are literals. */
static int number_of(struct rf_history *history, const char *kind, const char *name,
		     const char *outcome)
{
	struct rf_series *series = history->series;

	for (int i = 0; i < history->series_count; i++)
		if (series[i].kind == kind && series[i].outcome == outcome &&
		    !strcmp(series[i].name, name))
			return series[i].number;
	if (history->series_count == RF_SERIES_CACHED)
		history->series_count = 0;
	series += history->series_count;
	*series = (struct rf_series){.kind = kind, .outcome = outcome};
	snprintf(series->name, sizeof(series->name), "%s", name);
	series->number = find_number(history, series);
	if (series->number <= 0 || series->number > SERIES_MAX)
		return 0;
	history->series_count++;
	return series->number;
}

int rf_history_limit_number(struct rf_history *history, const char *name)
{
	struct rf_series *names = history->names;
	struct rf_recorded_source row = {};
	struct rf_db *db = &history->db;

	for (int i = 0; i < history->names_count; i++)
		if (!strcmp(names[i].name, name))
			return names[i].number;
	if (history->names_count == ARRAY_SIZE(history->names))
		history->names_count = 0;
	names += history->names_count;
	snprintf(names->name, sizeof(names->name), "%s", name);
	snprintf(row.limit, sizeof(row.limit), "%s", name);
	rf_db_insert(db, &rf_tables[RF_TABLE_LIMITS], &row);
	names->number = rf_db_int(db, 0, "SELECT number FROM limits WHERE name = ?", "t", name);
	if (names->number)
		history->names_count++;
	return names->number;
}

/* ---- counts ---- */

/* A scan's counts on their way into the file. */
struct adding {
	struct rf_history *history;
	bool is_silent; /* only note the counters */
	uint64_t passed, dropped;
	int code;
};

/* Counters never decrease: a count that a lease is about to flush can be missing once. */
static uint64_t grow(__u64 *before, uint64_t now)
{
	const uint64_t grown = now > *before ? now - *before : 0;

	*before += grown;
	return grown;
}

static void add_count(struct adding *adding, const char *kind, const char *name,
		      const char *outcome, uint64_t packets, uint64_t bytes)
{
	struct rf_history *history = adding->history;
	struct rf_count_row row = {.packets = packets, .bytes = bytes};
	int number;

	if ((!packets && !bytes) || adding->is_silent || adding->code)
		return;
	number = number_of(history, kind, name, outcome);
	if (!number) {
		adding->code = history->db.failed;
		return;
	}
	row.id = rf_scan_id(history->scan, number);
	adding->code = rf_db_insert(&history->db, &rf_tables[RF_TABLE_COUNTS], &row);
}

static void add_one(struct adding *adding, const char *kind, const char *name, __u64 *before,
		    uint64_t now)
{
	add_count(adding, kind, name, "", grow(before, now), 0);
}

static void add_reasons(struct adding *adding, const struct rf_counters *now)
{
	struct rf_counters *before = &adding->history->counted.counters;

	for (int i = 0; i < RF_REASON_COUNT; i++) {
		const uint64_t packets = grow(&before->reason[i].packets, now->reason[i].packets);
		const uint64_t bytes = grow(&before->reason[i].bytes, now->reason[i].bytes);

		*(rf_reason_is_drop(i) ? &adding->dropped : &adding->passed) += packets;
		add_count(adding, rf_reason_verdict(i), rf_reason_name(i), "", packets, bytes);
	}
}

static void add_others(struct adding *adding, const struct rf_counters *now)
{
	static const char *const families[] = {"ipv4", "ipv6"};
	struct rf_counters *before = &adding->history->counted.counters;

	for (int i = 0; i < RF_MAP_ERROR_COUNT; i++)
		add_one(adding, "map_error", rf_map_error_name(i), &before->map_error[i],
			now->map_error[i]);
	for (int i = 0; i < 2; i++) {
		add_one(adding, "inserts", families[i], &before->inserts[i], now->inserts[i]);
		add_one(adding, "evictions", families[i], &before->evictions[i], now->evictions[i]);
	}
	add_one(adding, "newcomers", "admitted", &before->newcomers_admitted,
		now->newcomers_admitted);
	add_one(adding, "newcomers", "known", &before->newcomers_known, now->newcomers_known);
	add_one(adding, "newcomers", "aggregated", &before->newcomers_aggregated,
		now->newcomers_aggregated);
	add_one(adding, "newcomers", "shadow", &before->shadow_newcomers, now->shadow_newcomers);
	add_one(adding, "newcomers", "bans_refused", &before->bans_refused, now->bans_refused);
}

static void add_outcome(struct adding *adding, const char *limit, const char *outcome,
			struct rf_count *before, const struct rf_count *now)
{
	const uint64_t packets = grow(&before->packets, now->packets);

	add_count(adding, "limit", limit, outcome, packets, grow(&before->bytes, now->bytes));
}

/* A limit that did not exist before starts at 0, unless the previous state is unknown. */
static void add_limits(struct adding *adding, const struct rf_snapshot *snapshot)
{
	const struct rf_bank *rules = &snapshot->bans.rules;
	struct rf_counted *counted = &adding->history->counted;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		const char *name = rules->limit[slot].name;
		struct rf_limit_counters *before = &counted->limit[slot];
		const struct rf_limit_counters *now = &snapshot->sums.limit[slot];

		if (counted->limit_id[slot] != rules->policy[slot].id)
			*before = (struct rf_limit_counters){};
		counted->limit_id[slot] = rules->policy[slot].id;
		if (!rules->policy[slot].id)
			continue;
		add_outcome(adding, name, "passed", &before->passed, &now->passed);
		add_outcome(adding, name, "dropped", &before->dropped, &now->dropped);
		add_outcome(adding, name, "would_drop", &before->would_drop, &now->would_drop);
		add_outcome(adding, name, "forfeited", &before->forfeited, &now->forfeited);
		add_outcome(adding, name, "truncated", &before->truncated, &now->truncated);
	}
}

static void add_counts(struct adding *adding, const struct rf_snapshot *snapshot)
{
	add_reasons(adding, &snapshot->sums.counters);
	add_others(adding, &snapshot->sums.counters);
	add_limits(adding, snapshot);
}

/* ---- gaps ---- */

static int add_gap(struct rf_history *history, uint64_t from_ns, uint64_t to_ns, const char *why,
		   const struct adding *adding)
{
	const struct rf_recorded_gap row = {
		.start_ns = from_ns,
		.end_ns = to_ns,
		.why = why,
		.passed = adding->passed,
		.dropped = adding->dropped,
	};

	return rf_db_insert(&history->db, &rf_tables[RF_TABLE_GAPS], &row);
}

/* The sums that the previous scan left in the file, to count packets since then. */
struct kept {
	char identity[RF_IDENTITY_SIZE];
	uint64_t time_ms, passed, dropped;
};

static bool read_kept(struct rf_history *history, struct kept *kept)
{
	char *text = rf_history_get_state(history, STATE_KEY);
	int fields = 0;

	if (text)
		fields = sscanf(text, "%63s %" SCNu64 " %" SCNu64 " %" SCNu64, kept->identity,
				&kept->time_ms, &kept->passed, &kept->dropped);
	free(text);
	return fields == 4;
}

static struct kept sum_up(const struct rf_counted *counted)
{
	struct kept sum = {.time_ms = rf_ms(counted->time_ns)};
	struct rf_count passed = {}, dropped = {};

	memcpy(sum.identity, counted->identity, sizeof(sum.identity));
	rf_counters_sum(&counted->counters, &passed, &dropped);
	sum.passed = passed.packets;
	sum.dropped = dropped.packets;
	return sum;
}

static int keep_sums(struct rf_history *history)
{
	const struct kept sum = sum_up(&history->counted);
	struct rf_error unused;
	char text[160];

	snprintf(text, sizeof(text), "%s %" PRIu64 " %" PRIu64 " %" PRIu64, sum.identity,
		 sum.time_ms, sum.passed, sum.dropped);
	return rf_history_put_state(history, STATE_KEY, text, &unused) ? history->db.failed : 0;
}

/* Records the counters: differences start here. */
static void start(struct rf_history *history, const struct rf_snapshot *snapshot)
{
	struct adding silent = {.history = history, .is_silent = true};

	memcpy(history->counted.identity, snapshot->identity, sizeof(snapshot->identity));
	add_counts(&silent, snapshot);
}

/* The reason for the gap up to now. */
static const char *why_missing(struct rf_history *history, uint64_t since_ms, uint64_t now_ns)
{
	if (now_ns < since_ms * RF_NS_PER_MS)
		return "clock";
	return rf_db_int(&history->db, 0,
			 "SELECT count(*) FROM events WHERE type = 'detached' AND time >= ?", "i",
			 (int64_t)since_ms)
		       ? "detached"
		       : "down";
}

/* The first scan of this process: what came before is a gap, or not known. */
static int resume(struct rf_history *history, const struct rf_snapshot *snapshot)
{
	struct adding gap = {};
	struct kept kept, now;

	start(history, snapshot);
	history->steady_ns = snapshot->awake_ns;
	if (!read_kept(history, &kept))
		return SQLITE_OK;
	now = sum_up(&history->counted);
	if (!strcmp(kept.identity, now.identity)) {
		gap.passed = now.passed > kept.passed ? now.passed - kept.passed : 0;
		gap.dropped = now.dropped > kept.dropped ? now.dropped - kept.dropped : 0;
	}
	return add_gap(history, kept.time_ms * RF_NS_PER_MS, snapshot->time_ns,
		       why_missing(history, kept.time_ms, snapshot->time_ns), &gap);
}

/* Did the clock jump since the scan before? The interval itself is known in any case. */
static int note_clock(struct rf_history *history, const struct rf_snapshot *snapshot,
		      uint64_t awake_ns)
{
	static const struct adding none;
	const struct rf_counted *before = &history->counted;
	const int64_t jump = (int64_t)(snapshot->time_ns - before->time_ns - awake_ns);

	if (llabs(jump) > (int64_t)JUMP_NS)
		history->steady_ns = snapshot->awake_ns;
	if (jump < -(int64_t)CLOCK_STEP_NS)
		return add_gap(history, before->time_ns, snapshot->time_ns, "clock", &none);
	if (jump > (int64_t)SLEEP_NS)
		return add_gap(history, before->time_ns, snapshot->time_ns - awake_ns, "slept",
			       &none);
	return SQLITE_OK;
}

/* ---- minutes ---- */

/* Sums up the scans after the last minute's, once this scan is in a new minute. */
static int add_minute(struct rf_history *history, uint64_t now_ns)
{
	struct rf_db *db = &history->db;
	const uint64_t minute_ns = 60 * RF_NS_PER_S;
	int64_t last;
	int code;

	if (history->counted.time_ns / minute_ns == now_ns / minute_ns)
		return SQLITE_OK;
	last = rf_db_int(db, 0, "SELECT scan FROM minutes ORDER BY minute DESC LIMIT 1", "");
	code = rf_db_run(db,
			 "INSERT INTO minutes SELECT ?1, time, ms, sources, scan FROM (SELECT "
			 "max(time) AS time, sum(ms) AS ms, max(sources) AS sources, "
			 "max(scan) AS scan FROM totals WHERE scan > ?2 AND scan < ?3) "
			 "WHERE scan IS NOT NULL",
			 "iii", history->minute + 1, last, history->scan);
	if (code || !sqlite3_changes(db->sqlite))
		return code;
	history->minute++;
	return rf_db_run(db,
			 "INSERT INTO minute_counts SELECT (?1 << 16) + (id & 65535), "
			 "sum(packets), sum(bytes), max(packets) FROM counts "
			 "WHERE id >= (?2 + 1) << 16 AND id < ?3 << 16 GROUP BY id & 65535",
			 "iii", history->minute, last, history->scan);
}

/* ---- a scan ---- */

static int add_total(struct rf_history *history, const struct rf_snapshot *snapshot,
		     uint64_t awake_ns)
{
	const struct rf_total_row row = {
		.scan = history->scan,
		.time_ns = snapshot->time_ns,
		.ms = rf_ms(awake_ns) ?: 1,
		.sources = snapshot->sources.count,
		.windows = {snapshot->sums.residents[0], snapshot->sums.residents[1]},
	};

	return rf_db_insert(&history->db, &rf_tables[RF_TABLE_TOTALS], &row);
}

/* A recreated fence started its counters at 0. */
static void note_identity(struct rf_counted *counted, const struct rf_snapshot *snapshot)
{
	if (!strcmp(counted->identity, snapshot->identity))
		return;
	*counted = (struct rf_counted){.time_ns = counted->time_ns, .awake_ns = counted->awake_ns};
	memcpy(counted->identity, snapshot->identity, sizeof(counted->identity));
}

/* One more scan of this process. */
static int go_on(struct rf_history *history, const struct rf_snapshot *snapshot)
{
	struct rf_counted *counted = &history->counted;
	const uint64_t awake_ns = snapshot->awake_ns - counted->awake_ns;
	struct adding adding = {.history = history};
	int code;

	note_identity(counted, snapshot);
	adding.is_silent = awake_ns > INTERVAL_MAX_NS && awake_ns > 3 * snapshot->since_ns;
	adding.is_silent |= history->missing_why && awake_ns > INTERVAL_MAX_NS;
	add_counts(&adding, snapshot);
	if (adding.is_silent)
		return add_gap(history, counted->time_ns, snapshot->time_ns,
			       history->missing_why ?: "stalled", &adding);
	code = adding.code ?: note_clock(history, snapshot, awake_ns);
	return code ? code : add_total(history, snapshot, awake_ns);
}

int rf_history_add_totals(struct rf_history *history, const struct rf_snapshot *snapshot)
{
	struct rf_counted *counted = &history->counted;
	int code = add_minute(history, snapshot->time_ns);

	if (!code)
		code = *counted->identity ? go_on(history, snapshot) : resume(history, snapshot);
	if (code)
		return code;
	counted->time_ns = snapshot->time_ns;
	counted->awake_ns = snapshot->awake_ns;
	return keep_sums(history);
}
