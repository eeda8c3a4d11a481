// SPDX-License-Identifier: GPL-2.0
/*
 * Bans: which sources a limit bans, for which packets, and when a ban expires. test_bans.c tests
 * what bans outlive.
 */
#include "bursts.h"

static void assert_banned_until(struct program *program, uint32_t source, uint64_t end_jiffies)
{
	program_set_time(program, end_jiffies * TICK_NS - 1);
	assert_int_equal(burst(program, source, 3), 0);
	program_set_time(program, end_jiffies * TICK_NS);
	assert_int_equal(burst(program, source, 3), 3);
}

static uint64_t end_of_ban(const struct program *program, const char *name, uint64_t now_ns)
{
	return now_ns / TICK_NS + program_policy_of(program, name)->ban;
}

static void a_ban_begins_with_what_is_over_and_ends_on_time(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 5/1s ban 10s\n");
	assert_in_range(program_policy(program)->ban, 2500, 2501);
	assert_int_equal(burst(program, 1, 20), 5);
	assert_int_equal(burst(program, 2, 3), 3);
	assert_int_equal(reason_of(program, RF_OVER_LIMIT), 1);
	assert_int_equal(reason_of(program, RF_BANNED), 14);
	/* Packets during a ban do not prolong it. */
	for (int second = 1; second < 10; second++) {
		program_set_time(program, START_NS + second * NS_PER_S);
		assert_int_equal(burst(program, 1, 3), 0);
	}
	assert_int_equal(burst(program, 2, 3), 3);
	assert_banned_until(program, 1, end_of_ban(program, "any", START_NS));
	assert_int_equal(reason_of(program, RF_BANNED), 14 + 9 * 3 + 3);
	assert_int_equal(program_limit_counters(program).dropped.packets, 15 + 9 * 3 + 3);
	assert_int_equal(program_source(program, "any", "0.0.0.1").dropped, 15 + 9 * 3 + 3);
	assert_int_equal(program_source(program, "any", "0.0.0.1").passed, 8);
	/* And again. */
	assert_int_equal(burst(program, 1, 20), 2);
	assert_int_equal(reason_of(program, RF_OVER_LIMIT), 2);
}

static void a_ban_is_of_its_limit_alone(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add udp rate 5/1s match udp ban 10s\n"
			       "limit add any rate 100/1h\n");
	assert_int_equal(burst(program, 1, 20), 5);
	for (int i = 0; i < 9; i++)
		assert_true(passes4(program, 1, IPPROTO_TCP));
	assert_int_equal(burst(program, 2, 5), 5);
	program_set_time(program, START_NS + 5 * NS_PER_S);
	assert_int_equal(burst(program, 1, 20), 0);
	assert_true(passes4(program, 1, IPPROTO_TCP));
	assert_int_equal(program_limit_counters_of(program, "udp").dropped.packets, 15 + 20);
	assert_int_equal(program_limit_counters_of(program, "any").passed.packets, 5 + 9 + 5 + 1);
	assert_int_equal(program_limit_counters_of(program, "any").dropped.packets, 0);
	assert_int_equal(reason_of(program, RF_BANNED), 14 + 20);
	assert_int_equal(reason_of(program, RF_OVER_LIMIT), 1);
	assert_banned_until(program, 1, end_of_ban(program, "udp", START_NS));
}

/* A limit does not ban a source for exceeding another limit. */
static void a_source_over_another_limit_is_not_banned(void **state)
{
	struct program *program = *state;

	program_apply(program,
		      "limit add any rate 3/1s\nlimit add udp rate 5/1s match udp ban 1h\n");
	assert_int_equal(burst(program, 1, 20), 3);
	program_set_time(program, START_NS + 2 * NS_PER_S);
	assert_int_equal(burst(program, 1, 20), 3);
	assert_int_equal(reason_of(program, RF_BANNED), 0);
	assert_int_equal(program_limit_counters_of(program, "udp").dropped.packets, 0);
}

/* Newcomers beyond the guard share a window; a ban of that window would ban innocent sources. */
static void an_aggregate_is_not_banned(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 5/1s ban 1h\n"
			       "newcomers rate 1/10s then aggregate\n");
	assert_int_equal(each_of(program, NET(10, 0, 0, 0), 100), 1 + 5);
	program_set_time(program, START_NS + 2 * NS_PER_S);
	assert_int_equal(each_of(program, NET(10, 0, 0, 1), 100), 5);
	program_apply(program,
		      "limit add any rate 5/1s ban 1h\nlimit add udp rate 1k/1s match udp\n"
		      "newcomers rate 1/10s then aggregate\n");
	program_set_time(program, START_NS + 4 * NS_PER_S);
	assert_int_equal(each_of(program, NET(10, 0, 0, 1), 100), 5);
	program_set_time(program, START_NS + 6 * NS_PER_S);
	assert_int_equal(each_of(program, NET(10, 0, 0, 1), 100), 5);
	assert_int_equal(reason_of(program, RF_BANNED), 0);
}

/* When a limit no longer bans, no source is banned any more. */
static void a_ban_ends_with_its_limit(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 5/1s ban 1h\n");
	assert_int_equal(burst(program, 1, 20), 5);
	program_set_time(program, START_NS + 2 * NS_PER_S);
	assert_int_equal(burst(program, 1, 20), 0);
	program_apply(program, "limit add any rate 5/1s\n");
	assert_int_equal(burst(program, 1, 20), 5);
}

/*
 * Bans belong to both sides of unconfirmed rules: a lifted ban does not return with the old rules.
 */
static void unban_of_unconfirmed_holds_after_it(void **state)
{
	struct rf_unban all = {.prefix.version = 4};
	struct program *program = *state;
	struct rf_error error = {};

	program_apply(program, "limit add any rate 5/1s ban 1h\n");
	assert_int_equal(burst(program, 1, 20), 5);
	assert_int_equal(burst(program, 2, 20), 5);
	program_apply_unconfirmed(program, "limit add new rate 9/1s ban 2h\n", 60 * NS_PER_S);
	assert_int_equal(burst(program, 3, 20), 9);
	assert_done(rf_fence_unban(&program->fence, &all, 1, true, &error), &error);
	assert_int_equal(all.bans, 3);
	program_set_time(program, START_NS + 2 * NS_PER_S);
	assert_int_equal(burst(program, 3, 3), 3);
	program_set_time(program, START_NS + 70 * NS_PER_S);
	assert_int_equal(rf_fence_standing(&program->fence).state, RF_REVERTED);
	assert_int_equal(burst(program, 1, 3) + burst(program, 2, 3), 6);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, bursts_setup, program_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_ban_begins_with_what_is_over_and_ends_on_time),
		TEST(a_ban_is_of_its_limit_alone),
		TEST(a_source_over_another_limit_is_not_banned),
		TEST(an_aggregate_is_not_banned),
		TEST(a_ban_ends_with_its_limit),
		TEST(unban_of_unconfirmed_holds_after_it),
	};

	return cmocka_run_group_tests_name("ban ends", tests, NULL, NULL);
}
