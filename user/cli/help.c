// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/help.h"
#include "cli/out.h"
#include "rules/near.h"

/* What a row leaves out is zero on purpose; clang minds that of plain rows, gcc does not. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define HELP(...) __VA_ARGS__
#define COMMAND(id, function, syntax, help) [RF_CMD_##id] = {rf_cmd_##function, help},

const struct rf_command_row rf_commands[RF_CMD_COUNT] = {
#include "rules/commands.def"
};

#define LABEL_WIDTH_MAX 18 /* columns of an option, before its summary */

/* ---- options ---- */

/* A line of help: how an option is written, and what it does. */
static void print_line(const char *label, const char *summary, int label_width)
{
	const int width = rf_out_width(label, strlen(label)), indent = 2 + label_width + 2;

	if (!summary)
		return;
	if (width > label_width) {
		rf_out("  %s\n%*s", label, indent, "");
	} else {
		rf_out("  %s%*s", label, indent - 2 - width, "");
	}
	rf_out_wrapped(summary, indent, indent);
}

static void print_words(const char *before, const struct rf_option *words, int label_width)
{
	for (int i = 0; words && words[i].word; i++) {
		char label[RF_OPTION_TEXT_SIZE], written[RF_OPTION_TEXT_SIZE];

		rf_option_format(&words[i], written);
		snprintf(label, sizeof(label), "%.80s %.76s", before, written);
		print_line(label, words[i].summary, label_width);
	}
}

/* Prints an option, then each word that may be its value, then each word that may follow it. */
static void print_option(const struct rf_option *option, int label_width)
{
	struct rf_option alone = *option;
	char label[RF_OPTION_TEXT_SIZE];

	if (option->heading)
		rf_out("\n%s\n", option->heading);
	alone.words = NULL;
	rf_option_format(&alone, label);
	print_line(label, option->summary, label_width);
	print_words(option->word, option->words, label_width);
	print_words(label, option->then, label_width);
}

/* The width of the widest label, at most LABEL_WIDTH_MAX. */
static int measure_labels(const struct rf_option *options)
{
	int widest = 0;

	for (int i = 0; options && options[i].word; i++) {
		char label[RF_OPTION_TEXT_SIZE];
		int width;

		rf_option_format(&options[i], label);
		width = rf_out_width(label, strlen(label));
		if (options[i].words)
			width = LABEL_WIDTH_MAX;
		if (width > widest)
			widest = width;
	}
	return widest < LABEL_WIDTH_MAX ? widest : LABEL_WIDTH_MAX;
}

static void print_options(const struct rf_syntax *command)
{
	const struct rf_option *options = command->options;
	const int label_width = measure_labels(options);

	if (options && !options[0].heading)
		rf_out("\n");
	for (int i = 0; options && options[i].word; i++)
		if (rf_option_is_of(command, &options[i]))
			print_option(&options[i], label_width);
}

/* ---- commands ---- */

static void print_command(int id)
{
	const struct rf_command_row *row = &rf_commands[id];
	char arguments[RF_USAGE_TEXT_SIZE];

	rf_syntax_format(&rf_syntax[id], arguments);
	rf_out("ringfence %s%s%s\n\n", rf_syntax[id].words, *arguments ? " " : "", arguments);
	rf_out_wrapped(row->help, 0, 0);
	print_options(&rf_syntax[id]);
	if (row->notes) {
		rf_out("\n");
		rf_out_wrapped(row->notes, 0, 0);
	}
	rf_out("\n");
	for (size_t i = 0; i < ARRAY_SIZE(row->examples) && row->examples[i]; i++)
		rf_out("Example: ringfence %s\n", row->examples[i]);
}

/* Each command with its operand; its options are in its own help. */
static void print_usage(void)
{
	char label[RF_CMD_COUNT][RF_USAGE_TEXT_SIZE];
	int widest = 0;

	for (int i = 0; i < RF_CMD_COUNT; i++) {
		struct rf_syntax alone = rf_syntax[i];
		char operand[RF_USAGE_TEXT_SIZE];
		int width;

		alone.options = NULL;
		rf_syntax_format(&alone, operand);
		snprintf(label[i], sizeof(label[i]), "%.40s%s%.80s", alone.words,
			 *operand ? " " : "", operand);
		width = rf_out_width(label[i], strlen(label[i]));
		widest = width > widest ? width : widest;
	}
	rf_out("usage: ringfence COMMAND [dev IF|FENCE] [--json] [--verbose]\n\n");
	for (int i = 0; i < RF_CMD_COUNT; i++)
		print_line(label[i], rf_syntax[i].summary, widest);
	rf_out("\n'ringfence help COMMAND' explains a command and its options.\n");
	rf_out_wrapped(
		"dev names the fence, or an interface of it. Without dev, status, stats, "
		"top and events show every fence; other commands need dev where there are several. "
		"--json makes a reading command print JSON; --verbose prints what "
		"libbpf says.",
		0, 0);
}

/* The second word of a command whose first is `word`; NULL: the first is another word. */
static const char *second_word(const struct rf_syntax *command, const char *word)
{
	const size_t length = strlen(word);

	if (strncmp(command->words, word, length) != 0 || command->words[length] != ' ')
		return NULL;
	return command->words + length + 1;
}

/* Writes the second words of `word`: `add, set, del or list` for `limit`; "" if it has none. */
static void list_seconds(const char *word, char *text, size_t size)
{
	const char *last = NULL;

	*text = '\0';
	for (int i = 0; i < RF_CMD_COUNT; i++) {
		const char *second = second_word(&rf_syntax[i], word);
		const size_t length = strlen(text);

		if (second && last)
			snprintf(text + length, size - length, "%s%s", length ? ", " : "", last);
		if (second)
			last = second;
	}
	if (last)
		snprintf(text + strlen(text), size - strlen(text), " or %s", last);
}

/* The word nearest to `typed`: a second word of `first`, or a first word if that is NULL. */
static struct rf_near find_near(const char *first, const char *typed)
{
	struct rf_near near = rf_near_begin(typed);

	for (int i = 0; i < RF_CMD_COUNT; i++) {
		const char *words = first ? second_word(&rf_syntax[i], first) : rf_syntax[i].words;

		if (words)
			rf_near_consider(&near, words, strcspn(words, " "));
	}
	return near;
}

/* Writes the commands whose second word is `word`: `'allow flush' or 'deny flush'`; "": none is. */
static void list_firsts(const char *word, char *text, size_t size)
{
	const char *last = NULL;

	*text = '\0';
	for (int i = 0; i < RF_CMD_COUNT; i++) {
		const char *second = strchr(rf_syntax[i].words, ' ');
		const size_t length = strlen(text);

		if (!second || strcmp(second + 1, word) != 0)
			continue;
		if (last)
			snprintf(text + length, size - length, "%s'%s'", length ? ", " : "", last);
		last = rf_syntax[i].words;
	}
	if (last)
		snprintf(text + strlen(text), size - strlen(text), "%s'%s'", *text ? " or " : "",
			 last);
}

static int fail_first(const char *first, struct rf_error *error)
{
	const struct rf_near near = find_near(NULL, first);
	char meant[160];

	list_firsts(first, meant, sizeof(meant));
	if (*near.word && (!near.mistakes || !*meant))
		snprintf(meant, sizeof(meant), "'%s'", near.word);
	if (!*meant)
		return rf_error_usage(error, "'%s': unknown command; run 'ringfence help'", first);
	return rf_error_usage(error,
			      "'%s': unknown command; did you mean %s? 'ringfence help' lists the "
			      "commands",
			      first, meant);
}

int rf_fail_unknown(struct rf_words *words, struct rf_error *error)
{
	const char *first = rf_words_next(words);
	const char *second = rf_words_next(words);
	char seconds[80], meant[160] = "";
	struct rf_near near;

	list_seconds(first, seconds, sizeof(seconds));
	if (!*seconds)
		return fail_first(first, error);
	if (!second)
		return rf_error_usage(error, "'%s': expects %s", first, seconds);
	near = find_near(first, second);
	if (*near.word)
		snprintf(meant, sizeof(meant), "did you mean '%.80s %s'? ", first, near.word);
	return rf_error_usage(error, "'%s %s': unknown command; %s'%s' expects %s", first, second,
			      meant, first, seconds);
}

/* Prints all commands that begin with `word`, like `limit`. Returns how many there are. */
static int print_group(const char *word)
{
	int count = 0;

	for (int i = 0; i < RF_CMD_COUNT; i++) {
		if (!second_word(&rf_syntax[i], word))
			continue;
		rf_out("%s", count++ ? "\n" : "");
		print_command(i);
	}
	return count;
}

int rf_cmd_help(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	int command, err;

	(void)options;
	if (!rf_words_peek(words)) {
		print_usage();
		return 0;
	}
	command = rf_command_find(words);
	if (command < 0 && words->count - words->at == 1 && print_group(rf_words_peek(words)))
		return 0;
	if (command < 0)
		return rf_fail_unknown(words, error);
	/* `help stats watch`: the option is in the command's help. */
	while (rf_words_peek(words) &&
	       rf_option_find(rf_syntax[command].options, rf_words_peek(words)) >= 0)
		rf_words_next(words);
	err = rf_words_end(words, error);
	if (!err)
		print_command(command);
	return err;
}

int rf_cmd_version(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	int err = rf_words_end(words, error);

	if (!err && options->json)
		return rf_out_json(json_pack("{s:s, s:i}", "version", RINGFENCE_VERSION, "abi",
					     RF_ABI_VERSION),
				   false, error);
	if (!err)
		rf_out("ringfence %s (map ABI %d)\n", RINGFENCE_VERSION, RF_ABI_VERSION);
	return err;
}
