// SPDX-License-Identifier: GPL-2.0
/* Rules files: the format in their first line, and its effect. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/rulefile.h"

#define SAVED RF_RULEFILE_SAVED "eth0' on 2026-01-01 00:00:00\n"
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
		{RF_RULEFILE_SAVED "eth0'", RF_RULEFILE_FORMAT},
		{RF_RULEFILE_LINE, RF_RULEFILE_FORMAT},
		{"# rules (format 1)\n# rules (format 2)", 1},
		{"# rules (format 1) of the fence 'eth0'", 1},
		{"# rules (format 2) of the fence 'eth0'", 2},
		{"# rules (format 17)", 17},
		{"# rules (format 99999999999999999999)", UINT32_MAX},
		{"# rules (format 4294967296)", UINT32_MAX},
		{"", 0},
		{"# rules", 0},
		{"# rules of the fence 'eth0'", 0},
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
		{SAVED LIMIT END, 1},
		{"# rules (format 1)\n" LIMIT END, 1},
		{"# a remark of an operator\n" LIMIT SAVED END, 1},
		{"\n\n" SAVED END, 1},
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
	struct rf_rulefile file;

	(void)state;
	read_file(SAVED LIMIT, &file);
	assert_int_equal(file.mistakes.count, 1);
	assert_non_null(strstr(file.mistakes.mistake[0].text, "cut short"));
	rf_rulefile_free(&file);
}

/* Its other lines can have words that are unknown to this version. */
static void a_newer_format_is_refused_as_a_whole(void **state)
{
	struct rf_rulefile file;

	(void)state;
	read_file("# moved here\n# rules (format 2) of the fence 'eth0'\nunknown word\n", &file);
	assert_int_equal(file.mistakes.count, 1);
	assert_int_equal(file.mistakes.mistake[0].line, 2);
	assert_string_equal(file.mistakes.mistake[0].text,
			    "the rules have format 2, and this version reads formats up to 1; "
			    "upgrade ringfence, or save them with this version");
	rf_rulefile_free(&file);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		UNIT_ROW("a line names its format", a_line_names_its_format),
		UNIT_ROW("a file has the format of its line", a_file_has_the_format_of_its_line),
		UNIT_ROW("a part of a saved file is refused", a_part_of_a_saved_file_is_refused),
		UNIT_ROW("a file of a newer format is refused, and its other lines are not read",
			 a_newer_format_is_refused_as_a_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
