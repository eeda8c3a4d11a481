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

/* Prints the error as one line, with the program's name before it. */
void rf_out_error(const struct rf_error *error);
/* Prints a note in the same way. */
void rf_out_note(const char *text);
/* Prints the complaint of the verifier, before the error that it led to. "": prints nothing. */
void rf_out_log(const char *log);
__attribute__((format(printf, 1, 2))) void rf_out(const char *format, ...);

#define RF_OUT_WIDTH 80 /* columns */

/* The number of columns that the first `length` bytes of a UTF-8 text take. */
int rf_out_width(const char *text, size_t length);
/*
 * Prints words from column `at` on, in lines of RF_OUT_WIDTH; the next lines begin at column
 * `indent`. Keeps 'a quoted command' in one line, so that it can be copied.
 */
void rf_out_wrapped(const char *text, int at, int indent);
/*
 * Prints sentences, wrapped in the same way. A line begins as far right as its text does, and goes
 * on four columns further. A line may be printed in parts: it appears when it is complete.
 */
__attribute__((format(printf, 1, 2))) void rf_out_text(const char *format, ...);

/* Progress, in one line that is redrawn; only on a terminal. */
void rf_out_progress(size_t done, size_t total);

/*
 * Raised when a key of JSON goes or changes its meaning; a new key does not raise it. An object
 * whose number was raised has its own, which json(5) lists.
 */
#define RF_JSON_SCHEMA 1

/*
 * Prints and frees an object, with `schema` as its first key; NULL is an error of jansson.
 * `compact`: on one line, for streams.
 */
int rf_out_json(json_t *contents, bool compact, struct rf_error *error);
/*
 * Prints the error as {"error":…}, on a line of standard output, with the keys that were added to
 * it. Prints nothing where an object was printed already: `doctor` fails after its report.
 */
void rf_out_error_json(const struct rf_error *error);
void rf_out_error_key(const char *key, json_t *value);
/* Flushes standard output. Returns 0, or its first error so far, such as a full disk. */
int rf_out_flush(void);

#endif /* RINGFENCE_OUT_H */
