// SPDX-License-Identifier: GPL-2.0
/* Parses the words after `capture`. */
#include <errno.h>

#include "rules/grammar_option.h"
#include "rules/private.h"
#include "schema/reasons.h"

#define COUNT_MAX 1000000000U
#define TIME_MAX_NS (24 * 3600 * RF_NS_PER_S)

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

static int parse_limit(const char *value, void *into, struct rf_error *error)
{
	struct rf_capture *capture = into;

	(void)error;
	capture->limit = value;
	return 0;
}

static int parse_from(const char *value, void *into, struct rf_error *error)
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

	return rf_parse_number(value, "number of packets a second", 1, COUNT_MAX, &capture->most,
			       error);
}

static int parse_count(const char *value, void *into, struct rf_error *error)
{
	struct rf_capture *capture = into;

	return rf_parse_number(value, "number of packets", 1, COUNT_MAX, &capture->count, error);
}

static int parse_for(const char *value, void *into, struct rf_error *error)
{
	struct rf_capture *capture = into;

	return rf_parse_time_in(value, "time to capture", RF_NS_PER_S, TIME_MAX_NS, "1s-24h",
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
		[RF_OPT_DROPPED] = parse_dropped,   [RF_OPT_PASSED] = parse_passed,
		[RF_OPT_REASON] = parse_reason,	    [RF_OPT_CAPTURE_LIMIT] = parse_limit,
		[RF_OPT_CAPTURE_FROM] = parse_from, [RF_OPT_ONE] = parse_one,
		[RF_OPT_MOST] = parse_most,	    [RF_OPT_PACKETS_COUNT] = parse_count,
		[RF_OPT_CAPTURE_FOR] = parse_for,   [RF_OPT_WRITE] = parse_write,
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
