// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the rows of a table of ringfence-json(5): `print_keys NAME` writes what
 * build/schema/keys_NAME has. A tool of the build, and no part of the programs. It is linked
 * without what makes the values, which it never calls.
 */
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/view.h"
#include "schema/record.h"
#include "snapshot/records.h"

#define PATH_SIZE 128
#define TYPE_SIZE 48
#define ROWS_MAX 256

static const struct rf_field unseen_fields[] = {
	RF_FIELD_GROUP("unseen", rf_unseen_fields, "sources without a window; null: no samples",
		       .or_null = true),
	{},
};

static const struct {
	const char *name;
	const struct rf_field *fields[3];
} tables[] = {
	{"status", {rf_status_fields, rf_strays_fields}},
	{"stats", {rf_stats_fields, rf_stats_line_fields}},
	{"stats_reset", {rf_reset_fields}},
	{"top", {rf_fence_name_fields, rf_sources_fields, unseen_fields}},
	{"show", {rf_shown_fields, rf_network_fields}},
	{"bans", {rf_bans_fields}},
};

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
	char inner[PATH_SIZE];

	add_row(path, field->key, rf_field_type(field), field->meaning);
	snprintf(inner, sizeof(inner), "%s%s.", path, field->key);
	if (field->kind == RF_FIELD_NAMED)
		add_row(inner, "NAME", rf_field_type(&element), "of NAME");
	snprintf(inner, sizeof(inner), "%s%s%s", path, field->key, within[field->kind] ?: "");
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
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		if (argc != 2 || strcmp(tables[i].name, argv[1]) != 0)
			continue;
		for (int k = 0; k < 3 && tables[i].fields[k]; k++)
			add_fields("", tables[i].fields[k]);
		for (int k = 0; k < count; k++)
			printf("%s|%s|%s\n", rows[k].path, rows[k].type, rows[k].meaning);
		return fflush(stdout) || ferror(stdout);
	}
	fprintf(stderr, "print_keys: no table '%s'\n", argc > 1 ? argv[1] : "");
	return 1;
}
