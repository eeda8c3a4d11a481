// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the rows of a table of ringfence-json(5): `print_keys NAME` writes what
 * build/schema/keys_NAME has. A tool of the build, and no part of the programs. It is linked
 * without what makes the values, which it never calls.
 */
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "schema/record.h"

#define PATH_SIZE 128
#define TYPE_SIZE 48
#define ROWS_MAX 256

/* The section that RF_RECORD() puts them into. */
extern const struct rf_record_table __start_rf_records[], __stop_rf_records[];

/* Rows of one table. A key that two of its objects have with other types is one row, with both. */
static struct row {
	char path[PATH_SIZE], type[TYPE_SIZE];
	const char *meaning;
} rows[ROWS_MAX];
static int count;

static void add_row(const char *path, const char *key, const char *type, const char *meaning)
{
	struct row row = {.meaning = meaning};

	snprintf(row.path, sizeof(row.path), "%s%s", path, key);
	snprintf(row.type, sizeof(row.type), "%s", type);
	for (int i = 0; i < count; i++) {
		if (strcmp(rows[i].path, row.path) != 0)
			continue;
		snprintf(row.type, sizeof(row.type), "%.20s, %.20s", type, rows[i].type);
		if (!strstr(rows[i].type, type))
			memcpy(rows[i].type, row.type, sizeof(row.type));
		return;
	}
	if (count < ROWS_MAX)
		rows[count++] = row;
}

static void add_fields(const char *path, const struct rf_field *fields);

static void add_field(const char *path, const struct rf_field *field)
{
	/* sparse: the others have no fields. */
	static const char *const within[RF_FIELD_KINDS] = {
		[RF_FIELD_OBJECT] = ".",
		[RF_FIELD_LINKED] = ".",
		[RF_FIELD_LIST] = "[].",
		[RF_FIELD_NAMED] = ".NAME.",
	};
	const struct rf_field element = {.kind = field->element};
	const bool is_read = field->kind == RF_FIELD_JSON;
	char inner[PATH_SIZE];

	add_row(path, field->key, rf_field_type(field), field->meaning);
	snprintf(inner, sizeof(inner), "%s%s.", path, field->key);
	if (field->kind == RF_FIELD_NAMED)
		add_row(inner, "NAME", rf_field_type(&element), "of NAME");
	snprintf(inner, sizeof(inner), "%s%s%s", path, field->key,
		 within[is_read ? field->element : field->kind] ?: "");
	if (field->fields)
		add_fields(inner, field->fields);
}

static void add_fields(const char *path, const struct rf_field *fields)
{
	for (; fields->key; fields++) {
		if (fields->kind == RF_FIELD_MORE || fields->kind == RF_FIELD_VIA)
			add_fields(path, fields->fields);
		else
			add_field(path, fields);
	}
}

int main(int argc, char **argv)
{
	/*
	 * The agent's fields that a command passes on are linked before the record of the command,
	 * and printed last.
	 */
	for (const struct rf_record_table *record = __stop_rf_records;
	     record-- > __start_rf_records;)
		if (argc == 2 && strcmp(record->name, argv[1]) == 0)
			for (int i = 0; record->fields[i]; i++)
				add_fields("", record->fields[i]);
	for (int i = 0; i < count; i++)
		printf("%s|%s|%s\n", rows[i].path, rows[i].type, rows[i].meaning);
	if (!count)
		fprintf(stderr, "print_keys: no record '%s'\n", argc > 1 ? argv[1] : "");
	return !count || fflush(stdout) || ferror(stdout);
}
