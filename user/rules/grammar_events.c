// SPDX-License-Identifier: GPL-2.0
/* Parses the words after `events`. */
#include <errno.h>
#include <string.h>

#include "base/time.h"
#include "rules/grammar_option.h"
#include "rules/moment.h"
#include "rules/private.h"

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
