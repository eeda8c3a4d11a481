// SPDX-License-Identifier: GPL-2.0
/*
 * The grammar's values, in rows of a text and the expected result: counts, times, rates, names,
 * addresses and numbers, and rates back to text. In every row `refusal` is the whole sentence that
 * refuses the text, or NULL if the text is accepted.
 */
#include "refusal.h"

#include <stdio.h>

#define ROUND_TRIPS 10000

/* ---- COUNT and TIME ---- */

#define INVALID(text, what) "'" text "': invalid " what
#define COUNT_FORM "count; write it like 100, 20k, 1.5M or 10mbit, in whole packets or bytes"
#define TIME_FORM "time; write it like 500ms, 10s, 5m or 1h"

struct scaled_row {
	int (*parse)(const char *text, uint64_t *value, struct rf_error *error);
	const char *text;
	uint64_t value;
	const char *refusal;
};

static uint64_t left_alone64(void)
{
	uint64_t value;

	memset(&value, LEFT_ALONE, sizeof(value));
	return value;
}

static void parse_scaled(void **state)
{
	const struct scaled_row *row = *state;
	uint64_t value = left_alone64();
	struct rf_error error = {};
	int err = row->parse(row->text, &value, &error);

	if (row->refusal) {
		assert_refused(err, &error, row->refusal);
		assert_left_alone(&value, sizeof(value));
		return;
	}
	assert_accepted(err, &error);
	assert_int_equal(value, row->value);
}

/* A count whose unit is not bits. */
static int parse_count(const char *text, uint64_t *value, struct rf_error *error)
{
	bool in_bits = true;
	int err = rf_parse_count(text, value, &in_bits, error);

	assert_int_equal(in_bits, err != 0); /* unchanged, or false */
	return err;
}

static int parse_bits(const char *text, uint64_t *value, struct rf_error *error)
{
	bool in_bits = false;
	int err = rf_parse_count(text, value, &in_bits, error);

	assert_int_equal(in_bits, err == 0);
	return err;
}

#define SCALED(title, ...) UNIT_ROW_OF(title, parse_scaled, (&(struct scaled_row){__VA_ARGS__}))
#define COUNT(title, text, number) SCALED("parses a count: " title, parse_count, text, number, NULL)
#define BITS(title, text, bytes) SCALED("parses bits: " title, parse_bits, text, bytes, NULL)
#define TIME(title, text, number) SCALED("parses a time: " title, rf_parse_time, text, number, NULL)
#define REFUSED_COUNT(title, text) \
	SCALED("refuses a count: " title, parse_count, text, 0, INVALID(text, COUNT_FORM))
#define REFUSED_BITS(title, text) \
	SCALED("refuses bits: " title, parse_bits, text, 0, INVALID(text, COUNT_FORM))
#define REFUSED_TIME(title, text) \
	SCALED("refuses a time: " title, rf_parse_time, text, 0, INVALID(text, TIME_FORM))

/* ---- COUNT/TIME ---- */

#define TIME_RANGE "invalid rate: the time must be 1ms-8784h"
#define IS_NO(part, what) "invalid rate: '" part "' is not a " what##_FORM

struct rate_row {
	const char *text;
	uint64_t count;
	uint64_t window_ns;
	bool in_bits;
	const char *refusal;
};

static void check_rate_refused(const char *text, const char *sentence)
{
	struct rf_error error = {};
	struct rf_rate rate;
	int err;

	memset(&rate, LEFT_ALONE, sizeof(rate));
	err = rf_parse_rate(text, &rate, &error);
	assert_refused(err, &error, sentence);
	assert_left_alone(&rate, sizeof(rate));
}

static void parse_rate(void **state)
{
	const struct rate_row *row = *state;
	struct rf_rate rate = {};
	struct rf_error error = {};

	if (row->refusal) {
		check_rate_refused(row->text, row->refusal);
		return;
	}
	assert_accepted(rf_parse_rate(row->text, &rate, &error), &error);
	assert_int_equal(rate.count, row->count);
	assert_int_equal(rate.window_ns, row->window_ns);
	assert_int_equal(rate.in_bits, row->in_bits);
}

#define RATE(title, text, count, window_ns)              \
	UNIT_ROW_OF("parses a rate: " title, parse_rate, \
		    (&(struct rate_row){text, count, window_ns, false, NULL}))
#define BIT_RATE(title, text, bytes, window_ns)          \
	UNIT_ROW_OF("parses a rate: " title, parse_rate, \
		    (&(struct rate_row){text, bytes, window_ns, true, NULL}))
#define REFUSED_RATE(title, text, reason)                 \
	UNIT_ROW_OF("refuses a rate: " title, parse_rate, \
		    (&(struct rate_row){text, .refusal = "'" text "': " reason}))

/* The sentence is truncated at the size of rf_error, and no byte is written after it. */
static void rate_of_100000_characters_is_refused(void **state)
{
	static char text[100001];
	char sentence[sizeof(((struct rf_error *)NULL)->text)];

	(void)state;
	memset(text, '9', sizeof(text) - 1);
	memset(sentence, '9', sizeof(sentence));
	sentence[0] = '\'';
	sentence[sizeof(sentence) - 1] = '\0';
	check_rate_refused(text, sentence);
	memcpy(text + 50000, "/1s", 3);
	check_rate_refused(text, sentence);
}

/* ---- names ---- */

struct name_row {
	const char *text;
	const char *refusal;
};

static void parse_name(void **state)
{
	const struct name_row *row = *state;
	char name[RF_NAME_SIZE], expected[RF_NAME_SIZE] = "";
	struct rf_error error = {};
	int err;

	memset(name, LEFT_ALONE, sizeof(name));
	err = rf_parse_name(row->text, "name of a fence", name, &error);
	if (row->refusal) {
		assert_refused(err, &error, row->refusal);
		assert_left_alone(name, sizeof(name));
		return;
	}
	assert_accepted(err, &error);
	strcpy(expected, row->text);
	assert_memory_equal(name, expected, sizeof(name));
}

#define NAME(title, text) \
	UNIT_ROW_OF("parses a name: " title, parse_name, (&(struct name_row){text, NULL}))
#define REFUSED_NAME(title, text, reason)                 \
	UNIT_ROW_OF("refuses a name: " title, parse_name, \
		    (&(struct name_row){text, INVALID(text, "name of a fence: " reason)}))

/* ---- addresses ---- */

struct address_row {
	const char *text;
	const char *refusal;
	int version;
	unsigned char bytes[16];
};

static void parse_address(void **state)
{
	const struct address_row *row = *state;
	struct rf_address address;
	struct rf_error error = {};
	int err;

	memset(&address, LEFT_ALONE, sizeof(address));
	err = rf_parse_address(row->text, &address, &error);
	if (row->refusal) {
		assert_refused(err, &error, row->refusal);
		assert_left_alone(&address, sizeof(address));
		return;
	}
	assert_accepted(err, &error);
	assert_int_equal(address.version, row->version);
	assert_memory_equal(address.word, row->bytes, sizeof(address.word));
}

#define ADDRESS(title, text, version, ...)                      \
	UNIT_ROW_OF("parses an address: " title, parse_address, \
		    (&(struct address_row){text, NULL, version, {__VA_ARGS__}}))
#define ADDRESS_FORM "address; write it like 192.0.2.1 or 2001:db8::1"
#define REFUSED_ADDRESS(title, text)                             \
	UNIT_ROW_OF("refuses an address: " title, parse_address, \
		    (&(struct address_row){text, INVALID(text, ADDRESS_FORM), 0, {}}))

/* ---- whole numbers ---- */

struct number_row {
	const char *text;
	uint32_t min, max;
	uint32_t number;
	const char *refusal;
};

static void parse_number(void **state)
{
	const struct number_row *row = *state;
	uint32_t number;
	struct rf_error error = {};
	int err;

	memset(&number, LEFT_ALONE, sizeof(number));
	err = rf_parse_number(row->text, "number of cells", row->min, row->max, &number, &error);
	if (row->refusal) {
		assert_refused(err, &error, row->refusal);
		assert_left_alone(&number, sizeof(number));
		return;
	}
	assert_accepted(err, &error);
	assert_int_equal(number, row->number);
}

#define NUMBER(title, text, min, max, number)                \
	UNIT_ROW_OF("parses a number: " title, parse_number, \
		    (&(struct number_row){text, min, max, number, NULL}))
#define CELLS_FORM(min, max) "number of cells: it must be " #min "-" #max
#define REFUSED_NUMBER(title, text, min, max)             \
	UNIT_ROW_OF(                                      \
		"refuses a number: " title, parse_number, \
		(&(struct number_row){text, min, max, 0, INVALID(text, CELLS_FORM(min, max))}))

/* ---- formatting ---- */

struct format_row {
	uint64_t count;
	uint64_t window_ns;
	const char *text;
	enum rf_unit unit;
};

static void format_rate(void **state)
{
	const struct format_row *row = *state;
	const struct rf_limit limit = {
		.rate = row->count, .window_ns = row->window_ns, .unit = row->unit};
	char text[RF_RATE_TEXT_SIZE], with_unit[RF_RATE_TEXT_SIZE + 8];

	rf_format_rate(row->count, row->window_ns, text);
	assert_string_equal(text, row->text);
	snprintf(with_unit, sizeof(with_unit), "%s%s", row->text,
		 row->unit == RF_BYTES ? " bytes" : "");
	rf_format_limit_rate(&limit, text);
	assert_string_equal(text, with_unit);
}

#define FORMAT(title, ...)                                 \
	UNIT_ROW_OF("formats a rate: " title, format_rate, \
		    (&(struct format_row){__VA_ARGS__, RF_PACKETS}))
#define FORMAT_BYTES(title, ...)                           \
	UNIT_ROW_OF("formats a rate: " title, format_rate, \
		    (&(struct format_row){__VA_ARGS__, RF_BYTES}))

/* The contents of a map may come from another build. */
static void names_of_enumerators_are_words_of_the_grammar(void **state)
{
	(void)state;
	assert_string_equal(rf_algorithm_name(RF_SLIDING), "sliding");
	assert_string_equal(rf_algorithm_name(RF_FIXED), "fixed");
	assert_string_equal(rf_algorithm_name(RF_LOG), "log");
	assert_string_equal(rf_algorithm_name(RF_TOKEN), "token");
	assert_string_equal(rf_algorithm_name(RF_LEAKY), "leaky");
	assert_string_equal(rf_algorithm_name(RF_LEAKY + 1), "unknown");
	assert_string_equal(rf_algorithm_name(255), "unknown");
	assert_string_equal(rf_edge_name(RF_EDGE_STRICT), "strict");
	assert_string_equal(rf_edge_name(RF_EDGE_COARSE), "coarse");
	assert_string_equal(rf_edge_name(RF_EDGE_WEIGHTED), "weighted");
	assert_string_equal(rf_edge_name(255), "unknown");
	assert_string_equal(rf_unit_name(RF_PACKETS), "packets");
	assert_string_equal(rf_unit_name(RF_BYTES), "bytes");
	assert_string_equal(rf_unit_name(255), "unknown");
}

/* 1 … `max`, of every magnitude, half of them multiples of a suffix. */
static uint64_t random_upto(uint64_t *state, uint64_t max)
{
	static const uint64_t steps[] = {1, 1, 1, 1000, 60000, 3600000};
	uint64_t step = steps[unit_below(state, UNIT_ARRAY_SIZE(steps))];
	uint64_t bits = unit_below(state, 38);
	uint64_t value = (unit_random(state) & ((2ULL << bits) - 1)) / step * step;

	return value < 1 || value > max ? max : value;
}

static void any_rate_survives_format_and_parse(void **state)
{
	uint64_t random = unit_seed();

	(void)state;
	for (int i = 0; i < ROUND_TRIPS; i++) {
		uint64_t count = random_upto(&random, (uint64_t)RF_LIMIT_MAX << RF_UNIT_SHIFT_MAX);
		uint64_t window_ms = random_upto(&random, RF_WINDOW_MAX_NS / MS);
		char text[64], formatted[RF_RATE_TEXT_SIZE];
		struct rf_rate first, second;
		struct rf_error error = {};

		snprintf(text, sizeof(text), "%" PRIu64 "/%" PRIu64 "ms", count, window_ms);
		assert_accepted(rf_parse_rate(text, &first, &error), &error);
		rf_format_rate(first.count, first.window_ns, formatted);
		assert_accepted(rf_parse_rate(formatted, &second, &error), &error);
		assert_int_equal(second.count, count);
		assert_int_equal(second.window_ns, window_ms * MS);
		assert_false(second.in_bits);
		assert_true(strlen(formatted) <= strlen(text));
	}
}

static const struct CMUnitTest tests[] = {
	COUNT("a plain number", "100", 100),
	COUNT("k is 1000", "20k", 20000),
	COUNT("M is 1000000", "3M", 3000000),
	COUNT("M takes up a fraction", "1.5M", 1500000),
	COUNT("a half k", "0.5k", 500),
	COUNT("k takes up three places", "1.005k", 1005),
	COUNT("M takes up six places", "0.000001M", 1),
	COUNT("a fraction of zeros", "1.0", 1),
	COUNT("zeros past the suffix's places", "1.50000000000000000000000k", 1500),
	COUNT("zeros in front", "0000000000000000000000000007", 7),
	COUNT("0", "0", 0),
	COUNT("the largest", "18446744073709551615", UINT64_MAX),
	REFUSED_COUNT("empty", ""),
	REFUSED_COUNT("a suffix alone", "k"),
	REFUSED_COUNT("a fraction without suffix", "1.5"),
	REFUSED_COUNT("a fraction finer than k", "1.0005k"),
	REFUSED_COUNT("a fraction finer than M", "0.0000005M"),
	COUNT("K is k", "20K", 20000),
	COUNT("m is M", "20m", 20000000),
	COUNT("G takes up nine places", "1.000000001G", 1000000001),
	COUNT("g is G", "2g", 2000000000),
	REFUSED_COUNT("no larger suffix", "1T"),
	REFUSED_COUNT("minus", "-1"),
	REFUSED_COUNT("plus", "+1"),
	REFUSED_COUNT("an exponent", "1e3"),
	REFUSED_COUNT("hexadecimal", "0x10"),
	REFUSED_COUNT("two suffixes", "20kk"),
	REFUSED_COUNT("a space in front", " 1"),
	REFUSED_COUNT("a space behind", "1 "),
	REFUSED_COUNT("a space before the suffix", "1 k"),
	REFUSED_COUNT("a point without whole part", ".5k"),
	REFUSED_COUNT("a point without fraction", "1.k"),
	REFUSED_COUNT("two points", "1.2.3k"),
	REFUSED_COUNT("a comma", "1,5k"),
	REFUSED_COUNT("one too large", "18446744073709551616"),
	REFUSED_COUNT("too large by its digits", "99999999999999999999999999999999"),
	REFUSED_COUNT("too large by its suffix", "18446744073709551615k"),
	REFUSED_COUNT("too large by its fraction", "18446744073709551.999M"),

	BITS("kbit is 1000 bits", "8kbit", 1000),
	BITS("mbit is 1000 kbit", "10mbit", 1250000),
	BITS("gbit is 1000 mbit", "2.5gbit", 312500000),
	BITS("an odd one", "1kbit", 125),
	BITS("a single byte", "0.008kbit", 1),
	BITS("none", "0mbit", 0),
	BITS("the largest", "147573952589676412.920kbit", UINT64_MAX),
	REFUSED_BITS("half a byte", "0.004kbit"),
	REFUSED_BITS("no whole bytes in a fine fraction", "1.0001mbit"),
	REFUSED_BITS("too large", "147573952589676412.928kbit"),
	REFUSED_BITS("too large by far", "18446744073709551615gbit"),
	REFUSED_BITS("no plain bits", "8000bit"),
	REFUSED_BITS("no larger ones", "1tbit"),
	BITS("Mbit is mbit", "10Mbit", 1250000),
	BITS("KBIT is kbit", "10KBIT", 1250),
	REFUSED_BITS("mbits", "10mbits"),
	REFUSED_BITS("mbit/s without its time", "10mbps"),
	REFUSED_BITS("a suffix alone", "mbit"),
	REFUSED_BITS("a suffix of a suffix", "10kmbit"),
	REFUSED_BITS("minus", "-1mbit"),

	TIME("milliseconds", "500ms", 500 * MS),
	TIME("a second", "1s", SECOND),
	TIME("ten seconds", "10s", 10 * SECOND),
	TIME("minutes", "5m", 300 * SECOND),
	TIME("an hour", "1h", HOUR),
	TIME("a second and a half", "1.5s", 1500 * MS),
	TIME("a millisecond as a fraction", "0.001s", MS),
	TIME("a quarter of an hour", "0.25h", HOUR / 4),
	TIME("milliseconds as a fine fraction of a minute", "1.00005m", 60003 * MS),
	TIME("zeros past the suffix's places", "1.0ms", MS),
	TIME("0", "0s", 0),
	TIME("the largest", "18446744073709ms", 18446744073709 * MS),
	REFUSED_TIME("half a millisecond", "0.5ms"),
	REFUSED_TIME("finer than a millisecond", "0.0001s"),
	REFUSED_TIME("no whole millisecond in a fine fraction", "0.00001m"),
	REFUSED_TIME("no unit", "1"),
	REFUSED_TIME("no days", "1d"),
	REFUSED_TIME("no microseconds", "1000us"),
	REFUSED_TIME("no nanoseconds", "1000ns"),
	REFUSED_TIME("empty", ""),
	REFUSED_TIME("a unit alone", "s"),
	TIME("S is s", "1S", SECOND),
	TIME("MS is ms", "5MS", 5 * MS),
	TIME("M is m", "2M", 120 * SECOND),
	TIME("a long second", "1.5sec", 1500 * MS),
	TIME("a whole second", "1second", SECOND),
	TIME("a long minute", "10min", 600 * SECOND),
	TIME("a whole Minute", "1Minute", 60 * SECOND),
	TIME("a long hour", "2hour", 2 * HOUR),
	REFUSED_TIME("a plural", "2hours"),
	REFUSED_TIME("two units", "1h30m"),
	REFUSED_TIME("minus", "-1s"),
	REFUSED_TIME("a space before the unit", "1 s"),
	REFUSED_TIME("too large in ns", "18446744073710ms"),
	REFUSED_TIME("too large in ms", "18446744073709551615h"),
	REFUSED_TIME("too large by its digits", "18446744073709551616ms"),

	RATE("a usual one", "20k/1s", 20000, SECOND),
	RATE("fractions on both sides", "1.5k/0.5s", 1500, 500 * MS),
	RATE("the smallest", "1/1ms", 1, MS),
	RATE("count 0, whose unit may say more", "0/1s", 0, SECOND),
	RATE("the largest count", "18446744073709551615/1s", UINT64_MAX, SECOND),
	RATE("the longest time", "1/8784h", 1, 8784 * HOUR),
	RATE("31 digits", "0000000000000000000000000000007/1s", 7, SECOND),
	BIT_RATE("bits in a second", "10mbit/1s", 1250000, SECOND),
	BIT_RATE("bits without a time are in a second", "10mbit", 1250000, SECOND),
	BIT_RATE("bits in ten seconds", "8kbit/10s", 1000, 10 * SECOND),
	BIT_RATE("a fraction of a gbit", "0.5gbit", 62500000, SECOND),
	RATE("a unit of time alone", "100/s", 100, SECOND),
	RATE("a long unit of time alone", "10/min", 10, 60 * SECOND),
	RATE("an hour alone", "1k/hour", 1000, HOUR),
	BIT_RATE("bits in a unit of time", "10mbit/s", 1250000, SECOND),
	REFUSED_RATE("an unknown unit of time alone", "1/fortnight", IS_NO("fortnight", TIME)),
	REFUSED_RATE("time 0", "1/0s", TIME_RANGE),
	REFUSED_RATE("time too long", "1/8785h", TIME_RANGE),
	REFUSED_RATE("a millisecond too long", "1/31622400001ms", TIME_RANGE),
	REFUSED_RATE("time under a millisecond", "1/0.999ms", IS_NO("0.999ms", TIME)),
	REFUSED_RATE("microseconds", "1/999us", IS_NO("999us", TIME)),
	REFUSED_RATE("no slash", "20k", WRITE_RATE),
	REFUSED_RATE("no slash, no count", "fast", WRITE_RATE),
	REFUSED_RATE("no whole bytes, no slash", "0.001kbit", WRITE_RATE),
	REFUSED_RATE("no whole bytes", "0.001kbit/1s", IS_NO("0.001kbit", COUNT)),
	REFUSED_RATE("bits, a slash and no time", "10mbit/", IS_NO("", TIME)),
	REFUSED_RATE("bits in no time", "10mbit/0s", TIME_RANGE),
	REFUSED_RATE("no time", "20k/", IS_NO("", TIME)),
	REFUSED_RATE("no count", "/1s", IS_NO("", COUNT)),
	REFUSED_RATE("a slash alone", "/", IS_NO("", COUNT)),
	REFUSED_RATE("empty", "", WRITE_RATE),
	REFUSED_RATE("two slashes", "20k/1s/1s", IS_NO("1s/1s", TIME)),
	REFUSED_RATE("a bad count", "20kk/1s", IS_NO("20kk", COUNT)),
	REFUSED_RATE("a bad time", "20k/1d", IS_NO("1d", TIME)),
	REFUSED_RATE("a space behind the slash", "20k/ 1s", IS_NO(" 1s", TIME)),
	REFUSED_RATE("32 digits", "00000000000000000000000000000007/1s", WRITE_RATE),
	cmocka_unit_test(rate_of_100000_characters_is_refused),

	NAME("a word", "any"),
	NAME("one letter", "x"),
	NAME("digits, underscore and hyphen behind a letter", "Dns_53-udp"),
	NAME("31 characters", THIRTY_ONE),
	NAME("a keyword with another letter", "rates"),
	NAME("a keyword in capitals", "RATE"),
	NAME("a word of match", "syn"),
	REFUSED_NAME("32 characters", "a" THIRTY_ONE, NAME_RULE),
	REFUSED_NAME("a digit first", "1abc", NAME_RULE),
	REFUSED_NAME("an underscore first", "_abc", NAME_RULE),
	REFUSED_NAME("a hyphen first", "-abc", NAME_RULE),
	REFUSED_NAME("empty", "", NAME_RULE),
	REFUSED_NAME("a space", "a b", NAME_RULE),
	REFUSED_NAME("a point", "eth0.100", NAME_RULE),
	REFUSED_NAME("a slash", "../x", NAME_RULE),
	REFUSED_NAME("UTF-8 first", "étage", NAME_RULE),
	REFUSED_NAME("UTF-8 later", "caf\xc3\xa9", NAME_RULE),

	ADDRESS("IPv4", "192.0.2.1", 4, 192, 0, 2, 1),
	ADDRESS("IPv4, all zeros", "0.0.0.0", 4, 0),
	ADDRESS("IPv4, all ones", "255.255.255.255", 4, 255, 255, 255, 255),
	ADDRESS("IPv6", "2001:db8:1:2:3:4:5:6", 6, 0x20, 1, 0xd, 0xb8, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5,
		0, 6),
	ADDRESS("IPv6, shortened", "2001:db8::1", 6, 0x20, 1, 0xd, 0xb8, [15] = 1),
	ADDRESS("IPv6, all zeros", "::", 6, 0),
	ADDRESS("IPv6 in capitals", "2001:DB8::A", 6, 0x20, 1, 0xd, 0xb8, [15] = 10),
	ADDRESS("IPv4 mapped into IPv6 is IPv4", "::ffff:192.0.2.1", 4, 192, 0, 2, 1),
	REFUSED_ADDRESS("IPv4 with a prefix length", "192.0.2.1/32"),
	REFUSED_ADDRESS("IPv6 with a prefix length", "2001:db8::/64"),
	REFUSED_ADDRESS("three parts", "192.0.2"),
	REFUSED_ADDRESS("five parts", "192.0.2.1.1"),
	REFUSED_ADDRESS("a part of 256", "192.0.2.256"),
	REFUSED_ADDRESS("a part with a zero in front", "192.0.2.01"),
	REFUSED_ADDRESS("a zone", "fe80::1%eth0"),
	REFUSED_ADDRESS("two gaps", "2001::db8::1"),
	REFUSED_ADDRESS("a space behind", "192.0.2.1 "),
	REFUSED_ADDRESS("a name", "localhost"),
	REFUSED_ADDRESS("a number", "3221225985"),
	REFUSED_ADDRESS("empty", ""),

	NUMBER("the least", "5", 5, 10, 5),
	NUMBER("the most", "10", 5, 10, 10),
	NUMBER("0 where it may be", "0", 0, 10, 0),
	NUMBER("zeros in front", "007", 5, 10, 7),
	NUMBER("32 bits", "4294967295", 0, UINT32_MAX, UINT32_MAX),
	REFUSED_NUMBER("too small", "4", 5, 10),
	REFUSED_NUMBER("too large", "11", 5, 10),
	REFUSED_NUMBER("right in its low 32 bits only", "4294967301", 5, 10),
	REFUSED_NUMBER("right in its low 64 bits only", "18446744073709551621", 5, 10),
	REFUSED_NUMBER("empty", "", 0, 10),
	REFUSED_NUMBER("minus", "-5", 0, 10),
	REFUSED_NUMBER("plus", "+5", 0, 10),
	REFUSED_NUMBER("a suffix", "1k", 0, 10000),
	REFUSED_NUMBER("a fraction of zeros", "5.0", 5, 10),
	REFUSED_NUMBER("a space behind", "5 ", 5, 10),
	REFUSED_NUMBER("a space in front", " 5", 5, 10),
	REFUSED_NUMBER("hexadecimal", "0x5", 0, 10),
	REFUSED_NUMBER("a word", "five", 5, 10),

	FORMAT("no suffix fits", 2147483647, 1001 * MS, "2147483647/1001ms"),
	FORMAT("k and s", 20000, SECOND, "20k/1s"),
	FORMAT("M and h", 3000000, 2 * HOUR, "3M/2h"),
	FORMAT("M and m", 1000000, 60 * SECOND, "1M/1m"),
	FORMAT("ten seconds", 100, 10 * SECOND, "100/10s"),
	FORMAT("90 seconds are no whole minute", 1, 90 * SECOND, "1/90s"),
	FORMAT("the smallest", 1, MS, "1/1ms"),
	FORMAT("the largest", 2147483648, 8784 * HOUR, "2147483648/8784h"),
	FORMAT_BYTES("bytes", 1250000, SECOND, "1250k/1s"),
	FORMAT_BYTES("the most bytes", 137438953472, 8784 * HOUR, "137438953472/8784h"),
	FORMAT_BYTES("what only a map can hold", UINT64_MAX, UINT64_MAX,
		     "18446744073709551615/18446744073709ms"),
	cmocka_unit_test(names_of_enumerators_are_words_of_the_grammar),
	cmocka_unit_test(any_rate_survives_format_and_parse),
};

int main(void)
{
	return cmocka_run_group_tests_name("grammar", tests, NULL, NULL);
}
