// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>

#include "base/time.h"
#include "cli/out.h"
#include "cli/source_table.h"
#include "cli/table.h"

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
