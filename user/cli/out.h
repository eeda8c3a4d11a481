/* SPDX-License-Identifier: GPL-2.0 */
/* The only code that prints. Results go to stdout, errors to stderr. */
#ifndef RINGFENCE_OUT_H
#define RINGFENCE_OUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"
#include "rules/grammar.h"
#include "schema/reasons.h"
#include "schema/record.h"

/* Prints the error as one line, with the program's name before it. */
void rf_out_error(const struct rf_error *error);
/*
 * Accepts the result of one of several steps that all run regardless of failures: `result` and
 * `error` get the last failure, and earlier ones are printed.
 */
void rf_out_keep_last(int err, const struct rf_error *failure, int *result, struct rf_error *error);
/* Prints a note as rf_out_error() does. */
void rf_out_note(const char *text);
/* Prints the complaint of the verifier, before the error that it led to. "": prints nothing. */
void rf_out_log(const char *log);
__attribute__((format(printf, 1, 2))) void rf_out(const char *format, ...);

#define RF_OUT_WIDTH 80 /* columns */

/* The number of columns that the first `length` bytes of a UTF-8 text take. */
int rf_out_width(const char *text, size_t length);
/*
 * Prints words from column `at` on, in lines of RF_OUT_WIDTH; the next lines start at column
 * `indent`. Leaves 'a quoted command' in one line: it can be copied.
 */
void rf_out_wrapped(const char *text, int at, int indent);
/*
 * Prints sentences, wrapped in the same way. A line starts at the column of its text, and continues
 * four columns further right. A line can be printed in parts: it appears when it is complete.
 */
__attribute__((format(printf, 1, 2))) void rf_out_text(const char *format, ...);

/* Progress, in one line that is redrawn; only on a terminal. */
void rf_out_progress(size_t done, size_t total);

/*
 * Prints and frees an object, with `schema` as its first key; NULL is an error of jansson.
 * `compact`: on one line, for streams.
 */
int rf_out_json(json_t *contents, bool compact, struct rf_error *error);
/* Prints the object of a record, indented. */
int rf_out_record(const struct rf_field *fields, const void *of, struct rf_error *error);
/*
 * Prints the error as {"error":…}, on a line of standard output, with the keys that were added to
 * it. Prints nothing if an object was already printed: `doctor` fails after its report.
 */
void rf_out_error_json(const struct rf_error *error);
void rf_out_error_more(const struct rf_field *fields, const void *of);
/* Flushes standard output. Returns 0, or its first error, such as a full disk. */
int rf_out_flush(void);

/* From now on SIGINT, SIGTERM and, if requested, SIGHUP only make rf_out_is_interrupted() true. */
void rf_out_until_interrupt(bool or_hangup);
bool rf_out_is_interrupted(void);

/* ---- tables: columns as wide as their text, within the width of rf_out_wrapped() ---- */

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
 * `names` columns identify the row. If some row would be too wide, the other columns of each row
 * are on a second line.
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

#endif /* RINGFENCE_OUT_H */
