// SPDX-License-Identifier: GPL-2.0
/*
 * Prefixes, in rows of a text and the expected result, and their order: each prefix follows the
 * prefixes that contain it. Random prefixes are compared bit by bit.
 */
#include "refusal.h"

#include <stdio.h>

#include "base/prefix.h"

#define RANDOM_PREFIXES 100000

/* ---- text ---- */

struct prefix_row {
	const char *text;
	const char *written; /* NULL: refused */
	int version;
	unsigned int length;
	const char *refusal;
};

static void refuse_prefix(const char *text, const char *sentence)
{
	struct rf_prefix prefix;
	struct rf_error error = {};
	int err;

	memset(&prefix, LEFT_ALONE, sizeof(prefix));
	err = rf_parse_prefix(text, &prefix, &error);
	assert_refused(err, &error, sentence);
	assert_left_alone(&prefix, sizeof(prefix));
}

static void parse_prefix(void **state)
{
	const struct prefix_row *row = *state;
	struct rf_prefix prefix, again;
	struct rf_error error = {};
	char text[RF_PREFIX_TEXT_SIZE];

	if (!row->written) {
		refuse_prefix(row->text, row->refusal);
		return;
	}
	assert_accepted(rf_parse_prefix(row->text, &prefix, &error), &error);
	assert_int_equal(prefix.version, row->version);
	assert_int_equal(prefix.length, row->length);
	rf_format_prefix(&prefix, text);
	assert_string_equal(text, row->written);
	assert_accepted(rf_parse_prefix(text, &again, &error), &error);
	assert_memory_equal(&again, &prefix, sizeof(prefix));
}

#define PREFIX(title, ...)                                   \
	UNIT_ROW_OF("parses a prefix: " title, parse_prefix, \
		    (&(struct prefix_row){.text = __VA_ARGS__}))
#define REFUSED(title, word, reason)                          \
	UNIT_ROW_OF("refuses a prefix: " title, parse_prefix, \
		    (&(struct prefix_row){.text = word, .refusal = "'" word "': " reason}))
#define FORM "invalid prefix; write it like 192.0.2.0/24 or 2001:db8::/32"
#define LENGTH4 "invalid prefix: its length must be 0-32"
#define LENGTH6 "invalid prefix: its length must be 0-128"
#define SET_BITS(prefix, address) "bits behind the length are set; write " prefix " or " address

/* ---- lists ---- */

static void a_list_of_prefixes_is_parsed(void **state)
{
	static const char *const expected[] = {"192.0.2.0/24", "2001:db8::/32", "192.0.2.0/24",
					       "198.51.100.7"};
	struct rf_prefixes prefixes = {};
	struct rf_error error = {};

	(void)state;
	assert_accepted(rf_parse_prefixes("192.0.2.0/24", &prefixes, &error), &error);
	assert_accepted(
		rf_parse_prefixes("2001:db8::/32,192.0.2.0/24,198.51.100.7", &prefixes, &error),
		&error);
	assert_int_equal(prefixes.count, UNIT_ARRAY_SIZE(expected));
	for (size_t i = 0; i < prefixes.count; i++) {
		char text[RF_PREFIX_TEXT_SIZE];

		rf_format_prefix(&prefixes.prefix[i], text);
		assert_string_equal(text, expected[i]);
	}
	rf_prefixes_free(&prefixes);
	assert_null(prefixes.prefix);
	assert_int_equal(prefixes.count, 0);
}

static void a_list_with_an_error_adds_nothing(void **state)
{
	static const struct {
		const char *text, *sentence;
	} rows[] = {
		{"", "'': " FORM},
		{",", "'': " FORM},
		{"192.0.2.1,", "'': " FORM},
		{",192.0.2.1", "'': " FORM},
		{"192.0.2.1,,192.0.2.2", "'': " FORM},
		{"192.0.2.1, 192.0.2.2", "' 192.0.2.2': " FORM},
		{"192.0.2.1,192.0.2.1/24,192.0.2.2",
		 "'192.0.2.1/24': " SET_BITS("192.0.2.0/24", "192.0.2.1")},
		{"192.0.2.1,::/129", "'::/129': " LENGTH6},
	};
	struct rf_prefixes prefixes = {};
	struct rf_error error = {};

	(void)state;
	assert_accepted(rf_parse_prefixes("192.0.2.0/24", &prefixes, &error), &error);
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		int err = rf_parse_prefixes(rows[i].text, &prefixes, &error);

		assert_refused(err, &error, rows[i].sentence);
		assert_int_equal(prefixes.count, 1);
	}
	rf_prefixes_free(&prefixes);
}

static void a_list_of_100000_prefixes_is_parsed(void **state)
{
	char *text = malloc(100000 * 16), *end = text;
	struct rf_prefixes prefixes = {};
	struct rf_error error = {};

	(void)state;
	assert_non_null(text);
	for (int i = 0; i < 100000; i++)
		end += sprintf(end, "%s10.%d.%d.%d", i ? "," : "", i >> 16, i >> 8 & 255, i & 255);
	assert_accepted(rf_parse_prefixes(text, &prefixes, &error), &error);
	assert_int_equal(prefixes.count, 100000);
	rf_prefixes_free(&prefixes);
	free(text);
}

/* ---- order ---- */

static int bit_of(const struct rf_prefix *prefix, unsigned int bit)
{
	return ((const unsigned char *)prefix->word)[bit / 8] >> (7 - bit % 8) & 1;
}

static bool contains_bit_by_bit(const struct rf_prefix *outer, const struct rf_prefix *inner)
{
	if (outer->version != inner->version || outer->length > inner->length)
		return false;
	for (unsigned int bit = 0; bit < outer->length; bit++)
		if (bit_of(outer, bit) != bit_of(inner, bit))
			return false;
	return true;
}

static int compare_bit_by_bit(const struct rf_prefix *a, const struct rf_prefix *b)
{
	if (a->version != b->version)
		return a->version - b->version;
	for (unsigned int bit = 0; bit < 128; bit++)
		if (bit_of(a, bit) != bit_of(b, bit))
			return bit_of(a, bit) - bit_of(b, bit);
	return (int)a->length - (int)b->length;
}

/* Few bits are set: many prefixes contain each other. */
static struct rf_prefix random_prefix(uint64_t *random)
{
	struct rf_prefix prefix = {.version = unit_below(random, 2) ? 4 : 6};
	const unsigned int max = prefix.version == 4 ? 32 : 128;

	prefix.length = unit_below(random, max + 1);
	for (int i = unit_below(random, 3); i > 0; i--) {
		unsigned int bit = unit_below(random, max);

		if (bit < prefix.length)
			((unsigned char *)prefix.word)[bit / 8] |= 0x80 >> bit % 8;
	}
	return prefix;
}

static int sign(int number)
{
	return (number > 0) - (number < 0);
}

static void prefixes_are_ordered_by_their_bits(void **state)
{
	uint64_t random = unit_seed();
	int contained = 0;

	(void)state;
	for (int i = 0; i < RANDOM_PREFIXES; i++) {
		struct rf_prefix a = random_prefix(&random), b = random_prefix(&random);
		bool contains = rf_prefix_contains(&a, &b);

		assert_true(rf_prefix_contains(&a, &a));
		assert_int_equal(rf_prefix_compare(&a, &a), 0);
		assert_int_equal(contains, contains_bit_by_bit(&a, &b));
		assert_int_equal(sign(rf_prefix_compare(&a, &b)), sign(compare_bit_by_bit(&a, &b)));
		if (contains)
			assert_true(rf_prefix_compare(&a, &b) <= 0);
		contained += contains;
	}
	assert_true(contained > RANDOM_PREFIXES / 100);
}

static void any_prefix_survives_format_and_parse(void **state)
{
	uint64_t random = unit_seed();

	(void)state;
	for (int i = 0; i < RANDOM_PREFIXES; i++) {
		struct rf_prefix prefix = random_prefix(&random), again;
		char text[RF_PREFIX_TEXT_SIZE];
		struct rf_error error = {};

		rf_format_prefix(&prefix, text);
		assert_accepted(rf_parse_prefix(text, &again, &error), &error);
		assert_memory_equal(&again, &prefix, sizeof(prefix));
	}
}

static const struct CMUnitTest tests[] = {
	PREFIX("a network", "192.0.2.0/24", "192.0.2.0/24", 4, 24),
	PREFIX("an address", "192.0.2.1", "192.0.2.1", 4, 32),
	PREFIX("an address, with its length", "192.0.2.1/32", "192.0.2.1", 4, 32),
	PREFIX("everybody of IPv4", "0.0.0.0/0", "0.0.0.0/0", 4, 0),
	PREFIX("half of IPv4", "128.0.0.0/1", "128.0.0.0/1", 4, 1),
	PREFIX("two addresses", "192.0.2.254/31", "192.0.2.254/31", 4, 31),
	PREFIX("a network of IPv6", "2001:db8::/32", "2001:db8::/32", 6, 32),
	PREFIX("an address of IPv6", "2001:DB8:0::1", "2001:db8::1", 6, 128),
	PREFIX("an address of IPv6, with its length", "::1/128", "::1", 6, 128),
	PREFIX("everybody of IPv6", "::/0", "::/0", 6, 0),
	PREFIX("a /65", "2001:db8:0:0:8000::/65", "2001:db8:0:0:8000::/65", 6, 65),
	PREFIX("a mapped address is IPv4", "::ffff:192.0.2.66", "192.0.2.66", 4, 32),
	PREFIX("a mapped address in digits of IPv6", "::FFFF:c000:242", "192.0.2.66", 4, 32),
	PREFIX("a prefix of mapped addresses", "::ffff:192.0.2.0/120", "192.0.2.0/24", 4, 24),
	PREFIX("half of the mapped addresses", "::ffff:0:0/97", "0.0.0.0/1", 4, 1),
	PREFIX("all mapped addresses stay IPv6", "::ffff:0:0/96", "::ffff:0.0.0.0/96", 6, 96),
	PREFIX("an address like a mapped one", "::fffe:192.0.2.1", "::fffe:c000:201", 6, 128),
	REFUSED("a mapped address with bits behind the length", "::ffff:192.0.2.66/120",
		SET_BITS("::ffff:192.0.2.0/120", "::ffff:192.0.2.66")),

	REFUSED("nothing", "", FORM),
	REFUSED("a slash", "/", FORM),
	REFUSED("a length alone", "/24", FORM),
	REFUSED("a name", "example.com", FORM),
	REFUSED("part of an address", "192.0.2/24", FORM),
	REFUSED("a blank in front", " 192.0.2.0/24", FORM),
	REFUSED("a zone", "fe80::1%eth0", FORM),
	REFUSED("a list", "192.0.2.1,192.0.2.2", FORM),
	REFUSED("a very long word",
		"2001:0db8:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000/32",
		FORM),
	REFUSED("a slash without length", "192.0.2.0/", LENGTH4),
	REFUSED("a netmask", "192.0.2.0/255.255.255.0", LENGTH4),
	REFUSED("a length of 33", "192.0.2.0/33", LENGTH4),
	REFUSED("a length of 2^32 + 24", "192.0.2.0/4294967320", LENGTH4),
	REFUSED("minus", "192.0.2.0/-1", LENGTH4),
	REFUSED("plus", "192.0.2.0/+24", LENGTH4),
	REFUSED("a blank behind", "192.0.2.0/24 ", LENGTH4),
	REFUSED("a zero in front", "192.0.2.0/024", LENGTH4),
	REFUSED("two lengths", "192.0.2.0/24/24", LENGTH4),
	REFUSED("a length of 129", "2001:db8::/129", LENGTH6),
	REFUSED("bits behind the length", "192.0.2.1/24", SET_BITS("192.0.2.0/24", "192.0.2.1")),
	REFUSED("a bit just behind the length", "192.0.2.128/24",
		SET_BITS("192.0.2.0/24", "192.0.2.128")),
	REFUSED("an address of everybody", "192.0.2.1/0", SET_BITS("0.0.0.0/0", "192.0.2.1")),
	REFUSED("bits behind a length of IPv6", "2001:db8::1/64",
		SET_BITS("2001:db8::/64", "2001:db8::1")),

	cmocka_unit_test(a_list_of_prefixes_is_parsed),
	cmocka_unit_test(a_list_with_an_error_adds_nothing),
	cmocka_unit_test(a_list_of_100000_prefixes_is_parsed),
	cmocka_unit_test(prefixes_are_ordered_by_their_bits),
	cmocka_unit_test(any_prefix_survives_format_and_parse),
};

int main(void)
{
	return cmocka_run_group_tests_name("prefix", tests, NULL, NULL);
}
