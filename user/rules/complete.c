// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "rules/complete.h"

#define FIRST_LENGTH_MAX 32

/* What the words so far mean. */
struct position {
	const char *first;		 /* first word of a command of two words; NULL: none yet */
	const struct rf_syntax *command; /* NULL: none yet */
	bool is_help;			 /* the command follows `help`: it takes no arguments */
	bool has_operand;
	const struct rf_option *pending; /* the option whose value comes next; NULL: none */
	const struct rf_option *then;	 /* words that may follow the last value; NULL: none */
	const struct rf_option *pairs;	 /* words of the last value, where two may be a pair */
	const char *half;		 /* first word of that pair: `tcp`, of `tcp syn` */
	unsigned int given, common;	 /* bit sets of rows */
	const char *dev;
};

/* The part of `words` after `first` and a blank; NULL where `words` begins otherwise. */
static const char *second_of(const char *words, const char *first)
{
	const size_t length = strlen(first);

	return strncmp(words, first, length) == 0 && words[length] == ' ' ? words + length + 1
									  : NULL;
}

/* ---- reading ---- */

static void read_value(struct position *at, const char *word)
{
	const struct rf_option *option = at->pending;
	const int row = rf_option_find(option->words, word);
	const size_t length = strlen(word);

	if (option->kind == RF_KIND_TYPES && length && word[length - 1] == ',')
		return; /* the list goes on */
	at->pending = NULL;
	if (option == rf_common_options) /* the first, `dev`: no other has a value */
		at->dev = word;
	if (row < 0) {
		at->then = option->then;
		return;
	}
	at->pairs = option->words;
	at->half = word;
	if (option->words[row].kind != RF_KIND_NONE)
		at->pending = &option->words[row];
}

/* A word that belongs to the value before it, like `all` of `ban 1h all`. */
static bool read_rest_of_value(struct position *at, const char *word)
{
	bool is_rest = rf_option_find(at->then, word) >= 0;

	for (int i = 0; at->pairs && at->pairs[i].word; i++) {
		const char *second = second_of(at->pairs[i].word, at->half);

		is_rest = is_rest || (second && strcmp(second, word) == 0);
	}
	at->then = at->pairs = NULL;
	return is_rest;
}

static void read_command(struct position *at, const char *word)
{
	for (int i = 0; i < RF_CMD_COUNT; i++) {
		const char *words = rf_syntax[i].words;
		const char *last = at->first ? second_of(words, at->first) : words;

		if (last && strcmp(last, word) == 0)
			at->command = &rf_syntax[i];
	}
	if (at->command == &rf_syntax[RF_CMD_HELP] && !at->is_help) {
		at->is_help = true;
		at->command = NULL;
	} else if (!at->command) {
		at->first = word;
	}
}

/* Returns false where `word` is no option of the table. */
static bool read_option(struct position *at, const struct rf_option *table, unsigned int *given,
			const char *word)
{
	const int row = rf_option_find(table, word);

	if (row < 0)
		return false;
	if (!(table[row].flags & RF_OPTION_MANY))
		*given |= 1U << row;
	if (table[row].kind != RF_KIND_NONE)
		at->pending = &table[row];
	return true;
}

static void read_argument(struct position *at, const char *word)
{
	const struct rf_option *operand = &at->command->operand;
	const bool may_wait = operand->flags & (RF_OPTION_MAY | RF_OPTION_MANY);

	if (operand->word && !at->has_operand && !may_wait)
		at->has_operand = true;
	else if (!read_option(at, at->command->options, &at->given, word))
		at->has_operand = true;
}

static void read_word(struct position *at, const char *word)
{
	const bool is_named = at->command && at->command->options == rf_attach_options;

	if (at->pending && at->pending->flags & RF_OPTION_MAY && at->command &&
	    rf_option_find(at->command->options, word) >= 0)
		at->pending = NULL; /* the next option */
	if (at->pending && strncmp(word, "--", 2) != 0)
		read_value(at, word);
	else if (read_rest_of_value(at, word))
		return;
	else if (!is_named && read_option(at, rf_common_options, &at->common, word))
		at->has_operand =
			at->has_operand || (at->command && rf_is_interface(&at->command->operand));
	else if (!at->command)
		read_command(at, word);
	else
		read_argument(at, word);
}

/* ---- suggesting ---- */

static void suggest(const struct rf_suggestions *to, const char *word, const char *summary)
{
	to->suggest(to->context, word, summary, RF_KIND_NONE);
}

/* Suggests the rows that are not given. The first word of a pair has its own row. */
static void suggest_table(const struct rf_suggestions *to, const struct rf_option *table,
			  unsigned int given)
{
	for (int i = 0; table && table[i].word; i++)
		if (!(given & 1U << i) && !strchr(table[i].word, ' ') &&
		    !(table[i].flags & RF_OPTION_INSTEAD))
			suggest(to, table[i].word, table[i].summary);
}

/* Options of the table that the command does not take. */
static unsigned int not_of(const struct rf_syntax *command)
{
	unsigned int rows = 0;

	for (int i = 0; command->options && command->options[i].word; i++)
		if (!rf_option_is_of(command, &command->options[i]))
			rows |= 1U << i;
	return rows;
}

static void suggest_value(const struct rf_suggestions *to, const struct rf_option *option)
{
	suggest_table(to, option->words, 0);
	to->suggest(to->context, NULL, NULL, option->kind);
}

static void suggest_commands(const struct rf_suggestions *to, const struct position *at)
{
	char before[FIRST_LENGTH_MAX] = "";

	for (int i = 0; i < RF_CMD_COUNT; i++) {
		const struct rf_syntax *command = &rf_syntax[i];
		const char *word =
			at->first ? second_of(command->words, at->first) : command->words;
		char first[FIRST_LENGTH_MAX];

		if (!word || (at->is_help && i == RF_CMD_HELP))
			continue;
		snprintf(first, sizeof(first), "%.*s", (int)strcspn(word, " "), word);
		if (strcmp(first, before) != 0)
			suggest(to, first, strchr(word, ' ') ? NULL : command->summary);
		strcpy(before, first);
	}
	if (at->is_help || at->first)
		return;
	suggest_table(to, rf_common_options, at->common);
	suggest(to, "--version", "print the version");
}

/*
 * Suggests the next option that must be given, or the option that replaces all others. Returns
 * false where other words may come next.
 */
static bool suggest_must(const struct rf_suggestions *to, const struct position *at)
{
	const struct rf_option *options = at->command->options;
	const struct rf_option *next = NULL, *instead = NULL;

	for (int i = 0; options && options[i].word; i++) {
		const bool is_given = at->given & 1U << i;

		if (options[i].flags & RF_OPTION_INSTEAD)
			instead = &options[i];
		if (is_given && instead == &options[i])
			return true;
		if (!is_given && !next && rf_option_is_must(at->command, &options[i]))
			next = &options[i];
	}
	if (next)
		suggest(to, next->word, next->summary);
	if (next && instead && !at->given)
		suggest(to, instead->word, instead->summary);
	return next;
}

static void suggest_rest(const struct rf_suggestions *to, const struct position *at)
{
	const struct rf_option *operand = &at->command->operand;

	suggest_table(to, at->then, 0);
	for (int i = 0; at->pairs && at->pairs[i].word; i++) {
		const char *second = second_of(at->pairs[i].word, at->half);

		if (second)
			suggest(to, second, at->pairs[i].summary);
	}
	suggest_table(to, at->command->options, at->given | not_of(at->command));
	if (operand->flags & RF_OPTION_MANY || (operand->flags & RF_OPTION_MAY && !at->has_operand))
		suggest_value(to, operand);
	/* `dev` names the fence, unless the operand is the interface. */
	suggest_table(to, rf_common_options, at->common | (rf_is_interface(operand) ? 1U : 0));
}

void rf_complete(struct rf_words *words, const struct rf_suggestions *suggestions, const char **dev)
{
	struct position at = {};
	const struct rf_option *pending;

	while (rf_words_peek(words))
		read_word(&at, rf_words_next(words));
	*dev = at.dev;
	pending = at.pending;
	if (pending)
		suggest_value(suggestions, pending);
	if (pending && !(pending->flags & RF_OPTION_MAY))
		return;
	if (!at.command)
		suggest_commands(suggestions, &at);
	else if (at.is_help)
		return;
	else if (at.command->operand.word && !at.has_operand &&
		 !(at.command->operand.flags & RF_OPTION_MAY))
		suggest_value(suggestions, &at.command->operand);
	else if (!suggest_must(suggestions, &at))
		suggest_rest(suggestions, &at);
}
