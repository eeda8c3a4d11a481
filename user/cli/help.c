// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "build/completion_scripts.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/out.h"
#include "fence/fence.h"
#include "rules/advice.h"

/* Missing fields of a row are zero on purpose; clang warns about plain rows, gcc does not. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define HELP(...) __VA_ARGS__
#define COMMAND(id, function, syntax, help) [RF_CMD_##id] = {rf_cmd_##function, help},

const struct rf_command_row rf_commands[RF_CMD_COUNT] = {
#include "schema/commands.def"
};

#define LABEL_WIDTH_MAX 18 /* columns of an option, before its summary */

/* ---- options ---- */

/* A line of help: the syntax of an option, and its purpose. */
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

/* Prints an option, then each word that its value can be, then each word that can follow it. */
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
	rf_out_text("ringfence %s%s%s\n\n", rf_syntax[id].words, *arguments ? " " : "", arguments);
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
	rf_out("usage: ringfence COMMAND [dev IF|FENCE] [--json] [--verbose]\n");
	for (int i = 0; i < RF_CMD_COUNT; i++) {
		if (rf_commands[i].heading)
			rf_out("\n%s\n", rf_commands[i].heading);
		print_line(label[i], rf_syntax[i].summary, widest);
	}
	rf_out("\n'ringfence help COMMAND' explains a command and its options.\n");
	rf_out_wrapped(
		"dev names the fence, or an interface of it. Without dev, status, stats, metrics, "
		"top and events show every fence; with several fences, other commands need dev. "
		"--json makes a reading command print JSON; --verbose prints the output of libbpf.",
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
	const char *first, *second;
	char seconds[80], meant[160] = "";
	struct rf_near near;

	if (rf_fail_renamed_command(words, error))
		return -EINVAL;
	first = rf_words_next(words);
	second = rf_words_next(words);
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

/* Prints all commands that start with `word`, like `limit`. Returns their number. */
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

static const struct version {
	const char *version;
	int abi;
} version = {RINGFENCE_VERSION, RF_ABI_VERSION};

static const struct rf_field version_fields[] = {
	RF_FIELD("version", struct version, version, "of ringfence"),
	RF_FIELD("abi", struct version, abi, "number of the map ABI"),
	{},
};

RF_RECORD(version, version_fields);

int rf_cmd_version(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	int err = rf_words_end(words, error);

	if (!err && options->json)
		return rf_out_record(version_fields, &version, error);
	if (!err)
		rf_out("ringfence %s (map ABI %d)\n", version.version, version.abi);
	return err;
}

/* ---- completion ---- */

/*
 * Prints the completion script of a shell, and serves its requests for the next possible words. A
 * request is `completion words -- WORD… CURRENT`, which help does not show. The reply has one word
 * per line, with its summary after a tab, and `:files` where the shell completes names of files. If
 * a fence cannot be read, its names are missing and no error is printed. `completion table` prints
 * all words of each command, for the tests of the manual.
 */

#define NAMES_MAX 1000 /* of prefixes and sources: a longer list is not useful */
#define SUMMARY_LENGTH_MAX 60

/* The question: `current` is the word at the cursor, as far as it is typed. */
struct question {
	const char *current;
	bool asked[RF_KIND_COUNT_OF];
};

/* The length of a summary's first part, which fits next to the word. */
static int length_of(const char *summary)
{
	size_t length = strlen(summary);
	static const char *const ends[] = {"; ", ": ", ". ", " ("};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const char *end = strstr(summary, ends[i]);

		if (end && end > summary && (size_t)(end - summary) < length)
			length = end - summary;
	}
	return length <= SUMMARY_LENGTH_MAX ? length : 0;
}

static void print_suggestion(void *context, const char *word, const char *summary,
			     enum rf_kind kind)
{
	struct question *question = context;

	if (!word)
		question->asked[kind] = true;
	else if (summary)
		rf_out("%s\t%.*s\n", word, length_of(summary), summary);
	else
		rf_out("%s\n", word);
}

/* ---- names ---- */

static void print_interfaces(void)
{
	struct if_nameindex *list = if_nameindex();

	for (struct if_nameindex *one = list; one && one->if_name; one++)
		rf_out("%s\tinterface\n", one->if_name);
	if (list)
		if_freenameindex(list);
}

static void print_limits(const struct rf_fence *fence)
{
	struct rf_error error;
	struct rf_bank rules;

	if (rf_fence_bank(fence, &rules, &error))
		return;
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (rules.policy[slot].id)
			rf_out("%s\tlimit\n", rules.limit[slot].name);
}

/* Prints the prefix if it starts with the word at the cursor. False after NAMES_MAX prefixes. */
static bool print_prefix(const struct question *question, const struct rf_prefix *prefix,
			 const char *what, int *count)
{
	char text[RF_PREFIX_TEXT_SIZE];

	rf_format_prefix(prefix, text);
	if (strncmp(text, question->current, strlen(question->current)) != 0)
		return true;
	rf_out("%s\t%s\n", text, what);
	return ++*count < NAMES_MAX;
}

static void print_listed(const struct rf_fence *fence, const struct question *question,
			 enum rf_list list, const char *what)
{
	struct rf_ruleset rules = RF_RULESET_NONE;
	struct rf_error error;
	int count = 0;

	if (!rf_fence_ruleset(fence, &rules, &error))
		for (size_t i = 0; i < rules.listed_count; i++)
			if (rf_listed_until(&rules.listed[i], list) &&
			    !print_prefix(question, &rules.listed[i].prefix, what, &count))
				break;
	rf_ruleset_free(&rules);
}

static void print_owners(const struct rf_fence *fence)
{
	const struct rf_owners *owners = &fence->config->owners;

	for (int owner = RF_OWNERS_FIXED; owner < RF_OWNERS_MAX; owner++)
		if (rf_owner_name_is_valid(owners->name[owner - RF_OWNERS_FIXED]))
			rf_out("%s\towner\n", rf_owner_name(owners, owner));
}

static void print_banned(const struct rf_fence *fence, const struct question *question)
{
	struct rf_bans bans = {};
	struct rf_error error;
	int count = 0;

	if (!rf_fence_bans(fence, &bans, &error))
		for (size_t i = 0; i < bans.count; i++) {
			const struct rf_prefix prefix = rf_ban_prefix(&bans.row[i]);

			if (!print_prefix(question, &prefix, "banned", &count))
				break;
		}
	rf_bans_free(&bans);
}

/* Prints the names of the pinned fences; `beside`: except names that are also interfaces. */
static void print_fences(bool beside)
{
	DIR *directory = opendir(RF_PIN_ROOT);

	for (struct dirent *entry; directory && (entry = readdir(directory));)
		if (isalpha((unsigned char)*entry->d_name) &&
		    !(beside && if_nametoindex(entry->d_name)))
			rf_out("%s\tfence\n", entry->d_name);
	if (directory)
		closedir(directory);
}

static void print_of_fence(const struct question *question, const char *dev)
{
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_error error;

	if (!rf_fence_open(&fence, dev, &error)) {
		if (question->asked[RF_KIND_LIMIT])
			print_limits(&fence);
		if (question->asked[RF_KIND_ALLOWED])
			print_listed(&fence, question, RF_ALLOW, "allowed");
		if (question->asked[RF_KIND_DENIED])
			print_listed(&fence, question, RF_DENY, "denied");
		if (question->asked[RF_KIND_OWNER])
			print_owners(&fence);
		if (question->asked[RF_KIND_BANNED])
			print_banned(&fence, question);
	}
	rf_fence_close(&fence);
}

/* Behind the last comma of a list, the types that are not before it; the shell wants whole words.
 */
static void print_types(const struct question *question)
{
	const char *comma = strrchr(question->current, ',');

	for (int i = 0; comma && rf_event_words[i].word; i++) {
		const char *type = rf_event_words[i].word;
		const char *listed = question->current, *end;
		bool is_listed = false;

		for (; (end = strchr(listed, ',')); listed = end + 1)
			is_listed |= strlen(type) == (size_t)(end - listed) &&
				     strncmp(listed, type, end - listed) == 0;
		if (!is_listed)
			rf_out("%.*s,%s\t%.*s\n", (int)(comma - question->current),
			       question->current, type, length_of(rf_event_words[i].summary),
			       rf_event_words[i].summary);
	}
}

/* ---- the table ---- */

static void print_table_option(const struct rf_option *option)
{
	rf_out(" %s", option->word);
	for (int i = 0; option->words && option->words[i].word; i++)
		print_table_option(&option->words[i]);
	for (int i = 0; option->then && option->then[i].word; i++)
		print_table_option(&option->then[i]);
}

static void print_table_words(const struct rf_option *options)
{
	for (int i = 0; options && options[i].word; i++)
		print_table_option(&options[i]);
}

static int print_table(void)
{
	for (int i = 0; i < RF_CMD_COUNT; i++) {
		rf_out("%s:", rf_syntax[i].words);
		print_table_words(rf_syntax[i].operand.words);
		for (int j = 0; rf_syntax[i].options && rf_syntax[i].options[j].word; j++)
			if (rf_option_is_of(&rf_syntax[i], &rf_syntax[i].options[j]))
				print_table_option(&rf_syntax[i].options[j]);
		rf_out("\n");
	}
	return 0;
}

/* ---- the command ---- */

bool rf_completion_is_asked(struct rf_words *words)
{
	struct rf_words rest = *words;
	const bool is_asked = rf_words_take(&rest, "completion") && rf_words_take(&rest, "words") &&
			      rf_words_take(&rest, "--") && rf_words_peek(&rest);

	if (is_asked)
		*words = rest;
	return is_asked;
}

void rf_completion_words(struct rf_words *words)
{
	struct question question = {.current = words->word[words->count - 1]};
	const struct rf_suggestions to = {print_suggestion, &question};
	const char *dev;

	words->count--;
	rf_complete(words, &to, &dev);
	if (question.asked[RF_KIND_TYPES])
		print_types(&question);
	if (question.asked[RF_KIND_FILE])
		rf_out(":files\n");
	if (question.asked[RF_KIND_INTERFACE] || question.asked[RF_KIND_DEV])
		print_interfaces();
	if (question.asked[RF_KIND_FENCE] || question.asked[RF_KIND_DEV])
		print_fences(question.asked[RF_KIND_DEV]);
	if (question.asked[RF_KIND_LIMIT] || question.asked[RF_KIND_ALLOWED] ||
	    question.asked[RF_KIND_DENIED] || question.asked[RF_KIND_BANNED] ||
	    question.asked[RF_KIND_OWNER])
		print_of_fence(&question, dev);
}

int rf_cmd_completion(const struct rf_options *options, struct rf_words *words,
		      struct rf_error *error)
{
	/* In the order of the operand's words in the table. */
	static const char *const scripts[] = {rf_completion_bash, rf_completion_zsh,
					      rf_completion_fish};
	const struct rf_option *operand = &rf_syntax[RF_CMD_COMPLETION].operand;
	const bool is_table = rf_words_take(words, "table");
	const char *shell = is_table ? NULL : rf_words_next(words);
	const int row = shell ? rf_option_find(operand->words, shell) : 0;
	int err;

	if (row < 0)
		return rf_error_usage(error, "'%s': unknown shell; use bash, zsh or fish", shell);
	err = rf_words_end(words, error);
	if (!err && options->dev)
		err = rf_error_usage(error, "'dev %s': completion does not take an interface",
				     options->dev);
	if (!err && is_table)
		return print_table();
	if (!err)
		rf_out("%s", scripts[row]);
	return err;
}
