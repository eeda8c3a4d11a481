// SPDX-License-Identifier: GPL-2.0
/* The bucket key that a text makes, and its fingerprint. */
#include "unit.h"

#include "fleet/key.h"

static void a_text_has_a_known_key(void **state)
{
	const struct rf_fleet_key key = rf_fleet_key_of("00112233445566778899aabbccddeeff");
	char text[RF_FINGERPRINT_SIZE];

	(void)state;
	rf_fleet_key_format(key.fingerprint, text);
	assert_string_equal(text, "53e6ec944f0bd049");
	assert_true(key.word[0] != key.word[1]);
	assert_true(key.fingerprint != key.word[0] && key.fingerprint != key.word[1]);
}

static void texts_that_differ_have_other_keys(void **state)
{
	const struct rf_fleet_key one = rf_fleet_key_of("0123456789abcdef");
	const struct rf_fleet_key other = rf_fleet_key_of("0123456789abcdeg");

	(void)state;
	assert_true(one.word[0] != other.word[0] && one.word[1] != other.word[1]);
	assert_true(one.fingerprint != other.fingerprint);
}

static void no_key_is_named(void **state)
{
	char text[RF_FINGERPRINT_SIZE];

	(void)state;
	rf_fleet_key_format(0, text);
	assert_string_equal(text, "none");
	rf_fleet_key_format(1, text);
	assert_string_equal(text, "0000000000000001");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_has_a_known_key),
		cmocka_unit_test(texts_that_differ_have_other_keys),
		cmocka_unit_test(no_key_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
