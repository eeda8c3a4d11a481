// SPDX-License-Identifier: GPL-2.0
/* Suggestions for an unexpected word, and completion of the next word. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "rules/advice.h"
#include "rules/grammar_option.h"
#include "rules/private.h"

/* ---- the nearest word ---- */

#define MISTAKES_MAX 2

/* Words of other tools, and their equivalents here. */
static const struct {
	const char *typed, *word;
} others[] = {
	{"remove", "del"},	{"rm", "del"},	       {"delete", "del"},    {"create", "add"},
	{"new", "add"},		{"show", "list"},      {"ls", "list"},	     {"print", "list"},
	{"enable", "enforce"},	{"disable", "shadow"}, {"modify", "change"}, {"edit", "change"},
	{"update", "change"},	{"replace", "set"},    {"clear", "flush"},   {"block", "deny"},
	{"ban", "deny"},	{"drop", "deny"},      {"permit", "allow"},  {"accept", "allow"},
	{"whitelist", "allow"}, {"blacklist", "deny"}, {"load", "apply"},    {"start", "attach"},
	{"stop", "detach"},	{"unload", "detach"},  {"restore", "apply"}, {"src", "from"},
	{"source", "from"},	{"saddr", "from"},     {"dst", "to"},	     {"daddr", "to"},
	{"port", "dport"},	{"rule", "limit"},     {"rules", "limit"},   {"reload", "apply"},
	{"reload", "load"},	{"flush", "del"},      {"enable", "attach"}, {"disable", "detach"},
	{"timeout", "for"},	{"timeout", "ban"},
};

static bool is_other(const char *typed, const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strcmp(others[i].typed, typed) == 0 && strcmp(others[i].word, word) == 0)
			return true;
	return false;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * The number of letters to insert, delete, replace or swap with the next one to make `word`, which
 * is shorter than RF_NEAR_SIZE, from `typed`. The rows include those of the two preceding letters.
 */
static size_t count_mistakes(const char *typed, const char *word)
{
	const size_t length = strlen(word);
	size_t rows[3][RF_NEAR_SIZE];

	for (size_t j = 0; j <= length; j++)
		rows[0][j] = j;
	for (size_t i = 1; typed[i - 1]; i++) {
		const size_t *before = rows[(i - 1) % 3], *swapped = rows[(i + 1) % 3];
		size_t *row = rows[i % 3];

		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			row[j] = least(before[j - 1] + (typed[i - 1] != word[j - 1]),
				       least(before[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && typed[i - 1] == word[j - 2] &&
			    typed[i - 2] == word[j - 1])
				row[j] = least(row[j], swapped[j - 2] + 1);
		}
	}
	return rows[strlen(typed) % 3][length];
}

struct rf_near rf_near_begin(const char *typed)
{
	return (struct rf_near){.typed = typed, .mistakes = MISTAKES_MAX + 1};
}

void rf_near_consider(struct rf_near *near, const char *word, size_t length)
{
	char candidate[RF_NEAR_SIZE];
	size_t mistakes;

	if (length >= RF_NEAR_SIZE)
		return;
	memcpy(candidate, word, length);
	candidate[length] = '\0';
	mistakes = is_other(near->typed, candidate) ? 0 : count_mistakes(near->typed, candidate);
	if (mistakes >= near->mistakes || 2 * mistakes >= length)
		return;
	near->mistakes = mistakes;
	strcpy(near->word, candidate);
}

void rf_near_consider_table(struct rf_near *near, const struct rf_option *table)
{
	for (int i = 0; table && table[i].word; i++)
		if (!strchr(table[i].word, ' '))
			rf_near_consider(near, table[i].word, strlen(table[i].word));
}

int rf_fail_no_limit(const struct rf_bank *bank, const char *name, const char *more,
		     struct rf_error *error)
{
	struct rf_near near = rf_near_begin(name);

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (bank->policy[slot].id)
			rf_near_consider(&near, bank->limit[slot].name,
					 strlen(bank->limit[slot].name));
	if (*near.word)
		return rf_error_failed(error, -ENOENT,
				       "limit '%s': it does not exist; did you mean '%s'?", name,
				       near.word);
	return rf_error_failed(error, -ENOENT,
			       "limit '%s': it does not exist; 'limit list' lists the limits%s",
			       name, more);
}

/* ---- suggestions ---- */

/* The probable intention behind an unexpected word. */

/*
 * The option of the table with a value of that kind: the required one, or the only one, or the
 * first in the usage line; -1: none, or several.
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

/*
 * The option that `word` can be a value of, although the option's word does not precede it; -1:
 * none.
 */
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

/* `dport 80 443`: the next word continues the preceding list. */
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

static bool is_option(const void *table, const char *word)
{
	return rf_option_find(table, word) >= 0;
}

int rf_fail_renamed_word(const struct rf_option *table, const struct rf_words *words,
			 struct rf_error *error)
{
	return rf_fail_renamed(words, is_option, table, "word", error);
}

int rf_fail_near(const struct rf_option *table, const struct rf_words *words,
		 struct rf_error *error)
{
	const char *word = rf_words_peek(words);
	struct rf_near near = rf_near_begin(word ? word : "");
	int owner, err;

	if (!word || !*word || rf_option_find(table, word) >= 0)
		return 0;
	err = rf_fail_renamed_word(table, words, error);
	if (!err)
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

/* The command that the words start with; NULL: they start differently, as in a list of prefixes. */
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
	if (command == &rf_syntax[RF_CMD_FLEET_JOIN] && strcmp(left, "tls") == 0)
		return rf_error_usage(error, "'tls': the agent does not speak TLS; run stunnel on "
					     "this host, and set its address with 'redis'");
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

/* ---- the next words ---- */

#define FIRST_LENGTH_MAX 32

/* The meaning of the words so far. */
struct position {
	const char *first;		 /* first word of a command of two words; NULL: none yet */
	const struct rf_syntax *command; /* NULL: none yet */
	bool is_help;			 /* the command follows `help`: it takes no arguments */
	bool has_operand;
	const struct rf_option *pending; /* the option whose value comes next; NULL: none */
	const struct rf_option *then;	 /* words that may follow the last value; NULL: none */
	const struct rf_option *pairs;	 /* words of the last value, if two can be a pair */
	const char *half;		 /* first word of that pair: `tcp`, of `tcp syn` */
	unsigned int given, common;	 /* bit sets of rows */
	const char *dev;
};

/* The part of `words` after `first` and a blank; NULL if `words` starts differently. */
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
		return; /* the list continues */
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
	const bool is_named = at->command == &rf_syntax[RF_CMD_ATTACH];

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

/* Suggests the rows that are not present. The first word of a pair has a separate row. */
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
 * Suggests the next required option, or the option that replaces all others. Returns false if other
 * words can follow.
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
