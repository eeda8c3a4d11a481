// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "watch/db.h"

#define STATEMENTS_STEP 32

int rf_db_open(struct rf_db *db, const char *path, int flags)
{
	*db = (struct rf_db){};
	db->failed = sqlite3_open_v2(path, &db->sqlite, flags | SQLITE_OPEN_EXRESCODE, NULL);
	return db->failed;
}

void rf_db_close(struct rf_db *db)
{
	for (int i = 0; i < db->count; i++)
		sqlite3_finalize(db->statement[i].stmt);
	free(db->statement);
	sqlite3_close_v2(db->sqlite);
	*db = (struct rf_db){.failed = db->failed};
}

static int note(struct rf_db *db, int code)
{
	if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE)
		db->failed = code;
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

int rf_db_exec(struct rf_db *db, const char *sql)
{
	return note(db, sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL));
}

/* Room for one more statement. Returns SQLite's code: never that of a full disk. */
static int make_room(struct rf_db *db)
{
	struct rf_db_statement *grown;

	if (db->count % STATEMENTS_STEP)
		return SQLITE_OK;
	grown = realloc(db->statement, (db->count + STATEMENTS_STEP) * sizeof(*grown));
	if (!grown)
		return SQLITE_NOMEM;
	db->statement = grown;
	return SQLITE_OK;
}

static sqlite3_stmt *prepare(struct rf_db *db, const char *sql)
{
	sqlite3_stmt *stmt = NULL;

	for (int i = 0; i < db->count; i++)
		if (db->statement[i].sql == sql)
			return db->statement[i].stmt;
	if (note(db, make_room(db)))
		return NULL;
	if (note(db,
		 sqlite3_prepare_v3(db->sqlite, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL)))
		return NULL;
	db->statement[db->count].sql = sql;
	db->statement[db->count++].stmt = stmt;
	return stmt;
}

static int bind(sqlite3_stmt *stmt, int place, char kind, va_list *args)
{
	const void *data;

	switch (kind) {
	case 'i':
		return sqlite3_bind_int64(stmt, place, va_arg(*args, int64_t));
	case 't':
		return sqlite3_bind_text(stmt, place, va_arg(*args, const char *), -1,
					 SQLITE_TRANSIENT);
	default:
		data = va_arg(*args, const void *);
		return sqlite3_bind_blob(stmt, place, data, va_arg(*args, int), SQLITE_TRANSIENT);
	}
}

static sqlite3_stmt *begin(struct rf_db *db, const char *sql, const char *format, va_list *args)
{
	sqlite3_stmt *stmt = prepare(db, sql);
	int code = SQLITE_OK;

	for (int i = 0; stmt && format[i] && !code; i++)
		code = bind(stmt, i + 1, format[i], args);
	return note(db, code) ? NULL : stmt;
}

sqlite3_stmt *rf_db_begin(struct rf_db *db, const char *sql, const char *format, ...)
{
	sqlite3_stmt *stmt;
	va_list args;

	va_start(args, format);
	stmt = begin(db, sql, format, &args);
	va_end(args);
	return stmt;
}

bool rf_db_row(struct rf_db *db, sqlite3_stmt *stmt)
{
	if (!stmt)
		return false;
	if (note(db, sqlite3_step(stmt)) == SQLITE_ROW)
		return true;
	sqlite3_reset(stmt);
	return false;
}

void rf_db_end(sqlite3_stmt *stmt)
{
	sqlite3_reset(stmt);
}

int rf_db_run(struct rf_db *db, const char *sql, const char *format, ...)
{
	sqlite3_stmt *stmt;
	va_list args;
	int code;

	va_start(args, format);
	stmt = begin(db, sql, format, &args);
	va_end(args);
	if (!stmt)
		return db->failed;
	while ((code = sqlite3_step(stmt)) == SQLITE_ROW)
		;
	sqlite3_reset(stmt);
	return note(db, code);
}

int64_t rf_db_int(struct rf_db *db, int64_t otherwise, const char *sql, const char *format, ...)
{
	sqlite3_stmt *stmt;
	int64_t result = otherwise;
	va_list args;

	va_start(args, format);
	stmt = begin(db, sql, format, &args);
	va_end(args);
	if (!rf_db_row(db, stmt))
		return otherwise;
	if (sqlite3_column_type(stmt, 0) != SQLITE_NULL)
		result = sqlite3_column_int64(stmt, 0);
	rf_db_end(stmt);
	return result;
}

const char *rf_db_text(sqlite3_stmt *stmt, int column)
{
	return (const char *)sqlite3_column_text(stmt, column) ?: "";
}

bool rf_db_is_damage(int code)
{
	return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
}

static int errno_of(int code)
{
	switch (code & 0xff) {
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_PERM:
	case SQLITE_AUTH:
	case SQLITE_READONLY:
		return -EACCES;
	case SQLITE_BUSY:
		return -EBUSY;
	default:
		return -EIO;
	}
}

int rf_db_fail(const struct rf_db *db, const char *what, struct rf_error *error)
{
	const int code = db->failed ?: SQLITE_ERROR;

	return rf_error_failed(error, errno_of(code), "%s: %s", what, sqlite3_errstr(code));
}
