// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
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

/* Room for one more statement. Returns SQLite's code, but never SQLITE_FULL (a full disk). */
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

static sqlite3_stmt *find_statement(const struct rf_db *db, const void *key)
{
	for (int i = 0; i < db->count; i++)
		if (db->statement[i].key == key)
			return db->statement[i].stmt;
	return NULL;
}

static sqlite3_stmt *prepare_as(struct rf_db *db, const void *key, const char *sql)
{
	sqlite3_stmt *stmt = NULL;

	if (note(db, make_room(db)))
		return NULL;
	if (note(db,
		 sqlite3_prepare_v3(db->sqlite, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL)))
		return NULL;
	db->statement[db->count].key = key;
	db->statement[db->count++].stmt = stmt;
	return stmt;
}

static sqlite3_stmt *prepare(struct rf_db *db, const char *sql)
{
	return find_statement(db, sql) ?: prepare_as(db, sql, sql);
}

static int bind(sqlite3_stmt *stmt, int place, char kind, va_list *args)
{
	if (kind == 'i')
		return sqlite3_bind_int64(stmt, place, va_arg(*args, int64_t));
	return sqlite3_bind_text(stmt, place, va_arg(*args, const char *), -1, SQLITE_TRANSIENT);
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

/* ---- by rows ---- */

/* Texts of the struct must not change while the statement runs. */
static int bind_value(sqlite3_stmt *stmt, int place, const struct rf_db_column *column,
		      const void *row)
{
	const void *value = (const char *)row + column->offset;
	const struct rf_db_blob *blob = value;
	const struct rf_prefix *prefix = value;
	char text[RF_PREFIX_TEXT_SIZE];

	switch (column->kind) {
	case RF_DB_TIME:
		return sqlite3_bind_int64(stmt, place, *(const uint64_t *)value / 1000000);
	case RF_DB_REAL:
		return sqlite3_bind_double(stmt, place, *(const double *)value);
	case RF_DB_BOOL:
		return sqlite3_bind_int64(stmt, place, *(const bool *)value);
	case RF_DB_SMALL:
		return sqlite3_bind_int64(stmt, place, *(const uint32_t *)value);
	case RF_DB_WORD:
		return sqlite3_bind_text(stmt, place, value, -1, SQLITE_STATIC);
	case RF_DB_TEXT:
		return sqlite3_bind_text(stmt, place, *(const char *const *)value, -1,
					 SQLITE_STATIC);
	case RF_DB_PREFIX_AT:
		prefix = *(const struct rf_prefix *const *)value;
		if (!prefix)
			return sqlite3_bind_null(stmt, place);
		/* fall through */
	case RF_DB_PREFIX:
		rf_format_prefix(prefix, text);
		return sqlite3_bind_text(stmt, place, text, -1, SQLITE_TRANSIENT);
	case RF_DB_BLOB:
		return sqlite3_bind_blob(stmt, place, blob->data, blob->size, SQLITE_STATIC);
	case RF_DB_INTEGER:
		break;
	}
	return sqlite3_bind_int64(stmt, place, *(const int64_t *)value);
}

/* The columns that are stored, or that are read, after `before`, with commas between them. */
static void write_columns(sqlite3_str *sql, const char *before, const struct rf_db_columns *columns,
			  bool is_read)
{
	for (int i = 0; i < columns->count; i++) {
		const struct rf_db_column *column = &columns->column[i];

		if (column->expression && !is_read)
			continue;
		sqlite3_str_appendf(sql, "%s%s%s%s", before, column->expression ?: "",
				    column->expression ? " AS " : "", column->name);
		before = ", ";
	}
}

/* Prepares the finished text. */
static sqlite3_stmt *prepare_made(struct rf_db *db, const void *key, sqlite3_str *sql)
{
	char *text = sqlite3_str_finish(sql);
	sqlite3_stmt *stmt = NULL;

	if (text)
		stmt = prepare_as(db, key, text);
	else
		note(db, SQLITE_NOMEM);
	sqlite3_free(text);
	return stmt;
}

static sqlite3_stmt *prepare_insert(struct rf_db *db, const struct rf_db_table *table)
{
	sqlite3_str *sql = sqlite3_str_new(db->sqlite);
	const char *before = ") VALUES(";

	sqlite3_str_appendf(sql, "INSERT %sINTO %s", table->unique ? "OR IGNORE " : "",
			    table->name);
	write_columns(sql, "(", &table->columns, false);
	for (int i = 0; i < table->columns.count; i++) {
		if (table->columns.column[i].expression)
			continue;
		sqlite3_str_appendf(sql, "%s?", before);
		before = ", ";
	}
	sqlite3_str_appendall(sql, ")");
	return prepare_made(db, table, sql);
}

int rf_db_insert(struct rf_db *db, const struct rf_db_table *table, const void *row)
{
	sqlite3_stmt *stmt = find_statement(db, table) ?: prepare_insert(db, table);
	int code = SQLITE_OK, place = 0;

	if (!stmt)
		return db->failed;
	for (int i = 0; i < table->columns.count && !code; i++)
		if (!table->columns.column[i].expression)
			code = bind_value(stmt, ++place, &table->columns.column[i], row);
	if (!code)
		code = sqlite3_step(stmt);
	sqlite3_reset(stmt);
	return note(db, code);
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

static sqlite3_stmt *prepare_question(struct rf_db *db, const struct rf_db_question *question)
{
	sqlite3_str *sql;

	if (!question->table)
		return prepare_as(db, question, question->sql);
	sql = sqlite3_str_new(db->sqlite);
	write_columns(sql, "SELECT ", &question->columns, true);
	sqlite3_str_appendf(sql, " FROM %s %s", question->table, question->sql);
	return prepare_made(db, question, sql);
}

sqlite3_stmt *rf_db_ask(struct rf_db *db, const struct rf_db_question *question,
			const struct rf_db_columns *parameters, const void *asked)
{
	sqlite3_stmt *stmt = find_statement(db, question) ?: prepare_question(db, question);
	int code;

	if (!stmt)
		return NULL;
	code = has_columns(stmt, &question->columns) ? bind_names(stmt, parameters, asked)
						     : SQLITE_MISUSE;
	return note(db, code) ? NULL : stmt;
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
		case RF_DB_PREFIX_AT: /* of parameters only */
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

/* ---- tables ---- */

#define LINE_LENGTH 82

static const char *sql_type(enum rf_db_kind kind)
{
	switch (kind) {
	case RF_DB_WORD:
	case RF_DB_TEXT:
	case RF_DB_PREFIX:
	case RF_DB_PREFIX_AT:
		return "TEXT";
	case RF_DB_BLOB:
		return "BLOB";
	case RF_DB_REAL:
		return "REAL";
	default:
		return "INTEGER";
	}
}

/* The definitions of a table, each with the comma or terminator that follows. */
struct definitions {
	char text[16][64];
	int count;
};

__attribute__((format(printf, 2, 3))) static void define(struct definitions *all,
							 const char *format, ...)
{
	va_list args;

	if (all->count == ARRAY_SIZE(all->text))
		return;
	if (all->count)
		strcat(all->text[all->count - 1], ",");
	va_start(args, format);
	vsnprintf(all->text[all->count++], sizeof(all->text[0]) - 1, format, args);
	va_end(args);
}

static void define_all(struct definitions *all, const struct rf_db_table *table)
{
	bool is_key = !table->counted && !table->keys;

	if (table->counted)
		define(all, "%s INTEGER PRIMARY KEY", table->counted);
	for (int i = 0; i < table->columns.count; i++) {
		const struct rf_db_column *column = &table->columns.column[i];

		if (column->expression)
			continue;
		define(all, "%s %s %s%s", column->name, sql_type(column->kind),
		       is_key ? "PRIMARY KEY" : "NOT NULL",
		       table->unique && !strcmp(table->unique, column->name) ? " UNIQUE" : "");
		is_key = false;
	}
	if (table->unique && strchr(table->unique, ','))
		define(all, "UNIQUE(%s)", table->unique);
	if (table->keys)
		define(all, "PRIMARY KEY(%s)", table->keys);
}

void rf_db_write_table(FILE *file, const struct rf_db_table *table)
{
	struct definitions all = {};
	const char *end = table->has_no_rowid ? ") WITHOUT ROWID;\n" : ");\n";
	size_t length = strlen("CREATE TABLE (") + strlen(table->name) + strlen(end) - 1, column;

	define_all(&all, table);
	for (int i = 0; i < all.count; i++)
		length += strlen(all.text[i]) + (i > 0);
	column = length <= LINE_LENGTH ? 0 : LINE_LENGTH; /* all on one line, if they fit */
	rf_put(file, "%sCREATE TABLE %s(", table->comment, table->name);
	for (int i = 0; i < all.count; i++) {
		const size_t its = strlen(all.text[i]) + (i + 1 == all.count ? 2 : 0);
		const bool is_next = column + 1 + its > LINE_LENGTH;

		column = is_next ? 2 + its : column + 1 + its;
		rf_put(file, "%s%s", is_next ? "\n  " : i ? " " : "", all.text[i]);
	}
	fputs(end, file);
	for (size_t i = 0; i < ARRAY_SIZE(table->indexed) && table->indexed[i]; i++)
		rf_put(file, "CREATE INDEX %s_%s ON %s(%s);\n", table->name, table->indexed[i],
		       table->name, table->indexed[i]);
}
