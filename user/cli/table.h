/* SPDX-License-Identifier: GPL-2.0 */
/* Tables for people: columns as wide as what is in them, within the width of rf_out_wrapped(). */
#ifndef RINGFENCE_TABLE_H
#define RINGFENCE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#define RF_TABLE_COLUMNS 8
#define RF_CELL_SIZE 96

struct rf_column {
	const char *title;
	bool is_number; /* at the right of its column */
	int least;	/* columns of the terminal; 0: as the title */
};

struct rf_cells {
	char text[RF_TABLE_COLUMNS][RF_CELL_SIZE];
};

/*
 * `names` columns say what a row is about. Where some row would be too wide, the other columns of
 * each row are in a second line.
 */
struct rf_table {
	const struct rf_column *column;
	int columns;
	int names;
	size_t rows;
	const void *context;
	void (*fill)(const void *context, size_t row, struct rf_cells *cells);
};

void rf_table_print(const struct rf_table *table);

#endif /* RINGFENCE_TABLE_H */
