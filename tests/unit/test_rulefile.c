// SPDX-License-Identifier: GPL-2.0
/* Rule files: the format that their first line names, and what it changes. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/rulefile.h"

#define OLD "# rules of the fence 'eth0' on 2026-01-01 00:00:00\n"
#define LIMIT "limit add any rate 20k/1s\n"
#define END "newcomers off\n"

static int no_file(const char *path, struct rf_prefixes *prefixes, struct rf_mistakes *mistakes,
		   struct rf_error *error)
{
	(void)path, (void)prefixes, (void)mistakes, (void)error;
	fail();
	return -1;
}

static void read_file(const char *text, struct rf_rulefile *file)
{
	struct rf_error error = {};
	char *copy = strdup(text);

	assert_int_equal(rf_rulefile_parse(copy, no_file, file, &error), 0);
	free(copy);
}

static void a_line_names_its_format(void **state)
{
	static const struct {
		const char *line;
		unsigned int format;
	} rows[] = {
		{"# rules of the fence 'eth0' on 2026-01-01 00:00:00; and so on", 1},
		{RF_RULEFILE_SAVED "eth0'", RF_RULEFILE_FORMAT},
		{RF_RULEFILE_LINE, RF_RULEFILE_FORMAT},
		{"# rules (format 1)\n# rules (format 2)", 1},
		{"# rules (format 2) of the fence 'eth0'", 2},
		{"# rules (format 17)", 17},
		{"# rules (format 99999999999999999999)", UINT32_MAX},
		{"# rules (format 4294967296)", UINT32_MAX},
		{"", 0},
		{"# rules", 0},
		{"# rules of the office", 0},
		{"# rules (format )", 0},
		{"# rules (format 0)", 0},
		{"# rules (format -1)", 0},
		{"# rules (format 2", 0},
		{"# rules (format 2x)", 0},
		{" # rules (format 1)", 0},
		{"limit add any rate 20k/1s # rules (format 1)", 0},
	};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++)
		assert_int_equal(rf_rulefile_format(rows[i].line), rows[i].format);
}

static void a_file_has_the_format_of_its_line(void **state)
{
	static const struct {
		const char *text;
		unsigned int format;
	} rows[] = {
		{LIMIT, RF_RULEFILE_FORMAT},
		{OLD LIMIT END, 1},
		{RF_RULEFILE_SAVED "eth0'\n" LIMIT END, RF_RULEFILE_FORMAT},
		{"# rules (format 1)\n" LIMIT END, 1},
		{"# a remark of an operator\n" LIMIT OLD END, 1},
		{"\n\n" OLD END, 1},
	};
	struct rf_rulefile file;

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		read_file(rows[i].text, &file);
		assert_int_equal(file.mistakes.count, 0);
		assert_int_equal(file.format, rows[i].format);
		rf_rulefile_free(&file);
	}
}

static void a_part_of_a_saved_file_is_refused(void **state)
{
	static const char *const rows[] = {OLD LIMIT, RF_RULEFILE_SAVED "eth0'\n" LIMIT};
	struct rf_rulefile file;

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		read_file(rows[i], &file);
		assert_int_equal(file.mistakes.count, 1);
		assert_non_null(strstr(file.mistakes.mistake[0].text, "cut short"));
		rf_rulefile_free(&file);
	}
}

/* Its other lines may have words that this version does not know. */
static void a_newer_format_is_refused_as_a_whole(void **state)
{
	struct rf_rulefile file;

	(void)state;
	read_file("# moved here\n# rules (format 3) of the fence 'eth0'\nunknown word\n", &file);
	assert_int_equal(file.mistakes.count, 1);
	assert_int_equal(file.mistakes.mistake[0].line, 2);
	assert_string_equal(file.mistakes.mistake[0].text,
			    "the rules have format 3, and this version reads formats up to 2; "
			    "upgrade ringfence, or save them with this version");
	rf_rulefile_free(&file);
}

static void a_limit_all_of_an_old_file_gets_a_free_name(void **state)
{
	static const struct {
		const char *text, *name;
	} rows[] = {
		{OLD LIMIT END, NULL},
		{OLD "limit add all rate 1/1s\n" END, "all-1"},
		{OLD "limit add all rate 1/1s\nlimit add all-1 rate 2/1s\nlimit add all-3 rate "
		     "3/1s\n" END,
		 "all-2"},
	};
	struct rf_rulefile file;

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		const char *name;

		read_file(rows[i].text, &file);
		assert_int_equal(file.mistakes.count, 0);
		name = rf_rulefile_rename_all(&file);
		if (rows[i].name) {
			assert_string_equal(name, rows[i].name);
			assert_string_equal(file.limit[0].limit.name, rows[i].name);
		} else {
			assert_null(name);
		}
		rf_rulefile_free(&file);
	}
}

static void no_new_limit_is_named_all(void **state)
{
	static const char *const rows[] = {
		"limit add all rate 1/1s\n",
		RF_RULEFILE_SAVED "eth0'\nlimit add all rate 1/1s\n" END,
		OLD "limit add all rate 1/1s\nlimit add all rate 2/1s\n" END,
	};
	struct rf_rulefile file;

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		read_file(rows[i], &file);
		assert_int_equal(file.mistakes.count, 1);
		rf_rulefile_free(&file);
	}
}

static void entries_of_an_old_file_have_an_unknown_owner(void **state)
{
	static const struct {
		const char *text, *owner;
	} rows[] = {
		{OLD "deny add 192.0.2.1\n" END, "unknown"},
		{OLD "allow add 192.0.2.1 for 1h\n" END, "unknown"},
		{OLD "deny add 192.0.2.1 by one\n" END, "one"},
		{"deny add 192.0.2.1\n", "manual"},
		{RF_RULEFILE_SAVED "eth0'\ndeny add 192.0.2.1\n" END, "manual"},
	};
	struct rf_rulefile file;

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		read_file(rows[i].text, &file);
		assert_int_equal(file.entries, 1);
		assert_string_equal(rf_owner_name(&file.owners, file.entry[0].owner),
				    rows[i].owner);
		rf_rulefile_free(&file);
	}
}

/* What limits without `algorithm` meant when the file was saved. */
static void limits_of_bytes_are_windows_in_the_first_format(void **state)
{
	static const struct {
		const char *limit;
		enum rf_algorithm old, new;
	} rows[] = {
		{"rate 10mbit/s", RF_SLIDING, RF_TOKEN},
		{"rate 10M/1m bytes", RF_SLIDING, RF_TOKEN},
		{"rate 3000M/1s bytes", RF_SLIDING, RF_TOKEN},
		{"rate 0 bytes", RF_SLIDING, RF_TOKEN},
		{"rate 10mbit/s cells 8", RF_SLIDING, RF_SLIDING},
		{"rate 10mbit/s fleet", RF_SLIDING, RF_SLIDING},
		{"rate 10mbit/s algorithm sliding", RF_SLIDING, RF_SLIDING},
		{"rate 10mbit/s algorithm token burst 1M", RF_TOKEN, RF_TOKEN},
		{"rate 20k/1s", RF_SLIDING, RF_SLIDING},
	};
	static const char *const heads[] = {"", RF_RULEFILE_SAVED "eth0'\n", RF_RULEFILE_LINE "\n",
					    OLD, RF_RULEFILE_LINE_OF(1) "\n"};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows) * UNIT_ARRAY_SIZE(heads); i++) {
		const size_t row = i / UNIT_ARRAY_SIZE(heads), head = i % UNIT_ARRAY_SIZE(heads);
		struct rf_rulefile file;
		char text[256];

		snprintf(text, sizeof(text), "%slimit add any %s\n" END, heads[head],
			 rows[row].limit);
		read_file(text, &file);
		assert_int_equal(file.mistakes.count, 0);
		assert_int_equal(file.limit[0].limit.algorithm,
				 head < 3 ? rows[row].new : rows[row].old);
		rf_rulefile_free(&file);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		UNIT_ROW("a line names its format", a_line_names_its_format),
		UNIT_ROW("a file has the format of its line", a_file_has_the_format_of_its_line),
		UNIT_ROW("a part of a saved file is refused, of any format",
			 a_part_of_a_saved_file_is_refused),
		UNIT_ROW("a limit named all of an old file gets a name that is free",
			 a_limit_all_of_an_old_file_gets_a_free_name),
		UNIT_ROW("no other limit is named all, nor two", no_new_limit_is_named_all),
		UNIT_ROW("entries of an old file have an unknown owner",
			 entries_of_an_old_file_have_an_unknown_owner),
		UNIT_ROW("a file of a newer format is refused, and its other lines are not read",
			 a_newer_format_is_refused_as_a_whole),
		UNIT_ROW("limits of bytes are windows in the first format, and buckets since",
			 limits_of_bytes_are_windows_in_the_first_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
