// SPDX-License-Identifier: GPL-2.0
/* Which of an agent's accepted bans are active in its fence. */
#include "in_place.h"

#include "agent/bans.h"

/* Has the fence the ban, as an agent sees it that has taken this one? */
static bool is_there(const struct program *program, const char *ban)
{
	struct rf_fleet_bans bans = {.count = 1};
	struct rf_error error = {};

	bans.taken[0].until_ns = 1;
	assert_done(rf_parse_prefix(ban, &bans.taken[0].prefix, &error), &error);
	return rf_fleet_bans_are_there(&bans, &program->fence);
}

static void a_ban_is_there_by_itself_or_by_what_is_around_it(void **state)
{
	struct program *program = *state;

	program_apply(program, "deny add 192.0.2.0/24\ndeny add 2001:db8::/32\n");
	assert_true(is_there(program, "192.0.2.0/24"));
	assert_true(is_there(program, "192.0.2.0/25"));
	assert_true(is_there(program, "192.0.2.7"));
	assert_true(is_there(program, "2001:db8::/64"));
	assert_false(is_there(program, "198.51.100.7"));
	assert_false(is_there(program, "2001:db9::/64"));
}

/* An entry of the first address inside implies nothing about the others. */
static void a_ban_is_not_there_by_what_is_within_it(void **state)
{
	struct program *program = *state;

	program_apply(program, "deny add 192.0.2.0\ndeny add 2001:db8::\n");
	assert_false(is_there(program, "192.0.2.0/24"));
	assert_false(is_there(program, "2001:db8::/64"));
	change(program, RF_DENY, "192.0.2.0/24", RF_FOREVER);
	assert_true(is_there(program, "192.0.2.0/24"));
}

static void an_entry_that_has_ended_is_none(void **state)
{
	struct program *program = *state;
	const uint64_t now = rf_fence_jiffies(&program->fence);

	change(program, RF_DENY, "192.0.2.0/24", now + 1);
	assert_true(is_there(program, "192.0.2.0/24"));
	change(program, RF_DENY, "192.0.2.0/24", now);
	assert_false(is_there(program, "192.0.2.0/24"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(a_ban_is_there_by_itself_or_by_what_is_around_it),
		TEST(a_ban_is_not_there_by_what_is_within_it),
		TEST(an_entry_that_has_ended_is_none),
	};

	return cmocka_run_group_tests_name("bans look", tests, NULL, NULL);
}
