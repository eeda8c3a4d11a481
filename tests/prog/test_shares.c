// SPDX-License-Identifier: GPL-2.0
/*
 * Shares: how much a window admits by them, which sources request more, and the results of the
 * agent's calls.
 */
#include "shares.h"

/* ---- admissions of a window ---- */

static void without_a_share_a_window_admits_first(void **state)
{
	struct program *program = *state;

	start(program, "limit add any rate 100/1s\n");
	assert_int_equal(burst(program, SOURCE, 2 * LIMIT), FIRST);
	assert_int_equal(burst(program, "192.0.2.2", 2 * LIMIT), FIRST);
	assert_int_equal(burst6(program, "2001:db8::1", 2 * LIMIT), FIRST);
}

static void a_host_that_hears_nothing_admits_alone(void **state)
{
	struct program *program = *state;
	struct rf_policy *policy;

	program_apply(program, "limit add any rate 100/1s\n");
	policy = join(program, "any");
	assert_int_equal(burst(program, SOURCE, 2 * LIMIT), LIMIT);
	policy->alone = 50;
	assert_int_equal(burst(program, "192.0.2.2", 2 * LIMIT), 50);
}

static void past_the_deadline_a_host_is_alone(void **state)
{
	struct program *program = *state;

	start(program, "limit add any rate 100/1s\n");
	hear_until(now_ns + GRACE_NS);
	assert_int_equal(burst(program, SOURCE, 2 * LIMIT), FIRST);
	pass_time(program, GRACE_NS - NS_PER_MS);
	assert_int_equal(burst(program, "192.0.2.2", 2 * LIMIT), FIRST);
	pass_time(program, 2 * NS_PER_MS);
	assert_int_equal(burst(program, "192.0.2.3", 2 * LIMIT), LIMIT);
	hear_until(now_ns + GRACE_NS);
	assert_int_equal(burst(program, "192.0.2.4", 2 * LIMIT), FIRST);
}

static void a_deadline_in_the_past_is_no_news(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 100/1s\n");
	join(program, "any");
	hear_until(now_ns);
	assert_int_equal(burst(program, SOURCE, 2 * LIMIT), LIMIT);
}

static void a_share_is_added_to_first_up_to_the_limit(void **state)
{
	struct program *program = *state;
	struct rf_fleet_ask ask;

	start(program, "limit add any rate 100/1s\n");
	ask = ask_of(program, SOURCE);
	assert_int_equal(give(&ask, 20)->result, RF_SHARE_DONE);
	pass_time(program, 60 * NS_PER_MS);
	assert_int_equal(burst(program, SOURCE, LIMIT), 20);
	assert_int_equal(give(&ask, 5 * LIMIT)->result, RF_SHARE_DONE);
	pass_time(program, 60 * NS_PER_MS);
	assert_int_equal(burst(program, SOURCE, 2 * LIMIT), LIMIT - 20 - FIRST);
}

static void a_share_of_another_definition_does_not_count(void **state)
{
	struct program *program = *state;
	struct rf_policy *policy = start(program, "limit add any rate 100/1s\n");
	struct rf_fleet_ask ask = ask_of(program, SOURCE);

	assert_int_equal(give(&ask, 20)->result, RF_SHARE_DONE);
	policy->tag++;
	pass_time(program, 60 * NS_PER_MS);
	assert_int_equal(burst(program, SOURCE, LIMIT), 0);
	ask.tag = policy->tag;
	assert_int_equal(give(&ask, 10)->result, RF_SHARE_RETAGGED);
	assert_int_equal(rf_given_share(shares.batch->record[0].given), 0);
	assert_int_equal(give(&ask, 10)->result, RF_SHARE_DONE);
	pass_time(program, 60 * NS_PER_MS);
	assert_int_equal(burst(program, SOURCE, LIMIT), 10);
}

static void all_shares_of_a_bucket_end_at_once(void **state)
{
	struct program *program = *state;
	struct rf_fleet_ask ask;

	start(program, "limit add any rate 100/1s\n");
	ask = ask_of(program, SOURCE);
	assert_int_equal(give(&ask, 20)->result, RF_SHARE_DONE);
	end_shares();
	assert_int_equal(shares.batch->heard[0].ends, 0);
	pass_time(program, 60 * NS_PER_MS);
	assert_int_equal(burst(program, SOURCE, LIMIT), 0);
	assert_int_equal(give(&ask, 10)->result, RF_SHARE_RETAGGED);
	assert_int_equal(give(&ask, 10)->result, RF_SHARE_DONE);
	pass_time(program, 60 * NS_PER_MS);
	assert_int_equal(burst(program, SOURCE, LIMIT), 10);
	/* Generations wrap, and belong to one bucket. */
	for (__u32 i = 1; i < RF_GENERATIONS; i++)
		end_shares();
	assert_int_equal(program->config->fleet.bucket[3].generation, 0);
}

static void what_passed_before_a_share_ended_still_counts(void **state)
{
	struct program *program = *state;
	struct rf_fleet_record *record;
	struct rf_fleet_ask ask;

	start(program, "limit add any rate 100/1s\n");
	ask = ask_of(program, SOURCE);
	give(&ask, 20);
	pass_time(program, 60 * NS_PER_MS);
	assert_int_equal(burst(program, SOURCE, LIMIT), 20);
	record = give(&ask, 0);
	assert_int_equal(record->used, 20 + FIRST);
	assert_int_equal(rf_given_share(record->given), 0);
	assert_int_equal(rf_given_incarnation(record->given), ask.incarnation);
	/* Each cell that is closed concurrently is clipped by the share that was valid. */
	for (int i = 0; i < 13; i++) {
		pass_time(program, 70 * NS_PER_MS);
		assert_int_equal(burst(program, SOURCE, 1), 0);
	}
	assert_true(give(&ask, 0)->used >= 20);
	pass_time(program, 300 * NS_PER_MS);
	assert_int_equal(burst(program, SOURCE, LIMIT), FIRST);
}

static void ipv6_has_shares_as_well(void **state)
{
	struct program *program = *state;

	start(program, "limit add any rate 100/1s\n");
	assert_int_equal(burst6(program, "2001:db8::1", LIMIT), FIRST);
	assert_true(read_asks() > 0);
	assert_int_equal(asks[0].is_ipv6, 1);
	assert_int_equal(give(&asks[0], 20)->result, RF_SHARE_DONE);
	pass_time(program, 60 * NS_PER_MS);
	assert_int_equal(burst6(program, "2001:db8::2", LIMIT), 20);
}

static void each_of_several_limits_has_its_own_share(void **state)
{
	struct program *program = *state;
	struct rf_fleet_ask ask;

	start(program, "limit add any rate 100/1s\nlimit add udp rate 90/1s match udp\n");
	join(program, "udp");
	assert_int_equal(burst(program, SOURCE, LIMIT), FIRST);
	assert_int_equal(read_asks(), 2);
	ask = asks[0];
	assert_int_not_equal(ask.limit_id, asks[1].limit_id);
	assert_int_equal(give(&asks[1], 20)->result, RF_SHARE_DONE);
	pass_time(program, 60 * NS_PER_MS);
	assert_int_equal(burst(program, SOURCE, LIMIT), 0);
	assert_int_equal(give(&ask, 10)->result, RF_SHARE_DONE);
	pass_time(program, 60 * NS_PER_MS);
	assert_int_equal(burst(program, SOURCE, LIMIT), 10);
}

static void a_limit_of_this_host_alone_is_as_ever(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 100/1s\n");
	hear_until(now_ns + GRACE_NS);
	assert_int_equal(burst(program, SOURCE, 2 * LIMIT), LIMIT);
	assert_int_equal(read_asks(), 0);
}

static void a_refusal_by_a_share_starts_no_ban(void **state)
{
	struct program *program = *state;

	start(program, "limit add any rate 100/1s ban 1h\n");
	assert_int_equal(burst(program, SOURCE, LIMIT), FIRST);
	assert_int_equal(program_counters(program).reason[RF_BANNED].packets, 0);
	pass_time(program, 2 * NS_PER_S);
	assert_int_equal(burst(program, SOURCE, 1), 1);
	hear_until(0);
	set_time(program, now_ns + 2000 * NS_PER_S); /* offline: as without a fleet */
	assert_int_equal(burst(program, SOURCE, 2 * LIMIT), LIMIT);
	assert_true(program_counters(program).reason[RF_BANNED].packets > 0);
}

static void a_lease_refuses_for_50_ms(void **state)
{
	struct program *program = *state;
	struct rf_fleet_ask ask;

	start(program, "limit add any rate 100/1s\n");
	ask = ask_of(program, SOURCE);
	pass_time(program, 12 * NS_PER_MS); /* since its request */
	assert_int_equal(burst(program, SOURCE, 1), 0);
	assert_int_equal(give(&ask, 20)->result, RF_SHARE_DONE);
	pass_time(program, 28 * NS_PER_MS);
	assert_int_equal(burst(program, SOURCE, 1), 0);
	pass_time(program, 12 * NS_PER_MS);
	assert_int_equal(burst(program, SOURCE, 1), 1);
}

static void no_lease_refuses_while_an_answer_may_come(void **state)
{
	struct program *program = *state;
	struct rf_fleet_ask ask;

	start(program, "limit add any rate 100/1s\n");
	ask = ask_of(program, SOURCE);
	pass_time(program, 4 * NS_PER_MS);
	assert_int_equal(burst(program, SOURCE, 2), 0);
	assert_int_equal(give(&ask, 20)->result, RF_SHARE_DONE);
	assert_int_equal(burst(program, SOURCE, 2), 2);
}

/* ---- requests ---- */

static void a_source_asks_above_half_of_first(void **state)
{
	struct program *program = *state;

	start(program, "limit add any rate 100/1s\n");
	burst(program, SOURCE, FIRST / 2);
	assert_int_equal(read_asks(), 0);
	burst(program, SOURCE, 1);
	assert_int_equal(read_asks(), 1);
	assert_int_equal(asks[0].source[0], inet_addr(SOURCE));
	assert_int_equal(asks[0].limit_id, program_policy(program)->id);
	assert_int_equal(asks[0].tag, TAG);
	assert_int_equal(asks[0].used, FIRST / 2 + 1);
	assert_int_equal(asks[0].passed, FIRST / 2 + 1);
	assert_int_equal(asks[0].time_ns, now_ns);
}

static void a_source_asks_once_in_50_ms(void **state)
{
	struct program *program = *state;

	start(program, "limit add any rate 100/1s\n");
	burst(program, SOURCE, LIMIT);
	assert_int_equal(read_asks(), 1);
	pass_time(program, 40 * NS_PER_MS);
	burst(program, SOURCE, LIMIT);
	assert_int_equal(read_asks(), 0);
	pass_time(program, 12 * NS_PER_MS);
	burst(program, SOURCE, LIMIT);
	assert_int_equal(read_asks(), 1);
	assert_int_equal(asks[0].dropped > 0, 1);
}

static void a_source_asks_sooner_once_its_share_has_grown(void **state)
{
	struct program *program = *state;
	struct rf_fleet_ask ask;

	start(program, "limit add any rate 100/1s\n");
	burst(program, SOURCE, 3);
	assert_int_equal(read_asks(), 1);
	ask = asks[0];
	give(&ask, 20);
	burst(program, SOURCE, 16); /* 3/4 of the share, and `first` */
	assert_int_equal(read_asks(), 0);
	pass_time(program, TICK_NS);
	burst(program, SOURCE, 1);
	assert_int_equal(read_asks(), 1);
	assert_int_equal(asks[0].share, 20);
	burst(program, SOURCE, 3);
	pass_time(program, TICK_NS);
	burst(program, SOURCE, 1);
	assert_int_equal(read_asks(), 0);
}

static void a_source_with_all_of_the_limit_asks_for_nothing(void **state)
{
	struct program *program = *state;
	struct rf_fleet_ask ask;

	start(program, "limit add any rate 100/1s\n");
	ask = ask_of(program, SOURCE);
	give(&ask, LIMIT);
	pass_time(program, 60 * NS_PER_MS);
	assert_int_equal(burst(program, SOURCE, 2 * LIMIT), LIMIT - FIRST);
	assert_int_equal(read_asks(), 0);
}

static void asks_without_room_are_counted(void **state)
{
	struct program *program = *state;
	char source[32];
	uint64_t asked;

	start(program, "limit add any rate 100/1s\n");
	for (int i = 0; i < SOURCES - 8; i++) {
		snprintf(source, sizeof(source), "10.0.%d.%d", i / 256, i % 256);
		assert_int_equal(burst(program, source, FIRST), FIRST);
	}
	asked = program->config->fleet.asks;
	assert_true(asked > RF_ASKS_BYTES / (sizeof(struct rf_fleet_ask) + 8) - 2);
	assert_int_equal(program->config->fleet.asks_lost, SOURCES - 8 - asked);
}

/* ---- results of calls ---- */

static void each_record_has_its_own_result(void **state)
{
	struct program *program = *state;
	struct rf_fleet_record *record = shares.batch->record;
	struct rf_error error = {};
	struct rf_fleet_ask ask;

	start(program, "limit add any rate 100/1s\n");
	ask = ask_of(program, SOURCE);
	for (int i = 0; i < 4; i++)
		record[i] = (struct rf_fleet_record){
			.source = {ask.source[0]},
			.limit_id = ask.limit_id,
			.tag = TAG,
			.incarnation = ask.incarnation,
			.share = 10,
			.writes = 1,
		};
	record[0].source[0] = inet_addr("192.0.2.99");
	record[1].incarnation += RF_BUCKETS;
	record[2].limit_id += 1000;
	shares.batch->count = 4;
	assert_done(rf_shares_call(&shares, &error), &error);
	assert_int_equal(record[0].result, RF_SHARE_GONE);
	assert_int_equal(record[1].result, RF_SHARE_OTHER);
	assert_int_equal(record[2].result, RF_SHARE_NO_LIMIT);
	assert_int_equal(record[3].result, RF_SHARE_DONE);
	assert_int_equal(record[3].used, FIRST);
	assert_int_equal(record[3].passed, FIRST);
	assert_int_equal(rf_given_share(record[3].given), 10);
}

static void a_batch_of_any_count_is_safe(void **state)
{
	struct program *program = *state;
	struct rf_error error = {};

	start(program, "limit add any rate 100/1s\n");
	for (int i = 0; i < RF_FLEET_BATCH; i++)
		shares.batch->record[i] =
			(struct rf_fleet_record){.result = 255, .limit_id = i + 1000};
	shares.batch->count = UINT32_MAX;
	assert_done(rf_shares_call(&shares, &error), &error);
	for (int i = 0; i < RF_FLEET_BATCH; i++)
		assert_int_equal(shares.batch->record[i].result, RF_SHARE_NO_LIMIT);
}

static void a_window_that_was_made_anew_has_another_incarnation(void **state)
{
	struct program *program = *state;
	struct rf_key4 key = {.source = inet_addr(SOURCE)};
	struct rf_fleet_ask before, after;

	start(program, "limit add any rate 100/1s\n");
	before = ask_of(program, SOURCE);
	give(&before, 20);
	key.limit_id = before.limit_id;
	assert_int_equal(bpf_map_delete_elem(program->fence.map_fd[RF_MAP_WINDOWS4], &key), 0);
	pass_time(program, 60 * NS_PER_MS);
	after = ask_of(program, SOURCE);
	assert_int_not_equal(before.incarnation, after.incarnation);
	assert_int_equal(before.incarnation % RF_BUCKETS, after.incarnation % RF_BUCKETS);
	assert_int_equal(give(&before, 20)->result, RF_SHARE_OTHER);
	assert_int_equal(give(&after, 20)->result, RF_SHARE_DONE);
}

/* ---- the key of buckets ---- */

static void set_key(uint64_t first, uint64_t second)
{
	struct rf_error error = {};

	shares.batch->key[0] = first;
	shares.batch->key[1] = second;
	shares.batch->sets_key = 1;
	shares.batch->count = 0;
	assert_done(rf_shares_call(&shares, &error), &error);
	assert_int_equal(shares.batch->sets_key, 0);
}

static void program_and_agent_agree_on_buckets(void **state)
{
	static const __u64 keys[][2] = {{0, 0}, {1, 0}, {0, 1}, {0x0706050403020100, UINT64_MAX}};
	struct program *program = *state;
	char source[INET6_ADDRSTRLEN];

	start(program, "limit add any rate 100/1s\n");
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		uint32_t buckets = 0;

		set_key(keys[i][0], keys[i][1]);
		for (int j = 0; j < 32; j++) {
			struct rf_fleet_ask ask;

			read_asks();
			snprintf(source, sizeof(source),
				 j & 1 ? "2001:db8:%zx:%x::1" : "10.1.%zu.%d", i, j);
			assert_int_equal((j & 1 ? burst6 : burst)(program, source, FIRST + 1),
					 FIRST);
			assert_true(read_asks() > 0);
			ask = asks[asks_count - 1];
			assert_int_equal(ask.incarnation % RF_BUCKETS,
					 rf_bucket_by(keys[i], ask.source[0], ask.source[1]));
			buckets |= 1U << ask.incarnation % RF_BUCKETS;
		}
		assert_true(__builtin_popcount(buckets) >= RF_BUCKETS / 2);
	}
}

/* Two keys by which the source is in different buckets: 0 is none. */
static uint64_t another_key(const struct rf_fleet_ask *ask)
{
	__u64 key[2] = {1, 0};

	while (rf_bucket_by(key, ask->source[0], ask->source[1]) == ask->incarnation % RF_BUCKETS)
		key[0]++;
	return key[0];
}

static void another_key_moves_a_window_and_ends_its_share(void **state)
{
	struct program *program = *state;
	struct rf_fleet_record *record;
	struct rf_fleet_ask ask;
	uint32_t before;

	start(program, "limit add any rate 100/1s\n");
	ask = ask_of(program, SOURCE);
	before = ask.incarnation;
	assert_int_equal(give(&ask, 20)->result, RF_SHARE_DONE);
	set_key(another_key(&ask), 0);
	assert_int_equal(give(&ask, 30)->result, RF_SHARE_OTHER);
	record = &shares.batch->record[0];
	record->incarnation = 0;
	assert_done(rf_shares_call(&shares, &(struct rf_error){}), &(struct rf_error){});
	assert_int_equal(record->result, RF_SHARE_DONE);
	assert_int_equal(record->used, FIRST);
	assert_int_equal(rf_given_share(record->given), 0);
	ask.incarnation = rf_given_incarnation(record->given);
	assert_true((int32_t)(ask.incarnation - before) > 0);
	assert_int_equal(ask.incarnation % RF_BUCKETS,
			 rf_bucket_by(program->config->fleet.key, ask.source[0], ask.source[1]));
	pass_time(program, 60 * NS_PER_MS);
	assert_int_equal(burst(program, SOURCE, LIMIT), 0);
	assert_int_equal(give(&ask, 10)->result, RF_SHARE_DONE);
	pass_time(program, 60 * NS_PER_MS);
	assert_int_equal(burst(program, SOURCE, LIMIT), 10);
}

static void the_same_key_leaves_windows_as_they_are(void **state)
{
	struct program *program = *state;
	struct rf_fleet_ask ask;

	start(program, "limit add any rate 100/1s\n");
	set_key(7, 8);
	ask = ask_of(program, SOURCE);
	assert_int_equal(give(&ask, 20)->result, RF_SHARE_DONE);
	set_key(7, 8);
	assert_int_equal(give(&ask, 30)->result, RF_SHARE_DONE);
	pass_time(program, 60 * NS_PER_MS);
	assert_int_equal(burst(program, SOURCE, LIMIT), 30);
}

static void readers_see_windows_as_without_shares(void **state)
{
	struct program *program = *state;
	struct rf_source source;

	start(program, "limit add any rate 100/1s shadow\n");
	burst(program, SOURCE, 3 * FIRST);
	source = program_source(program, "any", SOURCE);
	assert_int_equal(source.passed, FIRST);
	assert_int_equal(source.would_drop, 2 * FIRST);
	assert_int_equal(source.dropped, 0);
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		ROW(without_a_share_a_window_admits_first),
		ROW(a_host_that_hears_nothing_admits_alone),
		ROW(past_the_deadline_a_host_is_alone),
		ROW(a_deadline_in_the_past_is_no_news),
		ROW(a_share_is_added_to_first_up_to_the_limit),
		ROW(a_share_of_another_definition_does_not_count),
		ROW(all_shares_of_a_bucket_end_at_once),
		ROW(what_passed_before_a_share_ended_still_counts),
		ROW(ipv6_has_shares_as_well),
		ROW(each_of_several_limits_has_its_own_share),
		ROW(a_limit_of_this_host_alone_is_as_ever),
		ROW(a_refusal_by_a_share_starts_no_ban),
		ROW(a_lease_refuses_for_50_ms),
		ROW(no_lease_refuses_while_an_answer_may_come),
		ROW(a_source_asks_above_half_of_first),
		ROW(a_source_asks_once_in_50_ms),
		ROW(a_source_asks_sooner_once_its_share_has_grown),
		ROW(a_source_with_all_of_the_limit_asks_for_nothing),
		ROW(asks_without_room_are_counted),
		ROW(each_record_has_its_own_result),
		ROW(a_batch_of_any_count_is_safe),
		ROW(a_window_that_was_made_anew_has_another_incarnation),
		ROW(program_and_agent_agree_on_buckets),
		ROW(another_key_moves_a_window_and_ends_its_share),
		ROW(the_same_key_leaves_windows_as_they_are),
		ROW(readers_see_windows_as_without_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
