// SPDX-License-Identifier: GPL-2.0
/* What was probably meant by a word that is not expected where it stands. */
#include <stdio.h>
#include <string.h>

#include "rules/grammar_option.h"
#include "rules/near.h"
#include "rules/private.h"

/*
 * The option of the table with a value of that kind: the one that must be given, or the only one,
 * or the first that the usage line shows; -1: none, or several.
 */
static int find_only(const struct rf_option *table, enum rf_kind kind)
{
	int found = -1, shown = -1, count = 0;

	for (int i = 0; table[i].word; i++) {
		if (table[i].kind != kind)
			continue;
		if (table[i].flags & RF_OPTION_MUST)
			return i;
		if (shown < 0 && table[i].flags & RF_OPTION_SHOWN)
			shown = i;
		found = i;
		count++;
	}
	return count == 1 ? found : shown;
}

/* The option whose value `word` may be, though the option's word is not before it; -1: none. */
static int find_owner(const struct rf_option *table, const char *word)
{
	struct rf_error ignored;
	struct rf_prefix prefix;
	struct rf_rate rate;
	uint64_t time_ns;

	for (int i = 0; table[i].word; i++)
		if (rf_option_find(table[i].words, word) >= 0)
			return i;
	if (strpbrk(word, "./:") && !rf_parse_prefix(word, &prefix, &ignored))
		return find_only(table, RF_KIND_PREFIX);
	if (!rf_parse_rate(word, &rate, &ignored))
		return find_only(table, RF_KIND_RATE);
	if (!rf_parse_time(word, &time_ns, &ignored))
		return find_only(table, RF_KIND_TIME);
	return -1;
}

/* `dport=53` */
static int fail_equals(const struct rf_option *table, const char *word, struct rf_error *error)
{
	const size_t length = strcspn(word, "=");

	for (int i = 0; word[length] && table[i].word; i++)
		if (table[i].kind != RF_KIND_NONE && strlen(table[i].word) == length &&
		    strncmp(table[i].word, word, length) == 0)
			return rf_error_usage(error, "'%s': two words, without '='; write %s %s",
					      word, table[i].word, word + length + 1);
	return 0;
}

/* `dport 80 443`: the next word goes on with the list before it. */
static int fail_list(const struct rf_option *table, const struct rf_words *words,
		     struct rf_error *error)
{
	const char *const *before = words->word + words->at;
	const int row = words->at < 2 ? -1 : rf_option_find(table, before[-2]);

	if (row < 0 || !strchr("0123456789", *before[0]) ||
	    (table[row].kind != RF_KIND_PORTS && table[row].kind != RF_KIND_PREFIX))
		return 0;
	return rf_error_usage(error, "'%s': a list is written with commas; write %s %s,%s",
			      before[0], table[row].word, before[-1], before[0]);
}

int rf_fail_near(const struct rf_option *table, const struct rf_words *words,
		 struct rf_error *error)
{
	const char *word = rf_words_peek(words);
	struct rf_near near = rf_near_begin(word ? word : "");
	int owner, err;

	if (!word || !*word || rf_option_find(table, word) >= 0)
		return 0;
	err = fail_equals(table, word, error);
	if (!err)
		err = fail_list(table, words, error);
	if (err)
		return err;
	owner = find_owner(table, word);
	if (owner >= 0)
		return rf_error_usage(error, "'%s': '%s' is missing before it; write %s %s", word,
				      table[owner].word, table[owner].word, word);
	rf_near_consider_table(&near, table);
	if (!*near.word)
		return 0;
	return rf_error_usage(error, "'%s': unknown word; did you mean '%s'?", word, near.word);
}

const char *rf_words_later(const struct rf_words *words, const char *word)
{
	for (int i = words->at; i + 1 < words->count; i++)
		if (strcmp(words->word[i], word) == 0)
			return words->word[i + 1];
	return NULL;
}

/* The command that the words begin with; NULL: another beginning, as in a list of prefixes. */
static const struct rf_syntax *command_of(const struct rf_words *words)
{
	struct rf_words all = {.word = words->word, .count = words->count};
	const int command = rf_command_find(&all);

	return command < 0 ? NULL : &rf_syntax[command];
}

bool rf_words_are_of(const struct rf_words *words, enum rf_command_id command)
{
	return command_of(words) == &rf_syntax[command];
}

int rf_words_end(const struct rf_words *words, struct rf_error *error)
{
	const char *left = rf_words_peek(words);
	const struct rf_syntax *command;
	char name[RF_NAME_SIZE];
	struct rf_error ignored;

	if (!left)
		return 0;
	command = command_of(words);
	if (!command)
		return rf_error_usage(error, "'%s': unexpected word", left);
	if (command == &rf_syntax[RF_CMD_SAVE])
		return rf_error_usage(error,
				      "'%s': unexpected word; for a file, write save > %s, and for "
				      "a fence, save dev %s",
				      left, left, left);
	/* `stats eth0` */
	if (!command->operand.word && rf_option_find(command->options, left) < 0 &&
	    !rf_parse_name(left, "", name, &ignored))
		return rf_error_usage(error,
				      "'%s': unexpected word; for a fence or an interface, write "
				      "dev %s",
				      left, left);
	return rf_error_usage(error, "'%s': unexpected word; see 'ringfence help %s'", left,
			      command->words);
}
