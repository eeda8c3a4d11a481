// SPDX-License-Identifier: GPL-2.0
/* bans, unban */
#include <errno.h>
#include <string.h>

#include "base/time.h"
#include "cli/out.h"
#include "cli/table.h"
#include "cli/transaction.h"
#include "snapshot/records.h"

static void fill(const void *context, size_t i, struct rf_cells *cells)
{
	const struct rf_ban_row *row = &((const struct rf_bans *)context)->row[i];
	char lasted[RF_DURATION_TEXT_SIZE];

	rf_format_source(&row->source, row->limit, cells->text[0]);
	snprintf(cells->text[1], RF_CELL_SIZE, "%s", row->limit->name);
	rf_format_left(row->left_ns, cells->text[2]);
	rf_format_left(row->lasted_ns, lasted);
	snprintf(cells->text[3], RF_CELL_SIZE, "%s%s", lasted,
		 row->limit->flags & RF_BAN_ALL ? "  (all its packets)" : "");
}

static void print_text(const struct rf_bans *bans)
{
	static const struct rf_column columns[] = {
		{"source", false, 0}, {"limit", false, 0}, {"left", false, 8}, {"since", false, 0}};
	const struct rf_table table = {columns, ARRAY_SIZE(columns), 2, bans->count, bans, fill};

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
		err = rf_out_json(rf_record_json(rf_bans_fields, &bans), false, error);
	else if (!err)
		print_text(&bans);
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
