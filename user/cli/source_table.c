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

/* 100, 0.5, 8.1mbit: in a second. */
static void format_rate(const struct rf_source_row *row, char text[RF_CELL_SIZE])
{
	static const char *const units[] = {"bit", "kbit", "mbit", "gbit"};
	double rate = rf_source_row_rate(row);
	int unit = 0;

	if (row->limit->unit == RF_BYTES)
		for (rate *= 8; rate >= 1000 && unit < 3; rate /= 1000)
			unit++;
	snprintf(text, RF_CELL_SIZE, "%.*f%s", rate > 0 && rate < 10 ? 1 : 0, rate,
		 row->limit->unit == RF_BYTES ? units[unit] : "");
}

/* What is printed of the rows. */
struct printed {
	const struct rf_source_rows *rows;
	bool has_rate;
};

static void fill(const void *context, size_t i, struct rf_cells *cells)
{
	const struct printed *printed = context;
	const struct rf_source_row *row = &printed->rows->row[i];
	const uint64_t number[] = {row->passed, row->dropped, row->would_drop, row->used};
	int column = 2;

	rf_format_prefix(&row->source, cells->text[0]);
	snprintf(cells->text[1], RF_CELL_SIZE, "%s", row->limit->name);
	if (printed->has_rate)
		format_rate(row, cells->text[column++]);
	for (int k = 0; k < 4; k++)
		snprintf(cells->text[column++], RF_CELL_SIZE, "%" PRIu64, number[k]);
	format_of(row, cells->text[column]);
}

void rf_source_rows_print(const struct rf_source_rows *rows, size_t count,
			  enum rf_source_columns columns)
{
	static const struct rf_column plain[] = {
		{"source", false, 0}, {"limit", false, 0},     {"passed", true, 0},
		{"dropped", true, 0}, {"would drop", true, 0}, {"used", true, 0},
		{"of", false, 0},
	};
	static const struct rf_column with_rate[] = {
		{"source", false, 0}, {"limit", false, 0},  {"rate/s", true, 0},
		{"passed", true, 0},  {"dropped", true, 0}, {"would drop", true, 0},
		{"used", true, 0},    {"of", false, 0},
	};
	static const int counts[] = {
		[RF_SOURCES_PLAIN] = 6, [RF_SOURCES_OF_LIMIT] = 7, [RF_SOURCES_BY_RATE] = 8};
	const struct printed printed = {rows, columns == RF_SOURCES_BY_RATE};
	const struct rf_table table = {
		printed.has_rate ? with_rate : plain, counts[columns], 2, count, &printed, fill};

	rf_table_print(&table);
}
