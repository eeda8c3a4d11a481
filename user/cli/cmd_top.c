// SPDX-License-Identifier: GPL-2.0
/* top: the sources that matter most */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fences.h"
#include "cli/out.h"
#include "fence/fence.h"
#include "ringfence/limiter.h"
#include "ringfence/window_read.h"
#include "rules/policy.h"

#define BURST_TEXT_SIZE (RF_COUNT_TEXT_SIZE + 8)

/* One source under one limit. */
struct row {
	struct rf_address source;
	const struct rf_limit *limit;
	uint64_t passed;
	uint64_t dropped;
	uint64_t would_drop;
	uint64_t used;	    /* in the limit's unit */
	uint64_t banned_ns; /* remaining time; 0: not banned */
};

struct table {
	const struct rf_fence *fence;
	const struct rf_top *asked;
	struct rf_bank rules;
	struct rf_bans bans;
	struct row *row;
	size_t count;
	size_t capacity;
};

/* Is the source one of those that the command asks for? */
static bool is_asked(const struct table *table, const struct rf_address *source,
		     const struct rf_limit *limit)
{
	const struct rf_top *asked = table->asked;
	struct rf_prefix prefix = {
		.version = source->version,
		.length = source->version == 4 ? limit->per4 : limit->per6,
	};

	if (asked->limit && strcmp(asked->limit, limit->name) != 0)
		return false;
	memcpy(prefix.word, source->word, sizeof(prefix.word));
	return !asked->is_within || rf_prefix_contains(&asked->within, &prefix);
}

static int check_limit(const struct rf_bank *rules, const char *name, struct rf_error *error)
{
	if (!name || rf_bank_find(rules, name) >= 0)
		return 0;
	return rf_error_failed(error, -ENOENT,
			       "limit '%s': it does not exist; 'limit list' lists the limits",
			       name);
}

static int add_row(const struct rf_address *source, uint32_t limit_id,
		   const struct rf_source *state, void *context)
{
	struct table *table = context;
	int slot = rf_bank_find_id(&table->rules, limit_id);
	const struct rf_policy *policy;
	const struct rf_ban_row *ban;

	if (slot < 0 || !is_asked(table, source, &table->rules.limit[slot]))
		return 0; /* its limit was deleted, or it is another one */
	if (table->count == table->capacity) {
		size_t capacity = table->capacity ? table->capacity * 2 : 1024;
		struct row *row = reallocarray(table->row, capacity, sizeof(*row));

		if (!row)
			return -ENOMEM;
		table->row = row;
		table->capacity = capacity;
	}
	policy = &table->rules.policy[slot];
	ban = rf_bans_find(&table->bans, source, limit_id);
	table->row[table->count++] = (struct row){
		.source = *source,
		.limit = &table->rules.limit[slot],
		.passed = state->passed,
		.dropped = state->dropped,
		.would_drop = policy->ban ? 0 : state->would_drop,
		.used = rf_used(&state->window, policy, rf_fence_time(table->fence, policy))
			<< policy->unit_shift,
		.banned_ns = ban ? rf_fence_left_ns(table->fence, table->bans.now, ban->until) : 0,
	};
	return 0;
}

static int compare(double a, double b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

/* Per second over the window, in the limit's unit; for a bucket, by its used part. */
static double present_rate(const struct row *row)
{
	return row->used * 1e9 / row->limit->window_ns;
}

static int compare_by_rate(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	return compare(present_rate(left), present_rate(right));
}

/* Of L, or of the burst of a bucket. */
static double used_share(const struct row *row)
{
	return (double)row->used /
	       (rf_has_burst(row->limit) ? row->limit->burst : row->limit->rate);
}

static int compare_by_used(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	return compare(used_share(left), used_share(right));
}

static int compare_by_drops(const void *a, const void *b)
{
	const struct row *left = a, *right = b;
	int order = compare(left->dropped + left->would_drop, right->dropped + right->would_drop);

	return order ? order : compare_by_rate(a, b);
}

static json_t *make_json(const struct table *table, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		const struct row *row = &table->row[i];
		char source[RF_PREFIX_TEXT_SIZE];

		rf_format_source(&row->source, row->limit, source);
		json_array_append_new(
			list,
			json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:I, s:s, s:I}",
				  "source", source, "limit", row->limit->name, "passed",
				  (json_int_t)row->passed, "dropped", (json_int_t)row->dropped,
				  "would_drop", (json_int_t)row->would_drop, "used",
				  (json_int_t)row->used, "rate", (json_int_t)row->limit->rate,
				  "burst",
				  rf_has_burst(row->limit) ? json_integer(row->limit->burst)
							   : json_null(),
				  "window_ms", (json_int_t)(row->limit->window_ns / RF_NS_PER_MS),
				  "unit", rf_unit_name(row->limit->unit), "banned_ms",
				  (json_int_t)(row->banned_ns / RF_NS_PER_MS)));
	}
	return json_pack("{s:o, s:o}", "fence", rf_json_text(table->fence->name), "sources", list);
}

/* For a bucket: `used` counts against the burst, and the rate refills it. */
static void format_burst(const struct rf_limit *limit, char text[BURST_TEXT_SIZE])
{
	char count[RF_COUNT_TEXT_SIZE];

	rf_format_count(limit->burst, count);
	snprintf(text, BURST_TEXT_SIZE, "burst %s, ", count);
}

/* The widths of the first columns, as the longest source and the longest name need them. */
static void measure(const struct table *table, size_t count, int *source_width, int *limit_width)
{
	*source_width = sizeof("source") - 1;
	*limit_width = sizeof("limit") - 1;
	for (size_t i = 0; i < count; i++) {
		const struct row *row = &table->row[i];
		char source[RF_PREFIX_TEXT_SIZE];

		rf_format_source(&row->source, row->limit, source);
		if ((int)strlen(source) > *source_width)
			*source_width = strlen(source);
		if ((int)strlen(row->limit->name) > *limit_width)
			*limit_width = strlen(row->limit->name);
	}
}

static void print_row(const struct row *row, int source_width, int limit_width)
{
	char source[RF_PREFIX_TEXT_SIZE], rate[RF_RATE_TEXT_SIZE];
	char burst[BURST_TEXT_SIZE] = "";

	rf_format_source(&row->source, row->limit, source);
	rf_format_limit_rate(row->limit, rate);
	if (rf_has_burst(row->limit))
		format_burst(row->limit, burst);
	rf_out("%-*s %-*s %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %8" PRIu64 " %s%s%s\n",
	       source_width, source, limit_width, row->limit->name, row->passed, row->dropped,
	       row->would_drop, row->used, burst, rate, row->banned_ns ? ", banned" : "");
}

/* Without a limit no source has a window, so no source can be seen. */
static void print_none(const struct table *table)
{
	if (!rf_bank_count(&table->rules))
		rf_out("no source has a window, since there is no limit; 'ringfence limit add all "
		       "rate 1M/1s shadow' drops nothing, and shows the sources\n");
	else
		rf_out("no source %shas a window\n",
		       table->asked->limit || table->asked->is_within ? "of these " : "");
}

static void print_text(const struct table *table, size_t count)
{
	int source_width, limit_width;

	measure(table, count, &source_width, &limit_width);
	rf_out("%-*s %-*s %10s %10s %10s %8s of\n", source_width, "source", limit_width, "limit",
	       "passed", "dropped", "would drop", "used");
	for (size_t i = 0; i < count; i++)
		print_row(&table->row[i], source_width, limit_width);
	if (!table->count)
		print_none(table);
	else if (count < table->count)
		rf_out("… and %zu more; 'top N' shows N\n", table->count - count);
}

static int (*const orders[])(const void *, const void *) = {
	[RF_BY_DROPS] = compare_by_drops,
	[RF_BY_RATE] = compare_by_rate,
	[RF_BY_USED] = compare_by_used,
};

static int read_table(struct table *table, struct rf_error *error)
{
	const struct rf_fence *fence = table->fence;
	int err = rf_fence_bans(fence, &table->bans, error);

	if (!err)
		err = rf_fence_bank(fence, &table->rules, error);
	if (!err)
		err = check_limit(&table->rules, table->asked->limit, error);
	if (!err)
		err = rf_fence_each_source(fence, add_row, table, error);
	return err;
}

static int show_top(const struct rf_fence *fence, const void *context, json_t **json,
		    struct rf_error *error)
{
	const struct rf_top *top = context;
	struct table table = {.fence = fence, .asked = top};
	int err = read_table(&table, error);

	if (!err) {
		size_t count = table.count < top->rows ? table.count : top->rows;

		if (table.count)
			qsort(table.row, table.count, sizeof(*table.row), orders[top->order]);
		if (json)
			*json = make_json(&table, count);
		else
			print_text(&table, count);
	}
	rf_bans_free(&table.bans);
	free(table.row);
	return err;
}

int rf_cmd_top(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_top top;
	int err = rf_parse_top(words, &top, error);

	return err ? err : rf_show_fences(options, show_top, false, &top, error);
}
