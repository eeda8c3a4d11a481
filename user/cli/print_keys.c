// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the rows of a table of ringfence-json(5): `print_keys NAME` writes what
 * build/schema/keys_NAME has. A tool of the build, and no part of the programs. It is linked
 * without what makes the values, which it never calls.
 */
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/records.h"
#include "schema/record.h"
#include "snapshot/records.h"

#define PATH_SIZE 128

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

static void print_fields(const char *path, const struct rf_field *fields);

static void print_field(const char *path, const struct rf_field *field)
{
	/* sparse: the others have no fields. */
	static const char *const within[RF_FIELD_KINDS] = {
		[RF_FIELD_OBJECT] = ".",
		[RF_FIELD_LINKED] = ".",
		[RF_FIELD_LIST] = "[].",
		[RF_FIELD_NAMED] = ".NAME.",
	};
	char inner[PATH_SIZE];

	printf("%s%s|%s|%s\n", path, field->key, rf_field_type(field), field->meaning);
	if (field->kind == RF_FIELD_NAMED)
		printf("%s%s.NAME|%s|of NAME\n", path, field->key,
		       rf_field_type(&(struct rf_field){.kind = field->element}));
	if (!field->fields)
		return;
	snprintf(inner, sizeof(inner), "%s%s%s", path, field->key, within[field->kind]);
	print_fields(inner, field->fields);
}

static void print_fields(const char *path, const struct rf_field *fields)
{
	for (; fields->key; fields++) {
		if (fields->kind == RF_FIELD_MORE || fields->kind == RF_FIELD_VIA)
			print_fields(path, fields->fields);
		else
			print_field(path, fields);
	}
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		if (argc != 2 || strcmp(tables[i].name, argv[1]) != 0)
			continue;
		for (int k = 0; k < 3 && tables[i].fields[k]; k++)
			print_fields("", tables[i].fields[k]);
		return fflush(stdout) || ferror(stdout);
	}
	fprintf(stderr, "print_keys: no table '%s'\n", argc > 1 ? argv[1] : "");
	return 1;
}
