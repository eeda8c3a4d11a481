/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SQLite, as history uses it. Statements are prepared once. The columns of a table, the parameters
 * of a question and the columns of its result are rows that map each value to a member of a struct.
 * Other values are bound by a format.
 */
#ifndef RINGFENCE_DB_H
#define RINGFENCE_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/prefix.h"
#include "schema/record.h"

struct rf_db_statement {
	const void *key; /* its SQL, table or question: a statement is found by the address */
	sqlite3_stmt *stmt;
};

struct rf_db {
	sqlite3 *sqlite;		   /* NULL: not open */
	struct rf_db_statement *statement; /* grows: no number of statements is too many */
	int count;
	int failed; /* SQLite's code of the last failure, SQLITE_OK before */
};

/* The type of a value in the struct; in the file it is an integer, a real, a text or a blob. */
enum rf_db_kind {
	RF_DB_INTEGER, /* int64_t or uint64_t */
	RF_DB_TIME,    /* uint64_t, ns since 1970; in the file ms */
	RF_DB_REAL,    /* double */
	RF_DB_BOOL,
	RF_DB_SMALL,	 /* uint32_t, or an int that is not negative */
	RF_DB_WORD,	 /* an array of char, the text cut to its size */
	RF_DB_TEXT,	 /* const char *; of a row it is valid until the next one */
	RF_DB_PREFIX,	 /* struct rf_prefix */
	RF_DB_PREFIX_AT, /* a pointer to one, of a parameter; NULL is NULL */
	RF_DB_BLOB,	 /* struct rf_db_blob, valid as a text is */
};

struct rf_db_blob {
	const void *data;
	int size;
};

/* One value of a row, or one parameter of a statement. */
struct rf_db_column {
	const char *name; /* in SQL */
	enum rf_db_kind kind;
	size_t offset, size;	/* of the value in the struct */
	const char *expression; /* not stored: read as this; NULL: stored */
};

/* The kind follows from the type of the member: no other type compiles. */
/* clang-format off */
#define RF_DB_KIND(member)                          \
	_Generic((member),                          \
		long: RF_DB_INTEGER,                \
		unsigned long: RF_DB_INTEGER,       \
		double: RF_DB_REAL,                 \
		bool: RF_DB_BOOL,                   \
		int: RF_DB_SMALL,                   \
		uint32_t: RF_DB_SMALL,              \
		char *: RF_DB_WORD,                 \
		const char *: RF_DB_TEXT,           \
		struct rf_prefix: RF_DB_PREFIX,     \
		const struct rf_prefix *: RF_DB_PREFIX_AT, \
		struct rf_db_blob: RF_DB_BLOB)
/* clang-format on */

#define RF_DB_COLUMN_OF(kind_, type, member, fits, name_, ...)                               \
	{                                                                                    \
		.name = name_, .kind = kind_, .offset = RF_FIELD_OFFSET(type, member, fits), \
		.size = sizeof(RF_MEMBER(type, member)), ##__VA_ARGS__                       \
	}
#define RF_DB_COLUMN(type, member, name, ...)                                          \
	RF_DB_COLUMN_OF(RF_DB_KIND(RF_MEMBER(type, member)), type, member, true, name, \
			##__VA_ARGS__)
#define RF_DB_COLUMN_OF_TIME(type, member, name) \
	RF_DB_COLUMN_OF(RF_DB_TIME, type, member, RF_MEMBER_IS(type, member, uint64_t), name)

struct rf_db_columns {
	const struct rf_db_column *column;
	int count;
};

/* A table, from which CREATE TABLE, INSERT and SELECT of all of its columns follow. */
struct rf_db_table {
	const char *name;
	struct rf_db_columns columns;
	const char *counted; /* its key, if SQLite counts it; NULL: the first column is the key */
	const char *keys;    /* or these columns */
	const char *unique;  /* columns; a row that is already there is not inserted again */
	bool has_no_rowid;
	const char *indexed[2]; /* columns */
	const char *comment;	/* before it, as SQL */
};

/* `flags` as of sqlite3_open_v2(). Returns SQLite's code. Close it even after an error. */
int rf_db_open(struct rf_db *db, const char *path, int flags);
void rf_db_close(struct rf_db *db);
/* Runs statements that return no rows, or none that matter. Returns SQLite's code. */
int rf_db_exec(struct rf_db *db, const char *sql);
/*
 * Prepares and binds a statement. `format` has a letter for each value that follows: i (int64_t) or
 * t (const char *, NULL is NULL). On failure returns NULL and sets db->failed. `sql` must be a
 * literal.
 */
sqlite3_stmt *rf_db_begin(struct rf_db *db, const char *sql, const char *format, ...);
/* A question: its statement, and the struct of its rows. */
struct rf_db_question {
	const char *sql;
	const char *table; /* `sql` follows a SELECT of all columns from it; NULL: `sql` is whole */
	struct rf_db_columns columns;
};

/*
 * Prepares a question and binds its named parameters. The statement must return the columns of the
 * question in the same order: otherwise db->failed is SQLITE_MISUSE. The question must be static.
 */
sqlite3_stmt *rf_db_ask(struct rf_db *db, const struct rf_db_question *question,
			const struct rf_db_columns *parameters, const void *asked);
/* Copies the current row into a struct. False: the text of a prefix is invalid. */
bool rf_db_take(sqlite3_stmt *stmt, const struct rf_db_columns *columns, void *row);
/* Inserts a row into a table, which must be static. Returns SQLite's code. */
int rf_db_insert(struct rf_db *db, const struct rf_db_table *table, const void *row);
/* Writes CREATE TABLE and CREATE INDEX, with the comment. */
void rf_db_write_table(FILE *file, const struct rf_db_table *table);
/* Steps to the next row. False: no more rows, and the statement is reset. */
bool rf_db_row(struct rf_db *db, sqlite3_stmt *stmt);
/* Resets a statement before its last row. */
void rf_db_end(sqlite3_stmt *stmt);
/* Runs a statement and discards its rows. Returns SQLite's code. */
int rf_db_run(struct rf_db *db, const char *sql, const char *format, ...);
/* The first value of the first row, or `otherwise`. */
int64_t rf_db_int(struct rf_db *db, int64_t otherwise, const char *sql, const char *format, ...);
/* A text of the row; "" for NULL. */
const char *rf_db_text(sqlite3_stmt *stmt, int column);
/* Is the file damaged, or no database at all? */
bool rf_db_is_damage(int code);
/* Formats `what: SQLite's message` and returns a negative errno. */
int rf_db_fail(const struct rf_db *db, const char *what, struct rf_error *error);

/* ---- the schema of a history ---- */

/* PRAGMA application_id of a history: "rfh1". Without it a file is of another build, or no history.
 */
#define RF_SCHEMA_APPLICATION 0x72666831
#define RF_SCHEMA_VERSION 2
/* `id` of a row that belongs to a scan: the scan's number, then a number within the scan. */
#define RF_SCAN_SHIFT 16

/* The schema with its comments, as `history schema` prints it. The caller frees it. */
char *rf_schema_text(void);

enum rf_schema_format {
	RF_SCHEMA_NONE, /* it is empty */
	RF_SCHEMA_OURS,
	RF_SCHEMA_LATER,
	RF_SCHEMA_OTHER, /* of another build, or no history at all */
};

/* Reads the format from the marks in the file. On failure sets db->failed. */
enum rf_schema_format rf_schema_format(struct rf_db *db);
/* Makes the tables in an empty file. Returns SQLite's code. */
int rf_schema_make(struct rf_db *db);

#endif /* RINGFENCE_DB_H */
