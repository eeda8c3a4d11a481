// SPDX-License-Identifier: GPL-2.0
/* Words, and single values: counts, times, rates, names, numbers. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

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

bool rf_words_take(struct rf_words *words, const char *word)
{
	const char *next = rf_words_peek(words);

	if (!next || strcmp(next, word) != 0)
		return false;
	words->at++;
	return true;
}

/* The word after `dev` is an interface, whatever it is; a last `dev` is an interface itself. */
const char *rf_words_interface(struct rf_words *words)
{
	const char *word = rf_words_next(words);

	if (word && strcmp(word, "dev") == 0 && rf_words_peek(words))
		return rf_words_next(words);
	return word;
}

/* Blanks end a word. There are no quotes, since no word of the grammar contains a blank. */
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

	while (point && end[-1] == '0') /* zeros at the end of a fraction mean nothing */
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

/* The case of a suffix does not matter: no two of them differ in case alone. */
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

int rf_parse_time_in(const char *text, const char *what, uint64_t min_ns, uint64_t max_ns,
		     const char *range, uint64_t *time_ns, struct rf_error *error)
{
	uint64_t parsed_ns = 0;
	int err = rf_parse_time(text, &parsed_ns, error);

	if (err)
		return err;
	if (parsed_ns < min_ns || parsed_ns > max_ns)
		return rf_error_usage(error, "'%s': invalid %s: the time must be %s", text, what,
				      range);
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
