// SPDX-License-Identifier: GPL-2.0
/* Bans by limits of a fleet: a source is banned once it sent more than COUNT, and not before. */
#include "shares.h"

#define RULES "limit add any rate 100/1s ban 1h\n"
#define OTHER "192.0.2.2"

static uint64_t banned(const struct program *program)
{
	return program_counters(program).reason[RF_BANNED].packets;
}

/* Sends that many; true: a ban started. The packet that starts it is counted as over the limit. */
static bool is_banned_by(struct program *program, int count)
{
	const uint64_t before = banned(program);

	burst(program, SOURCE, count);
	burst(program, SOURCE, 1);
	return banned(program) > before;
}

static void what_passed_and_was_refused_bans(void **state)
{
	struct program *program = *state;

	start(program, RULES);
	assert_int_equal(burst(program, SOURCE, LIMIT), FIRST);
	assert_int_equal(banned(program), 0);
	burst(program, SOURCE, 1);
	assert_int_equal(banned(program), 0);
	burst(program, SOURCE, 1);
	assert_int_equal(banned(program), 1);
	pass_time(program, 60 * NS_PER_S);
	assert_int_equal(burst(program, SOURCE, 2), 0);
	assert_int_equal(banned(program), 3);
	assert_int_equal(burst(program, OTHER, 1), 1);
}

static void a_share_counts_by_what_passed(void **state)
{
	struct program *program = *state;
	struct rf_fleet_ask ask;

	start(program, RULES);
	ask = ask_of(program, OTHER); /* LIMIT packets */
	give(&ask, 50);
	assert_int_equal(burst(program, OTHER, 1), 1); /* 101 were sent, and this one passes */
	assert_int_equal(burst(program, OTHER, 49), 49);
	assert_int_equal(banned(program), 0);
	burst(program, OTHER, 2);
	assert_int_equal(banned(program), 1);
}

/* As an agent, once all hosts together received more than COUNT. */
static struct rf_fleet_record *note_over(const struct rf_fleet_ask *ask)
{
	struct rf_fleet_record *record = &shares.batch->record[0];
	struct rf_error error = {};

	*record = (struct rf_fleet_record){
		.source = {ask->source[0], ask->source[1]},
		.limit_id = ask->limit_id,
		.tag = ask->tag,
		.incarnation = ask->incarnation,
		.bans = 1,
	};
	shares.batch->count = 1;
	assert_done(rf_shares_call(&shares, &error), &error);
	assert_int_equal(record->result, RF_SHARE_DONE);
	return record;
}

static void what_all_hosts_received_bans(void **state)
{
	struct program *program = *state;
	struct rf_fleet_ask ask;

	start(program, RULES);
	burst(program, SOURCE, 1);
	ask = ask_of(program, OTHER); /* LIMIT packets */
	assert_int_equal(note_over(&ask)->received, LIMIT);
	assert_int_equal(banned(program), 0);
	assert_int_equal(burst(program, OTHER, 2), 0);
	assert_int_equal(banned(program), 2);
	assert_int_equal(note_over(&ask)->received, LIMIT);
	pass_time(program, 3590 * NS_PER_S);
	assert_int_equal(burst(program, OTHER, 1), 0);
	assert_int_equal(banned(program), 3);
	assert_int_equal(burst(program, SOURCE, 1), 1);
}

static void a_ban_is_over_after_its_time(void **state)
{
	struct program *program = *state;
	struct rf_fleet_ask ask;

	start(program, RULES);
	ask = ask_of(program, OTHER);
	note_over(&ask);
	pass_time(program, 3601 * NS_PER_S);
	assert_int_equal(burst(program, OTHER, 1), 1);
	assert_int_equal(banned(program), 0);
}

static void another_definition_bans_nobody(void **state)
{
	struct program *program = *state;
	struct rf_fleet_ask ask;

	start(program, RULES);
	ask = ask_of(program, OTHER);
	ask.tag++;
	note_over(&ask);
	burst(program, OTHER, 1);
	assert_int_equal(banned(program), 0);
}

static void what_a_ban_drops_is_not_received(void **state)
{
	struct program *program = *state;
	struct rf_fleet_ask ask;

	program_apply(program, RULES "limit add udp rate 10k/1s match udp\n");
	join(program, "any");
	hear_until(now_ns + 1000 * NS_PER_S);
	ask = ask_of(program, OTHER);
	note_over(&ask);
	burst(program, OTHER, 7);
	assert_int_equal(banned(program), 7);
	assert_int_equal(note_over(&ask)->received, LIMIT);
}

static void what_passes_is_received_as_well(void **state)
{
	struct program *program = *state;
	struct rf_fleet_ask ask;

	program_apply(program, RULES "limit add udp rate 10k/1s match udp\n");
	join(program, "any");
	hear_until(now_ns + 1000 * NS_PER_S);
	ask = ask_of(program, OTHER);
	give(&ask, LIMIT);
	assert_int_equal(burst(program, OTHER, 50), 50);
	assert_int_equal(give(&ask, LIMIT)->received, LIMIT + 50);
}

static void who_sends_no_more_than_count_is_not_banned(void **state)
{
	struct program *program = *state;

	start(program, RULES);
	for (int i = 0; i < 20; i++) {
		burst(program, SOURCE, LIMIT);
		pass_time(program, 1200 * NS_PER_MS);
	}
	assert_int_equal(banned(program), 0);
	/* Evenly, for more than a window. */
	for (int i = 0; i < 5 * LIMIT; i++) {
		burst(program, SOURCE, 1);
		pass_time(program, 12 * NS_PER_MS);
	}
	assert_int_equal(banned(program), 0);
}

static void who_sends_more_in_an_even_stream_is_banned(void **state)
{
	struct program *program = *state;
	int sent;

	start(program, RULES);
	for (sent = 0; sent < 4 * LIMIT && !banned(program); sent++) {
		burst(program, SOURCE, 1);
		pass_time(program, 8 * NS_PER_MS);
	}
	assert_in_range(sent, LIMIT, 2 * LIMIT);
}

static void no_lease_hides_what_is_refused(void **state)
{
	struct program *program = *state;

	start(program, RULES);
	for (int i = 0; i < 8; i++) /* requests without a grant */
		burst(program, SOURCE, 2), pass_time(program, 55 * NS_PER_MS);
	assert_true(is_banned_by(program, LIMIT));
}

static void sources_of_ipv6_and_of_several_limits_are_banned(void **state)
{
	struct program *program = *state;

	program_apply(program, RULES "limit add udp rate 10k/1s match udp\n");
	join(program, "any");
	hear_until(now_ns + 1000 * NS_PER_S);
	assert_int_equal(burst6(program, "2001:db8::1", LIMIT + 1), FIRST);
	assert_int_equal(banned(program), 0);
	burst6(program, "2001:db8::1", 1);
	assert_int_equal(banned(program), 1);
	assert_int_equal(burst(program, SOURCE, LIMIT + 1), FIRST);
	assert_int_equal(banned(program), 1);
	burst(program, SOURCE, 1);
	assert_int_equal(banned(program), 2);
}

static void a_host_that_is_alone_bans_as_without_a_fleet(void **state)
{
	struct program *program = *state;

	program_apply(program, RULES);
	join(program, "any");
	assert_int_equal(burst(program, SOURCE, LIMIT), LIMIT);
	burst(program, SOURCE, 1);
	assert_int_equal(banned(program), 0);
	burst(program, SOURCE, 1);
	assert_int_equal(banned(program), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_passed_and_was_refused_bans, setup, teardown),
		cmocka_unit_test_setup_teardown(a_share_counts_by_what_passed, setup, teardown),
		cmocka_unit_test_setup_teardown(what_all_hosts_received_bans, setup, teardown),
		cmocka_unit_test_setup_teardown(a_ban_is_over_after_its_time, setup, teardown),
		cmocka_unit_test_setup_teardown(another_definition_bans_nobody, setup, teardown),
		cmocka_unit_test_setup_teardown(what_a_ban_drops_is_not_received, setup, teardown),
		cmocka_unit_test_setup_teardown(what_passes_is_received_as_well, setup, teardown),
		cmocka_unit_test_setup_teardown(who_sends_no_more_than_count_is_not_banned, setup,
						teardown),
		cmocka_unit_test_setup_teardown(who_sends_more_in_an_even_stream_is_banned, setup,
						teardown),
		cmocka_unit_test_setup_teardown(no_lease_hides_what_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(sources_of_ipv6_and_of_several_limits_are_banned,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_host_that_is_alone_bans_as_without_a_fleet, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
