// SPDX-License-Identifier: GPL-2.0
/* How addresses in a text are anonymized. */
#include "unit.h"

#include "base/siphash.h"
#include "watch/privacy.h"

struct row {
	const char *text, *prefix, *none;
};

static void tell(void **state)
{
	const struct row *row = *state;
	const char *const want[] = {row->none, row->prefix, row->text};

	for (enum rf_told told = RF_TELL_NONE; told <= RF_TELL_FULL; told++) {
		char *got = rf_tell_text(told, row->text);

		assert_string_equal(got, want[told]);
		free(got);
	}
}

#define TELLS(title, ...) UNIT_ROW_OF("tells " title, tell, (&(struct row){__VA_ARGS__}))

/*
 * The addresses of the paper's appendix A, and of the authors' vectors.h: 0, 1, 2 … under 0, 1, 2 …
 */
static void hash(void **state)
{
	static const uint64_t key[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
	uint8_t data[15];

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = i;
	assert_true(rf_siphash(key, data, 0) == 0x726fdb47dd0e0e31);
	assert_true(rf_siphash(key, data, 8) == 0x93f5f5799a932462);
	assert_true(rf_siphash(key, data, 15) == 0xa129ca6149be45e5);
}

static void tell_who(void **state)
{
	static const uint64_t key[2] = {1, 2}, other[2] = {1, 3};
	struct rf_prefix source, neighbour, told;
	struct rf_error error;

	(void)state;
	assert_int_equal(rf_parse_prefix("192.0.2.66", &source, &error), 0);
	assert_int_equal(rf_parse_prefix("192.0.2.67", &neighbour, &error), 0);
	assert_true(rf_tell(RF_TELL_PREFIX, &source, &told));
	assert_int_not_equal(rf_tell_who(key, &source, &told), 0);
	assert_int_equal(rf_tell_who(key, &source, &told) >> 28, 0);
	assert_int_equal(rf_tell_who(key, &source, &told), rf_tell_who(key, &source, &told));
	assert_int_not_equal(rf_tell_who(key, &source, &told), rf_tell_who(key, &neighbour, &told));
	assert_int_not_equal(rf_tell_who(key, &source, &told), rf_tell_who(other, &source, &told));
	assert_int_equal(rf_tell_who(key, &told, &told), 0);
}

static const struct CMUnitTest tests[] = {
	UNIT_ROW("hashes as its authors say", hash),
	UNIT_ROW("tells sources of a network apart, by the key", tell_who),
	TELLS("text without an address as it is", "3 sources over a limit; see 4.5",
	      "3 sources over a limit; see 4.5", "3 sources over a limit; see 4.5"),
	TELLS("nothing of nothing", "", "", ""),
	TELLS("the network of an address", "192.0.2.66", "192.0.2.0/24", "a source"),
	TELLS("it within a sentence", "worst 192.0.2.66, 198.51.100.7: 5.",
	      "worst 192.0.2.0/24, 198.51.100.0/24: 5.", "worst a source, a source: 5."),
	TELLS("it at the end of a sentence", "by 192.0.2.66.", "by 192.0.2.0/24.", "by a source."),
	TELLS("a prefix", "2001:db8:1:2::/64 x", "2001:db8:1::/48 x", "a source x"),
	TELLS("an address that ends with colons", "2001:db8:1:2::", "2001:db8:1::/48", "a source"),
	TELLS("a network that is told", "10.0.0.0/8", "10.0.0.0/8", "a source"),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
