// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "rules/moment.h"
#include "rules/private.h"

#define FORM "write it like 14:02, 14:02:11, 2026-11-22T14:02 or -2h"
#define DAY_S (24 * 3600)

/* A time as it was written. */
struct written {
	int year, month, day; /* year 0: no date */
	int hour, minute, second;
	uint64_t fraction_ns;
	bool is_utc;
};

static int fail_form(const char *text, struct rf_error *error)
{
	return rf_error_usage(error, "'%s': invalid time; " FORM, text);
}

/* ---- reading ---- */

/* Takes exactly `digits` digits; -1: they are not there. */
static int take_number(const char **at, int digits)
{
	int number = 0;

	for (int i = 0; i < digits; i++) {
		if (!isdigit((unsigned char)**at))
			return -1;
		number = number * 10 + *(*at)++ - '0';
	}
	return number;
}

static bool take(const char **at, char c)
{
	if (**at != c)
		return false;
	(*at)++;
	return true;
}

static bool take_date(const char **at, struct written *written)
{
	written->year = take_number(at, 4);
	if (written->year < 0 || !take(at, '-'))
		return false;
	written->month = take_number(at, 2);
	if (written->month < 0 || !take(at, '-'))
		return false;
	written->day = take_number(at, 2);
	return written->day >= 0;
}

static bool take_fraction(const char **at, struct written *written)
{
	uint64_t unit = RF_NS_PER_S;

	if (!isdigit((unsigned char)**at))
		return false;
	while (isdigit((unsigned char)**at)) {
		unit /= 10;
		written->fraction_ns += unit * (*(*at)++ - '0');
	}
	return true;
}

static bool take_clock(const char **at, struct written *written)
{
	/* 9:05 is as clear as 09:05. */
	const int digits = isdigit((unsigned char)(*at)[0]) && (*at)[1] == ':' ? 1 : 2;

	written->hour = take_number(at, digits);
	if (written->hour < 0 || !take(at, ':'))
		return false;
	written->minute = take_number(at, 2);
	if (written->minute < 0)
		return false;
	if (!take(at, ':'))
		return true;
	written->second = take_number(at, 2);
	if (written->second < 0)
		return false;
	return !take(at, '.') || take_fraction(at, written);
}

static int days_of(int year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && leap);
}

static int check_ranges(const char *text, const struct written *written, struct rf_error *error)
{
	if (written->hour > 23 || written->minute > 59 || written->second > 59)
		return rf_error_usage(error,
				      "'%s': invalid time: hours are 0-23, minutes and seconds "
				      "0-59",
				      text);
	if (!written->year)
		return 0;
	if (written->year < 1970 || written->month < 1 || written->month > 12)
		return rf_error_usage(
			error, "'%s': invalid date: write YEAR-MONTH-DAY, like 2026-11-22", text);
	if (written->day < 1 || written->day > days_of(written->year, written->month))
		return rf_error_usage(error, "'%s': invalid date: that month has the days 1-%d",
				      text, days_of(written->year, written->month));
	return 0;
}

static int parse_written(const char *text, struct written *written, struct rf_error *error)
{
	const char *at = text;

	*written = (struct written){};
	if (strlen(text) >= 5 && text[4] == '-') {
		if (!take_date(&at, written))
			return fail_form(text, error);
		if (!*at)
			return rf_error_usage(error,
					      "'%s': the time of day is missing; write it in one "
					      "word, like %.10sT14:02",
					      text, text);
		if (!take(&at, 'T'))
			return fail_form(text, error);
	}
	if (!take_clock(&at, written))
		return fail_form(text, error);
	written->is_utc = take(&at, 'Z');
	return *at ? fail_form(text, error) : check_ranges(text, written, error);
}

/* ---- the clock ---- */

static bool is_shown(const struct tm *tm, const struct written *written)
{
	return tm->tm_hour == written->hour && tm->tm_min == written->minute &&
	       tm->tm_mday == written->day && tm->tm_mon == written->month - 1;
}

/*
 * The last second up to `now` at which the clock shows that date and time. -1: it never does. -2:
 * only later.
 */
static time_t find_second(const struct written *written, time_t now)
{
	time_t found = -1;

	for (int summer = 0; summer < 2; summer++) {
		struct tm tm = {
			.tm_year = written->year - 1900,
			.tm_mon = written->month - 1,
			.tm_mday = written->day,
			.tm_hour = written->hour,
			.tm_min = written->minute,
			.tm_sec = written->second,
			.tm_isdst = summer,
		};
		const time_t second = written->is_utc ? timegm(&tm) : mktime(&tm);

		if (second == -1 || !is_shown(&tm, written))
			continue;
		if (second > now && found == -1)
			found = -2;
		else if (second <= now && second > found)
			found = second;
	}
	return found;
}

/* Where no date was written: today, or else the day before. */
static time_t find_last(struct written *written, time_t now)
{
	time_t found = -1;

	for (int back = 0; back < 2 && found < 0; back++) {
		const time_t noon = now - back * DAY_S;
		struct tm tm;

		if (written->is_utc)
			gmtime_r(&noon, &tm);
		else
			localtime_r(&noon, &tm);
		written->year = tm.tm_year + 1900;
		written->month = tm.tm_mon + 1;
		written->day = tm.tm_mday;
		found = find_second(written, now);
	}
	return found;
}

/* ---- a time back ---- */

static int parse_back(const char *text, uint64_t now_ns, uint64_t *time_ns, struct rf_error *error)
{
	uint64_t back_ns;

	if (rf_parse_time(text + 1, &back_ns, error))
		return rf_error_usage(error, "'%s': invalid time back; write it like -90s or -2h",
				      text);
	if (back_ns > now_ns)
		return rf_error_usage(error, "'%s': that was before 1970", text);
	*time_ns = now_ns - back_ns;
	return 0;
}

/* Does it look like a TIME without the dash before it? */
static bool is_duration(const char *text)
{
	struct rf_error unused;
	uint64_t time_ns;

	return !rf_parse_time(text, &time_ns, &unused);
}

int rf_parse_moment(const char *text, uint64_t now_ns, uint64_t *time_ns, struct rf_error *error)
{
	const time_t now = now_ns / RF_NS_PER_S;
	struct written written;
	time_t second;
	bool has_date;

	if (*text == '-')
		return parse_back(text, now_ns, time_ns, error);
	if (is_duration(text))
		return rf_error_usage(error, "'%s': a time back begins with '-': -%s", text, text);
	if (parse_written(text, &written, error))
		return -EINVAL;
	has_date = written.year;
	second = has_date ? find_second(&written, now) : find_last(&written, now);
	if (second == -2)
		return rf_error_usage(error, "'%s': that is in the future", text);
	if (second < 0)
		return rf_error_usage(error,
				      "'%s': no clock showed that: it was set forward over that "
				      "time, as summer time began",
				      text);
	*time_ns = second * RF_NS_PER_S + written.fraction_ns;
	if (*time_ns > now_ns)
		*time_ns = now_ns;
	return 0;
}
