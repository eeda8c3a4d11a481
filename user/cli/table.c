// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "cli/out.h"
#include "cli/table.h"

#define SECOND_INDENT 4 /* columns before a second line */

static int width_of(const char *text)
{
	return rf_out_width(text, strlen(text));
}

static void fill_titles(const struct rf_table *table, struct rf_cells *cells)
{
	for (int i = 0; i < table->columns; i++)
		snprintf(cells->text[i], RF_CELL_SIZE, "%s", table->column[i].title);
}

static void widen(const struct rf_table *table, const struct rf_cells *cells, int *width)
{
	for (int i = 0; i < table->columns; i++)
		if (width_of(cells->text[i]) > width[i])
			width[i] = width_of(cells->text[i]);
}

/* The width of each column, by the widest text in it. Returns that of the widest row. */
static int measure(const struct rf_table *table, int width[RF_TABLE_COLUMNS])
{
	struct rf_cells cells;
	int sum = -1;

	for (int i = 0; i < table->columns; i++)
		width[i] = table->column[i].least;
	fill_titles(table, &cells);
	widen(table, &cells, width);
	for (size_t row = 0; row < table->rows; row++) {
		table->fill(table->context, row, &cells);
		widen(table, &cells, width);
	}
	for (int i = 0; i < table->columns; i++)
		sum += width[i] + 1;
	return sum;
}

/* Prints the columns from `first` to the one before `end`; no blanks follow the last text. */
static void print_cells(const struct rf_table *table, const struct rf_cells *cells,
			const int *width, int first, int end)
{
	for (int i = first; i < end; i++) {
		const int blanks = width[i] - width_of(cells->text[i]);
		const bool is_number = table->column[i].is_number;
		const bool is_last = i == end - 1;

		rf_out("%*s%s%*s%s", is_number ? blanks : 0, "", cells->text[i],
		       is_number || is_last ? 0 : blanks, "", is_last ? "\n" : " ");
	}
}

static void print_row(const struct rf_table *table, const struct rf_cells *cells, const int *width,
		      bool in_two)
{
	print_cells(table, cells, width, 0, in_two ? table->names : table->columns);
	if (!in_two)
		return;
	rf_out("%*s", SECOND_INDENT, "");
	print_cells(table, cells, width, table->names, table->columns);
}

void rf_table_print(const struct rf_table *table)
{
	int width[RF_TABLE_COLUMNS];
	const bool in_two = measure(table, width) > RF_OUT_WIDTH;
	struct rf_cells cells;

	fill_titles(table, &cells);
	print_row(table, &cells, width, in_two);
	for (size_t row = 0; row < table->rows; row++) {
		table->fill(table->context, row, &cells);
		print_row(table, &cells, width, in_two);
	}
}
