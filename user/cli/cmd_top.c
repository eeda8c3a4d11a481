// SPDX-License-Identifier: GPL-2.0
/* top: the sources that matter most */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "cli/fences.h"
#include "cli/out.h"
#include "cli/recorded.h"
#include "cli/show.h"
#include "cli/source_table.h"
#include "cli/top_unseen.h"
#include "cli/view.h"
#include "fence/fence.h"
#include "rules/near.h"
#include "rules/policy.h"
#include "rules/probe_limit.h"
#include "screen/screen.h"
#include "screen/terminal.h"
#include "snapshot/records.h"

static int check_limit(const struct rf_bank *rules, const char *name, struct rf_error *error)
{
	if (!name || rf_bank_find(rules, name) >= 0)
		return 0;
	return rf_fail_no_limit(rules, name, "", error);
}

static int compare(double a, double b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int compare_by_rate(const void *a, const void *b)
{
	const struct rf_source_row *left = a, *right = b;

	return compare(rf_source_row_rate(left), rf_source_row_rate(right));
}

/* Of L, or of the burst of a bucket. */
static double used_share(const struct rf_source_row *row)
{
	return (double)row->used /
	       (rf_has_burst(row->limit) ? row->limit->burst : row->limit->rate);
}

static int compare_by_used(const void *a, const void *b)
{
	const struct rf_source_row *left = a, *right = b;

	return compare(used_share(left), used_share(right));
}

static int compare_by_drops(const void *a, const void *b)
{
	const struct rf_source_row *left = a, *right = b;
	int order = compare(left->dropped + left->would_drop, right->dropped + right->would_drop);

	if (!order)
		order = compare(left->banned_ns, right->banned_ns);
	return order ? order : compare_by_rate(a, b);
}

static json_t *make_json(const struct rf_fence *fence, const struct rf_source_rows *rows,
			 size_t count)
{
	const struct rf_source_rows first = {.row = rows->row, .count = count};

	return rf_view_merged(rf_record_json(rf_fence_name_fields, fence),
			      rf_record_json(rf_sources_fields, &first));
}

/* Without a limit no source has a window, so no source can be seen. */
static void print_none(const struct rf_bank *rules, const struct rf_top *asked)
{
	if (!rf_bank_count(rules))
		rf_out_text("no source has a window, since there is no limit; " RF_PROBE_ADVICE
			    "\n");
	else
		rf_out_text("no source %shas a window\n",
			    asked->limit || asked->is_within ? "of these " : "");
}

static void print_text(const struct rf_source_rows *rows, size_t count, enum rf_order order)
{
	rf_source_rows_print(rows, count,
			     order == RF_BY_RATE ? RF_SOURCES_BY_RATE : RF_SOURCES_OF_LIMIT);
	if (count < rows->count)
		rf_out("… and %zu more; 'top N' shows N\n", rows->count - count);
}

static int (*const orders[])(const void *, const void *) = {
	[RF_BY_DROPS] = compare_by_drops,
	[RF_BY_RATE] = compare_by_rate,
	[RF_BY_USED] = compare_by_used,
};

static int show_top(const struct rf_fence *fence, const void *context, json_t **json,
		    struct rf_error *error)
{
	const struct rf_top *top = context;
	const struct rf_source_filter filter = {top->limit, top->is_within ? &top->within : NULL,
						false, true};
	struct rf_source_rows rows = {};
	struct rf_bans bans = {};
	int err = rf_fence_bans(fence, &bans, error);

	if (!err)
		err = check_limit(&bans.rules, top->limit, error);
	if (!err)
		err = rf_source_rows_read(fence, &bans, &filter, &rows, error);
	if (!err) {
		const size_t count = rows.count < top->rows ? rows.count : top->rows;

		if (rows.count)
			rf_sort(rows.row, rows.count, sizeof(*rows.row), orders[top->order]);
		if (json)
			*json = make_json(fence, &rows, count);
		else
			print_text(&rows, count, top->order);
		if (!json && !rows.count)
			print_none(&bans.rules, top);
	}
	if (!err)
		err = rf_top_unseen(fence, top, json ? *json : NULL, error);
	rf_bans_free(&bans);
	rf_source_rows_free(&rows);
	return err;
}

/* On a terminal, unless it is asked to print. */
static bool is_screen(const struct rf_options *options, const struct rf_top *top)
{
	return !top->has_rows && !top->at_ns && !top->sample_ns && !options->json &&
	       rf_terminal_is_fit();
}

int rf_cmd_top(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_top top;
	int err = rf_parse_top(words, &top, error);

	if (!err && top.at_ns)
		return rf_top_at(options, &top, error);
	if (!err && is_screen(options, &top))
		return rf_screen_run(&(struct rf_screen){options->dev, &top, rf_show_json}, error);
	return err ? err : rf_show_fences(options, show_top, false, &top, error);
}
