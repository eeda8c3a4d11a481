// SPDX-License-Identifier: GPL-2.0
/* Commands and options by their table: parsing them, and writing them as usage and messages do. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/advice.h"
#include "rules/grammar_option.h"
#include "rules/private.h"

/* ---- text ---- */

/* How a message describes the value that an option expects; sparse: some have no value. */
static const char *const kind_texts[RF_KIND_COUNT_OF] = {
	[RF_KIND_NUMBER] = "a number",
	[RF_KIND_COUNT] = "a count, like 100 or 20k",
	[RF_KIND_RATE] = "a rate, like 20k/1s",
	[RF_KIND_TIME] = "a time, like 10m",
	[RF_KIND_LENGTH] = "a prefix length, like /24",
	[RF_KIND_PORTS] = "a port, like 53 or 8000-8100",
	[RF_KIND_SIZES] = "a length, like 482 or 1000-1514",
	[RF_KIND_FLAGS] = "TCP flags, like SYN/SYN,ACK",
	[RF_KIND_SHARE] = "a share, like 1/2",
	[RF_KIND_PREFIX] = "a prefix, like 192.0.2.0/24",
	[RF_KIND_ADDRESS] = "an address",
	[RF_KIND_FILE] = "a file",
	[RF_KIND_COMMAND] = "a command",
	[RF_KIND_INTERFACE] = "an interface",
	[RF_KIND_DEV] = "an interface or a fence",
	[RF_KIND_NAME] = "a name",
	[RF_KIND_LIMIT] = "the name of a limit",
	[RF_KIND_FENCE] = "the name of a fence",
	[RF_KIND_ALLOWED] = "a prefix",
	[RF_KIND_DENIED] = "a prefix",
	[RF_KIND_BANNED] = "an address",
	[RF_KIND_OWNER] = "the name of an owner, like blocklist",
	[RF_KIND_MOMENT] = "a time, like 14:02, 2026-11-22T14:02 or -2h",
	[RF_KIND_UNTIL] = "a time, like 14:02, 2026-11-22T14:02 or -2h",
	[RF_KIND_ID] = "the id of an event",
	[RF_KIND_TYPES] = "types of events, like source_limited; 'ringfence help events' lists "
			  "them",
	[RF_KIND_ENGINE] = "HOST:PORT, like 192.0.2.10:6379",
	[RF_KIND_USER] = "a user of the fleet server",
	[RF_KIND_HOST] = "a host of the fleet",
	[RF_KIND_REASON] = "a reason, like over_limit; 'ringfence help capture' lists them",
};

/* How a message names an operand that is missing; sparse: the other kinds are no operands. */
static const char *const operand_names[RF_KIND_COUNT_OF] = {
	[RF_KIND_PREFIX] = "prefix",	  [RF_KIND_ADDRESS] = "address",
	[RF_KIND_FILE] = "file",	  [RF_KIND_INTERFACE] = "interface",
	[RF_KIND_NAME] = "limit's name",  [RF_KIND_LIMIT] = "limit's name",
	[RF_KIND_ALLOWED] = "prefix",	  [RF_KIND_DENIED] = "prefix",
	[RF_KIND_BANNED] = "address",	  [RF_KIND_DEV] = "interface",
	[RF_KIND_FENCE] = "fence's name", [RF_KIND_HOST] = "host",
};

/* Appends to `text`. */
__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size,
							 const char *format, ...)
{
	const size_t length = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + length, size - length, format, args);
	va_end(args);
}

/* `a, b N or c`, with `last` before the last one. */
static void append_words(const struct rf_option *words, const char *between, const char *last,
			 char *text, size_t size)
{
	for (int i = 0; words[i].word; i++)
		append(text, size, "%s%s%s%s",
		       !i		   ? ""
		       : words[i + 1].word ? between
					   : last,
		       words[i].word, words[i].value ? " " : "",
		       words[i].value ? words[i].value : "");
}

/* Appends the value, in brackets if it is optional. */
static void append_value(const struct rf_option *option, char *text, size_t size)
{
	const bool both = option->value && option->words;
	const bool may = option->flags & RF_OPTION_MAY;

	append(text, size, "%s%s%s", may ? "[" : "", option->value ? option->value : "",
	       both ? "|" : "");
	if (option->words)
		append_words(option->words, "|", "|", text, size);
	append(text, size, "%s", may ? "]" : "");
}

void rf_option_format(const struct rf_option *option, char text[RF_OPTION_TEXT_SIZE])
{
	snprintf(text, RF_OPTION_TEXT_SIZE, "%s%s", option->word,
		 *option->word && (option->value || option->words) ? " " : "");
	append_value(option, text, RF_OPTION_TEXT_SIZE);
}

/* Does the usage line show the option itself, and not only [OPTION…]? */
static bool is_shown(const struct rf_syntax *command, const struct rf_option *option)
{
	const bool few = !command->options[1].word; /* the only one */

	return few || rf_option_is_must(command, option) ||
	       option->flags & (RF_OPTION_SHOWN | RF_OPTION_INSTEAD);
}

static void append_option(const struct rf_option *option, char text[RF_USAGE_TEXT_SIZE])
{
	const bool may = !(option->flags & (RF_OPTION_MUST | RF_OPTION_INSTEAD));
	char written[RF_OPTION_TEXT_SIZE];

	rf_option_format(option, written);
	append(text, RF_USAGE_TEXT_SIZE, "%s%s%s%s%s", *text ? " " : "",
	       option->flags & RF_OPTION_INSTEAD ? "| " : "", may ? "[" : "", written,
	       may ? "]" : "");
}

void rf_syntax_format(const struct rf_syntax *command, char text[RF_USAGE_TEXT_SIZE])
{
	bool others = false;

	*text = '\0';
	if (command->operand.word)
		append_value(&command->operand, text, RF_USAGE_TEXT_SIZE);
	for (int i = 0; command->options && command->options[i].word; i++) {
		if (is_shown(command, &command->options[i]))
			append_option(&command->options[i], text);
		else
			others = true;
	}
	if (others)
		append(text, RF_USAGE_TEXT_SIZE, "%s[OPTION…]", *text ? " " : "");
}

/* ---- parsing ---- */

#define TYPE_SIZE 64 /* longer words are cut in messages */

int rf_fail_value(const struct rf_option *option, const char *value, struct rf_error *error)
{
	char expected[RF_OPTION_TEXT_SIZE] = "";

	struct rf_near near = rf_near_begin(value ? value : "");

	rf_near_consider_table(&near, option->words);
	if (value && *near.word)
		return rf_error_usage(error, "'%s': not a word for '%s'; did you mean '%s'?", value,
				      option->word, near.word);
	if (option->kind == RF_KIND_WORD)
		append_words(option->words, ", ", " or ", expected, sizeof(expected));
	else
		append(expected, sizeof(expected), "%s", kind_texts[option->kind]);
	if (value)
		return rf_error_usage(error, "'%s': '%s' expects %s", value, option->word,
				      expected);
	return rf_error_usage(error, "'%s': expects %s", option->word, expected);
}

/* Sets the bit of an option, or stores a number if the option has one. */
static int store(const struct rf_option *option, uint64_t number, void *into)
{
	void *to = (char *)into + option->at;

	if (option->bit)
		*(uint32_t *)to |= option->bit;
	else if (option->size)
		rf_field_write(to, option->size, number);
	return 0;
}

static int take_number(const struct rf_option *option, const char *value, void *into,
		       struct rf_error *error)
{
	uint32_t number;
	int err;

	if (!value)
		return store(option, option->bare, into);
	err = rf_parse_number(value, option->what, option->min, option->max, &number, error);
	return err ? err : store(option, number, into);
}

/* A prefix length with its slash. */
static int take_length(const struct rf_option *option, const char *value, void *into,
		       struct rf_error *error)
{
	uint32_t length;

	if (*value != '/')
		return rf_error_usage(
			error, "'%s': invalid prefix length; write it with a slash, like %s /%d",
			value, option->word, option->max == 32 ? 24 : 48);
	if (rf_parse_number(value + 1, "prefix length", 0, option->max, &length, error))
		return rf_error_usage(error, "'%s': invalid prefix length: it must be /0-/%" PRIu32,
				      value, option->max);
	return store(option, length, into);
}

static int take_time(const struct rf_option *option, const char *value, void *into,
		     struct rf_error *error)
{
	uint64_t time_ns;
	int err = rf_parse_time_in(option, value, &time_ns, error);

	return err ? err : store(option, time_ns, into);
}

/* Words that are values, with commas between, as a bit set of their rows. */
static int take_types(const struct rf_option *option, const char *value, void *into,
		      struct rf_error *error)
{
	char type[TYPE_SIZE];

	for (;; value++) {
		const size_t length = strcspn(value, ",");
		int row;

		snprintf(type, sizeof(type), "%.*s", (int)length, value);
		row = rf_option_find(option->words, type);
		if (row < 0)
			return rf_fail_value(option, type, error);
		*(uint32_t *)((char *)into + option->at) |= 1U << row;
		value += length;
		if (!*value)
			return 0;
	}
}

static int take_reason(const struct rf_option *option, const char *value, void *into,
		       struct rf_error *error)
{
	const int row = rf_option_find(option->words, value);

	if (row < 0)
		return rf_fail_value(option, value, error);
	*(uint32_t *)((char *)into + option->at) |= 1U << row;
	return 0;
}

/* Only a removal is of all owners: its option has the word. */
static int take_owner(const struct rf_option *option, const char *value, char *owner,
		      struct rf_error *error)
{
	if (strcmp(value, "all") == 0 && !option->words)
		return rf_error_usage(error, "'by all': expects the name of one owner");
	if (strcmp(value, rf_owner_name(NULL, RF_OWNER_FLEET)) == 0)
		return rf_error_usage(error,
				      "'by fleet': the agent of the fleet adds and removes those "
				      "entries; 'ringfence fleet bans flush' removes them");
	return rf_parse_owner(value, owner, error);
}

static int take_count(const struct rf_option *option, const char *value, struct rf_written *to,
		      struct rf_error *error)
{
	if (rf_parse_count(value, &to->rate.count, &to->rate.in_bits, error))
		return rf_error_usage(error, "'%s': invalid %s; " RF_COUNT_FORM, value,
				      option->what);
	to->text = value;
	return 0;
}

static int take_rate(const char *value, struct rf_written *to, struct rf_error *error)
{
	to->text = value;
	return rf_parse_rate(value, &to->rate, error);
}

static int take_fence(const char *value, const char **to, struct rf_error *error)
{
	char name[RF_NAME_SIZE];

	*to = value;
	return rf_parse_name(value, "name of a fence", name, error);
}

/* Depends on `since`, which may follow: the check of the command parses it again. */
static int take_until(const char *value, uint64_t now_ns, const char **to, struct rf_error *error)
{
	uint64_t unused_ns;

	*to = value;
	return rf_parse_moment(value, now_ns, &unused_ns, error);
}

/* Stores a value in the field of its option, by its kind. */
static int take_value(const struct rf_option *option, const char *value, uint64_t now_ns,
		      void *into, struct rf_error *error)
{
	void *to = (char *)into + option->at;

	switch (option->kind) {
	case RF_KIND_NONE:
		return store(option, 1, into);
	case RF_KIND_NUMBER:
		return take_number(option, value, into, error);
	case RF_KIND_LENGTH:
		return take_length(option, value, into, error);
	case RF_KIND_TIME:
		return take_time(option, value, into, error);
	case RF_KIND_MOMENT:
		return rf_parse_moment(value, now_ns, to, error);
	case RF_KIND_UNTIL:
		return take_until(value, now_ns, to, error);
	case RF_KIND_TYPES:
		return take_types(option, value, into, error);
	case RF_KIND_REASON:
		return take_reason(option, value, into, error);
	case RF_KIND_OWNER:
		return take_owner(option, value, to, error);
	case RF_KIND_COUNT:
		return take_count(option, value, to, error);
	case RF_KIND_RATE:
		return take_rate(value, to, error);
	case RF_KIND_PORTS:
		return rf_parse_ports(value, to, error);
	case RF_KIND_SIZES:
		return rf_parse_lengths(value, to, error);
	case RF_KIND_FLAGS:
		return rf_parse_tcp_flags(value, to, error);
	case RF_KIND_PREFIX:
		return option->size == sizeof(struct rf_prefix)
			       ? rf_parse_prefix(value, to, error)
			       : rf_parse_prefixes(value, to, error);
	case RF_KIND_FENCE:
		return take_fence(value, to, error);
	default: /* a word of the command line */
		*(const char **)to = value;
		return 0;
	}
}

static bool is_list(const char *text, const struct rf_words *words)
{
	const char *next = rf_words_peek(words);

	return next && ((*text && text[strlen(text) - 1] == ',') || *next == ',');
}

/* `80, 443`: a list that is several words, since there is a blank at a comma. */
static int take_list(const struct rf_option *option, const char *value, struct rf_words *words,
		     void *into, struct rf_error *error)
{
	char *list = strdup(value);
	int err;

	while (list && is_list(list, words)) {
		char *longer;

		if (asprintf(&longer, "%s%s", list, rf_words_next(words)) < 0)
			longer = NULL;
		free(list);
		list = longer;
	}
	err = list ? take_value(option, list, 0, into, error)
		   : rf_error_failed(error, -ENOMEM, "out of memory for the rules");
	free(list);
	return err;
}

/* The row of a value among its possible words; two of them can be a pair, as `tcp syn`. */
static int find_word(const struct rf_option *table, const char *value, struct rf_words *words)
{
	const char *next = rf_words_peek(words);
	const size_t length = strlen(value);

	for (int i = 0; next && table[i].word; i++) {
		const char *word = table[i].word;

		if (strncmp(word, value, length) == 0 && word[length] == ' ' &&
		    strcmp(word + length + 1, next) == 0) {
			rf_words_next(words);
			return i;
		}
	}
	return rf_option_find(table, value);
}

/* Does the word have a value or a field, in addition to the value of its row? */
static bool has_more(const struct rf_option *word)
{
	return word->kind != RF_KIND_NONE || word->size;
}

static int parse_rest(const struct rf_option *table, const struct rf_option *option,
		      struct rf_words *words, void *into, struct rf_error *error);

/* Parses a value, which can be one of the option's words; its word can have a value itself. */
static int parse_value(const struct rf_option *option, const char *value, struct rf_words *words,
		       void *into, struct rf_error *error)
{
	const int row = option->words && value ? find_word(option->words, value, words) : -1;
	const struct rf_option *word = row < 0 ? NULL : &option->words[row];

	if (!word && value &&
	    rf_fail_renamed_word(option->words, &(struct rf_words){.word = &value, .count = 1},
				 error))
		return -EINVAL;
	if (option->kind == RF_KIND_WORD && word)
		store(option, option->min + row, into);
	if (word && has_more(word))
		return parse_rest(NULL, word, words, into, error);
	if (option->kind == RF_KIND_WORD && word)
		return 0;
	if (option->parse)
		return option->parse(option, value, into, error);
	if (option->kind == RF_KIND_WORD)
		return rf_fail_value(option, value, error);
	if (value && rf_option_is_list(option))
		return take_list(option, value, words, into, error);
	return take_value(option, value, rf_words_now(words), into, error);
}

/* Parses the words after an option. An option of `table` is not an optional value. */
static int parse_rest(const struct rf_option *table, const struct rf_option *option,
		      struct rf_words *words, void *into, struct rf_error *error)
{
	const char *value = option->word;
	int err, row = -1;

	if (option->kind != RF_KIND_NONE) {
		value = rf_words_peek(words);
		if (value && option->flags & RF_OPTION_MAY && rf_option_find(table, value) >= 0)
			value = NULL; /* the next option */
		else
			rf_words_next(words);
		if (!value && !(option->flags & RF_OPTION_MAY))
			return rf_fail_value(option, NULL, error);
	}
	err = parse_value(option, value, words, into, error);
	if (!err && rf_words_peek(words))
		row = rf_option_find(option->then, rf_words_peek(words));
	if (row < 0)
		return err;
	rf_words_next(words);
	return parse_rest(NULL, &option->then[row], words, into, error);
}

int rf_parse_option(const struct rf_option *table, int row, struct rf_words *words, void *into,
		    unsigned int *given, struct rf_error *error)
{
	const struct rf_option *option = &table[row];

	rf_words_next(words);
	if (*given & 1U << row && !(option->flags & RF_OPTION_MANY))
		return rf_error_usage(error, "'%s': given twice", option->word);
	*given |= 1U << row;
	return parse_rest(table, option, words, into, error);
}

int rf_parse_options(const struct rf_option *table, struct rf_words *words, void *into,
		     unsigned int *given, struct rf_error *error)
{
	int err = 0;

	while (!err && table && rf_words_peek(words)) {
		const int row = rf_option_find(table, rf_words_peek(words));

		if (row < 0)
			return rf_fail_near(table, words, error);
		err = rf_parse_option(table, row, words, into, given, error);
	}
	return err;
}

void rf_options_start(const struct rf_option *table, void *into)
{
	for (int i = 0; table && table[i].word; i++)
		if (table[i].initial)
			store(&table[i], table[i].initial, into);
}

/* ---- commands ---- */

/* Does `word` start commands of two words, as `limit` does? */
static bool has_second(const char *word)
{
	const size_t length = strlen(word);

	for (int i = 0; i < RF_CMD_COUNT; i++)
		if (!strncmp(rf_syntax[i].words, word, length) && rf_syntax[i].words[length] == ' ')
			return true;
	return false;
}

int rf_refuse_command(struct rf_words *words, int command, const char *where,
		      struct rf_error *error)
{
	const char *first, *second;

	if (command < 0 && rf_fail_renamed_command(words, error))
		return -EINVAL;
	first = command < 0 ? rf_words_next(words) : rf_syntax[command].words;
	second = command < 0 && has_second(first) ? rf_words_next(words) : NULL;
	return rf_error_failed(error, -EINVAL, "'%s%s%s': not a command of %s", first,
			       second ? " " : "", second ? second : "", where);
}

const char *rf_take_operand(enum rf_command_id command, struct rf_words *words,
			    struct rf_error *error)
{
	const struct rf_syntax *syntax = &rf_syntax[command];
	const char *word = rf_is_interface(&syntax->operand) ? rf_words_interface(words)
							     : rf_words_next(words);
	char operand[RF_OPTION_TEXT_SIZE];

	if (word)
		return word;
	rf_option_format(&syntax->operand, operand);
	rf_error_usage(error, "the %s is missing; write %s %s", operand_names[syntax->operand.kind],
		       syntax->words, operand);
	return NULL;
}

int rf_parse_names(enum rf_command_id command, struct rf_words *words, struct rf_names *names,
		   struct rf_error *error)
{
	const struct rf_option *options = rf_syntax[command].options;
	const bool is_missing = rf_option_find(options, rf_words_peek(words) ?: "") >= 0;
	struct rf_words none = {};
	const char *name = rf_take_operand(command, is_missing ? &none : words, error);

	names->count = 0;
	if (!name)
		return -EINVAL;
	names->name[names->count++] = name;
	while (rf_words_peek(words) && rf_option_find(options, rf_words_peek(words)) < 0) {
		if (names->count == RF_LIMITS_MAX)
			return rf_error_usage(error,
					      "'%s': a fence has %d limits at most; leave out some",
					      rf_words_peek(words), RF_LIMITS_MAX);
		names->name[names->count++] = rf_words_next(words);
	}
	return 0;
}

/* The operand of a command, if the row has a field for it. */
static int parse_operand(enum rf_command_id command, struct rf_words *words, void *into,
			 struct rf_error *error)
{
	const struct rf_syntax *syntax = &rf_syntax[command];
	const struct rf_option *operand = &syntax->operand;
	const char *word = rf_words_peek(words);

	if (!operand->size)
		return 0;
	if (!(operand->flags & RF_OPTION_MAY)) {
		word = rf_take_operand(command, words, error);
		return word ? parse_value(operand, word, words, into, error) : -EINVAL;
	}
	if (!word || rf_option_find(syntax->options, word) >= 0)
		return 0;
	if (operand->kind == RF_KIND_NUMBER && syntax->options &&
	    rf_fail_near(syntax->options, words, error))
		return -EINVAL;
	return parse_value(operand, rf_words_next(words), words, into, error);
}

int rf_parse_arguments(enum rf_command_id command, struct rf_words *words, void *into,
		       struct rf_error *error)
{
	const struct rf_syntax *syntax = &rf_syntax[command];
	_Alignas(max_align_t) unsigned char parsed[RF_ARGUMENTS_SIZE] = {};
	unsigned int given = 0;
	int err;

	rf_options_start(syntax->options, parsed);
	err = parse_operand(command, words, parsed, error);
	if (!err)
		err = rf_parse_options(syntax->options, words, parsed, &given, error);
	if (!err)
		err = rf_words_end(words, error);
	if (!err && syntax->check)
		err = syntax->check(parsed, rf_words_now(words), error);
	if (!err)
		memcpy(into, parsed, syntax->size);
	return err;
}
