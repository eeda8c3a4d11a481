// SPDX-License-Identifier: GPL-2.0
/*
 * The grammar: rows of text and what must come of it. A refusal is checked whole: -EINVAL, a usage
 * error, the exact sentence, and a result that was left alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "grammar.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define LEFT_ALONE 0xa5
#define ROUND_TRIPS 10000

#define MS 1000000ULL
#define SECOND (1000 * MS)
#define HOUR (3600 * SECOND)

#define TEN "aaaaaaaaaa"
#define THIRTY_ONE "a" TEN TEN TEN

enum outcome {
	REFUSED,
	REFUSED_KEYWORD,
	ACCEPTED,
};

static void assert_accepted(int err, const struct rf_error *error)
{
	if (err)
		fail_msg("%d: %s", err, error->text);
}

static void assert_refused(int err, const struct rf_error *error, const char *sentence)
{
	assert_int_equal(err, -EINVAL);
	assert_string_equal(error->text, sentence);
	assert_true(error->usage);
}

static void assert_left_alone(const void *result, size_t size)
{
	const unsigned char *byte = result;

	for (size_t i = 0; i < size; i++)
		assert_int_equal(byte[i], LEFT_ALONE);
}

static uint64_t left_alone64(void)
{
	uint64_t value;

	memset(&value, LEFT_ALONE, sizeof(value));
	return value;
}

/* Text that must be refused, and the whole sentence that must say so. */
struct refusal_row {
	const char *name;
	const char *text;
	const char *sentence;
};

/* ---- COUNT and TIME ---- */

struct scaled_row {
	const char *name;
	const char *text;
	enum outcome outcome;
	uint64_t value;
};

static const struct scaled_row count_rows[] = {
	{"count: a plain number", "100", ACCEPTED, 100},
	{"count: k is 1000", "20k", ACCEPTED, 20000},
	{"count: M is 1000000", "3M", ACCEPTED, 3000000},
	{"count: M takes up a fraction", "1.5M", ACCEPTED, 1500000},
	{"count: a half k", "0.5k", ACCEPTED, 500},
	{"count: k takes up three places", "1.005k", ACCEPTED, 1005},
	{"count: M takes up six places", "0.000001M", ACCEPTED, 1},
	{"count: a fraction of zeros", "1.0", ACCEPTED, 1},
	{"count: zeros past the suffix's places", "1.50000000000000000000000k", ACCEPTED, 1500},
	{"count: zeros in front", "0000000000000000000000000007", ACCEPTED, 7},
	{"count: 0", "0", ACCEPTED, 0},
	{"count: the largest", "18446744073709551615", ACCEPTED, UINT64_MAX},
	{"refused count: empty", "", REFUSED, 0},
	{"refused count: a suffix alone", "k", REFUSED, 0},
	{"refused count: a fraction without suffix", "1.5", REFUSED, 0},
	{"refused count: a fraction finer than k", "1.0005k", REFUSED, 0},
	{"refused count: a fraction finer than M", "0.0000005M", REFUSED, 0},
	{"refused count: K is not k", "20K", REFUSED, 0},
	{"refused count: m is not M", "20m", REFUSED, 0},
	{"refused count: no larger suffix", "1G", REFUSED, 0},
	{"refused count: minus", "-1", REFUSED, 0},
	{"refused count: plus", "+1", REFUSED, 0},
	{"refused count: an exponent", "1e3", REFUSED, 0},
	{"refused count: hexadecimal", "0x10", REFUSED, 0},
	{"refused count: two suffixes", "20kk", REFUSED, 0},
	{"refused count: a space in front", " 1", REFUSED, 0},
	{"refused count: a space behind", "1 ", REFUSED, 0},
	{"refused count: a space before the suffix", "1 k", REFUSED, 0},
	{"refused count: a point without whole part", ".5k", REFUSED, 0},
	{"refused count: a point without fraction", "1.k", REFUSED, 0},
	{"refused count: two points", "1.2.3k", REFUSED, 0},
	{"refused count: a comma", "1,5k", REFUSED, 0},
	{"refused count: one too large", "18446744073709551616", REFUSED, 0},
	{"refused count: too large by its digits", "99999999999999999999999999999999", REFUSED, 0},
	{"refused count: too large by its suffix", "18446744073709551615k", REFUSED, 0},
	{"refused count: too large by its fraction", "18446744073709551.999M", REFUSED, 0},
};

static void test_count(void **state)
{
	const struct scaled_row *row = *state;
	uint64_t count = left_alone64();
	struct rf_error error = {};
	char sentence[128];
	int err = rf_parse_count(row->text, &count, &error);

	if (row->outcome == ACCEPTED) {
		assert_accepted(err, &error);
		assert_int_equal(count, row->value);
		return;
	}
	snprintf(sentence, sizeof(sentence), "'%s': invalid count; write it like 100, 20k or 1.5M",
		 row->text);
	assert_refused(err, &error, sentence);
	assert_left_alone(&count, sizeof(count));
}

static const struct scaled_row time_rows[] = {
	{"time: milliseconds", "500ms", ACCEPTED, 500 * MS},
	{"time: a second", "1s", ACCEPTED, SECOND},
	{"time: ten seconds", "10s", ACCEPTED, 10 * SECOND},
	{"time: minutes", "5m", ACCEPTED, 300 * SECOND},
	{"time: an hour", "1h", ACCEPTED, HOUR},
	{"time: a second and a half", "1.5s", ACCEPTED, 1500 * MS},
	{"time: a millisecond as a fraction", "0.001s", ACCEPTED, MS},
	{"time: a quarter of an hour", "0.25h", ACCEPTED, HOUR / 4},
	{"time: milliseconds as a fine fraction of a minute", "1.00005m", ACCEPTED, 60003 * MS},
	{"time: zeros past the suffix's places", "1.0ms", ACCEPTED, MS},
	{"time: 0", "0s", ACCEPTED, 0},
	{"time: the largest", "18446744073709ms", ACCEPTED, 18446744073709 * MS},
	{"refused time: half a millisecond", "0.5ms", REFUSED, 0},
	{"refused time: finer than a millisecond", "0.0001s", REFUSED, 0},
	{"refused time: no whole millisecond in a fine fraction", "0.00001m", REFUSED, 0},
	{"refused time: no unit", "1", REFUSED, 0},
	{"refused time: no days", "1d", REFUSED, 0},
	{"refused time: no microseconds", "1000us", REFUSED, 0},
	{"refused time: no nanoseconds", "1000ns", REFUSED, 0},
	{"refused time: empty", "", REFUSED, 0},
	{"refused time: a unit alone", "s", REFUSED, 0},
	{"refused time: S is not s", "1S", REFUSED, 0},
	{"refused time: a long unit", "1sec", REFUSED, 0},
	{"refused time: two units", "1h30m", REFUSED, 0},
	{"refused time: minus", "-1s", REFUSED, 0},
	{"refused time: a space before the unit", "1 s", REFUSED, 0},
	{"refused time: too large in ns", "18446744073710ms", REFUSED, 0},
	{"refused time: too large in ms", "18446744073709551615h", REFUSED, 0},
	{"refused time: too large by its digits", "18446744073709551616ms", REFUSED, 0},
};

static void test_time(void **state)
{
	const struct scaled_row *row = *state;
	uint64_t time_ns = left_alone64();
	struct rf_error error = {};
	char sentence[128];
	int err = rf_parse_time(row->text, &time_ns, &error);

	if (row->outcome == ACCEPTED) {
		assert_accepted(err, &error);
		assert_int_equal(time_ns, row->value);
		return;
	}
	snprintf(sentence, sizeof(sentence),
		 "'%s': invalid time; write it like 500ms, 10s, 5m or 1h", row->text);
	assert_refused(err, &error, sentence);
	assert_left_alone(&time_ns, sizeof(time_ns));
}

/* ---- COUNT/TIME ---- */

struct rate_row {
	const char *name;
	const char *text;
	uint64_t count;
	uint64_t window_ns;
};

static const struct rate_row rate_rows[] = {
	{"rate: a usual one", "20k/1s", 20000, SECOND},
	{"rate: fractions on both sides", "1.5k/0.5s", 1500, 500 * MS},
	{"rate: the smallest", "1/1ms", 1, MS},
	{"rate: the largest count", "2147483648/1s", 2147483648, SECOND},
	{"rate: the longest time", "1/8784h", 1, 8784 * HOUR},
	{"rate: 31 digits", "0000000000000000000000000000007/1s", 7, SECOND},
};

static void test_rate(void **state)
{
	const struct rate_row *row = *state;
	uint64_t count = 0, window_ns = 0;
	struct rf_error error = {};

	assert_accepted(rf_parse_rate(row->text, &count, &window_ns, &error), &error);
	assert_int_equal(count, row->count);
	assert_int_equal(window_ns, row->window_ns);
}

#define WRITE_RATE "invalid rate; write COUNT/TIME, like 20k/1s or 100/10s"
#define COUNT_RANGE "invalid rate: the count must be 1-2147483648; to drop all, see 'deny'"
#define TIME_RANGE "invalid rate: the time must be 1ms-8784h"
#define NO_COUNT "count; write it like 100, 20k or 1.5M"
#define NO_TIME "time; write it like 500ms, 10s, 5m or 1h"
#define WRITE_COUNT "invalid count; write it like 100, 20k or 1.5M"
#define WRITE_TIME "invalid time; write it like 500ms, 10s, 5m or 1h"

static const struct refusal_row rate_refusals[] = {
	{"refused rate: count 0", "0/1s", "'0/1s': " COUNT_RANGE},
	{"refused rate: count too large", "2147483649/1s", "'2147483649/1s': " COUNT_RANGE},
	{"refused rate: count of 32 bits and 1", "4294967297/1s", "'4294967297/1s': " COUNT_RANGE},
	{"refused rate: time 0", "1/0s", "'1/0s': " TIME_RANGE},
	{"refused rate: time too long", "1/8785h", "'1/8785h': " TIME_RANGE},
	{"refused rate: a millisecond too long", "1/31622400001ms",
	 "'1/31622400001ms': " TIME_RANGE},
	{"refused rate: time under a millisecond", "1/0.999ms",
	 "'1/0.999ms': invalid rate: '0.999ms' is no " NO_TIME},
	{"refused rate: microseconds", "1/999us",
	 "'1/999us': invalid rate: '999us' is no " NO_TIME},
	{"refused rate: no slash", "20k", "'20k': " WRITE_RATE},
	{"refused rate: no time", "20k/", "'20k/': invalid rate: '' is no " NO_TIME},
	{"refused rate: no count", "/1s", "'/1s': invalid rate: '' is no " NO_COUNT},
	{"refused rate: a slash alone", "/", "'/': invalid rate: '' is no " NO_COUNT},
	{"refused rate: empty", "", "'': " WRITE_RATE},
	{"refused rate: two slashes", "20k/1s/1s",
	 "'20k/1s/1s': invalid rate: '1s/1s' is no " NO_TIME},
	{"refused rate: a bad count", "20kk/1s", "'20kk/1s': invalid rate: '20kk' is no " NO_COUNT},
	{"refused rate: a bad time", "20k/1d", "'20k/1d': invalid rate: '1d' is no " NO_TIME},
	{"refused rate: a space behind the slash", "20k/ 1s",
	 "'20k/ 1s': invalid rate: ' 1s' is no " NO_TIME},
	{"refused rate: 32 digits", "00000000000000000000000000000007/1s",
	 "'00000000000000000000000000000007/1s': " WRITE_RATE},
};

static void test_rate_refusal(void **state)
{
	const struct refusal_row *row = *state;
	uint64_t count = left_alone64(), window_ns = left_alone64();
	struct rf_error error = {};
	int err = rf_parse_rate(row->text, &count, &window_ns, &error);

	assert_refused(err, &error, row->sentence);
	assert_left_alone(&count, sizeof(count));
	assert_left_alone(&window_ns, sizeof(window_ns));
}

/* The sentence is cut where rf_error ends, and no byte is written behind it. */
static void rate_of_100000_characters_is_refused(void **state)
{
	static char text[100001];
	uint64_t count = left_alone64(), window_ns = left_alone64();
	struct rf_error error = {};
	char sentence[sizeof(error.text)];

	(void)state;
	memset(text, '9', sizeof(text) - 1);
	memset(sentence, '9', sizeof(sentence));
	sentence[0] = '\'';
	sentence[sizeof(sentence) - 1] = '\0';
	assert_refused(rf_parse_rate(text, &count, &window_ns, &error), &error, sentence);
	memcpy(text + 50000, "/1s", 3);
	assert_refused(rf_parse_rate(text, &count, &window_ns, &error), &error, sentence);
	assert_left_alone(&count, sizeof(count));
	assert_left_alone(&window_ns, sizeof(window_ns));
}

/* ---- words ---- */

#define LINE_WORDS_MAX (RF_INTERFACES_MAX + 8)

/* A command line, split at its spaces. Must stay where it is while its words are used. */
struct line {
	char text[LINE_WORDS_MAX * 8];
	const char *word[LINE_WORDS_MAX];
	struct rf_words words;
};

static void line_split(struct line *line, const char *text)
{
	char *rest = NULL;

	assert_true(strlen(text) < sizeof(line->text));
	strcpy(line->text, text);
	line->words = (struct rf_words){.word = line->word};
	for (char *word = strtok_r(line->text, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest)) {
		assert_true(line->words.count < LINE_WORDS_MAX);
		line->word[line->words.count++] = word;
	}
}

static void words_are_read_one_by_one(void **state)
{
	struct rf_error error = {};
	struct line line;

	(void)state;
	line_split(&line, "one two");
	assert_string_equal(rf_words_peek(&line.words), "one");
	assert_string_equal(rf_words_next(&line.words), "one");
	assert_false(rf_words_take(&line.words, "one"));
	assert_false(rf_words_take(&line.words, "tw"));
	assert_false(rf_words_take(&line.words, "twofold"));
	assert_refused(rf_words_end(&line.words, &error), &error, "'two': unexpected word");
	assert_true(rf_words_take(&line.words, "two"));
	assert_null(rf_words_peek(&line.words));
	assert_null(rf_words_next(&line.words));
	assert_false(rf_words_take(&line.words, "two"));
	assert_int_equal(rf_words_end(&line.words, &error), 0);
}

/* ---- names ---- */

struct name_row {
	const char *name;
	const char *text;
	enum outcome outcome;
};

static const struct name_row name_rows[] = {
	{"name: a word", "all", ACCEPTED},
	{"name: one letter", "x", ACCEPTED},
	{"name: digits, underscore and hyphen behind a letter", "Dns_53-udp", ACCEPTED},
	{"name: 31 characters", THIRTY_ONE, ACCEPTED},
	{"name: a keyword with another letter", "rates", ACCEPTED},
	{"name: a keyword in capitals", "RATE", ACCEPTED},
	{"name: a word of match", "syn", ACCEPTED},
	{"refused name: 32 characters", "a" THIRTY_ONE, REFUSED},
	{"refused name: a digit first", "1abc", REFUSED},
	{"refused name: an underscore first", "_abc", REFUSED},
	{"refused name: a hyphen first", "-abc", REFUSED},
	{"refused name: empty", "", REFUSED},
	{"refused name: a space", "a b", REFUSED},
	{"refused name: a point", "eth0.100", REFUSED},
	{"refused name: a slash", "../x", REFUSED},
	{"refused name: UTF-8 first", "étage", REFUSED},
	{"refused name: UTF-8 later", "caf\xc3\xa9", REFUSED},
	{"refused name: the keyword rate", "rate", REFUSED_KEYWORD},
	{"refused name: the keyword limit", "limit", REFUSED_KEYWORD},
	{"refused name: the keyword shadow", "shadow", REFUSED_KEYWORD},
	{"refused name: a keyword of a later version", "newcomers", REFUSED_KEYWORD},
};

static void test_name(void **state)
{
	const struct name_row *row = *state;
	const char *reason = "a letter, then letters, digits, '_' and '-', 31 at most";
	char name[RF_NAME_SIZE], expected[RF_NAME_SIZE] = "", sentence[192];
	struct rf_error error = {};
	int err;

	memset(name, LEFT_ALONE, sizeof(name));
	err = rf_parse_name(row->text, "name of a fence", name, &error);
	if (row->outcome == ACCEPTED) {
		memcpy(expected, row->text, strlen(row->text));
		assert_accepted(err, &error);
		assert_memory_equal(name, expected, sizeof(name));
		return;
	}
	if (row->outcome == REFUSED_KEYWORD)
		reason = "it is a keyword; choose another name";
	snprintf(sentence, sizeof(sentence), "'%s': invalid name of a fence: %s", row->text,
		 reason);
	assert_refused(err, &error, sentence);
	assert_left_alone(name, sizeof(name));
}

/* The words of `match` are not here: they make good names. */
static void no_word_of_the_grammar_is_a_name(void **state)
{
	static const char words[] =
		"limit add set rate packets bytes algorithm sliding fixed log token leaky "
		"cells edge strict weighted coarse burst match proto dport by drops "
		"from file per per6 shadow count rejected exact ban del list allow deny for "
		"load newcomers then open closed aggregate off attach fence mode native "
		"generic sources leases chain replace confirm detach adopt status stats "
		"watch top show save apply check doctor help dev";
	char name[RF_NAME_SIZE];
	struct rf_error error;
	struct line line;
	const char *word;

	(void)state;
	line_split(&line, words);
	while ((word = rf_words_next(&line.words)))
		if (rf_parse_name(word, "name of a limit", name, &error) != -EINVAL)
			fail_msg("%s", word);
}

/* ---- addresses ---- */

struct address_row {
	const char *name;
	const char *text;
	int version; /* 0: refused */
	unsigned char bytes[16];
};

static const struct address_row address_rows[] = {
	{"address: IPv4", "192.0.2.1", 4, {192, 0, 2, 1}},
	{"address: IPv4, all zeros", "0.0.0.0", 4, {}},
	{"address: IPv4, all ones", "255.255.255.255", 4, {255, 255, 255, 255}},
	{"address: IPv6",
	 "2001:db8:1:2:3:4:5:6",
	 6,
	 {0x20, 1, 0xd, 0xb8, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6}},
	{"address: IPv6, shortened", "2001:db8::1", 6, {0x20, 1, 0xd, 0xb8, [15] = 1}},
	{"address: IPv6, all zeros", "::", 6, {}},
	{"address: IPv6 in capitals", "2001:DB8::A", 6, {0x20, 1, 0xd, 0xb8, [15] = 10}},
	{"address: IPv4 mapped into IPv6 stays IPv6",
	 "::ffff:192.0.2.1",
	 6,
	 {[10] = 0xff, 0xff, 192, 0, 2, 1}},
	{"refused address: IPv4 with a prefix length", "192.0.2.1/32", 0, {}},
	{"refused address: IPv6 with a prefix length", "2001:db8::/64", 0, {}},
	{"refused address: three parts", "192.0.2", 0, {}},
	{"refused address: five parts", "192.0.2.1.1", 0, {}},
	{"refused address: a part of 256", "192.0.2.256", 0, {}},
	{"refused address: a part with a zero in front", "192.0.2.01", 0, {}},
	{"refused address: a zone", "fe80::1%eth0", 0, {}},
	{"refused address: two gaps", "2001::db8::1", 0, {}},
	{"refused address: a space behind", "192.0.2.1 ", 0, {}},
	{"refused address: a name", "localhost", 0, {}},
	{"refused address: a number", "3221225985", 0, {}},
	{"refused address: empty", "", 0, {}},
};

static void test_address(void **state)
{
	const struct address_row *row = *state;
	struct rf_address address;
	struct rf_error error = {};
	char sentence[128];
	int err;

	memset(&address, LEFT_ALONE, sizeof(address));
	err = rf_parse_address(row->text, &address, &error);
	if (row->version) {
		assert_accepted(err, &error);
		assert_int_equal(address.version, row->version);
		assert_memory_equal(address.word, row->bytes, sizeof(address.word));
		return;
	}
	snprintf(sentence, sizeof(sentence),
		 "'%s': invalid address; write it like 192.0.2.1 or 2001:db8::1", row->text);
	assert_refused(err, &error, sentence);
	assert_left_alone(&address, sizeof(address));
}

/* ---- whole numbers ---- */

struct number_row {
	const char *name;
	const char *text;
	uint32_t min, max;
	enum outcome outcome;
	uint32_t number;
};

static const struct number_row number_rows[] = {
	{"number: the least", "5", 5, 10, ACCEPTED, 5},
	{"number: the most", "10", 5, 10, ACCEPTED, 10},
	{"number: 0 where it may be", "0", 0, 10, ACCEPTED, 0},
	{"number: zeros in front", "007", 5, 10, ACCEPTED, 7},
	{"number: 32 bits", "4294967295", 0, UINT32_MAX, ACCEPTED, UINT32_MAX},
	{"refused number: too small", "4", 5, 10, REFUSED, 0},
	{"refused number: too large", "11", 5, 10, REFUSED, 0},
	{"refused number: right in its low 32 bits only", "4294967301", 5, 10, REFUSED, 0},
	{"refused number: right in its low 64 bits only", "18446744073709551621", 5, 10, REFUSED,
	 0},
	{"refused number: empty", "", 0, 10, REFUSED, 0},
	{"refused number: minus", "-5", 0, 10, REFUSED, 0},
	{"refused number: plus", "+5", 0, 10, REFUSED, 0},
	{"refused number: a suffix", "1k", 0, 10000, REFUSED, 0},
	{"refused number: a fraction of zeros", "5.0", 5, 10, REFUSED, 0},
	{"refused number: a space behind", "5 ", 5, 10, REFUSED, 0},
	{"refused number: a space in front", " 5", 5, 10, REFUSED, 0},
	{"refused number: hexadecimal", "0x5", 0, 10, REFUSED, 0},
	{"refused number: a word", "five", 5, 10, REFUSED, 0},
};

static void test_number(void **state)
{
	const struct number_row *row = *state;
	uint32_t number;
	struct rf_error error = {};
	char sentence[128];
	int err;

	memset(&number, LEFT_ALONE, sizeof(number));
	err = rf_parse_number(row->text, "number of cells", row->min, row->max, &number, &error);
	if (row->outcome == ACCEPTED) {
		assert_accepted(err, &error);
		assert_int_equal(number, row->number);
		return;
	}
	snprintf(sentence, sizeof(sentence), "'%s': invalid number of cells: it must be %u-%u",
		 row->text, row->min, row->max);
	assert_refused(err, &error, sentence);
	assert_left_alone(&number, sizeof(number));
}

/* ---- limit ---- */

struct limit_row {
	const char *name;
	const char *line;
	const char *limit_name;
	uint64_t rate;
	uint64_t window_ns;
	uint32_t flags;
};

static const struct limit_row limit_rows[] = {
	{"limit: name and rate", "all rate 20k/1s", "all", 20000, SECOND, 0},
	{"limit: a slow one", "slow rate 1/8784h", "slow", 1, 8784 * HOUR, 0},
	{"limit: a name of 31 characters", THIRTY_ONE " rate 20k/1s", THIRTY_ONE, 20000, SECOND, 0},
	{"limit: shadow", "all rate 20k/1s shadow", "all", 20000, SECOND, RF_SHADOW},
	{"limit: packets", "all rate 20k/1s packets", "all", 20000, SECOND, 0},
	{"limit: algorithm sliding", "all rate 20k/1s algorithm sliding", "all", 20000, SECOND, 0},
	{"limit: edge strict", "all rate 20k/1s edge strict", "all", 20000, SECOND, 0},
	{"limit: cells 16", "all rate 20k/1s cells 16", "all", 20000, SECOND, 0},
	{"limit: match any", "all rate 20k/1s match any", "all", 20000, SECOND, 0},
	{"limit: per /32", "all rate 20k/1s per /32", "all", 20000, SECOND, 0},
	{"limit: per6 /64", "all rate 20k/1s per6 /64", "all", 20000, SECOND, 0},
};

static void test_limit(void **state)
{
	const struct limit_row *row = *state;
	struct rf_limit expected = {
		.rate = row->rate,
		.window_ns = row->window_ns,
		.flags = row->flags,
		.algorithm = RF_SLIDING,
		.edge = RF_EDGE_STRICT,
		.unit = RF_PACKETS,
		.cells = 16,
		.per4 = 32,
		.per6 = 64,
	};
	struct rf_limit limit;
	struct rf_error error = {};
	struct line line;

	line_split(&line, row->line);
	strcpy(expected.name, row->limit_name);
	memset(&limit, LEFT_ALONE, sizeof(limit));
	assert_accepted(rf_parse_limit(&line.words, &limit, &error), &error);
	assert_memory_equal(&limit, &expected, sizeof(limit));
	assert_null(rf_words_peek(&line.words));
}

#define NAME_RULE "a letter, then letters, digits, '_' and '-', 31 at most"
#define IS_KEYWORD "it is a keyword; choose another name"
#define RATE_MISSING "'all': its rate is missing; write all rate COUNT/TIME"
#define UNKNOWN "unknown word in a limit; see 'ringfence help limit add'"
#define LATER(word) "'" word "': not in this version"
#define ONLY(words, instead) LATER(words) ", which has '" instead "' only"
#define MISSING(option) "'" option "': a word is missing behind it"

static const struct refusal_row limit_refusals[] = {
	{"refused limit: bytes", "all rate 20k/1s bytes", LATER("bytes")},
	{"refused limit: burst", "all rate 20k/1s burst 10", LATER("burst")},
	{"refused limit: dport", "all rate 20k/1s dport 53", LATER("dport")},
	{"refused limit: from", "all rate 20k/1s from 192.0.2.0/24", LATER("from")},
	{"refused limit: count rejected", "all rate 20k/1s count rejected", LATER("count")},
	{"refused limit: exact", "all rate 20k/1s exact", LATER("exact")},
	{"refused limit: ban", "all rate 20k/1s ban 10m", LATER("ban")},
	{"refused limit: exact behind good options", "all rate 20k/1s shadow packets exact",
	 LATER("exact")},
	{"refused limit: algorithm token", "all rate 20k/1s algorithm token",
	 ONLY("algorithm token", "algorithm sliding")},
	{"refused limit: edge coarse", "all rate 20k/1s edge coarse",
	 ONLY("edge coarse", "edge strict")},
	{"refused limit: cells 8", "all rate 20k/1s cells 8", ONLY("cells 8", "cells 16")},
	{"refused limit: match tcp", "all rate 20k/1s match tcp", ONLY("match tcp", "match any")},
	{"refused limit: match tcp syn", "all rate 20k/1s match tcp syn",
	 ONLY("match tcp", "match any")},
	{"refused limit: per /24", "all rate 20k/1s per /24", ONLY("per /24", "per /32")},
	{"refused limit: per 32", "all rate 20k/1s per 32", ONLY("per 32", "per /32")},
	{"refused limit: per6 /48", "all rate 20k/1s per6 /48", ONLY("per6 /48", "per6 /64")},

	{"refused limit: no word after algorithm", "all rate 20k/1s algorithm",
	 MISSING("algorithm")},
	{"refused limit: no word after edge", "all rate 20k/1s edge", MISSING("edge")},
	{"refused limit: no word after cells", "all rate 20k/1s cells", MISSING("cells")},
	{"refused limit: no word after match", "all rate 20k/1s match", MISSING("match")},
	{"refused limit: no word after per", "all rate 20k/1s per", MISSING("per")},
	{"refused limit: no word after per6", "all rate 20k/1s shadow per6", MISSING("per6")},
	{"refused limit: nothing", "", "the limit's name is missing; write NAME rate COUNT/TIME"},
	{"refused limit: no rate", "all", RATE_MISSING},
	{"refused limit: an option before the rate", "all shadow rate 20k/1s", RATE_MISSING},
	{"refused limit: nothing after rate", "all rate",
	 "'rate': a rate is missing behind it, like 20k/1s"},
	{"refused limit: a bad rate", "all rate fast", "'fast': " WRITE_RATE},
	{"refused limit: a rate of 0", "all rate 0/1s shadow", "'0/1s': " COUNT_RANGE},
	{"refused limit: a bad name", "1st rate 20k/1s",
	 "'1st': invalid name of a limit: " NAME_RULE},
	{"refused limit: a keyword for a name", "rate 20k/1s",
	 "'rate': invalid name of a limit: " IS_KEYWORD},
	{"refused limit: an unknown word", "all rate 20k/1s soft", "'soft': " UNKNOWN},
	{"refused limit: a second rate", "all rate 20k/1s rate 1/1s", "'rate': " UNKNOWN},
	{"refused limit: an abbreviation", "all rate 20k/1s shad", "'shad': " UNKNOWN},
	{"refused limit: a capital", "all rate 20k/1s Shadow", "'Shadow': " UNKNOWN},
};

static void test_limit_refusal(void **state)
{
	const struct refusal_row *row = *state;
	struct rf_error error = {};
	struct rf_limit limit;
	struct line line;
	int err;

	line_split(&line, row->text);
	memset(&limit, LEFT_ALONE, sizeof(limit));
	err = rf_parse_limit(&line.words, &limit, &error);
	assert_refused(err, &error, row->sentence);
	assert_left_alone(&limit, sizeof(limit));
}

static void check_order(const char *const *options, int count)
{
	struct limit_row row = {"", NULL, "all", 20000, SECOND, RF_SHADOW};
	char text[256] = "all rate 20k/1s";
	void *state = &row;

	for (int i = 0; i < count; i++) {
		strcat(text, " ");
		strcat(text, options[i]);
	}
	row.line = text;
	test_limit(&state);
}

/* Every order of the options from `first` on; returns how many. */
static int check_orders(const char **options, int count, int first)
{
	int orders = 0;

	if (first == count) {
		check_order(options, count);
		return 1;
	}
	for (int i = first; i < count; i++) {
		const char *swapped = options[first];

		options[first] = options[i];
		options[i] = swapped;
		orders += check_orders(options, count, first + 1);
		options[i] = options[first];
		options[first] = swapped;
	}
	return orders;
}

static void options_of_a_limit_come_in_any_order(void **state)
{
	const char *options[] = {"packets",   "algorithm sliding", "edge strict", "cells 16",
				 "match any", "per /32",	   "per6 /64",	  "shadow"};

	(void)state;
	assert_int_equal(check_orders(options, ARRAY_SIZE(options), 0), 40320);
}

/* ---- attach ---- */

struct attach_row {
	const char *name;
	const char *line;
	const char *interfaces;
	const char *fence;
	enum rf_mode mode;
	uint32_t sources;
};

static const struct attach_row attach_rows[] = {
	{"attach: one interface", "eth0", "eth0", NULL, RF_NATIVE, 0},
	{"attach: three interfaces", "eth0 eth1 bond0.7", "eth0 eth1 bond0.7", NULL, RF_NATIVE, 0},
	{"attach: a fence", "eth0 eth1 fence edge1", "eth0 eth1", "edge1", RF_NATIVE, 0},
	{"attach: mode native", "eth0 mode native", "eth0", NULL, RF_NATIVE, 0},
	{"attach: mode generic", "eth0 mode generic", "eth0", NULL, RF_GENERIC, 0},
	{"attach: sources", "eth0 sources 500000", "eth0", NULL, RF_NATIVE, 500000},
	{"attach: the fewest sources", "eth0 sources 1", "eth0", NULL, RF_NATIVE, 1},
	{"attach: the most sources", "eth0 sources 67108864", "eth0", NULL, RF_NATIVE, 67108864},
	{"attach: everything", "eth0 fence f mode generic sources 9 eth1", "eth0 eth1", "f",
	 RF_GENERIC, 9},
	{"attach: another order", "sources 9 mode generic fence f eth0 eth1", "eth0 eth1", "f",
	 RF_GENERIC, 9},
};

static void check_attach(const struct attach_row *row, const struct rf_attach *attach)
{
	struct line expected;

	line_split(&expected, row->interfaces);
	assert_int_equal(attach->interfaces, expected.words.count);
	for (int i = 0; i < attach->interfaces; i++)
		assert_string_equal(attach->interface[i], expected.word[i]);
	if (row->fence)
		assert_string_equal(attach->fence, row->fence);
	else
		assert_null(attach->fence);
	assert_int_equal(attach->mode, row->mode);
	assert_int_equal(attach->sources, row->sources);
}

static void test_attach(void **state)
{
	const struct attach_row *row = *state;
	struct rf_attach attach;
	struct rf_error error = {};
	struct line line;

	line_split(&line, row->line);
	memset(&attach, LEFT_ALONE, sizeof(attach));
	assert_accepted(rf_parse_attach(&line.words, &attach, &error), &error);
	check_attach(row, &attach);
	assert_null(rf_words_peek(&line.words));
}

#define NO_INTERFACE "the interface is missing; write attach IF"
#define MODES "unknown mode; it is native or generic"
#define SOURCES_RANGE "invalid number of sources: it must be 1-67108864"

static const struct refusal_row attach_refusals[] = {
	{"refused attach: nothing", "", NO_INTERFACE},
	{"refused attach: options alone", "mode generic fence f", NO_INTERFACE},
	{"refused attach: no word after fence", "eth0 fence", MISSING("fence")},
	{"refused attach: no word after mode", "eth0 mode", MISSING("mode")},
	{"refused attach: no word after sources", "eth0 sources", MISSING("sources")},
	{"refused attach: an unknown mode", "eth0 mode fast", "'fast': " MODES},
	{"refused attach: offload is not for asking", "eth0 mode offload", "'offload': " MODES},
	{"refused attach: a bad name of a fence", "eth0 fence 1st",
	 "'1st': invalid name of a fence: " NAME_RULE},
	{"refused attach: a keyword for a fence", "eth0 fence mode generic",
	 "'mode': invalid name of a fence: " IS_KEYWORD},
	{"refused attach: no sources", "eth0 sources 0", "'0': " SOURCES_RANGE},
	{"refused attach: too many sources", "eth0 sources 67108865", "'67108865': " SOURCES_RANGE},
	{"refused attach: sources with a suffix", "eth0 sources 500k", "'500k': " SOURCES_RANGE},
	{"refused attach: leases", "eth0 leases 1024", LATER("leases")},
	{"refused attach: chain", "eth0 chain", LATER("chain")},
	{"refused attach: replace", "eth0 replace", LATER("replace")},
	{"refused attach: confirm", "eth0 confirm 5m", LATER("confirm")},
};

static void test_attach_refusal(void **state)
{
	const struct refusal_row *row = *state;
	struct rf_attach attach;
	struct rf_error error = {};
	struct line line;
	int err;

	line_split(&line, row->text);
	memset(&attach, LEFT_ALONE, sizeof(attach));
	err = rf_parse_attach(&line.words, &attach, &error);
	assert_refused(err, &error, row->sentence);
	assert_left_alone(&attach, sizeof(attach));
}

static void no_more_interfaces_are_attached_than_fit(void **state)
{
	char text[RF_INTERFACES_MAX * 8] = "", sentence[64];
	struct attach_row most = {"", text, text, NULL, RF_NATIVE, 0};
	struct refusal_row one_more = {"", text, sentence};
	void *most_state = &most, *one_more_state = &one_more;

	(void)state;
	snprintf(sentence, sizeof(sentence), "'more': too many interfaces; %d at most",
		 RF_INTERFACES_MAX);
	for (int i = 1; i <= RF_INTERFACES_MAX; i++)
		sprintf(text + strlen(text), "eth%d ", i);
	test_attach(&most_state);
	strcat(text, "more");
	test_attach_refusal(&one_more_state);
}

/* ---- formatting ---- */

struct format_row {
	const char *name;
	uint64_t count;
	uint64_t window_ns;
	const char *text;
};

static const struct format_row format_rows[] = {
	{"format: no suffix fits", 2147483647, 1001 * MS, "2147483647/1001ms"},
	{"format: k and s", 20000, SECOND, "20k/1s"},
	{"format: M and h", 3000000, 2 * HOUR, "3M/2h"},
	{"format: M and m", 1000000, 60 * SECOND, "1M/1m"},
	{"format: ten seconds", 100, 10 * SECOND, "100/10s"},
	{"format: 90 seconds are no whole minute", 1, 90 * SECOND, "1/90s"},
	{"format: the smallest", 1, MS, "1/1ms"},
	{"format: the largest", 2147483648, 8784 * HOUR, "2147483648/8784h"},
};

static void test_format(void **state)
{
	const struct format_row *row = *state;
	char text[RF_RATE_TEXT_SIZE];

	rf_format_rate(row->count, row->window_ns, text);
	assert_string_equal(text, row->text);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* 1 … `max`, of every magnitude, half of them a multiple of what has a suffix. */
static uint64_t random_upto(uint64_t *state, uint64_t max)
{
	static const uint64_t steps[] = {1, 1, 1, 1000, 60000, 3600000};
	uint64_t step = steps[next_random(state) % ARRAY_SIZE(steps)];
	uint64_t bits = next_random(state) % 36;
	uint64_t value = (next_random(state) & ((2ULL << bits) - 1)) / step * step;

	return value < 1 || value > max ? max : value;
}

static void any_rate_survives_format_and_parse(void **state)
{
	uint64_t random = 0x72696e6766656e63;

	(void)state;
	for (int i = 0; i < ROUND_TRIPS; i++) {
		uint64_t count = random_upto(&random, RF_LIMIT_MAX);
		uint64_t window_ms = random_upto(&random, RF_WINDOW_MAX_NS / MS);
		uint64_t first[2], second[2];
		char text[64], formatted[RF_RATE_TEXT_SIZE];
		struct rf_error error = {};

		snprintf(text, sizeof(text), "%llu/%llums", (unsigned long long)count,
			 (unsigned long long)window_ms);
		assert_accepted(rf_parse_rate(text, &first[0], &first[1], &error), &error);
		rf_format_rate(first[0], first[1], formatted);
		assert_accepted(rf_parse_rate(formatted, &second[0], &second[1], &error), &error);
		assert_int_equal(second[0], count);
		assert_int_equal(second[1], window_ms * MS);
		assert_true(strlen(formatted) <= strlen(text));
	}
}

/* ---- the tests ---- */

/* Every table, with what tests one row of it; the field that all rows begin with is their name. */
static const struct {
	const void *rows;
	size_t count;
	size_t row_size;
	CMUnitTestFunction function;
} tables[] = {
#define TABLE(rows, function)                                       \
	{                                                           \
		rows, ARRAY_SIZE(rows), sizeof((rows)[0]), function \
	}
	TABLE(count_rows, test_count),
	TABLE(time_rows, test_time),
	TABLE(rate_rows, test_rate),
	TABLE(rate_refusals, test_rate_refusal),
	TABLE(name_rows, test_name),
	TABLE(address_rows, test_address),
	TABLE(number_rows, test_number),
	TABLE(limit_rows, test_limit),
	TABLE(limit_refusals, test_limit_refusal),
	TABLE(attach_rows, test_attach),
	TABLE(attach_refusals, test_attach_refusal),
	TABLE(format_rows, test_format),
};

static const struct CMUnitTest single_tests[] = {
	cmocka_unit_test(rate_of_100000_characters_is_refused),
	cmocka_unit_test(words_are_read_one_by_one),
	cmocka_unit_test(no_word_of_the_grammar_is_a_name),
	cmocka_unit_test(options_of_a_limit_come_in_any_order),
	cmocka_unit_test(no_more_interfaces_are_attached_than_fit),
	cmocka_unit_test(any_rate_survives_format_and_parse),
};

static struct CMUnitTest
	tests[ARRAY_SIZE(count_rows) + ARRAY_SIZE(time_rows) + ARRAY_SIZE(rate_rows) +
	      ARRAY_SIZE(rate_refusals) + ARRAY_SIZE(name_rows) + ARRAY_SIZE(address_rows) +
	      ARRAY_SIZE(number_rows) + ARRAY_SIZE(limit_rows) + ARRAY_SIZE(limit_refusals) +
	      ARRAY_SIZE(attach_rows) + ARRAY_SIZE(attach_refusals) + ARRAY_SIZE(format_rows) +
	      ARRAY_SIZE(single_tests)];

int main(void)
{
	struct CMUnitTest *test = tests;

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		for (size_t j = 0; j < tables[i].count; j++, test++) {
			const char *row = (const char *)tables[i].rows + j * tables[i].row_size;

			test->name = *(const char *const *)row;
			test->test_func = tables[i].function;
			test->initial_state = (void *)row;
		}
	memcpy(test, single_tests, sizeof(single_tests));
	return cmocka_run_group_tests_name("grammar", tests, NULL, NULL);
}
