// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/units.h"
#include "daemon/recorded_json.h"
#include "daemon/source_json.h"
#include "ringfence/limiter.h"
#include "ringfence/window_read.h"
#include "rules/policy.h"

#define ROWS_MAX 64

/* ---- the windows of now ---- */

static int count_cells(const struct rf_limit *limit)
{
	if (limit->algorithm != RF_SLIDING && limit->algorithm != RF_FIXED)
		return 0;
	return limit->cells < RF_CELLS_MAX ? limit->cells : RF_CELLS_MAX;
}

/* The oldest first. */
static json_t *cells(const struct rf_limit *limit, const struct rf_policy *policy,
		     const struct rf_source *state, uint64_t time)
{
	const uint32_t now = rf_epoch(policy, time);
	const int count = count_cells(limit);
	json_t *json = json_array();

	for (int i = 0; i < count; i++)
		json_array_append_new(
			json, json_integer((json_int_t)rf_window_cell(&state->window, policy,
								      now - (count - 1 - i))
					   << policy->unit_shift));
	return json;
}

static json_t *window_json(const struct rf_fence *fence, const struct rf_limit *limit,
			   const struct rf_policy *policy, const struct rf_source *state)
{
	const uint64_t time = rf_fence_time(fence, policy);
	const uint64_t wait = rf_window_passes_again(&state->window, policy, time,
						     rf_cost(policy, RF_FRAME_BYTES));
	const json_int_t used = (json_int_t)rf_used(&state->window, policy, time)
				<< policy->unit_shift;

	return json_pack("{s:o, s:I, s:I, s:s, s:o, s:I, s:I, s:I, s:o}", "limit",
			 rf_json_text(limit->name), "used", used, "count",
			 (json_int_t)(rf_has_burst(limit) ? limit->burst : limit->rate), "unit",
			 rf_unit_name(limit->unit), "cells", cells(limit, policy, state, time),
			 "window_ms", (json_int_t)(limit->window_ns / RF_NS_PER_MS), "passed",
			 (json_int_t)state->passed, "dropped", (json_int_t)state->dropped,
			 "passes_again_ms",
			 wait == ~0ULL ? json_null()
				       : json_integer((rf_fence_duration_ns(fence, policy, wait) +
						       RF_NS_PER_MS - 1) /
						      RF_NS_PER_MS));
}

/* Of a network there is no window. Under `prefix` nothing of one address is told. */
static json_t *windows(const struct rf_watched *one, const struct rf_prefix *source)
{
	const struct rf_fence *fence = one->scanner ? rf_scanner_fence(one->scanner) : NULL;
	const struct rf_bank *rules = &one->snapshot.bans.rules;
	json_t *json = json_array();

	for (int slot = 0; slot < RF_LIMITS_MAX && fence && one->has_snapshot; slot++) {
		struct rf_address address = {.version = source->version};
		struct rf_error ignored;
		struct rf_source state;
		const unsigned int finest =
			source->version == 4 ? rules->limit[slot].per4 : rules->limit[slot].per6;

		memcpy(address.word, source->word, sizeof(address.word));
		if (!rules->policy[slot].id || source->length < finest ||
		    rf_fence_source(fence, &rules->policy[slot], &address, &state, &ignored))
			continue;
		json_array_append_new(json, window_json(fence, &rules->limit[slot],
							&rules->policy[slot], &state));
	}
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
	json_t *json, *past;

	if (rf_parse_prefix(query->source, &source, error))
		return NULL;
	rf_tell(told, &source, &source);
	json = reader ? rf_events_json(reader, query, told, error)
		      : json_pack("{s:b, s:[]}", "recorded", 0, "rows");
	past = json && reader && is_full ? recorded(reader, query, &source, error) : json_array();
	if (!json || !past) {
		json_decref(json);
		json_decref(past);
		return NULL;
	}
	json_object_set_new(json, "past", past);
	json_object_set_new(json, "windows", is_full ? windows(one, &source) : json_array());
	return json;
}
