// SPDX-License-Identifier: GPL-2.0
/* Finds the rows of words in the tables of commands and options. */
#include <string.h>

#include "base/error.h"
#include "base/units.h"
#include "rules/grammar.h"
#include "rules/grammar_table.h"

int rf_option_find(const struct rf_option *table, const char *word)
{
	for (int i = 0; table && table[i].word; i++)
		if (strcmp(table[i].word, word) == 0 && !strchr(word, ' '))
			return i;
	return -1;
}

bool rf_is_interface(const struct rf_option *option)
{
	return option->kind == RF_KIND_INTERFACE || option->kind == RF_KIND_DEV;
}

bool rf_option_is_list(const struct rf_option *option)
{
	return option->kind == RF_KIND_PORTS || option->kind == RF_KIND_PREFIX ||
	       option->kind == RF_KIND_TYPES;
}

bool rf_option_is_of(const struct rf_syntax *command, const struct rf_option *option)
{
	return !(option->flags & RF_OPTION_CHANGE) || command->flags & RF_OPTION_CHANGE;
}

bool rf_option_is_must(const struct rf_syntax *command, const struct rf_option *option)
{
	return option->flags & RF_OPTION_MUST && !(command->flags & RF_OPTION_CHANGE);
}

/* Is it a word of the table, at any depth, that cannot be a name? */
static bool reserves(const struct rf_option *table, const char *word)
{
	for (int i = 0; table && table[i].word; i++)
		if ((!(table[i].flags & RF_OPTION_NAMES) && strcmp(table[i].word, word) == 0) ||
		    reserves(table[i].words, word) || reserves(table[i].then, word))
			return true;
	return false;
}

/* Is it one of the one or two words of a command? */
static bool has_word(const char *words, const char *word)
{
	const size_t length = strlen(word), first = strcspn(words, " ");

	if (length == first && strncmp(words, word, length) == 0)
		return true;
	return words[first] && strcmp(words + first + 1, word) == 0;
}

bool rf_word_is_reserved(const char *word)
{
	if (reserves(rf_common_options, word))
		return true;
	for (int i = 0; i < RF_CMD_COUNT; i++) {
		const struct rf_syntax *command = &rf_syntax[i];

		if (command->flags & RF_OPTION_NAMES)
			continue;
		if (has_word(command->words, word) || reserves(command->options, word) ||
		    reserves(command->operand.words, word))
			return true;
	}
	return false;
}

/* Takes the one or two words of `name`, if they come next. */
static bool take_words(struct rf_words *words, const char *name)
{
	const size_t length = strcspn(name, " ");
	struct rf_words rest = *words;
	const char *first = rf_words_next(&rest);

	if (!first || strlen(first) != length || memcmp(first, name, length) != 0)
		return false;
	if (name[length] && !rf_words_take(&rest, name + length + 1))
		return false;
	*words = rest;
	return true;
}

int rf_command_find(struct rf_words *words)
{
	for (int i = 0; i < RF_CMD_COUNT; i++)
		if (take_words(words, rf_syntax[i].words))
			return i;
	return -1;
}

/* ---- renamed words ---- */

static const struct {
	const char *old, *now;
} renamed[] = {
#define RENAMED(old, now) {old, now},
#include "schema/renamed.def"
#undef RENAMED
};

int rf_fail_renamed(const struct rf_words *words, rf_has_word *has, const void *table,
		    const char *what, struct rf_error *error)
{
	for (size_t i = 0; i < ARRAY_SIZE(renamed); i++) {
		struct rf_words rest = *words;

		if (take_words(&rest, renamed[i].old) && has(table, renamed[i].now))
			return rf_error_usage(error, "'%s': this %s is now '%s'", renamed[i].old,
					      what, renamed[i].now);
	}
	return 0;
}

static bool is_command(const void *table, const char *word)
{
	(void)table;
	for (int i = 0; i < RF_CMD_COUNT; i++)
		if (strcmp(rf_syntax[i].words, word) == 0)
			return true;
	return false;
}

int rf_fail_renamed_command(const struct rf_words *words, struct rf_error *error)
{
	return rf_fail_renamed(words, is_command, NULL, "command", error);
}
