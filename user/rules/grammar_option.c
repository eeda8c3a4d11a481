// SPDX-License-Identifier: GPL-2.0
/* Commands and options by their table: parsing them, and writing them as usage and messages do. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
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
	[RF_KIND_USER] = "a user of the engine",
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

/* Appends the value, in brackets where it may be left out. */
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

int rf_parse_word(const struct rf_option *option, const char *value, unsigned int *row,
		  struct rf_error *error)
{
	const int found = rf_option_find(option->words, value);

	if (found < 0)
		return rf_fail_value(option, value, error);
	*row = found;
	return 0;
}

uint64_t rf_field_read(const void *from, size_t size)
{
	switch (size) {
	case 1:
		return *(const uint8_t *)from;
	case 2:
		return *(const uint16_t *)from;
	case 4:
		return *(const uint32_t *)from;
	default:
		return *(const uint64_t *)from;
	}
}

void rf_field_write(void *to, size_t size, uint64_t value)
{
	switch (size) {
	case 1:
		*(uint8_t *)to = value;
		break;
	case 2:
		*(uint16_t *)to = value;
		break;
	case 4:
		*(uint32_t *)to = value;
		break;
	default:
		*(uint64_t *)to = value;
	}
}

/* A prefix length with its slash. */
static int parse_length(const struct rf_option *option, const char *value, uint32_t *length,
			struct rf_error *error)
{
	if (*value != '/')
		return rf_error_usage(
			error, "'%s': invalid prefix length; write it with a slash, like %s /%d",
			value, option->word, option->max == 32 ? 24 : 48);
	if (rf_parse_number(value + 1, "prefix length", 0, option->max, length, error))
		return rf_error_usage(error, "'%s': invalid prefix length: it must be /0-/%" PRIu32,
				      value, option->max);
	return 0;
}

/* Puts a value into the place that its option names. */
static int take_value(const struct rf_option *option, const char *value, uint64_t now_ns,
		      void *into, struct rf_error *error)
{
	void *to = (char *)into + option->at;
	uint64_t unused_ns;
	uint32_t number = 1; /* of a word alone */
	int err = 0;

	switch (option->kind) {
	case RF_KIND_FILE:
	case RF_KIND_LIMIT:
		*(const char **)to = value;
		return 0;
	case RF_KIND_TIME:
		return rf_parse_time_in(value, option->what, option->min * RF_NS_PER_S,
					option->max * RF_NS_PER_S, option->range, to, error);
	case RF_KIND_MOMENT:
		return rf_parse_moment(value, now_ns, to, error);
	case RF_KIND_UNTIL: /* depends on `since`, which may follow */
		*(const char **)to = value;
		return rf_parse_moment(value, now_ns, &unused_ns, error);
	case RF_KIND_WORD:
		err = rf_parse_word(option, value, &number, error);
		break;
	case RF_KIND_NUMBER:
		err = rf_parse_number(value, option->what, option->min, option->max, &number,
				      error);
		break;
	case RF_KIND_LENGTH:
		err = parse_length(option, value, &number, error);
		break;
	default:
		break;
	}
	if (!err && option->bit)
		*(uint32_t *)to |= option->bit;
	else if (!err)
		rf_field_write(to, option->size, number);
	return err;
}

/* Puts a value where it belongs: by the command's parser, or else as the option says. */
static int put_value(const struct rf_option *option, rf_option_parser parser, const char *value,
		     const struct rf_words *words, void *into, struct rf_error *error)
{
	return parser ? parser(value, into, error)
		      : take_value(option, value, rf_words_now(words), into, error);
}

static bool ends_with_comma(const char *text)
{
	return *text && text[strlen(text) - 1] == ',';
}

/* `80, 443`: a list that is several words, since there is a blank at a comma. */
static int parse_list(const struct rf_option *option, rf_option_parser parser, const char *value,
		      struct rf_words *words, void *into, struct rf_error *error)
{
	char *list = strdup(value);
	int err;

	while (list && rf_words_peek(words) &&
	       (ends_with_comma(list) || *rf_words_peek(words) == ',')) {
		char *longer;

		if (asprintf(&longer, "%s%s", list, rf_words_next(words)) < 0)
			longer = NULL;
		free(list);
		list = longer;
	}
	err = list ? put_value(option, parser, list, words, into, error)
		   : rf_error_failed(error, -ENOMEM, "out of memory for the rules");
	free(list);
	return err;
}

int rf_parse_option(const struct rf_option *table, int row, rf_option_parser parser,
		    struct rf_words *words, void *into, unsigned int *given, struct rf_error *error)
{
	const struct rf_option *option = &table[row];
	const char *value = rf_words_next(words);

	if (*given & 1U << row && !(option->flags & RF_OPTION_MANY))
		return rf_error_usage(error, "'%s': given twice", option->word);
	*given |= 1U << row;
	if (option->kind == RF_KIND_NONE)
		return put_value(option, parser, value, words, into, error);
	value = rf_words_peek(words);
	if (value && option->flags & RF_OPTION_MAY && rf_option_find(table, value) >= 0)
		value = NULL; /* the next option */
	else
		rf_words_next(words);
	if (!value && !(option->flags & RF_OPTION_MAY))
		return rf_fail_value(option, NULL, error);
	if (value && rf_option_is_list(option))
		return parse_list(option, parser, value, words, into, error);
	return put_value(option, parser, value, words, into, error);
}

int rf_parse_options(const struct rf_option *table, const rf_option_parser *parser,
		     struct rf_words *words, void *into, unsigned int *given,
		     struct rf_error *error)
{
	int err = 0;

	while (!err && rf_words_peek(words)) {
		const int row = rf_option_find(table, rf_words_peek(words));

		if (row < 0)
			return rf_fail_near(table, words, error);
		err = rf_parse_option(table, row, parser ? parser[row] : NULL, words, into, given,
				      error);
	}
	return err;
}

/* ---- commands ---- */

/* Does `word` begin commands of two words, as `limit` does? */
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
	const char *first = command < 0 ? rf_words_next(words) : rf_syntax[command].words;
	const char *second = command < 0 && has_second(first) ? rf_words_next(words) : NULL;

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
