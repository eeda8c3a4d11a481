// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/say.h"
#include "base/time.h"
#include "base/units.h"
#include "daemon/live.h"
#include "daemon/live_sources.h"
#include "schema/reasons.h"
#include "watch/privacy.h"

/* ---- counters ---- */

/* Packets by reason, of passed or of dropped ones. What is 0 is left out. */
static json_t *reasons(const struct rf_counters *counters, bool dropped)
{
	json_t *json = json_object();

	for (int i = 0; i < RF_REASON_COUNT; i++)
		if (rf_reason_is_drop(i) == dropped && counters->reason[i].packets)
			json_object_set_new(json, rf_reason_name(i),
					    json_integer(counters->reason[i].packets));
	return json;
}

static json_int_t bytes(const struct rf_counters *counters, bool dropped)
{
	json_int_t sum = 0;

	for (int i = 0; i < RF_REASON_COUNT; i++)
		sum += rf_reason_is_drop(i) == dropped ? counters->reason[i].bytes : 0;
	return sum;
}

/* ---- limits ---- */

static json_t *numbers(const uint64_t *number, int count)
{
	json_t *json = json_array();

	for (int i = 0; i < count; i++)
		json_array_append_new(json, json_integer(number[i]));
	return json;
}

static json_t *limit_json(const struct rf_limit *limit, const struct rf_limit_counters *counters,
			  const struct rf_live_use *use)
{
	static const struct rf_limit_counters nothing;
	char rate[RF_RATE_TEXT_SIZE];

	counters = counters ?: &nothing;
	rf_format_limit_rate(limit, rate);
	return json_pack("{s:o, s:s, s:I, s:I, s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}",
			 "name", rf_json_text(limit->name), "rate", rate, "count",
			 (json_int_t)limit->rate, "window_ms",
			 (json_int_t)(limit->window_ns / RF_NS_PER_MS), "unit",
			 rf_unit_name(limit->unit), "shadow", (limit->flags & RF_SHADOW) != 0,
			 "passed", (json_int_t)counters->passed.packets, "dropped",
			 (json_int_t)counters->dropped.packets, "would_drop",
			 (json_int_t)counters->would_drop.packets, "forfeited",
			 (json_int_t)counters->forfeited.packets, "active", (json_int_t)use->active,
			 "over", (json_int_t)use->over, "banned", (json_int_t)use->banned, "use",
			 numbers(use->bucket, RF_LIVE_BUCKETS));
}

/* The limits in force; `place` gets the index of each slot among them. */
static json_t *limits(const struct rf_watched *one, int place[RF_LIMITS_MAX])
{
	const struct rf_bank *rules = &one->snapshot.bans.rules;
	struct rf_live_use *use = calloc(RF_LIMITS_MAX, sizeof(*use));
	json_t *json = json_array();

	if (use)
		rf_live_use(&one->snapshot, use);
	for (int slot = 0; slot < RF_LIMITS_MAX && use; slot++) {
		place[slot] = json_array_size(json);
		if (rules->policy[slot].id)
			json_array_append_new(
				json, limit_json(&rules->limit[slot],
						 rf_metrics_limit_counters(one->record->metrics,
									   rules->limit[slot].name),
						 &use[slot]));
	}
	free(use);
	return json;
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
	const int count = rows ? rf_live_rows(&one->snapshot, told, rows, RF_LIVE_SOURCES) : 0;
	json_t *json = json_array();

	for (int i = 0; i < count; i++)
		json_array_append_new(
			json, source_json(&rows[i], place[rows[i].slot], one->snapshot.since_ns));
	if (rows)
		rf_recent_note(&one->recent, &one->snapshot, rows, count);
	free(rows);
	return json;
}

/* ---- fences ---- */

static const char *standing_word(const struct rf_standing *standing)
{
	static const char *const words[] = {
		[RF_SETTLED] = "settled",
		[RF_ON_TRIAL] = "on_trial",
		[RF_FELL_BACK] = "fell_back",
		[RF_FELL_OPEN] = "fell_open",
	};

	return words[standing->state];
}

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
	const struct rf_snapshot *snapshot = &one->snapshot;
	const struct rf_counters *counters = rf_metrics_counters(one->record->metrics);
	int place[RF_LIMITS_MAX] = {};
	json_t *its_limits = limits(one, place);

	return json_pack("{s:b, s:I, s:I, s:I, s:s, s:I, s:s, s:o, s:o, s:[I, I], s:I, s:[I, I], "
			 "s:I, s:o, s:o, s:I}",
			 "up", 1, "time", (json_int_t)(snapshot->time_ns / RF_NS_PER_MS), "awake",
			 (json_int_t)(snapshot->awake_ns / RF_NS_PER_MS), "since",
			 (json_int_t)(snapshot->since_ns / RF_NS_PER_MS), "standing",
			 standing_word(&snapshot->standing), "trial_ms",
			 (json_int_t)(snapshot->standing.trial_ns / RF_NS_PER_MS), "told",
			 told[settings->sources], "passed", reasons(counters, false), "dropped",
			 reasons(counters, true), "bytes", bytes(counters, false),
			 bytes(counters, true), "capacity", (json_int_t)snapshot->capacity,
			 "residents", (json_int_t)snapshot->residents[0],
			 (json_int_t)snapshot->residents[1], "count",
			 (json_int_t)snapshot->sources.count, "limits", its_limits, "sources",
			 sources(one, settings->sources, place), "paused_ms",
			 (json_int_t)(snapshot->standing.paused_ns / RF_NS_PER_MS));
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
