// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "base/json.h"
#include "base/units.h"
#include "daemon/recent.h"

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

void rf_recent_note(struct rf_recent **recent, const struct rf_snapshot *snapshot,
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

static const struct row *find(const struct scan *scan, const struct row *row)
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
		const struct row *then = find(scan_at(recent, back), row);

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
