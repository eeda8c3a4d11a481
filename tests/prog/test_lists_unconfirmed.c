// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of the lists while rules are unconfirmed: they belong to both sides, neither outcome
 * loses one, and no count is lost.
 */
#include "in_place.h"

static uint64_t deadline_of(const struct program *program)
{
	return program->config->bank[program->config->active & 1].deadline * TICK_NS;
}

static const char before_unconfirmed[] = LIMITS "deny add 192.0.2.1\nallow add 2001:db9::/32\n";
static const char unconfirmed[] = "limit add any rate 50/10s\nlimit add other rate 70/10s from "
				  "10.0.0.0/22,2001:db8::/48\ndeny add 192.0.2.0/24\n";

static void random_changes_unconfirmed(struct program *program, struct rf_ruleset model[2],
				       uint64_t *random, int rounds)
{
	for (int round = 0; round < rounds; round++) {
		struct rf_list_change one = random_change(random);
		struct rf_list_changes changes = {.change = &one, .count = 1};
		struct rf_lists_outcome outcome;
		struct rf_error error = {};

		assert_done(
			rf_fence_change_lists(&program->fence, &changes, NULL, &outcome, &error),
			&error);
		for (int bank = 0; bank < 2; bank++) {
			change_model(&model[bank], &one);
			assert_as_compiled(program, bank, &model[bank]);
		}
	}
}

/* Whether in place or by new tries. */
static void lists_belong_to_both_sides_of_a_revert(void **state)
{
	struct program *program = *state;
	uint64_t random = unit_seed();
	struct rf_ruleset model[2];
	int confirm;

	program_apply(program, before_unconfirmed);
	model[program->config->active & 1] = program_rules(program);
	program_apply_unconfirmed(program, unconfirmed, 60 * NS_PER_S);
	confirm = program->config->active & 1;
	model[confirm] = program_rules(program);
	random_changes_unconfirmed(program, model, &random, ROUNDS / 2);
	assert_int_equal(rf_fence_standing(&program->fence).state, RF_PENDING);
	program_set_time(program, deadline_of(program));
	assert_int_equal(rf_fence_standing(&program->fence).in_force & 1, !confirm);
	assert_false(change(program, RF_DENY, "172.16.0.1", RF_FOREVER).in_place);
	assert_int_equal(burst(program, "172.16.0.1", 3), 0);
	for (int bank = 0; bank < 2; bank++)
		rf_ruleset_free(&model[bank]);
}

static struct rf_lists_outcome flush(struct program *program, enum rf_list list)
{
	struct rf_list_changes changes = {};
	struct rf_lists_outcome outcome;
	struct rf_error error = {};

	assert_done(rf_list_changes_release_by(&changes, list, "", &error), &error);
	assert_done(rf_fence_change_lists(&program->fence, &changes, NULL, &outcome, &error),
		    &error);
	return outcome;
}

static void neither_end_of_a_revert_loses_a_change(void **state)
{
	struct program *program = *state;
	struct rf_standing before;
	struct rf_error error = {};

	for (int confirmed = 0; confirmed < 2; confirmed++) {
		program_apply(program, "limit add any rate 5/10s\nallow add 192.0.2.0/24\n");
		program_apply_unconfirmed(program, "limit add any rate 500/10s\n", 60 * NS_PER_S);
		assert_false(change(program, RF_DENY, "10.0.0.1", RF_FOREVER).in_place);
		assert_true(change(program, RF_DENY, "10.0.0.2", RF_FOREVER).in_place);
		assert_false(change(program, RF_DENY, "2001:db8::/32", RF_FOREVER).in_place);
		assert_false(flush(program, RF_ALLOW).in_place);
		assert_int_equal(burst(program, "10.0.0.1", 3) + burst(program, "10.0.0.2", 3), 0);
		assert_int_equal(burst(program, "2001:db8::1", 3), 0);
		if (confirmed)
			assert_done(rf_fence_confirm(&program->fence, &before, &error), &error);
		else
			program_set_time(program, deadline_of(program));
		assert_int_equal(burst(program, "10.0.0.1", 3) + burst(program, "10.0.0.2", 3), 0);
		assert_int_equal(burst(program, "2001:db8::1", 3), 0);
		assert_int_equal(burst(program, confirmed ? "192.0.2.7" : "192.0.2.8", 600),
				 confirmed ? 500 : 5);
	}
}

/* Else the entry would come back with the rules before, after a command that succeeded. */
static void a_removal_that_one_side_refuses_changes_neither(void **state)
{
	struct program *program = *state;
	struct rf_list_change one = change_of(RF_DENY, "10.0.0.1", 0);
	struct rf_list_changes changes = {.change = &one, .count = 1};
	struct rf_lists_outcome outcome;
	struct rf_error error = {};

	one.owner = RF_OWNER_ONLY;
	program_apply(program, "deny add 10.0.0.1 by a\ndeny add 10.0.0.1 by b\n");
	program_apply_unconfirmed(program, "deny add 10.0.0.1 by a\n", 60 * NS_PER_S);
	assert_int_equal(rf_fence_change_lists(&program->fence, &changes, NULL, &outcome, &error),
			 -EEXIST);
	assert_string_equal(error.text, "'10.0.0.1': on the deny list by a and b; add 'by NAME' to "
					"remove the entry of one, or 'by all'");
	assert_false(passes(program, "10.0.0.1"));
	one.owner = RF_OWNER_ALL;
	assert_done(rf_fence_change_lists(&program->fence, &changes, NULL, &outcome, &error),
		    &error);
	assert_true(passes(program, "10.0.0.1"));
	program_set_time(program, deadline_of(program));
	assert_true(passes(program, "10.0.0.1"));
}

/*
 * Packets are pending in leases of rules before, during and after the unconfirmed period; changes
 * of the lists come between. Each is counted once, for the limit that passed it.
 */
static void pending_counts_reach_their_limits(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 100k/1h\nlimit add udp rate 1M/1h match udp\n"
			       "deny add 192.0.2.1\n");
	assert_int_equal(burst(program, "10.0.0.1", 5000), 5000);
	assert_true(change(program, RF_DENY, "192.0.2.2", RF_FOREVER).in_place);
	assert_int_equal(burst(program, "10.0.0.2", 5000), 5000);
	program_apply_unconfirmed(program,
				  "limit add any rate 100k/1h\nlimit add other rate 500k/1h match "
				  "udp\ndeny add 192.0.2.1\n",
				  60 * NS_PER_S);
	change(program, RF_DENY, "192.0.2.3", RF_FOREVER);
	assert_int_equal(burst(program, "10.0.0.1", 5000), 5000);
	assert_true(change(program, RF_DENY, "192.0.2.4", RF_FOREVER).in_place);
	assert_int_equal(burst(program, "10.0.0.2", 5000), 5000);
	assert_int_equal(burst(program, "10.0.0.1", 5000), 5000);
	assert_true(change(program, RF_DENY, "192.0.2.5", RF_FOREVER).in_place);
	assert_int_equal(program_limit_counters_of(program, "any").passed.packets, 25000);
	assert_int_equal(program_limit_counters_of(program, "other").passed.packets, 15000);
	program_set_time(program, deadline_of(program));
	assert_int_equal(burst(program, "10.0.0.1", 5000), 5000);
	assert_int_equal(burst(program, "10.0.0.2", 5000), 5000);
	assert_int_equal(program_limit_counters_of(program, "any").passed.packets, 35000);
	assert_int_equal(program_limit_counters_of(program, "udp").passed.packets, 20000);
	assert_int_equal(program_source(program, "udp", "10.0.0.1").passed, 10000);
	assert_int_equal(program_packets(program), 35000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lists_belong_to_both_sides_of_a_revert),
		TEST(neither_end_of_a_revert_loses_a_change),
		TEST(a_removal_that_one_side_refuses_changes_neither),
		TEST(pending_counts_reach_their_limits),
	};

	return cmocka_run_group_tests_name("lists unconfirmed", tests, NULL, NULL);
}
