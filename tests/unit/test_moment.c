// SPDX-License-Identifier: GPL-2.0
/* The times of `at`, `since` and `until`, in Berlin, where summer time starts and ends. */
#include "unit.h"

#include <stdio.h>
#include <time.h>

#include "line.h"
#include "rules/grammar_option.h"
#include "watch/privacy.h"

#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"

struct moment_row {
	const char *now, *text;
	const char *wanted; /* UTC; NULL: refused */
	const char *message;
};

static uint64_t utc_ns(const char *text)
{
	struct tm tm = {};

	assert_non_null(strptime(text, "%Y-%m-%dT%H:%M:%S", &tm));
	return timegm(&tm) * SECOND;
}

static void in_berlin(void)
{
	setenv("TZ", BERLIN, 1);
	tzset();
}

static void read_moment(void **state)
{
	const struct moment_row *row = *state;
	const uint64_t now = utc_ns(row->now) + 400 * MS;
	uint64_t time = utc_ns(row->wanted);
	struct rf_error error = {};
	uint64_t read = 0;

	in_berlin();
	if (strchr(row->text, '.'))
		time += 204 * MS;
	if (*row->text == '-')
		time += 400 * MS;
	assert_int_equal(rf_parse_moment(row->text, now, &read, &error), 0);
	assert_int_equal(read, time);
}

static void refuse_moment(void **state)
{
	const struct moment_row *row = *state;
	struct rf_error error = {};
	uint64_t read = 7;

	in_berlin();
	assert_true(rf_parse_moment(row->text, utc_ns(row->now), &read, &error) < 0);
	assert_true(error.usage);
	if (!strstr(error.text, row->message))
		fail_msg("'%s' is not in '%s'", row->message, error.text);
	assert_non_null(strstr(error.text, row->text));
	assert_int_equal(read, 7);
}

/* Every printed second is read back as that second. */
static void read_back(void **state)
{
	uint64_t random = unit_seed();

	(void)state;
	in_berlin();
	for (int i = 0; i < 20000; i++) {
		const uint64_t now = utc_ns("2026-11-22T12:00:00");
		const time_t then = now / SECOND - unit_below(&random, 400 * 86400);
		struct rf_error error;
		uint64_t read = 0;
		char text[40];
		struct tm tm;

		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", localtime_r(&then, &tm));
		assert_int_equal(rf_parse_moment(text, now, &read, &error), 0);
		/* An hour that comes twice is the second one. */
		assert_true(read == then * SECOND ||
			    (tm.tm_isdst && read == (then + 3600) * SECOND));
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&then, &tm));
		assert_int_equal(rf_parse_moment(text, now, &read, &error), 0);
		assert_int_equal(read, then * SECOND);
	}
}

/* ---- spans ---- */

struct span_row {
	const char *now, *words;
	const char *since, *until; /* UTC; NULL: refused */
};

static int parse_span(const char *command, struct rf_words *words, uint64_t span[2],
		      struct rf_error *error)
{
	struct rf_events_asked events = {};
	struct rf_report report = {};
	struct rf_try try = {};
	int err;

	if (strcmp(command, "events") == 0) {
		err = rf_parse_arguments(RF_CMD_EVENTS, words, &events, error);
		span[0] = events.since_ns;
		span[1] = events.until_ns;
	} else if (strcmp(command, "report") == 0) {
		err = rf_parse_arguments(RF_CMD_REPORT, words, &report, error);
		span[0] = report.since_ns;
		span[1] = report.until_ns;
	} else {
		err = rf_parse_try(words, &try, error);
		span[0] = try.since_ns;
		span[1] = try.until_ns;
	}
	return err;
}

/* Each command that takes a span, at a given time. */
static void read_span(void **state)
{
	static const char *const commands[][2] = {
		{"events", ""}, {"report", ""}, {"try", "any rate 1/1s "}};
	const struct span_row *row = *state;

	in_berlin();
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		struct rf_error error = {};
		uint64_t span[2] = {};
		struct line line;
		char text[128];
		int err;

		snprintf(text, sizeof(text), "%s%s", commands[i][1], row->words);
		line_split(&line, text);
		line.words.now_ns = utc_ns(row->now);
		err = parse_span(commands[i][0], &line.words, span, &error);
		if (!row->until) {
			assert_int_equal(err, -EINVAL);
			assert_string_equal(error.text,
					    "'until': the time must be later than 'since'");
			continue;
		}
		assert_accepted(err, &error);
		assert_int_equal(span[0], utc_ns(row->since));
		assert_int_equal(span[1], utc_ns(row->until));
	}
}

/* ---- privacy ---- */

struct tell_row {
	enum rf_told told;
	const char *in, *out; /* NULL: nothing */
};

static void tell(void **state)
{
	const struct tell_row *row = *state;
	struct rf_prefix in, out;
	struct rf_error error;
	char text[RF_PREFIX_TEXT_SIZE];

	assert_int_equal(rf_parse_prefix(row->in, &in, &error), 0);
	assert_int_equal(rf_tell(row->told, &in, &out), row->out != NULL);
	if (!row->out)
		return;
	rf_format_prefix(&out, text);
	assert_string_equal(text, row->out);
}

#define WINTER "2026-11-22T13:30:00" /* 14:30 there */

#define READ(title, now, text, wanted) \
	UNIT_ROW_OF("moment: " title, read_moment, (&(struct moment_row){now, text, wanted, NULL}))
#define REFUSE(text, message)                               \
	UNIT_ROW_OF("moment refused: " text, refuse_moment, \
		    (&(struct moment_row){WINTER, text, NULL, message}))
#define REFUSE_AT(now, text, message)                                  \
	UNIT_ROW_OF("moment refused: " text " at " now, refuse_moment, \
		    (&(struct moment_row){now, text, NULL, message}))
#define SPAN(now, words, since, until)                    \
	UNIT_ROW_OF("span: " words " at " now, read_span, \
		    (&(struct span_row){now, words, since, until}))
#define TELL(told, in, out) \
	UNIT_ROW_OF("told: " #told " " in, tell, (&(struct tell_row){told, in, out}))

static const struct CMUnitTest tests[] = {
	READ("of today", WINTER, "14:02", "2026-11-22T13:02:00"),
	READ("with seconds", WINTER, "14:02:11", "2026-11-22T13:02:11"),
	READ("an hour of one digit", WINTER, "9:05", "2026-11-22T08:05:00"),
	READ("midnight", WINTER, "00:00", "2026-11-21T23:00:00"),
	READ("this minute", WINTER, "14:30", "2026-11-22T13:30:00"),
	READ("not yet today, so yesterday", WINTER, "14:31", "2026-11-21T13:31:00"),
	READ("the evening before", WINTER, "23:00", "2026-11-21T22:00:00"),
	READ("with a date", WINTER, "2026-11-22T14:02", "2026-11-22T13:02:00"),
	READ("with a date and seconds", WINTER, "2026-11-20T23:59:59", "2026-11-20T22:59:59"),
	READ("a leap day", WINTER, "2024-02-29T01:00", "2024-02-29T00:00:00"),
	READ("UTC, as JSON has it", WINTER, "2026-11-22T13:01:38.204Z", "2026-11-22T13:01:38"),
	READ("UTC without a date", WINTER, "13:02Z", "2026-11-22T13:02:00"),
	READ("hours back", WINTER, "-2h", "2026-11-22T11:30:00"),
	READ("seconds back", WINTER, "-90s", "2026-11-22T13:28:30"),
	READ("of summer, in winter", WINTER, "2026-07-01T12:00", "2026-07-01T10:00:00"),
	READ("an hour that comes twice", WINTER, "2026-10-25T02:30", "2026-10-25T01:30:00"),
	READ("an hour that comes twice, before the second time", "2026-10-25T00:45:00",
	     "2026-10-25T02:30", "2026-10-25T00:30:00"),
	READ("an hour that comes twice, without a date", "2026-10-25T01:45:00", "02:30",
	     "2026-10-25T01:30:00"),
	READ("an hour that was left out today was there yesterday", "2026-03-29T05:00:00", "02:30",
	     "2026-03-28T01:30:00"),
	READ("yesterday, across the beginning of summer time", "2026-03-29T08:00:00", "23:00",
	     "2026-03-28T22:00:00"),
	REFUSE("2026-03-29T02:30", "summer time"),
	REFUSE("2026-11-22T14:31", "in the future"),
	REFUSE("2027-01-01T00:00", "in the future"),
	REFUSE_AT("2026-10-25T00:15:00", "2026-10-25T02:30", "in the future"),
	REFUSE("24:00", "hours are 0-23"),
	REFUSE("14:60", "minutes and seconds 0-59"),
	REFUSE("14:02:60", "0-59"),
	REFUSE("2026-13-01T00:00", "invalid date"),
	REFUSE("2026-02-29T00:00", "days 1-28"),
	REFUSE("2026-11-00T00:00", "days 1-30"),
	REFUSE("2026-11-22", "like 2026-11-22T14:02"),
	REFUSE("2h", "starts with '-': -2h"),
	REFUSE("90s", "-90s"),
	REFUSE("-2", "like -90s or -2h"),
	REFUSE("--2h", "like -90s or -2h"),
	REFUSE("-", "like -90s or -2h"),
	REFUSE("-500000h", "before 1970"),
	REFUSE("14.02", "write it like 14:02"),
	REFUSE("14", "write it like 14:02"),
	REFUSE("14:2", "write it like 14:02"),
	REFUSE("14:02:", "write it like 14:02"),
	REFUSE("14:02:11.", "write it like 14:02"),
	REFUSE("14:02pm", "write it like 14:02"),
	REFUSE("now", "write it like 14:02"),
	REFUSE("2026-11-22 14:02", "write it like 14:02"),
	REFUSE("2026-11-22T", "write it like 14:02"),
	REFUSE("22.11.2026", "write it like 14:02"),
	SPAN("2026-11-22T14:00:00", "since 13:00 until 14:00", "2026-11-22T12:00:00",
	     "2026-11-22T13:00:00"),
	SPAN("2026-11-22T12:30:00", "since 13:00 until 14:00", "2026-11-22T12:00:00",
	     "2026-11-22T12:30:00"),
	SPAN("2026-11-22T12:30:00", "until 14:00 since 13:00", "2026-11-22T12:00:00",
	     "2026-11-22T12:30:00"),
	SPAN("2026-11-22T11:30:00", "since 13:00 until 14:00", "2026-11-21T12:00:00",
	     "2026-11-21T13:00:00"),
	SPAN("2026-11-22T14:00:00", "since 23:00 until 01:00", "2026-11-21T22:00:00",
	     "2026-11-22T00:00:00"),
	SPAN("2026-11-22T14:00:00", "since 2026-11-20T23:00 until 01:00", "2026-11-20T22:00:00",
	     "2026-11-22T00:00:00"),
	SPAN("2026-11-22T14:00:00", "since -1h until 13:30", "2026-11-22T13:00:00",
	     "2026-11-22T14:00:00"),
	SPAN("2026-11-22T14:00:00", "since -1h until -2h", NULL, NULL),
	SPAN("2026-11-22T14:00:00", "since 13:00 until 2026-11-22T12:00", NULL, NULL),
	UNIT_ROW("moment: what is printed is read back", read_back),
	TELL(RF_TELL_NONE, "192.0.2.66", NULL),
	TELL(RF_TELL_PREFIX, "192.0.2.66", "192.0.2.0/24"),
	TELL(RF_TELL_FULL, "192.0.2.66", "192.0.2.66"),
	TELL(RF_TELL_PREFIX, "10.0.0.0/8", "10.0.0.0/8"),
	TELL(RF_TELL_PREFIX, "2001:db8:66:1::/64", "2001:db8:66::/48"),
	TELL(RF_TELL_PREFIX, "2001:db8:66:ffff::1", "2001:db8:66::/48"),
	TELL(RF_TELL_FULL, "2001:db8:66::/64", "2001:db8:66::/64"),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
