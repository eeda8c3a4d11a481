// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the completion script of a shell, and answers the script's question: which words may come
 * next. The question is `completion words -- WORD… CURRENT`, which help does not show. The answer
 * has a word per line, with its summary behind a tab, and `:files` where names of files may come,
 * which the shell completes. Where a fence may not be read, its names are missing and no error is
 * printed. `completion table` prints all words of each command, for the tests of the manual.
 */
#include <ctype.h>
#include <dirent.h>
#include <net/if.h>
#include <string.h>

#include "cli/command.h"
#include "cli/completion.h"
#include "cli/out.h"
#include "fence/fence.h"
#include "rules/complete.h"

#include "build/completion_scripts.h"

#define NAMES_MAX 1000 /* of prefixes and sources: more would help nobody */
#define SUMMARY_LENGTH_MAX 60

/* The question: `current` is the word at the cursor, as far as it is typed. */
struct question {
	const char *current;
	bool asked[RF_KIND_COUNT_OF];
};

/* The length of a summary's first part, which fits beside the word. */
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

/* Prints the prefix if it begins with the word at the cursor. False after NAMES_MAX prefixes. */
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

/* Prints the names of the pinned fences; `beside`: except those that interfaces have. */
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

static void print_option(const struct rf_option *option)
{
	rf_out(" %s", option->word);
	for (int i = 0; option->words && option->words[i].word; i++)
		print_option(&option->words[i]);
	for (int i = 0; option->then && option->then[i].word; i++)
		print_option(&option->then[i]);
}

static void print_words(const struct rf_option *options)
{
	for (int i = 0; options && options[i].word; i++)
		print_option(&options[i]);
}

static int print_table(void)
{
	for (int i = 0; i < RF_CMD_COUNT; i++) {
		rf_out("%s:", rf_syntax[i].words);
		print_words(rf_syntax[i].operand.words);
		for (int j = 0; rf_syntax[i].options && rf_syntax[i].options[j].word; j++)
			if (rf_option_is_of(&rf_syntax[i], &rf_syntax[i].options[j]))
				print_option(&rf_syntax[i].options[j]);
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
