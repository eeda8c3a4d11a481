// SPDX-License-Identifier: GPL-2.0
/* Parses what is asked of traffic: `capture`, `events`, `limit try`, `suggest`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "rules/grammar.h"
#include "rules/grammar_option.h"
#include "rules/private.h"
#include "schema/reasons.h"

/* ---- capture ---- */

/* Parses the words after `capture`. */

#define CAPTURE_COUNT_MAX 1000000000U
#define CAPTURE_MAX_NS (24 * 3600 * RF_NS_PER_S)

static int parse_dropped(const char *value, void *into, struct rf_error *error)
{
	struct rf_capture *capture = into;

	(void)value, (void)error;
	capture->dropped = true;
	return 0;
}

static int parse_passed(const char *value, void *into, struct rf_error *error)
{
	struct rf_capture *capture = into;

	(void)value, (void)error;
	capture->passed = true;
	return 0;
}

static int parse_reason(const char *value, void *into, struct rf_error *error)
{
	struct rf_capture *capture = into;
	unsigned int reason = 0;
	int err = rf_parse_word(&rf_capture_options[RF_OPT_REASON], value, &reason, error);

	if (!err)
		capture->reasons |= 1U << reason;
	return err;
}

static int parse_capture_limit(const char *value, void *into, struct rf_error *error)
{
	struct rf_capture *capture = into;

	(void)error;
	capture->limit = value;
	return 0;
}

static int parse_capture_from(const char *value, void *into, struct rf_error *error)
{
	struct rf_capture *capture = into;

	capture->is_from = true;
	return rf_parse_prefix(value, &capture->from, error);
}

/* `one` is followed by `in`, which has the number. */
static int parse_one(const char *value, void *into, struct rf_error *error)
{
	unsigned int row;

	(void)into;
	return rf_parse_word(&rf_capture_options[RF_OPT_ONE], value, &row, error);
}

static int parse_in(struct rf_words *words, struct rf_capture *capture, struct rf_error *error)
{
	const char *value = rf_words_next(words);

	if (!value)
		return rf_fail_value(rf_capture_options[RF_OPT_ONE].words, NULL, error);
	return rf_parse_number(value, "one in how many", 1, RF_ONE_IN_MAX, &capture->one_in, error);
}

static int parse_most(const char *value, void *into, struct rf_error *error)
{
	struct rf_capture *capture = into;

	return rf_parse_number(value, "number of packets a second", 1, CAPTURE_COUNT_MAX,
			       &capture->most, error);
}

static int parse_count(const char *value, void *into, struct rf_error *error)
{
	struct rf_capture *capture = into;

	return rf_parse_number(value, "number of packets", 1, CAPTURE_COUNT_MAX, &capture->count,
			       error);
}

static int parse_capture_for(const char *value, void *into, struct rf_error *error)
{
	struct rf_capture *capture = into;

	return rf_parse_time_in(value, "time to capture", RF_NS_PER_S, CAPTURE_MAX_NS, "1s-24h",
				&capture->time_ns, error);
}

static int parse_write(const char *value, void *into, struct rf_error *error)
{
	struct rf_capture *capture = into;

	(void)error;
	capture->path = value;
	return 0;
}

/* Reasons that packets with the wanted verdicts cannot have; of none given, all. */
static int settle_reasons(struct rf_capture *capture, struct rf_error *error)
{
	const uint32_t given = capture->reasons;

	const bool is_open = !capture->dropped && !capture->passed;

	if (is_open && !given)
		capture->dropped = true;
	for (int i = 0; i < RF_REASON_COUNT; i++) {
		const bool is_drop = rf_reason_is_drop(i);
		bool *wanted = is_drop ? &capture->dropped : &capture->passed;

		if (!(given & 1U << i))
			continue;
		if (is_open)
			*wanted = true;
		if (!*wanted)
			return rf_error_usage(error,
					      "'reason %s': such packets are %s; leave out '%s'",
					      rf_reason_name(i), rf_reason_verdict(i),
					      is_drop ? RF_VERDICT_PASS : RF_VERDICT_DROP);
	}
	if (!given)
		capture->reasons = UINT32_MAX;
	return 0;
}

int rf_parse_capture(struct rf_words *words, struct rf_capture *capture, struct rf_error *error)
{
	static const rf_option_parser parsers[RF_CAPTURE_OPTIONS] = {
		[RF_OPT_DROPPED] = parse_dropped,
		[RF_OPT_PASSED] = parse_passed,
		[RF_OPT_REASON] = parse_reason,
		[RF_OPT_CAPTURE_LIMIT] = parse_capture_limit,
		[RF_OPT_CAPTURE_FROM] = parse_capture_from,
		[RF_OPT_ONE] = parse_one,
		[RF_OPT_MOST] = parse_most,
		[RF_OPT_PACKETS_COUNT] = parse_count,
		[RF_OPT_CAPTURE_FOR] = parse_capture_for,
		[RF_OPT_WRITE] = parse_write,
	};
	struct rf_capture parsed = {.one_in = RF_ONE_IN_DEFAULT, .most = RF_CAPTURE_MOST_DEFAULT};
	unsigned int given = 0;
	int err = 0;

	while (!err && rf_words_peek(words)) {
		const int row = rf_option_find(rf_capture_options, rf_words_peek(words));

		if (row < 0)
			return rf_fail_near(rf_capture_options, words, error)
				       ?: rf_words_end(words, error);
		err = rf_parse_option(rf_capture_options, row, parsers[row], words, &parsed, &given,
				      error);
		if (!err && row == RF_OPT_ONE)
			err = parse_in(words, &parsed, error);
	}
	if (!err && !parsed.path)
		err = rf_error_usage(error, "the file is missing; write capture … write FILE, or "
					    "'write -' for standard output");
	if (!err)
		err = settle_reasons(&parsed, error);
	if (!err)
		*capture = parsed;
	return err;
}

/* ---- events ---- */

/* Parses the words after `events`. */

#define TYPE_SIZE 64

static int parse_watch(const char *value, void *into, struct rf_error *error)
{
	struct rf_events_asked *asked = into;

	(void)value, (void)error;
	asked->is_watch = true;
	return 0;
}

static int parse_since(const char *value, void *into, struct rf_error *error)
{
	struct rf_events_asked *asked = into;

	return rf_parse_moment(value, rf_time_wall(), &asked->since_ns, error);
}

static int parse_until(const char *value, void *into, struct rf_error *error)
{
	struct rf_events_asked *asked = into;

	return rf_parse_moment(value, rf_time_wall(), &asked->until_ns, error);
}

static int parse_of(const char *value, void *into, struct rf_error *error)
{
	const struct rf_option *of = &rf_events_options[RF_OPT_OF];
	struct rf_events_asked *asked = into;
	char type[TYPE_SIZE];

	for (;; value++) {
		const size_t length = strcspn(value, ",");
		const size_t kept = length < TYPE_SIZE ? length : TYPE_SIZE - 1;
		int row;

		memcpy(type, value, kept);
		type[kept] = '\0';
		row = rf_option_find(of->words, type);
		if (row < 0)
			return rf_fail_value(of, type, error);
		asked->types |= 1U << row;
		value += length;
		if (!*value)
			return 0;
	}
}

static int parse_from(const char *value, void *into, struct rf_error *error)
{
	struct rf_events_asked *asked = into;

	asked->is_from = true;
	return rf_parse_prefix(value, &asked->from, error);
}

int rf_parse_events(struct rf_words *words, struct rf_events_asked *asked, struct rf_error *error)
{
	static const rf_option_parser parsers[RF_EVENTS_OPTIONS] = {
		[RF_OPT_EVENTS_WATCH] = parse_watch, [RF_OPT_SINCE] = parse_since,
		[RF_OPT_UNTIL] = parse_until,	     [RF_OPT_OF] = parse_of,
		[RF_OPT_EVENTS_FROM] = parse_from,
	};
	struct rf_events_asked parsed = {};
	unsigned int given = 0;
	int err = rf_parse_options(rf_events_options, parsers, words, &parsed, &given, error);

	if (!err)
		err = rf_words_end(words, error);
	if (!err && parsed.is_watch && parsed.until_ns)
		err = rf_error_usage(error, "'until': 'watch' goes on until it is interrupted; "
					    "leave out one of the two");
	if (!err && parsed.until_ns && parsed.until_ns <= parsed.since_ns)
		err = rf_error_usage(error, "'until': the time is not after that of 'since'");
	if (!err)
		*asked = parsed;
	return err;
}

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

static int parse_suggest_since(const char *value, void *into, struct rf_error *error)
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
		[RF_OPT_SUGGEST_SINCE] = parse_suggest_since,
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
