// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files.h"
#include "cli/out.h"
#include "rules/file.h"

/* ---- rules and prefixes ---- */

static void note_count(const char *name, size_t count, const char *how, const char *read_as)
{
	struct rf_error note;

	if (!count)
		return;
	rf_error_failed(&note, 0, "%s: %zu prefix%s %s; read as %s", name, count,
			count == 1 ? "" : "es", how, read_as);
	rf_out_note(note.text);
}

/* Prints how many prefixes differ from their literal text. */
void rf_rules_note_read(const char *name, size_t cleared, size_t mapped)
{
	note_count(name, cleared, "with host bits set", "the network");
	note_count(name, mapped, "in IPv4-mapped form", "IPv4");
}

int rf_rules_read(const char *path, struct rf_rulefile *file, struct rf_error *error)
{
	char *text;
	int err = rf_file_read(path, &text, error);

	if (err)
		return err;
	err = rf_rulefile_parse(text, rf_file_prefixes, file, error);
	free(text);
	if (!err)
		rf_rules_note_read(rf_file_name(path), file->cleared, file->mapped);
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

/* A file that is refused. */
struct refused {
	const char *file;
	const struct rf_mistakes *mistakes;
};

static const struct rf_field mistake_fields[] = {
	RF_FIELD("line", struct rf_mistake, line, "null: of the file as a whole", .if_any = true,
		 .or_null = true),
	RF_FIELD("message", struct rf_mistake, text, "the error in that line"),
	{},
};

static const struct rf_field mistakes_fields[] = {
	RF_FIELD_OBJECTS("errors", struct rf_mistakes, mistake, count, mistake_fields,
			 "in the order of its lines"),
	RF_FIELD("errors_omitted", struct rf_mistakes, left_out,
		 "beyond the first 100 of a file of prefixes"),
	{},
};

static const struct rf_field refused_fields[] = {
	RF_FIELD("file", struct refused, file, "the file with the errors"),
	RF_FIELDS_VIA(struct refused, mistakes, mistakes_fields),
	{},
};

RF_RECORD(errors, refused_fields);

int rf_rules_refuse(const char *path, const struct rf_mistakes *mistakes, const char *outcome,
		    struct rf_error *error)
{
	const char *name = rf_file_name(path);
	const size_t count = mistakes->count + mistakes->left_out;
	char shown[48] = "";

	print_mistakes(name, mistakes);
	rf_out_error_more(refused_fields, &(struct refused){name, mistakes});
	if (mistakes->left_out)
		snprintf(shown, sizeof(shown), ", %zu of them shown", mistakes->count);
	return rf_error_failed(error, -EINVAL, "%s: %zu error%s%s; %s", name, count,
			       count == 1 ? "" : "s", shown, outcome);
}

int rf_rules_check(const char *path, struct rf_rulefile *file, const char *outcome,
		   struct rf_error *error)
{
	const int err = rf_rulefile_check(file, error);

	if (err || !file->mistakes.count)
		return err;
	return rf_rules_refuse(path, &file->mistakes, outcome, error);
}

void rf_rules_note_mapped(const char *text, const struct rf_prefix *prefix)
{
	char read_as[RF_PREFIX_TEXT_SIZE];
	struct rf_error note;

	if (!rf_prefix_was_mapped(text, prefix))
		return;
	rf_format_prefix(prefix, read_as);
	rf_error_failed(&note, 0, "'%s': IPv4-mapped; read as %s", text, read_as);
	rf_out_note(note.text);
}

void rf_rules_note_definition(const struct rf_definition *definition)
{
	rf_rules_note_read("from", 0, definition->from.mapped);
	rf_rules_note_read("to", 0, definition->to.mapped);
}

int rf_rules_read_from(struct rf_definition *definition, struct rf_error *error)
{
	rf_rules_note_definition(definition);
	return definition->from_file
		       ? rf_rules_prefixes(definition->from_file, &definition->from, NULL, error)
		       : 0;
}

int rf_rules_prefixes(const char *path, struct rf_prefixes *prefixes, size_t *skipped,
		      struct rf_error *error)
{
	const char *name = rf_file_name(path);
	struct rf_mistakes mistakes = {};
	int err = rf_file_prefixes(path, prefixes, &mistakes, error);

	if (!err && skipped) {
		print_mistakes(name, &mistakes);
		*skipped = mistakes.count + mistakes.left_out;
	} else if (!err && mistakes.count) {
		err = rf_rules_refuse(path, &mistakes, RF_RULES_UNCHANGED, error);
	}
	rf_mistakes_free(&mistakes);
	if (!err)
		rf_rules_note_read(name, prefixes->cleared, prefixes->mapped);
	return err;
}
