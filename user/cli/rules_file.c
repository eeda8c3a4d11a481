// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out.h"
#include "cli/rules_file.h"
#include "rules/file.h"

const char *rf_rules_name(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard input" : path;
}

int rf_rules_read(const char *path, struct rf_rulefile *file, struct rf_error *error)
{
	char *text;
	int err = rf_file_read(path, &text, error);

	if (err)
		return err;
	err = rf_rulefile_parse(text, rf_file_prefixes_all, file, error);
	free(text);
	return err;
}

static void print_mistakes(const char *name, const struct rf_mistakes *mistakes)
{
	for (size_t i = 0; i < mistakes->count; i++) {
		const struct rf_mistake *mistake = &mistakes->mistake[i];
		struct rf_error line;

		if (mistake->line)
			rf_error_failed(&line, 0, "%s:%zu: %s", name, mistake->line, mistake->text);
		else
			rf_error_failed(&line, 0, "%s: %s", name, mistake->text);
		rf_out_error(&line);
	}
}

static json_t *mistakes_json(const struct rf_mistakes *mistakes)
{
	json_t *list = json_array();

	for (size_t i = 0; i < mistakes->count; i++) {
		const struct rf_mistake *mistake = &mistakes->mistake[i];

		json_array_append_new(
			list, json_pack("{s:o, s:o}", "line",
					mistake->line ? json_integer(mistake->line) : json_null(),
					"message", rf_json_text(mistake->text)));
	}
	return list;
}

int rf_rules_check(const char *path, struct rf_rulefile *file, const char *outcome,
		   struct rf_error *error)
{
	const char *name = rf_rules_name(path);
	const int err = rf_rulefile_check(file, error);
	const size_t count = file->mistakes.count;

	if (err || !count)
		return err;
	print_mistakes(name, &file->mistakes);
	rf_out_error_key("file", rf_json_text(name));
	rf_out_error_key("mistakes", mistakes_json(&file->mistakes));
	return rf_error_failed(error, -EINVAL, "%s: %zu mistake%s; %s", name, count,
			       count == 1 ? "" : "s", outcome);
}
