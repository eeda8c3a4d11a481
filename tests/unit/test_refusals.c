// SPDX-License-Identifier: GPL-2.0
/*
 * Every refusal of the grammar: tests/unit/refusals has a command line and, behind a tab in the
 * next line, the complete sentence that refuses it. '' is an empty word, and # starts a comment.
 */
#include "line.h"

#include <stdio.h>
#include <stdlib.h>

#include "rules/grammar_option.h"

#define REFUSALS "tests/unit/refusals"
#define ROWS_MAX 1000

struct row {
	char *line, *sentence;
};

static int parse_definition_of(struct rf_words *words, struct rf_error *error)
{
	static const struct rf_definition none;
	struct rf_definition definition;
	int err;

	memset(&definition, LEFT_ALONE, sizeof(definition));
	err = rf_parse_limit(words, &definition, error);
	if (err)
		assert_memory_equal(&definition, &none, sizeof(none));
	rf_definition_free(&definition);
	return err;
}

static int parse_change(struct rf_words *words, struct rf_error *error)
{
	struct rf_change change;

	return rf_parse_change(words, &change, error);
}

static int parse_try(struct rf_words *words, struct rf_error *error)
{
	struct rf_try try;

	return rf_parse_try(words, &try, error);
}

static int parse_unban(struct rf_words *words, struct rf_error *error)
{
	struct rf_prefix prefix;
	bool all;

	return rf_parse_unban(words, &prefix, &all, error);
}

static int parse_attach(struct rf_words *words, struct rf_error *error)
{
	struct rf_attach attach;
	int err;

	memset(&attach, LEFT_ALONE, sizeof(attach));
	err = rf_parse_attach(words, &attach, error);
	if (err)
		assert_left_alone(&attach, sizeof(attach));
	return err;
}

static int parse_newcomers(struct rf_words *words, struct rf_error *error)
{
	struct rf_newcomers_text newcomers;
	int err;

	memset(&newcomers, LEFT_ALONE, sizeof(newcomers));
	err = rf_parse_newcomers(words, &newcomers, error);
	if (err)
		assert_left_alone(&newcomers, sizeof(newcomers));
	return err;
}

/* sparse: the others have an operand and options, but no separate parser. */
static int (*const parsers[RF_CMD_COUNT])(struct rf_words *words, struct rf_error *error) = {
	[RF_CMD_LIMIT_ADD] = parse_definition_of,
	[RF_CMD_LIMIT_SET] = parse_definition_of,
	[RF_CMD_LIMIT_CHANGE] = parse_change,
	[RF_CMD_LIMIT_TRY] = parse_try,
	[RF_CMD_UNBAN] = parse_unban,
	[RF_CMD_ATTACH] = parse_attach,
	[RF_CMD_NEWCOMERS] = parse_newcomers,
};

/* The operand that a command parses itself. */
static int parse_operand(enum rf_command_id command, struct rf_words *words, struct rf_error *error)
{
	const struct rf_option *operand = &rf_syntax[command].operand;
	struct rf_prefix prefix;
	struct rf_names names;
	const char *word;

	if (!operand->word || operand->size || operand->flags & RF_OPTION_MAY)
		return 0;
	if (operand->flags & RF_OPTION_MANY)
		return rf_parse_names(command, words, &names, error);
	word = rf_take_operand(command, words, error);
	if (!word)
		return -EINVAL;
	switch (operand->kind) {
	case RF_KIND_PREFIX:
	case RF_KIND_ALLOWED:
	case RF_KIND_DENIED:
		return rf_parse_prefix(word, &prefix, error);
	default:
		return 0;
	}
}

/* Parses a line, as the command line does after `dev` and the options of every command. */
static int parse(struct rf_words *words, struct rf_error *error)
{
	unsigned char filled[RF_ARGUMENTS_SIZE];
	const int command = rf_command_find(words);
	int err;

	if (command < 0)
		return rf_fail_renamed_command(words, error);
	if (parsers[command])
		return parsers[command](words, error);
	err = parse_operand(command, words, error);
	if (err)
		return err;
	memset(filled, LEFT_ALONE, sizeof(filled));
	err = rf_parse_arguments(command, words, filled, error);
	if (err)
		assert_left_alone(filled, sizeof(filled));
	return err;
}

static void refuse(void **state)
{
	const struct row *row = *state;
	struct rf_error error = {};
	struct line line;
	int err;

	line_split(&line, row->line);
	err = parse(&line.words, &error);
	if (err != -EINVAL || !error.usage || strcmp(error.text, row->sentence) != 0)
		fail_msg("%s: %d: %s", row->line, err, err ? error.text : "accepted");
}

/*
 * An option must not repeat: neither immediately, nor after a different option, nor with a
 * different value.
 */
static void an_option_given_twice_is_refused(void **state)
{
	static const char *const options[][3] = {
		{"packets", "", ""},
		{"bytes", "", ""},
		{"algorithm", " sliding", " token"},
		{"cells", " 4", " 5"},
		{"edge", " strict", " coarse"},
		{"burst", " 1", " 2"},
		{"match", " any", " tcp"},
		{"per", " /32", " /24"},
		{"per6", " /64", " /48"},
		{"count", " rejected", " rejected"},
		{"shadow", "", ""},
		{"exact", "", ""},
		{"dport", " 53", " 80"},
		{"from", " 192.0.2.0/24", " 192.0.2.0/24"},
		{"from", " file a", " file b"},
		{"ban", " 1s", " 2s"},
		{"ban", " 1s all", " 1s"},
	};
	static const char *const between[] = {" ", " shadow ", " count rejected "};
	char text[128], sentence[32];
	struct row row = {text, sentence};
	void *row_state = &row;

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(options); i++) {
		const char *const *option = options[i];

		for (size_t j = 0; j < UNIT_ARRAY_SIZE(between); j++) {
			if (strstr(between[j], option[0]))
				continue;
			snprintf(text, sizeof(text), "limit add any rate 20k/1s %s%s%s%s%s",
				 option[0], option[1], between[j], option[0], option[2]);
			snprintf(sentence, sizeof(sentence), "'%s': given twice", option[0]);
			refuse(&row_state);
		}
	}
}

static const char *const renamed[][2] = {
#define RENAMED(old, now) {old, now},
#include "schema/renamed.def"
#undef RENAMED
};

/* ---- the rows ---- */

/* Both lines of a row; false after the last one. */
static bool read_row(FILE *file, struct row *row)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t length;

	do {
		length = getline(&line, &size, file);
		if (length < 0) {
			free(line);
			return false;
		}
		line[length - 1] = '\0';
	} while (!*line || *line == '#');
	row->line = line;
	row->sentence = NULL;
	length = getline(&row->sentence, &size, file);
	assert_true(*line != '\t' && length > 1 && *row->sentence == '\t');
	row->sentence[length - 1] = '\0';
	memmove(row->sentence, row->sentence + 1, length - 1);
	return true;
}

/* Does a row expect the error that names the new word? */
static bool is_renamed_tested(const char *const *words, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *sentence = rows[i].sentence;

		if (*sentence == '\'' && strncmp(sentence + 1, words[0], strlen(words[0])) == 0 &&
		    strncmp(sentence + 1 + strlen(words[0]), "': this ", 8) == 0 &&
		    strstr(sentence, words[1]))
			return true;
	}
	return false;
}

int main(void)
{
	static struct row rows[ROWS_MAX];
	static struct CMUnitTest tests[ROWS_MAX + 1];
	FILE *file = fopen(REFUSALS, "re");
	const struct CMUnitTest twice = cmocka_unit_test(an_option_given_twice_is_refused);
	size_t count = 0;
	int failed;

	if (!file) {
		perror(REFUSALS);
		return 1;
	}
	for (; count < ROWS_MAX && read_row(file, &rows[count]); count++)
		tests[count] = (struct CMUnitTest){.name = rows[count].line,
						   .test_func = refuse,
						   .initial_state = &rows[count]};
	fclose(file);
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(renamed); i++) {
		if (is_renamed_tested(renamed[i], rows, count))
			continue;
		fprintf(stderr, REFUSALS " has no row for the old word '%s'\n", renamed[i][0]);
		return 1;
	}
	tests[count] = twice;
	failed = _cmocka_run_group_tests("refusals of the grammar", tests, count + 1, NULL, NULL);
	for (size_t i = 0; i < count; i++) {
		free(rows[i].line);
		free(rows[i].sentence);
	}
	return failed || count == ROWS_MAX;
}
