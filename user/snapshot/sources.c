// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ringfence/limiter.h"
#include "ringfence/window_read.h"
#include "rules/policy.h"
#include "snapshot/sources.h"

/* A reading in progress. */
struct reading {
	const struct rf_fence *fence;
	const struct rf_bans *bans;
	const struct rf_source_filter *filter;
	struct rf_source_rows *rows;
	bool *has_window; /* of each ban; NULL: nobody asks */
};

static bool is_asked(const struct rf_source_filter *filter, const struct rf_prefix *source,
		     const struct rf_limit *limit)
{
	if (filter->limit && strcmp(filter->limit, limit->name) != 0)
		return false;
	return !filter->within || rf_prefix_contains(filter->within, source) ||
	       (filter->or_around && rf_prefix_contains(source, filter->within));
}

double rf_source_row_rate(const struct rf_source_row *row)
{
	return row->used * 1e9 / row->limit->window_ns;
}

/* Adds what a window has, of the source or of a network. */
static int append_window(const struct reading *reading, struct rf_source_row *row, int slot,
			 const struct rf_source *state)
{
	const struct rf_policy *policy = &reading->bans->rules.policy[slot];

	row->limit = &reading->bans->rules.limit[slot];
	row->limit_id = policy->id;
	row->passed = state->passed;
	row->dropped = state->dropped;
	row->would_drop = policy->ban ? 0 : state->would_drop;
	row->used = rf_used(&state->window, policy, rf_fence_time(reading->fence, policy))
		    << policy->unit_shift;
	return rf_source_rows_append(reading->rows, row);
}

static int add_row(const struct rf_address *source, uint32_t limit_id,
		   const struct rf_source *state, void *context)
{
	const struct reading *reading = context;
	const struct rf_bans *bans = reading->bans;
	const int slot = rf_bank_find_id(&bans->rules, limit_id);
	const struct rf_limit *limit = &bans->rules.limit[slot < 0 ? 0 : slot];
	struct rf_source_row row = {.source = rf_limit_source(limit, source)};
	const struct rf_ban_row *ban;

	if (slot < 0 || !is_asked(reading->filter, &row.source, limit))
		return 0; /* its limit was deleted, or it is another one */
	ban = rf_bans_find(bans, source, limit_id);
	if (ban)
		row.banned_ns = ban->left_ns;
	if (ban && reading->has_window)
		reading->has_window[ban - bans->row] = true;
	return append_window(reading, &row, slot, state);
}

static int add_aggregate(const struct rf_prefix *prefix, int slot, int place,
			 const struct rf_source *state, void *context)
{
	const struct reading *reading = context;
	struct rf_source_row row = {.source = *prefix, .is_aggregate = true};

	(void)place;
	if (!is_asked(reading->filter, prefix, &reading->bans->rules.limit[slot]))
		return 0;
	return append_window(reading, &row, slot, state);
}

/* A ban outlives the window of its source. */
static int add_windowless(const struct reading *reading)
{
	const struct rf_bans *bans = reading->bans;
	int err = 0;

	for (size_t i = 0; i < bans->count && !err; i++) {
		const struct rf_ban_row *ban = &bans->row[i];
		const struct rf_source_row row = {
			.source = rf_ban_prefix(ban),
			.limit = ban->limit,
			.limit_id = ban->limit_id,
			.banned_ns = ban->left_ns,
		};

		if (!reading->has_window[i] && is_asked(reading->filter, &row.source, row.limit))
			err = rf_source_rows_append(reading->rows, &row);
	}
	return err;
}

/* Adds the rows that no window of a source has. */
static int read_others(struct reading *reading, struct rf_error *error)
{
	int err = add_windowless(reading);

	if (!err)
		err = rf_fence_each_aggregate(reading->fence, &reading->bans->rules, add_aggregate,
					      reading);
	return err ? rf_error_failed(error, err, "cannot list the sources: %s", strerror(-err)) : 0;
}

int rf_source_rows_read(const struct rf_fence *fence, const struct rf_bans *bans,
			const struct rf_source_filter *filter, struct rf_source_rows *rows,
			struct rf_error *error)
{
	struct reading reading = {fence, bans, filter, rows, NULL};
	int err;

	if (filter->or_windowless)
		reading.has_window = calloc(bans->count + 1, sizeof(*reading.has_window));
	if (filter->or_windowless && !reading.has_window)
		return rf_error_failed(error, -ENOMEM, "cannot list the sources: %s",
				       strerror(ENOMEM));
	err = rf_fence_each_source(fence, add_row, &reading, error);
	if (!err && reading.has_window)
		err = read_others(&reading, error);
	free(reading.has_window);
	return err;
}
