// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "daemon/recorded_json.h"
#include "daemon/source_json.h"
#include "watch/shown.h"

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
		json = rf_shown_json(read);
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

json_t *rf_source_json(const struct rf_watched *one, struct rf_reader *reader,
		       const struct rf_query *query, enum rf_told told, struct rf_error *error)
{
	const bool is_full = told == RF_TELL_FULL;
	struct rf_prefix source;
	json_t *json, *past, *present;

	if (rf_parse_prefix(query->source, &source, error))
		return NULL;
	rf_tell(told, &source, &source);
	json = reader ? rf_events_json(reader, query, told, error)
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
