/* SPDX-License-Identifier: GPL-2.0 */
/* SQLite, as history uses it: statements are prepared once, values are bound by a format. */
#ifndef RINGFENCE_DB_H
#define RINGFENCE_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct rf_db_statement {
	const char *sql; /* a literal: statements are found by its address */
	sqlite3_stmt *stmt;
};

struct rf_db {
	sqlite3 *sqlite;		   /* NULL: not open */
	struct rf_db_statement *statement; /* grows: no number of statements is too many */
	int count;
	int failed; /* SQLite's code of the last failure, SQLITE_OK before */
};

/* `flags` are those of sqlite3_open_v2(). Returns SQLite's code. Close it even after an error. */
int rf_db_open(struct rf_db *db, const char *path, int flags);
void rf_db_close(struct rf_db *db);
/* Runs statements that return no rows, or none that matter. Returns SQLite's code. */
int rf_db_exec(struct rf_db *db, const char *sql);
/*
 * Begins a statement. `format` has a letter for each value that follows: i (int64_t), t (const char
 * *, NULL is NULL) or b (const void *, int). NULL: db->failed says why. `sql` must be a literal.
 */
sqlite3_stmt *rf_db_begin(struct rf_db *db, const char *sql, const char *format, ...);
/* The next row, if there is one. Without one the statement has ended. */
bool rf_db_row(struct rf_db *db, sqlite3_stmt *stmt);
/* Ends a statement that may have more rows. */
void rf_db_end(sqlite3_stmt *stmt);
/* Runs a statement to its end. Returns SQLite's code. */
int rf_db_run(struct rf_db *db, const char *sql, const char *format, ...);
/* The first value of the first row, or `otherwise`. */
int64_t rf_db_int(struct rf_db *db, int64_t otherwise, const char *sql, const char *format, ...);
/* A text of a row; "" where it is NULL. */
const char *rf_db_text(sqlite3_stmt *stmt, int column);
/* Is the file damaged, or no database at all? */
bool rf_db_is_damage(int code);
/* `what: what SQLite says`, as a negative errno. */
int rf_db_fail(const struct rf_db *db, const char *what, struct rf_error *error);

#endif /* RINGFENCE_DB_H */
