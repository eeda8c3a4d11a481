// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
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

static sqlite3_stmt *find_statement(const struct rf_db *db, const char *literal)
{
	for (int i = 0; i < db->count; i++)
		if (db->statement[i].literal == literal)
			return db->statement[i].stmt;
	return NULL;
}

static sqlite3_stmt *prepare_as(struct rf_db *db, const char *literal, const char *sql)
{
	sqlite3_stmt *stmt = NULL;

	if (note(db, make_room(db)))
		return NULL;
	if (note(db,
		 sqlite3_prepare_v3(db->sqlite, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL)))
		return NULL;
	db->statement[db->count].literal = literal;
	db->statement[db->count++].stmt = stmt;
	return stmt;
}

static sqlite3_stmt *prepare(struct rf_db *db, const char *sql)
{
	return find_statement(db, sql) ?: prepare_as(db, sql, sql);
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

int rf_db_insert(struct rf_db *db, const char *table, const char *format, ...)
{
	sqlite3_stmt *stmt = find_statement(db, table);
	int code = SQLITE_OK;
	char sql[256];
	va_list args;

	if (!stmt) {
		snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES(%.*s)", table,
			 2 * (int)strlen(format) - 1, "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?");
		stmt = prepare_as(db, table, sql);
	}
	va_start(args, format);
	for (int i = 0; stmt && format[i] && !code; i++)
		code = bind(stmt, i + 1, format[i], &args);
	va_end(args);
	if (!stmt)
		return db->failed;
	if (!code)
		code = sqlite3_step(stmt);
	sqlite3_reset(stmt);
	return note(db, code);
}

/* ---- by names ---- */

static int bind_value(sqlite3_stmt *stmt, int place, const struct rf_db_column *column,
		      const void *asked)
{
	const void *value = (const char *)asked + column->offset;
	char text[RF_PREFIX_TEXT_SIZE];

	switch (column->kind) {
	case RF_DB_TIME:
		return sqlite3_bind_int64(stmt, place, *(const uint64_t *)value / 1000000);
	case RF_DB_TEXT:
		return sqlite3_bind_text(stmt, place, *(const char *const *)value, -1,
					 SQLITE_TRANSIENT);
	case RF_DB_PREFIX: /* a pointer, where it is a parameter */
		if (!*(const struct rf_prefix *const *)value)
			return sqlite3_bind_null(stmt, place);
		rf_format_prefix(*(const struct rf_prefix *const *)value, text);
		return sqlite3_bind_text(stmt, place, text, -1, SQLITE_TRANSIENT);
	default:
		return sqlite3_bind_int64(stmt, place, *(const int64_t *)value);
	}
}

static int bind_names(sqlite3_stmt *stmt, const struct rf_db_columns *parameters, const void *asked)
{
	const int count = sqlite3_bind_parameter_count(stmt);
	int code = SQLITE_OK;

	for (int place = 1; place <= count && !code; place++) {
		const char *name = sqlite3_bind_parameter_name(stmt, place);
		int i = 0;

		while (i < parameters->count && strcmp(parameters->column[i].name, name) != 0)
			i++;
		code = i < parameters->count
			       ? bind_value(stmt, place, &parameters->column[i], asked)
			       : SQLITE_MISUSE;
	}
	return code;
}

static bool has_columns(sqlite3_stmt *stmt, const struct rf_db_columns *row)
{
	if (sqlite3_column_count(stmt) != row->count)
		return false;
	for (int i = 0; i < row->count; i++)
		if (strcmp(sqlite3_column_name(stmt, i), row->column[i].name) != 0)
			return false;
	return true;
}

sqlite3_stmt *rf_db_ask(struct rf_db *db, const char *sql, const struct rf_db_columns *parameters,
			const void *asked, const struct rf_db_columns *row)
{
	sqlite3_stmt *stmt = prepare(db, sql);

	if (!stmt)
		return NULL;
	return note(db,
		    has_columns(stmt, row) ? bind_names(stmt, parameters, asked) : SQLITE_MISUSE)
		       ? NULL
		       : stmt;
}

static void take_word(sqlite3_stmt *stmt, int place, char *to, size_t size)
{
	const char *text = rf_db_text(stmt, place);
	const size_t bytes = sqlite3_column_bytes(stmt, place);
	const size_t length = bytes < size ? strnlen(text, bytes) : strnlen(text, size - 1);

	memcpy(to, text, length);
	memset(to + length, 0, size - length);
}

bool rf_db_take(sqlite3_stmt *stmt, const struct rf_db_columns *columns, void *row)
{
	struct rf_error unused;
	bool is_whole = true;

	for (int i = 0; i < columns->count; i++) {
		const struct rf_db_column *column = &columns->column[i];
		void *to = (char *)row + column->offset;
		int64_t number;

		switch (column->kind) {
		case RF_DB_INTEGER:
			*(int64_t *)to = sqlite3_column_int64(stmt, i);
			break;
		case RF_DB_TIME:
			number = sqlite3_column_int64(stmt, i);
			*(uint64_t *)to = number > 0 ? number * 1000000ULL : 0;
			break;
		case RF_DB_REAL:
			*(double *)to = sqlite3_column_double(stmt, i);
			break;
		case RF_DB_BOOL:
			*(bool *)to = sqlite3_column_int64(stmt, i);
			break;
		case RF_DB_SMALL:
			*(uint32_t *)to = sqlite3_column_int64(stmt, i);
			break;
		case RF_DB_WORD:
			take_word(stmt, i, to, column->size);
			break;
		case RF_DB_TEXT:
			*(const char **)to = rf_db_text(stmt, i);
			break;
		case RF_DB_PREFIX:
			is_whole &= !rf_parse_prefix(rf_db_text(stmt, i), to, &unused);
			break;
		case RF_DB_BLOB:
			((struct rf_db_blob *)to)->data = sqlite3_column_blob(stmt, i);
			((struct rf_db_blob *)to)->size = sqlite3_column_bytes(stmt, i);
			break;
		}
	}
	return is_whole;
}

/* ---- one value ---- */

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

/* ---- the schema of a history ---- */

const char rf_schema_text[] =
	"-- The history of a fence. PRAGMA application_id is 0x72666831, PRAGMA user_version 1.\n"
	"-- Times are milliseconds since 1970, in UTC, and the ends of their intervals. Counts\n"
	"-- are of one interval. An id is a scan or a minute, times 65536, plus a number within\n"
	"-- it. Scans count up, also when the clock is set back.\n"
	"\n"
	"-- Each second, for 48 hours: what the scan saw, and the length of the interval.\n"
	"CREATE TABLE totals(\n"
	"  scan INTEGER PRIMARY KEY, time INTEGER NOT NULL, ms INTEGER NOT NULL,\n"
	"  sources INTEGER NOT NULL, windows4 INTEGER NOT NULL, windows6 INTEGER NOT NULL);\n"
	"CREATE INDEX totals_time ON totals(time);\n"
	"-- What is counted. kind: passed or dropped (name: the reason), limit (outcome:\n"
	"-- passed, dropped, would_drop, forfeited), newcomers, inserts, evictions, map_error.\n"
	"CREATE TABLE series(\n"
	"  series INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL,\n"
	"  outcome TEXT NOT NULL, UNIQUE(kind, name, outcome));\n"
	"-- id: scan * 65536 + series. What is 0 has no row.\n"
	"CREATE TABLE counts(\n"
	"  id INTEGER PRIMARY KEY, packets INTEGER NOT NULL, bytes INTEGER NOT NULL);\n"
	"\n"
	"-- The same for each minute, for 30 days. scan: the last one in it.\n"
	"CREATE TABLE minutes(\n"
	"  minute INTEGER PRIMARY KEY, time INTEGER NOT NULL, ms INTEGER NOT NULL,\n"
	"  sources INTEGER NOT NULL, scan INTEGER NOT NULL);\n"
	"CREATE INDEX minutes_time ON minutes(time);\n"
	"-- id: minute * 65536 + series. peak: the most packets in one second.\n"
	"CREATE TABLE minute_counts(\n"
	"  id INTEGER PRIMARY KEY, packets INTEGER NOT NULL, bytes INTEGER NOT NULL,\n"
	"  peak INTEGER NOT NULL);\n"
	"\n"
	"-- Every 10 s, for 48 hours: the sources with the most drops, those with the most\n"
	"-- packets, and a sample. share: one in so many sources is in the sample.\n"
	"CREATE TABLE samples(\n"
	"  scan INTEGER PRIMARY KEY, time INTEGER NOT NULL, ms INTEGER NOT NULL,\n"
	"  share INTEGER NOT NULL);\n"
	"CREATE INDEX samples_time ON samples(time);\n"
	"CREATE TABLE limits(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);\n"
	"-- id: scan * 65536 + row. number: of the limit. why: 1 by drops, 2 by rate, 4 in\n"
	"-- the sample, or a sum of these. used: the most, in millionths of the limit.\n"
	"CREATE TABLE sources(\n"
	"  id INTEGER PRIMARY KEY, source TEXT NOT NULL, number INTEGER NOT NULL,\n"
	"  why INTEGER NOT NULL, passed INTEGER NOT NULL, dropped INTEGER NOT NULL,\n"
	"  would_drop INTEGER NOT NULL, used INTEGER NOT NULL, banned INTEGER NOT NULL);\n"
	"\n"
	"-- Sums of the rows of sources, an hour at a time, once it is over. first, last: of\n"
	"-- the scans that are summed up; min_time: the least time of their samples; max_start:\n"
	"-- the greatest time less ms. kept: 0, where samples of the hour were deleted, or\n"
	"-- where sums would be nearly as many as rows; then there are none in source_sums.\n"
	"CREATE TABLE sums(\n"
	"  first INTEGER PRIMARY KEY, last INTEGER NOT NULL, min_time INTEGER NOT NULL,\n"
	"  max_start INTEGER NOT NULL, kept INTEGER NOT NULL);\n"
	"-- first: of the sums. used, banned: the greatest.\n"
	"CREATE TABLE source_sums(\n"
	"  first INTEGER NOT NULL, number INTEGER NOT NULL, source TEXT NOT NULL,\n"
	"  passed INTEGER NOT NULL, dropped INTEGER NOT NULL, would_drop INTEGER NOT NULL,\n"
	"  used INTEGER NOT NULL, banned INTEGER NOT NULL,\n"
	"  PRIMARY KEY(first, number, source)) WITHOUT ROWID;\n"
	"\n"
	"-- Cells of up to 512 sources, for 2 hours; packed, 'ringfence show' prints them.\n"
	"-- id: scan * 65536 + part. number: of the limit.\n"
	"CREATE TABLE cells(\n"
	"  id INTEGER PRIMARY KEY, number INTEGER NOT NULL, time INTEGER NOT NULL,\n"
	"  data BLOB NOT NULL);\n"
	"CREATE INDEX cells_time ON cells(time);\n"
	"\n"
	"-- For 30 days, as minutes.\n"
	"CREATE TABLE events(\n"
	"  seq INTEGER PRIMARY KEY, time INTEGER NOT NULL, type TEXT NOT NULL,\n"
	"  id TEXT NOT NULL, limit_name TEXT NOT NULL, source TEXT NOT NULL,\n"
	"  reason TEXT NOT NULL, rate TEXT NOT NULL, passed INTEGER NOT NULL,\n"
	"  dropped INTEGER NOT NULL, first_seen INTEGER NOT NULL, detail TEXT NOT NULL);\n"
	"CREATE INDEX events_time ON events(time);\n"
	"CREATE INDEX events_id ON events(id);\n"
	"-- The rules that were in force from this time on.\n"
	"CREATE TABLE rules(\n"
	"  id INTEGER PRIMARY KEY, time INTEGER NOT NULL, text TEXT NOT NULL);\n"
	"-- When nothing was recorded. why: down (ringfence-watch did not run), detached (the\n"
	"-- fence was not attached), slept (the machine slept, or its clock was set forward),\n"
	"-- clock (the clock was set back: the end may be before the start), stalled, disk (no\n"
	"-- room), reader (one did not end, and the log was full), errors (writing failed).\n"
	"-- Packets: what the fence counted meanwhile, as far as that is known.\n"
	"CREATE TABLE gaps(\n"
	"  id INTEGER PRIMARY KEY, start INTEGER NOT NULL, end INTEGER NOT NULL,\n"
	"  why TEXT NOT NULL, passed INTEGER NOT NULL, dropped INTEGER NOT NULL);\n"
	"-- What ringfence-watch remembers over a restart; sample: the key that chooses it.\n"
	"CREATE TABLE state(key TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;\n";

enum rf_schema_format rf_schema_format(struct rf_db *db)
{
	const int64_t application = rf_db_int(db, 0, "PRAGMA application_id", "");
	const int64_t version = rf_db_int(db, 0, "PRAGMA user_version", "");

	if (application == RF_SCHEMA_APPLICATION)
		return version == RF_SCHEMA_VERSION  ? RF_SCHEMA_OURS
		       : version > RF_SCHEMA_VERSION ? RF_SCHEMA_LATER
						     : RF_SCHEMA_OTHER;
	if (application || version || rf_db_int(db, 0, "SELECT count(*) FROM sqlite_schema", ""))
		return RF_SCHEMA_OTHER;
	return RF_SCHEMA_NONE;
}

/* The marks are a part of the transaction: a file has all of it, or is empty. */
static int make(struct rf_db *db)
{
	char *marks = sqlite3_mprintf("PRAGMA application_id = %d; PRAGMA user_version = %d",
				      RF_SCHEMA_APPLICATION, RF_SCHEMA_VERSION);
	int code = marks ? rf_db_exec(db, rf_schema_text) : SQLITE_NOMEM;

	if (!code)
		code = rf_db_exec(db, marks);
	sqlite3_free(marks);
	return code;
}

int rf_schema_make(struct rf_db *db)
{
	int code = rf_db_exec(db, "BEGIN IMMEDIATE");

	if (!code)
		code = make(db);
	if (!code)
		return rf_db_exec(db, "COMMIT");
	sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
	return code;
}
