// SPDX-License-Identifier: GPL-2.0
/* The bans that a host publishes, and which bans of other hosts it accepts. */
#include "unit.h"

#include <string.h>

#include "fleet/bans.h"

static struct rf_prefix prefix_of(const char *text)
{
	struct rf_prefix prefix;
	struct rf_error error = {};

	assert_int_equal(rf_parse_prefix(text, &prefix, &error), 0);
	return prefix;
}

static enum rf_ban_fault fault_of(const char *prefix, uint32_t left_ms)
{
	const struct rf_told_ban ban = {.left_ms = left_ms, .prefix = prefix_of(prefix)};

	return rf_fleet_bans_judge(&ban);
}

static void a_ban_is_packed(void **state)
{
	const uint8_t want4[] = {3, 0, 0, 0, 0xe8, 3, 0, 0, 4, 24, 192, 0, 2, 0};
	const struct rf_prefix four = prefix_of("192.0.2.0/24"), six = prefix_of("2001:db8::/64");
	uint8_t bytes[RF_BAN_CALL_MAX];

	(void)state;
	assert_int_equal(rf_fleet_bans_pack_call(bytes, 3, 1000, &four), sizeof(want4));
	assert_memory_equal(bytes, want4, sizeof(want4));
	assert_int_equal(rf_fleet_bans_pack_call(bytes, 3, 0, &six), RF_BAN_CALL_MAX);
	assert_int_equal(bytes[8], 6);
	assert_int_equal(bytes[9], 64);
}

static const uint8_t answer[] = {
	9, 0, 0, 0, 0, 0, 0, 0, /* the latest stamp */
	7, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0x10, 0x27, 0, 0, 4, 32, 10,   0, 0,   1, /* 258, 10 s */
	9, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0,    0,	  0, 0, 6, 48, 0x20, 1, 0xd, 0xb8,
	0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0,
};

static void an_answer_is_read_one_ban_after_the_other(void **state)
{
	struct rf_told_bans told;
	struct rf_told_ban ban;
	char text[RF_PREFIX_TEXT_SIZE];

	(void)state;
	assert_true(rf_fleet_bans_read(&told, answer, sizeof(answer)));
	assert_int_equal(told.newest, 9);
	assert_true(rf_fleet_bans_next(&told, &ban));
	assert_int_equal(ban.stamp, 7);
	assert_int_equal(ban.slot, 258);
	assert_int_equal(ban.left_ms, 10000);
	rf_format_prefix(&ban.prefix, text);
	assert_string_equal(text, "10.0.0.1");
	assert_true(rf_fleet_bans_next(&told, &ban));
	assert_int_equal(ban.left_ms, 0);
	rf_format_prefix(&ban.prefix, text);
	assert_string_equal(text, "2001:db8:1::/48");
	assert_false(rf_fleet_bans_next(&told, &ban));
	assert_ptr_equal(told.at, told.end);
}

/* Under ASan: no read beyond the end. */
static void an_answer_that_is_cut_ends_there(void **state)
{
	(void)state;
	for (size_t size = 0; size < sizeof(answer); size++) {
		uint8_t *cut = malloc(size ? size : 1);
		struct rf_told_bans told;
		struct rf_told_ban ban;
		int count = 0;

		assert_non_null(cut);
		memcpy(cut, answer, size);
		assert_int_equal(rf_fleet_bans_read(&told, cut, size), size >= 8);
		while (size >= 8 && rf_fleet_bans_next(&told, &ban))
			count++;
		assert_int_equal(count, size >= 28);
		free(cut);
	}
}

static void a_ban_is_taken_within_its_bounds(void **state)
{
	struct rf_told_ban ban = {.left_ms = 1000, .prefix = prefix_of("192.0.2.1")};

	(void)state;
	assert_int_equal(fault_of("192.0.2.1", 3600000), RF_BAN_IS_FINE);
	assert_int_equal(fault_of("192.0.2.1", 3600001), RF_BAN_IS_LONG);
	assert_int_equal(fault_of("192.0.2.0/24", 1), RF_BAN_IS_FINE);
	assert_int_equal(fault_of("192.0.2.0/23", 1), RF_BAN_IS_WIDE);
	assert_int_equal(fault_of("0.0.0.0/0", 1), RF_BAN_IS_WIDE);
	assert_int_equal(fault_of("2001:db8::/48", 1), RF_BAN_IS_FINE);
	assert_int_equal(fault_of("2001:db8::/47", 1), RF_BAN_IS_WIDE);
	ban.slot = RF_FLEET_HOSTS_MAX;
	assert_int_equal(rf_fleet_bans_judge(&ban), RF_BAN_IS_GARBAGE);
	ban.slot = 0;
	ban.prefix.length = 31;
	assert_int_equal(rf_fleet_bans_judge(&ban), RF_BAN_IS_GARBAGE);
	ban.prefix.length = 33;
	assert_int_equal(rf_fleet_bans_judge(&ban), RF_BAN_IS_GARBAGE);
	ban.prefix.length = 255;
	assert_int_equal(rf_fleet_bans_judge(&ban), RF_BAN_IS_GARBAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ban_is_packed),
		cmocka_unit_test(an_answer_is_read_one_ban_after_the_other),
		cmocka_unit_test(an_answer_that_is_cut_ends_there),
		cmocka_unit_test(a_ban_is_taken_within_its_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
