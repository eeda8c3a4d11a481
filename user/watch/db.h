/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SQLite, as history uses it. Statements are prepared once. Values are bound by a format, or by the
 * names of a table of columns; a row of a result goes into a struct by such a table too.
 */
#ifndef RINGFENCE_DB_H
#define RINGFENCE_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/prefix.h"

struct rf_db_statement {
	const char *literal; /* its SQL or table: a statement is found by the address */
	sqlite3_stmt *stmt;
};

struct rf_db {
	sqlite3 *sqlite;		   /* NULL: not open */
	struct rf_db_statement *statement; /* grows: no number of statements is too many */
	int count;
	int failed; /* SQLite's code of the last failure, SQLITE_OK before */
};

/* What a value is in the struct; in the file it is an integer, a real or a text. */
enum rf_db_kind {
	RF_DB_INTEGER, /* int64_t or uint64_t */
	RF_DB_TIME,    /* uint64_t, ns since 1970; in the file ms */
	RF_DB_REAL,    /* double */
	RF_DB_BOOL,
	RF_DB_SMALL, /* uint32_t */
	RF_DB_WORD,  /* an array of char, the text cut to its size */
	RF_DB_TEXT,  /* const char *; of a row it is valid until the next one */
	RF_DB_PREFIX,
	RF_DB_BLOB, /* struct rf_db_blob, valid as a text is */
};

struct rf_db_blob {
	const void *data;
	int size;
};

/* One value of a row, or one parameter of a statement. */
struct rf_db_column {
	const char *name; /* in SQL */
	enum rf_db_kind kind;
	size_t offset, size; /* of the value in the struct */
};

#define RF_DB_COLUMN(type, field, name, kind)                                            \
	{                                                                                \
		name, RF_DB_##kind, offsetof(type, field), sizeof(((type *)NULL)->field) \
	}

struct rf_db_columns {
	const struct rf_db_column *column;
	int count;
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
/*
 * Begins a statement whose parameters are named. Its columns must be those of `row`, in their
 * order: otherwise db->failed is SQLITE_MISUSE. `sql` must be a literal.
 */
sqlite3_stmt *rf_db_ask(struct rf_db *db, const char *sql, const struct rf_db_columns *parameters,
			const void *asked, const struct rf_db_columns *row);
/* Puts the present row into a struct. False: one of its prefixes is none. */
bool rf_db_take(sqlite3_stmt *stmt, const struct rf_db_columns *columns, void *row);
/* Inserts a row into a table: a literal. Returns SQLite's code. */
int rf_db_insert(struct rf_db *db, const char *table, const char *format, ...);
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

/* ---- the schema of a history ---- */

/* PRAGMA application_id of a history: "rfh1". Without it a file is of another build, or no history.
 */
#define RF_SCHEMA_APPLICATION 0x72666831
#define RF_SCHEMA_VERSION 1
/* `id` of a row that belongs to a scan: the scan's number, then one of its own. */
#define RF_SCAN_SHIFT 16

/* The schema with its comments, as `history schema` prints it. */
extern const char rf_schema_text[];

enum rf_schema_format {
	RF_SCHEMA_NONE, /* it is empty */
	RF_SCHEMA_OURS,
	RF_SCHEMA_LATER,
	RF_SCHEMA_OTHER, /* of another build, or no history at all */
};

/* The format by the marks in the file, which stays unchanged; db->failed if it cannot be read. */
enum rf_schema_format rf_schema_format(struct rf_db *db);
/* Makes the tables in an empty file. Returns SQLite's code. */
int rf_schema_make(struct rf_db *db);

#endif /* RINGFENCE_DB_H */
