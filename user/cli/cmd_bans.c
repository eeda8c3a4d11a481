// SPDX-License-Identifier: GPL-2.0
/* bans, unban */
#include <errno.h>
#include <string.h>

#include "base/time.h"
#include "cli/out.h"
#include "cli/table.h"
#include "cli/transaction.h"

/* The remaining time of a ban, and the time since its start, in ns. */
static uint64_t left_ns(const struct rf_fence *fence, const struct rf_bans *bans,
			const struct rf_ban_row *row)
{
	return rf_fence_left_ns(fence, bans->now, row->until);
}

static uint64_t lasted_ns(const struct rf_fence *fence, const struct rf_bans *bans,
			  const struct rf_ban_row *row)
{
	return rf_fence_left_ns(fence, row->since, bans->now);
}

static int print_json(const struct rf_fence *fence, const struct rf_bans *bans,
		      struct rf_error *error)
{
	json_t *list = json_array();

	for (size_t i = 0; i < bans->count; i++) {
		const struct rf_ban_row *row = &bans->row[i];
		char source[RF_PREFIX_TEXT_SIZE];

		rf_format_source(&row->source, row->limit, source);
		json_array_append_new(
			list,
			json_pack("{s:s, s:s, s:b, s:I, s:I}", "source", source, "limit",
				  row->limit->name, "all", (row->limit->flags & RF_BAN_ALL) != 0,
				  "left_ms", (json_int_t)(left_ns(fence, bans, row) / RF_NS_PER_MS),
				  "since_ms",
				  (json_int_t)(lasted_ns(fence, bans, row) / RF_NS_PER_MS)));
	}
	return rf_out_json(json_pack("{s:o}", "bans", list), false, error);
}

/* What the table of bans is made of. */
struct listing {
	const struct rf_fence *fence;
	const struct rf_bans *bans;
};

static void fill(const void *context, size_t i, struct rf_cells *cells)
{
	const struct listing *listing = context;
	const struct rf_ban_row *row = &listing->bans->row[i];
	char lasted[RF_DURATION_TEXT_SIZE];

	rf_format_source(&row->source, row->limit, cells->text[0]);
	snprintf(cells->text[1], RF_CELL_SIZE, "%s", row->limit->name);
	rf_format_left(left_ns(listing->fence, listing->bans, row), cells->text[2]);
	rf_format_left(lasted_ns(listing->fence, listing->bans, row), lasted);
	snprintf(cells->text[3], RF_CELL_SIZE, "%s%s", lasted,
		 row->limit->flags & RF_BAN_ALL ? "  (all its packets)" : "");
}

static void print_text(const struct rf_fence *fence, const struct rf_bans *bans)
{
	static const struct rf_column columns[] = {
		{"source", false, 0}, {"limit", false, 0}, {"left", false, 8}, {"since", false, 0}};
	const struct listing listing = {fence, bans};
	const struct rf_table table = {columns, ARRAY_SIZE(columns), 2, bans->count, &listing,
				       fill};

	if (bans->count)
		rf_table_print(&table);
	else
		rf_out("no source is banned\n");
}

int rf_cmd_bans(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_bans bans = {};
	int err;

	rf_words_take(words, "list");
	err = rf_words_end(words, error);
	if (!err)
		err = rf_fence_open(&fence, options->dev, error);
	if (!err)
		err = rf_fence_bans(&fence, &bans, error);
	if (!err && options->json)
		err = print_json(&fence, &bans, error);
	else if (!err)
		print_text(&fence, &bans);
	rf_bans_free(&bans);
	rf_fence_close(&fence);
	return err;
}

/* ---- unban ---- */

static int print_lifted(const struct rf_options *options, const struct rf_unban *unban,
			struct rf_error *error)
{
	if (!unban->bans && !unban->all)
		return rf_fail_not_banned(unban, error);
	if (options->json)
		return rf_out_json(json_pack("{s:i}", "lifted", unban->bans), false, error);
	rf_out("%d ban%s ended\n", unban->bans, unban->bans == 1 ? "" : "s");
	return 0;
}

int rf_cmd_unban(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_unban unban = {};
	int err = rf_parse_unban(words, &unban.prefix, &unban.all, error);

	if (!err)
		err = rf_fence_open_to_change(&fence, options->dev, error);
	if (!err)
		err = rf_fence_unban(&fence, &unban, 1, true, error);
	if (!err)
		err = print_lifted(options, &unban, error);
	rf_fence_close(&fence);
	return err;
}
