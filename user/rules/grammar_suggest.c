// SPDX-License-Identifier: GPL-2.0
/* Parses the words after `limit try` and `suggest`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "rules/grammar_option.h"
#include "rules/moment.h"
#include "rules/private.h"

#define WATCH_LEAST_NS (2 * RF_NS_PER_S)
#define WATCH_MOST_NS (24 * 3600 * RF_NS_PER_S)

/* ---- limit try ---- */

/* `since` or `until`, which the words of a limit do not have. */
static int take_moment(struct rf_words *words, int row, uint64_t *time_ns, struct rf_error *error)
{
	const struct rf_option *option = &rf_try_options[row];
	const char *value;

	rf_words_next(words);
	value = rf_words_next(words);
	if (!value)
		return rf_fail_value(option, NULL, error);
	if (*time_ns)
		return rf_error_usage(error, "'%s': given twice", option->word);
	return rf_parse_moment(value, rf_time_wall(), time_ns, error);
}

/* Takes the next word: of a limit, or a time. */
static int take_word(struct rf_words *words, struct rf_try *asked, int *count,
		     struct rf_error *error)
{
	const int row = rf_option_find(rf_try_options, rf_words_peek(words));

	if (row == RF_OPT_TRY_SINCE)
		return take_moment(words, row, &asked->since_ns, error);
	if (row == RF_OPT_TRY_UNTIL)
		return take_moment(words, row, &asked->until_ns, error);
	if (*count == RF_TRY_WORDS)
		return rf_error_usage(error, "'%s': too many words", rf_words_peek(words));
	asked->word[(*count)++] = rf_words_next(words);
	return 0;
}

int rf_parse_try(struct rf_words *words, struct rf_try *asked, struct rf_error *error)
{
	const char *name = rf_take_operand(RF_CMD_LIMIT_TRY, words, error);
	struct rf_words rest;
	int count = 0, err = 0;

	*asked = (struct rf_try){};
	if (!name)
		return -EINVAL;
	asked->word[count++] = name;
	while (!err && rf_words_peek(words))
		err = take_word(words, asked, &count, error);
	rest = (struct rf_words){.word = asked->word, .count = count};
	if (!err)
		err = rf_parse_change(&rest, &asked->change, error);
	if (!err)
		err = rf_words_end(&rest, error);
	if (!err && asked->until_ns && asked->until_ns <= asked->since_ns)
		err = rf_error_usage(error, "'until': the time is not after that of 'since'");
	return err;
}

/* ---- suggest ---- */

static int parse_limit(const char *value, void *into, struct rf_error *error)
{
	(void)error;
	((struct rf_suggest_asked *)into)->limit = value;
	return 0;
}

/* `per /24` is a word of limits: what sources are, is up to the limit that saw them. */
static int fail_grouping(const char *value, struct rf_error *error)
{
	const bool is_ipv6 = atoi(value + 1) > 32;

	return rf_error_usage(error,
			      "'per %s': expects a TIME here, like 1s; sources are grouped as a "
			      "limit groups them, so name one that does so with 'limit NAME', or "
			      "add it: ringfence limit add probe-net rate 50k/1s %s %s shadow",
			      value, is_ipv6 ? "per6" : "per", value);
}

static int parse_per(const char *value, void *into, struct rf_error *error)
{
	if (*value == '/')
		return fail_grouping(value, error);
	return rf_parse_time_in(value, "TIME of a limit", RF_WINDOW_MIN_NS, RF_WINDOW_MAX_NS,
				"1ms-8784h", &((struct rf_suggest_asked *)into)->per_ns, error);
}

static int parse_since(const char *value, void *into, struct rf_error *error)
{
	return rf_parse_moment(value, rf_time_wall(), &((struct rf_suggest_asked *)into)->since_ns,
			       error);
}

static int parse_for(const char *value, void *into, struct rf_error *error)
{
	return rf_parse_time_in(value, "time to watch", WATCH_LEAST_NS, WATCH_MOST_NS, "2s-24h",
				&((struct rf_suggest_asked *)into)->for_ns, error);
}

int rf_parse_suggest(struct rf_words *words, struct rf_suggest_asked *asked, struct rf_error *error)
{
	static const rf_option_parser parsers[RF_SUGGEST_OPTIONS] = {
		[RF_OPT_SUGGEST_LIMIT] = parse_limit,
		[RF_OPT_SUGGEST_PER] = parse_per,
		[RF_OPT_SUGGEST_SINCE] = parse_since,
		[RF_OPT_SUGGEST_FOR] = parse_for,
	};
	struct rf_suggest_asked parsed = {};
	unsigned int given = 0;
	int err = rf_parse_options(rf_suggest_options, parsers, words, &parsed, &given, error);

	if (!err)
		err = rf_words_end(words, error);
	if (!err && parsed.since_ns && parsed.for_ns)
		err = rf_error_usage(error, "'since' reads the history, and 'for' what comes in "
					    "now; leave out one of them");
	if (!err)
		*asked = parsed;
	return err;
}
