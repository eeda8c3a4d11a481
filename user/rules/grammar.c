// SPDX-License-Identifier: GPL-2.0
/* Words, and single values: counts, times, rates, names, numbers. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/time.h"
#include "base/units.h"
#include "rules/grammar.h"
#include "rules/private.h"

const struct rf_suffix rf_count_suffixes[] = {
	{"", 1}, {"k", 1000}, {"M", 1000000}, {"G", 1000000000}};

const struct rf_suffix rf_bit_suffixes[] = {
	{"kbit", 1000 / 8}, {"mbit", 1000000 / 8}, {"gbit", 1000000000 / 8}};

const struct rf_suffix rf_time_suffixes[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};

/* As other tools write them. */
static const struct rf_suffix long_time_suffixes[] = {
	{"sec", 1000}, {"second", 1000}, {"min", 60000}, {"minute", 60000}, {"hour", 3600000}};

const char *rf_words_peek(const struct rf_words *words)
{
	return words->at < words->count ? words->word[words->at] : NULL;
}

const char *rf_words_next(struct rf_words *words)
{
	const char *word = rf_words_peek(words);

	if (word)
		words->at++;
	return word;
}

uint64_t rf_words_now(const struct rf_words *words)
{
	return words->now_ns ?: rf_time_wall();
}

bool rf_words_take(struct rf_words *words, const char *word)
{
	const char *next = rf_words_peek(words);

	if (!next || strcmp(next, word) != 0)
		return false;
	words->at++;
	return true;
}

/* The word after `dev` is always an interface; a last `dev` is itself an interface. */
const char *rf_words_interface(struct rf_words *words)
{
	const char *word = rf_words_next(words);

	if (word && strcmp(word, "dev") == 0 && rf_words_peek(words))
		return rf_words_next(words);
	return word;
}

/*
 * Blanks separate words. Quotes are unsupported, because no word of the grammar contains a blank.
 */
#define BLANKS " \t\r\n"

int rf_split_line(char *line, const char **array, int max, struct rf_words *words,
		  struct rf_error *error)
{
	char *at = line + strspn(line, BLANKS);
	int count = 0;

	while (*at && *at != '#') {
		char *end = at + strcspn(at, BLANKS);

		if (count == max)
			return rf_error_usage(error, "too many words in one line; %d at most", max);
		array[count++] = at;
		at = end + strspn(end, BLANKS);
		*end = '\0';
	}
	*words = (struct rf_words){.word = array, .count = count};
	return 0;
}

/* The suffix of `12.5ms`: what follows the decimal number. NULL without digits. */
static const char *find_suffix(const char *text)
{
	size_t whole = strspn(text, "0123456789");
	size_t fraction = 0;

	if (!whole)
		return NULL;
	if (text[whole] == '.') {
		fraction = strspn(text + whole + 1, "0123456789");
		if (!fraction)
			return NULL;
		fraction++;
	}
	return text + whole + fraction;
}

/* digits[.digits] × factor, exactly. False if the result is not whole, or too large. */
static bool scale_decimal(const char *digits, const char *end, uint64_t factor, uint64_t *result)
{
	uint64_t value = 0, divisor = 1;
	unsigned __int128 product;
	bool point = memchr(digits, '.', end - digits);

	while (point && end[-1] == '0') /* trailing zeros of a fraction are insignificant */
		end--;
	point = false;
	for (const char *p = digits; p < end; p++) {
		if (*p == '.') {
			point = true;
			continue;
		}
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *p - '0', &value) ||
		    (point && __builtin_mul_overflow(divisor, 10, &divisor)))
			return false;
	}
	product = (unsigned __int128)value * factor;
	if (product % divisor || product / divisor > UINT64_MAX)
		return false;
	*result = product / divisor;
	return true;
}

/* The case of a suffix is ignored: no two of them differ only in case. */
static bool parse_scaled(const char *text, const struct rf_suffix *suffixes, size_t count,
			 uint64_t *result)
{
	const char *end = find_suffix(text);

	for (size_t i = 0; end && i < count; i++)
		if (strcasecmp(end, suffixes[i].text) == 0)
			return scale_decimal(text, end, suffixes[i].factor, result);
	return false;
}

int rf_parse_count(const char *text, uint64_t *count, bool *in_bits, struct rf_error *error)
{
	bool bits = parse_scaled(text, rf_bit_suffixes, ARRAY_SIZE(rf_bit_suffixes), count);

	if (!bits && !parse_scaled(text, rf_count_suffixes, ARRAY_SIZE(rf_count_suffixes), count))
		return rf_error_usage(error, "'%s': invalid count; " RF_COUNT_FORM, text);
	*in_bits = bits;
	return 0;
}

int rf_parse_time(const char *text, uint64_t *time_ns, struct rf_error *error)
{
	uint64_t time_ms, parsed_ns;

	if ((!parse_scaled(text, rf_time_suffixes, ARRAY_SIZE(rf_time_suffixes), &time_ms) &&
	     !parse_scaled(text, long_time_suffixes, ARRAY_SIZE(long_time_suffixes), &time_ms)) ||
	    __builtin_mul_overflow(time_ms, RF_NS_PER_MS, &parsed_ns))
		return rf_error_usage(
			error, "'%s': invalid time; write it like 500ms, 10s, 5m or 1h", text);
	*time_ns = parsed_ns;
	return 0;
}

int rf_parse_time_in(const struct rf_option *option, const char *value, uint64_t *time_ns,
		     struct rf_error *error)
{
	uint64_t parsed_ns = 0, least_ns = 0, most_ns = 0;
	int err = rf_parse_time(value, &parsed_ns, error);

	if (err)
		return err;
	rf_parse_time(option->least, &least_ns, error);
	rf_parse_time(option->most, &most_ns, error);
	if (parsed_ns < least_ns || parsed_ns > most_ns)
		return rf_error_usage(error, "'%s': invalid %s: the time must be %s-%s", value,
				      option->what, option->least, option->most);
	*time_ns = parsed_ns;
	return 0;
}

static int fail_rate(const char *text, struct rf_error *error)
{
	return rf_error_usage(
		error, "'%s': invalid rate; write COUNT/TIME, like 20k/1s or 100/10s, or 10mbit",
		text);
}

int rf_parse_rate(const char *text, struct rf_rate *rate, struct rf_error *error)
{
	size_t length = strcspn(text, "/");
	const char *time = text[length] ? text + length + 1 : "1s";
	struct rf_rate parsed = {};
	char count[32], one[32];
	int err;

	if (length >= sizeof(count))
		return fail_rate(text, error);
	memcpy(count, text, length);
	count[length] = '\0';
	err = rf_parse_count(count, &parsed.count, &parsed.in_bits, error);
	if (!text[length] && !parsed.in_bits) /* only a rate in bits may leave the time out */
		return fail_rate(text, error);
	if (err)
		return rf_error_usage(error,
				      "'%s': invalid rate: '%s' is not a count; " RF_COUNT_FORM,
				      text, count);
	snprintf(one, sizeof(one), "1%s", time); /* 100/s */
	if (rf_parse_time(isalpha((unsigned char)*time) ? one : time, &parsed.window_ns, error))
		return rf_error_usage(error,
				      "'%s': invalid rate: '%s' is not a time; write it like "
				      "500ms, 10s, 5m or 1h",
				      text, time);
	if (parsed.window_ns < RF_WINDOW_MIN_NS || parsed.window_ns > RF_WINDOW_MAX_NS)
		return rf_error_usage(error, "'%s': invalid rate: the time must be 1ms-8784h",
				      text);
	*rate = parsed;
	return 0;
}

static bool is_name(const char *name, size_t size)
{
	const size_t length = strnlen(name, size);
	bool valid = length > 0 && length < size && isalpha((unsigned char)name[0]);

	for (size_t i = 0; valid && i < length; i++)
		valid = isalnum((unsigned char)name[i]) || name[i] == '_' || name[i] == '-';
	return valid;
}

bool rf_name_is_valid(const char name[RF_NAME_SIZE])
{
	return is_name(name, RF_NAME_SIZE);
}

bool rf_owner_name_is_valid(const char name[RF_OWNER_SIZE])
{
	return is_name(name, RF_OWNER_SIZE);
}

static int parse_name(const char *text, const char *what, char *name, size_t size,
		      struct rf_error *error)
{
	if (!is_name(text, size))
		return rf_error_usage(
			error,
			"'%s': invalid %s: a letter, then letters, digits, '_' and '-', "
			"%zu at most",
			text, what, size - 1);
	memset(name, 0, size);
	memcpy(name, text, strlen(text));
	return 0;
}

int rf_parse_name(const char *text, const char *what, char name[RF_NAME_SIZE],
		  struct rf_error *error)
{
	return parse_name(text, what, name, RF_NAME_SIZE, error);
}

int rf_parse_owner(const char *text, char name[RF_OWNER_SIZE], struct rf_error *error)
{
	return parse_name(text, "name of an owner", name, RF_OWNER_SIZE, error);
}

int rf_parse_number(const char *text, const char *what, uint32_t min, uint32_t max,
		    uint32_t *number, struct rf_error *error)
{
	uint64_t value;
	const char *end = find_suffix(text);

	if (!end || *end || strchr(text, '.') || !scale_decimal(text, end, 1, &value) ||
	    value < min || value > max)
		return rf_error_usage(error, "'%s': invalid %s: it must be %" PRIu32 "-%" PRIu32,
				      text, what, min, max);
	*number = value;
	return 0;
}

int rf_parse_asks(const char *text, uint32_t *each_s, struct rf_error *error)
{
	struct rf_rate rate;

	if (rf_parse_rate(text, &rate, error) || rate.in_bits || rate.window_ns != RF_NS_PER_S ||
	    !rate.count || rate.count > RF_ASKS_MOST)
		return rf_error_usage(error, "'%s': 'asks' expects 1/s to %d/s", text,
				      RF_ASKS_MOST);
	*each_s = rate.count;
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

/* ---- moments ---- */

#define MOMENT_FORM "write it like 14:02, 14:02:11, 2026-11-22T14:02 or -2h"
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
	return rf_error_usage(error, "'%s': invalid time; " MOMENT_FORM, text);
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

/* Without a date: today, or else the day before. */
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
		return rf_error_usage(error, "'%s': a time back starts with '-': -%s", text, text);
	if (parse_written(text, &written, error))
		return -EINVAL;
	has_date = written.year;
	second = has_date ? find_second(&written, now) : find_last(&written, now);
	if (second == -2)
		return rf_error_usage(error, "'%s': that is in the future", text);
	if (second < 0)
		return rf_error_usage(error,
				      "'%s': this local time does not exist: the clock was set "
				      "forward over it for summer time",
				      text);
	*time_ns = second * RF_NS_PER_S + written.fraction_ns;
	if (*time_ns > now_ns)
		*time_ns = now_ns;
	return 0;
}

/* A time of the day, without a date. */
static bool is_clock(const char *text)
{
	struct written written;
	struct rf_error unused;

	return *text != '-' && !parse_written(text, &written, &unused) && !written.year;
}

int rf_parse_until(const char *text, uint64_t since_ns, uint64_t now_ns, uint64_t *time_ns,
		   struct rf_error *error)
{
	struct rf_error unused;
	uint64_t parsed_ns = 0;

	if (rf_parse_moment(text, now_ns, &parsed_ns, error))
		return -EINVAL;
	if (parsed_ns <= since_ns && is_clock(text))
		rf_parse_moment(text, since_ns + DAY_S * RF_NS_PER_S, &parsed_ns, &unused);
	if (parsed_ns > now_ns)
		parsed_ns = now_ns;
	if (parsed_ns <= since_ns)
		return rf_error_usage(error, "'until': the time must be later than 'since'");
	*time_ns = parsed_ns;
	return 0;
}
