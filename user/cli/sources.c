// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out.h"
#include "cli/sources.h"
#include "cli/table.h"
#include "ringfence/limiter.h"
#include "ringfence/window_read.h"
#include "rules/policy.h"

/* A reading in progress. */
struct reading {
	const struct rf_fence *fence;
	const struct rf_bans *bans;
	const struct rf_source_filter *filter;
	struct rf_source_rows *rows;
	bool *has_window; /* of each ban; NULL: nobody asks */
};

static struct rf_prefix source_prefix(const struct rf_address *source, const struct rf_limit *limit)
{
	struct rf_prefix prefix = {
		.version = source->version,
		.length = source->version == 4 ? limit->per4 : limit->per6,
	};

	memcpy(prefix.word, source->word, sizeof(prefix.word));
	return prefix;
}

static bool is_asked(const struct rf_source_filter *filter, const struct rf_prefix *source,
		     const struct rf_limit *limit)
{
	if (filter->limit && strcmp(filter->limit, limit->name) != 0)
		return false;
	return !filter->within || rf_prefix_contains(filter->within, source) ||
	       (filter->or_around && rf_prefix_contains(source, filter->within));
}

static int make_room(struct rf_source_rows *rows)
{
	const size_t capacity = rows->capacity ? rows->capacity * 2 : 1024;
	struct rf_source_row *row;

	if (rows->count < rows->capacity)
		return 0;
	row = reallocarray(rows->row, capacity, sizeof(*row));
	if (!row)
		return -ENOMEM;
	rows->row = row;
	rows->capacity = capacity;
	return 0;
}

static int append(struct rf_source_rows *rows, const struct rf_source_row *row)
{
	if (make_room(rows))
		return -ENOMEM;
	rows->row[rows->count++] = *row;
	return 0;
}

static uint64_t left_ns(const struct reading *reading, const struct rf_ban_row *ban)
{
	return rf_fence_left_ns(reading->fence, reading->bans->now, ban->until);
}

/* Adds what a window has, of the source or of a network. */
static int append_window(const struct reading *reading, struct rf_source_row *row, int slot,
			 const struct rf_source *state)
{
	const struct rf_policy *policy = &reading->bans->rules.policy[slot];

	row->limit = &reading->bans->rules.limit[slot];
	row->passed = state->passed;
	row->dropped = state->dropped;
	row->would_drop = policy->ban ? 0 : state->would_drop;
	row->used = rf_used(&state->window, policy, rf_fence_time(reading->fence, policy))
		    << policy->unit_shift;
	return append(reading->rows, row);
}

static int add_row(const struct rf_address *source, uint32_t limit_id,
		   const struct rf_source *state, void *context)
{
	const struct reading *reading = context;
	const struct rf_bans *bans = reading->bans;
	const int slot = rf_bank_find_id(&bans->rules, limit_id);
	const struct rf_limit *limit = &bans->rules.limit[slot < 0 ? 0 : slot];
	struct rf_source_row row = {.source = source_prefix(source, limit)};
	const struct rf_ban_row *ban;

	if (slot < 0 || !is_asked(reading->filter, &row.source, limit))
		return 0; /* its limit was deleted, or it is another one */
	ban = rf_bans_find(bans, source, limit_id);
	if (ban)
		row.banned_ns = left_ns(reading, ban);
	if (ban && reading->has_window)
		reading->has_window[ban - bans->row] = true;
	return append_window(reading, &row, slot, state);
}

static int add_aggregate(const struct rf_prefix *prefix, int slot, const struct rf_source *state,
			 void *context)
{
	const struct reading *reading = context;
	struct rf_source_row row = {.source = *prefix, .is_aggregate = true};

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
			.banned_ns = left_ns(reading, ban),
		};

		if (!reading->has_window[i] && is_asked(reading->filter, &row.source, row.limit))
			err = append(reading->rows, &row);
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

/* "3/1h", or "burst 5, 100/1s": `used` of a bucket counts against the burst. */
static void format_of(const struct rf_source_row *row, char text[RF_CELL_SIZE])
{
	char rate[RF_RATE_TEXT_SIZE], count[RF_COUNT_TEXT_SIZE], ban[RF_DURATION_TEXT_SIZE];
	char more[32] = "";
	const bool has_burst = rf_has_burst(row->limit);

	rf_format_limit_rate(row->limit, rate);
	rf_format_burst(row->limit, count);
	rf_format_left(row->banned_ns, ban);
	if (row->banned_ns)
		snprintf(more, sizeof(more), ", banned %.20s", ban);
	else if (row->is_aggregate)
		snprintf(more, sizeof(more), ", shared");
	snprintf(text, RF_CELL_SIZE, "%s%.20s%s%.30s%s", has_burst ? "burst " : "",
		 has_burst ? count : "", has_burst ? ", " : "", rate, more);
}

static void fill(const void *context, size_t i, struct rf_cells *cells)
{
	const struct rf_source_rows *rows = context;
	const struct rf_source_row *row = &rows->row[i];
	const uint64_t number[] = {row->passed, row->dropped, row->would_drop, row->used};

	rf_format_prefix(&row->source, cells->text[0]);
	snprintf(cells->text[1], RF_CELL_SIZE, "%s", row->limit->name);
	for (int k = 0; k < 4; k++)
		snprintf(cells->text[2 + k], RF_CELL_SIZE, "%" PRIu64, number[k]);
	format_of(row, cells->text[6]);
}

void rf_source_rows_print(const struct rf_source_rows *rows, size_t count, bool of_what)
{
	static const struct rf_column columns[] = {
		{"source", false, 0},  {"limit", false, 0},	 {"passed", true, 10},
		{"dropped", true, 10}, {"would drop", true, 10}, {"used", true, 8},
		{"of", false, 0},
	};
	const struct rf_table table = {columns, of_what ? 7 : 6, 2, count, rows, fill};

	rf_table_print(&table);
}

void rf_source_rows_free(struct rf_source_rows *rows)
{
	free(rows->row);
	*rows = (struct rf_source_rows){};
}
