// SPDX-License-Identifier: GPL-2.0
/*
 * Sources without a window: how many of them get one, what happens to the others, and that known
 * sources never notice.
 */
#include "bursts.h"

#include <stdio.h>

#include "fence/newcomers.h"
#include "ringfence/limiter.h"
#include "tests/unit/unit.h"

#define FLOOD 100000
#define KNOWN 20

/* ---- the guard ---- */

static void closed_drops_newcomers_over_the_rate(void **state)
{
	struct program *program = *state;
	struct rf_counters counters;

	program_apply(program, "limit add any rate 5/10s\nnewcomers rate 100/1s then drop\n");
	assert_int_equal(each_of(program, NET(10, 0, 0, 0), 1000), 100);
	/* Admitted sources are known; the others remain unknown. */
	assert_int_equal(each_of(program, NET(10, 0, 0, 0), 1000), 100);
	counters = program_counters(program);
	assert_int_equal(counters.reason[RF_UNDER_LIMIT].packets, 200);
	assert_int_equal(counters.reason[RF_NEWCOMER_DROP].packets, 1800);
	assert_int_equal(counters.newcomers_admitted, 100);
	assert_int_equal(counters.inserts[0], 100);
	assert_int_equal(program_limit_counters(program).passed.packets, 200);
	assert_int_equal(program_limit_counters(program).dropped.packets, 0);
	program_set_time(program, START_NS + 2 * NS_PER_S);
	assert_int_equal(each_of(program, NET(10, 1, 0, 0), 1000), 100);
}

static void open_passes_newcomers_over_the_rate_uncharged(void **state)
{
	struct program *program = *state;
	struct rf_counters counters;

	program_apply(program, "limit add any rate 5/10s\nnewcomers rate 100/1s then pass\n");
	assert_int_equal(each_of(program, NET(10, 0, 0, 0), 1000), 1000);
	assert_int_equal(burst(program, NET(10, 0, 9, 9), 50), 50);
	assert_int_equal(burst(program, NET(10, 0, 0, 1), 50), 4);
	counters = program_counters(program);
	assert_int_equal(counters.reason[RF_NEWCOMER_PASS].packets, 900 + 50);
	assert_int_equal(counters.reason[RF_UNDER_LIMIT].packets, 100 + 4);
	assert_int_equal(counters.reason[RF_OVER_LIMIT].packets, 46);
	assert_int_equal(counters.newcomers_admitted, 100);
	assert_int_equal(counters.inserts[0], 100);
}

static void no_more_than_count_newcomers_get_a_window_in_any_time(void **state)
{
	struct program *program = *state;
	static uint64_t admitted_ns[2000];
	uint64_t admitted = 0;

	program_apply(program, "limit add any rate 5/10s\nnewcomers rate 50/1s then drop\n");
	for (int i = 0; i < 20000; i++) {
		uint64_t now_ns = START_NS + i * NS_PER_MS / 2;

		program_set_time(program, now_ns);
		if (!passes4(program, NET(10, 0, 0, 0) + i, IPPROTO_UDP))
			continue;
		admitted_ns[admitted++] = now_ns;
		if (admitted > 50)
			assert_true(now_ns - admitted_ns[admitted - 51] > NS_PER_S);
	}
	assert_in_range(admitted, 50 * 9, 50 * 10);
	assert_int_equal(program_counters(program).newcomers_admitted, admitted);
}

/* Both families and all limits share one guard. */
static void the_newcomers_rate_is_one_for_both_families_and_all_limits(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add udp rate 5/10s match udp\n"
			       "limit add tcp rate 5/10s match tcp\n"
			       "newcomers rate 3/1s then drop\n");
	assert_true(passes4(program, 1, IPPROTO_UDP));
	assert_true(passes4(program, 1, IPPROTO_TCP)); /* known by its other window */
	assert_int_equal(burst6(program, "2001:db8::1", 2), 2);
	assert_true(passes4(program, 4, IPPROTO_TCP));
	assert_false(passes4(program, 2, IPPROTO_UDP));
	assert_int_equal(burst6(program, "2001:db8:1::1", 2), 0);
	assert_true(passes4(program, 1, IPPROTO_UDP));
	assert_true(passes4(program, 3, IPPROTO_ICMP)); /* no limit applies */
	assert_int_equal(program_counters(program).newcomers_admitted, 3);
}

/* ---- aggregates ---- */

static void newcomers_over_the_rate_share_a_window_by_24(void **state)
{
	struct program *program = *state;
	struct rf_counters counters;

	program_apply(program, "limit add any rate 5/10s\nnewcomers rate 2/10s then aggregate\n");
	assert_int_equal(each_of(program, NET(10, 9, 9, 1), 2), 2);
	assert_int_equal(each_of(program, NET(10, 0, 0, 0), 256), 5);
	assert_int_equal(each_of(program, NET(10, 0, 1, 0), 256), 5);
	assert_int_equal(burst(program, NET(10, 0, 2, 7), 256), 5);
	assert_int_equal(burst(program, NET(10, 9, 9, 1), 256), 4); /* known */
	counters = program_counters(program);
	assert_int_equal(counters.newcomers_admitted, 2);
	assert_int_equal(counters.newcomers_aggregated, 3 * 256);
	assert_int_equal(counters.inserts[0], 2);
	assert_int_equal(counters.reason[RF_UNDER_LIMIT].packets, 2 + 3 * 5 + 4);
	assert_int_equal(counters.reason[RF_OVER_LIMIT].packets, 3 * 251 + 252);
	assert_int_equal(program_limit_counters(program).passed.packets, 21);
	assert_int_equal(program_limit_counters(program).dropped.packets, 3 * 251 + 252);
}

static void newcomers_over_the_rate_share_a_window_by_48(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 5/10s\nnewcomers rate 1/10s then aggregate\n");
	assert_int_equal(burst6(program, "2001:db9::1", 3), 3);
	assert_int_equal(burst6(program, "2001:db8:1::1", 3), 3);
	assert_int_equal(burst6(program, "2001:db8:1:ffff::1", 3), 2);
	assert_int_equal(burst6(program, "2001:db8:1:77::1", 3), 0);
	assert_int_equal(burst6(program, "2001:db8:2::1", 9), 5);
	/* The same bits as an IPv4 network are another network. */
	assert_int_equal(burst(program, NET(32, 1, 13, 184), 9), 5);
	assert_int_equal(program_counters(program).newcomers_aggregated, 27);
}

/* With several limits, each limit has its own windows of networks. */
static void newcomers_over_the_rate_share_windows_of_several_limits(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 8/10s\n"
			       "limit add udp rate 5/10s match udp\n"
			       "limit add watcher rate 2/10s match udp shadow\n"
			       "newcomers rate 1/10s then aggregate\n");
	assert_int_equal(burst(program, NET(192, 0, 2, 1), 1), 1);
	assert_int_equal(each_of(program, NET(10, 0, 0, 0), 100), 5);
	for (int i = 0; i < 9; i++)
		assert_int_equal(passes4(program, NET(10, 0, 0, 100) + i, IPPROTO_TCP), i < 3);
	assert_int_equal(program_limit_counters_of(program, "any").passed.packets, 1 + 8);
	assert_int_equal(program_limit_counters_of(program, "any").dropped.packets, 6);
	assert_int_equal(program_limit_counters_of(program, "udp").passed.packets, 1 + 5);
	assert_int_equal(program_limit_counters_of(program, "udp").dropped.packets, 95);
	assert_int_equal(program_counters(program).newcomers_admitted, 1);
	assert_int_equal(program_counters(program).newcomers_aggregated, 100 + 9);
	assert_int_equal(reason_of(program, RF_NEWCOMER_PASS), 0);
	assert_int_equal(reason_of(program, RF_UNDER_LIMIT), 1 + 5 + 3);
	assert_int_equal(program_counters(program).shadow_newcomers, 0);
	/* A shadow does not count them. */
	assert_int_equal(program_limit_counters_of(program, "watcher").passed.packets, 1);
	assert_int_equal(program_limit_counters_of(program, "watcher").would_drop.packets, 0);
}

/* A limit does not use the windows of networks of another limit. */
static void aggregates_of_another_limit_start_empty(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 5/1h\nnewcomers rate 1/1h then aggregate\n");
	assert_int_equal(each_of(program, NET(10, 0, 0, 0), 100), 1 + 5);
	program_apply(program, "limit add any rate 7/2h\nnewcomers rate 1/1h then aggregate\n");
	assert_int_equal(each_of(program, NET(10, 0, 0, 0), 100), 1 + 7); /* one is known */
	program_apply(program, "limit add any rate 9/2h\nnewcomers rate 1/1h then aggregate\n");
	assert_int_equal(each_of(program, NET(10, 0, 0, 0), 100), 1 + 2);
}

/*
 * A command that is killed after it has opened windows for the coming rules, and before it has
 * switched to them, leaves the windows of the present rules unchanged; those have another time.
 */
static void aggregates_of_prepared_rules_are_not_those_in_force(void **state)
{
	struct program *program = *state;
	const struct rf_bank *present;
	struct rf_ruleset rules;
	uint32_t next_id;

	program_apply(program, "limit add any rate 5/1h\nnewcomers rate 1/1h then aggregate\n");
	assert_int_equal(each_of(program, NET(10, 0, 0, 0), 100), 1 + 5);
	present = &program->config->bank[program->config->active & 1];
	rules = program_rules_of(program,
				 "limit add any rate 7/1s\nnewcomers rate 1/1h then aggregate\n",
				 false, &next_id);
	rf_newcomers_prepare(&program->fence, &rules.bank, present);
	assert_int_equal(each_of(program, NET(10, 0, 0, 0), 100), 1); /* known */
	assert_int_equal(each_of(program, NET(10, 0, 1, 0), 100), 5);
	rf_ruleset_free(&rules);

	/* The next command repairs this, regardless of charges in between. */
	program_apply(program, "limit add any rate 7/1s\nnewcomers rate 1/1h then aggregate\n");
	assert_int_equal(each_of(program, NET(10, 0, 0, 0), 100), 1 + 7);
	assert_int_equal(each_of(program, NET(10, 0, 1, 0), 100), 7);
	program_set_time(program, START_NS + 2 * NS_PER_S);
	assert_int_equal(each_of(program, NET(10, 0, 1, 0), 100), 7);
}

/* ---- shadows ---- */

static void a_source_of_shadows_only_does_not_use_up_the_newcomers_rate(void **state)
{
	struct program *program = *state;
	struct rf_counters counters;

	program_apply(program, "limit add watcher rate 5/10s match udp shadow\n"
			       "limit add tcp rate 5/10s match tcp\n"
			       "newcomers rate 10/10s then drop\n");
	assert_int_equal(each_of(program, NET(10, 0, 0, 0), 100), 100);
	counters = program_counters(program);
	assert_int_equal(counters.reason[RF_NEWCOMER_PASS].packets, 90);
	assert_int_equal(counters.shadow_newcomers, 90);
	assert_int_equal(counters.newcomers_admitted, 10);
	for (int i = 0; i < 100; i++)
		assert_int_equal(passes4(program, NET(10, 1, 0, 0) + i, IPPROTO_TCP), i < 10);
	counters = program_counters(program);
	assert_int_equal(counters.reason[RF_NEWCOMER_DROP].packets, 90);
	assert_int_equal(counters.newcomers_admitted, 20);
}

/* Several shadows behave like one: no charge, and the packet counts once. */
static void several_shadows_pass_newcomers_over_the_rate(void **state)
{
	struct program *program = *state;
	struct rf_counters counters;

	program_apply(program, "limit add one rate 5/10s match udp shadow\n"
			       "limit add two rate 50/10s match udp shadow per /24\n"
			       "newcomers rate 10/10s then drop\n");
	for (int i = 0; i < 100; i++)
		assert_true(passes4(program, NET(10, 0, i, 0), IPPROTO_UDP));
	counters = program_counters(program);
	assert_int_equal(counters.newcomers_admitted, 10);
	assert_int_equal(counters.shadow_newcomers, 90);
	assert_int_equal(counters.reason[RF_UNDER_LIMIT].packets, 10);
	assert_int_equal(counters.reason[RF_NEWCOMER_PASS].packets, 90);
	/* The source is new to `one`; `two` knows its network and counts the packet. */
	assert_true(passes4(program, NET(10, 0, 1, 7), IPPROTO_UDP));
	assert_int_equal(program_limit_counters_of(program, "two").passed.packets, 11);
	assert_int_equal(reason_of(program, RF_UNDER_LIMIT), 11);
}

/* ---- some windows known, some not ---- */

static void a_limit_with_a_window_is_asked_when_another_has_none(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add each rate 5/10s\nlimit add net rate 7/10s per /24\n"
			       "newcomers rate 1/10s then pass\n");
	assert_int_equal(burst(program, NET(10, 0, 0, 1), 9), 5);
	assert_int_equal(burst(program, NET(10, 0, 0, 2), 9), 2);
	assert_int_equal(burst(program, NET(10, 0, 1, 1), 9), 9);
	assert_int_equal(program_limit_counters_of(program, "each").passed.packets, 5);
	assert_int_equal(program_limit_counters_of(program, "each").dropped.packets, 4);
	assert_int_equal(program_limit_counters_of(program, "net").passed.packets, 7);
	assert_int_equal(program_limit_counters_of(program, "net").dropped.packets, 7);
	assert_int_equal(reason_of(program, RF_NEWCOMER_PASS), 2 + 9);
	assert_int_equal(reason_of(program, RF_OVER_LIMIT), 4 + 7);
	assert_int_equal(program_counters(program).newcomers_admitted, 1);
}

/* ---- the filter ---- */

static void a_source_from_before_the_guard_is_known(void **state)
{
	struct program *program = *state;

	program_apply(program, "limit add any rate 100/10s\nlimit add net rate 1k/10s per /24\n");
	assert_int_equal(each_of(program, NET(10, 0, 0, 0), 200), 200);
	for (int i = 0; i < 10; i++) {
		char source[32];

		snprintf(source, sizeof(source), "2001:db8:%d::1", i);
		assert_int_equal(burst6(program, source, 1), 1);
	}
	program_apply(program, "limit add any rate 100/10s\nlimit add net rate 1k/10s per /24\n"
			       "newcomers rate 1/10s then drop\n");
	assert_int_equal(each_of(program, NET(10, 0, 0, 0), 400), 201);
	assert_int_equal(burst6(program, "2001:db8:3::1", 4), 4);
	assert_int_equal(program_counters(program).newcomers_admitted, 1);
}

/*
 * Sends a packet each `step_ns`. Each source has this many windows; `admitted`: the guard admits
 * all.
 */
static void a_flood_takes_nothing_from_the_known(const char *rules, uint32_t windows,
						 uint64_t step_ns, bool admitted)
{
	struct rf_counters before, after;
	struct program program;
	uint64_t sent = 0;

	program_open(&program);
	program_load(&program);
	program_fix_key(&program);
	program_set_time(&program, START_NS);
	program_apply(&program, rules);
	for (uint32_t i = 0; i < KNOWN; i++)
		burst(&program, NET(192, 0, 2, 1) + i, 1);
	before = program_counters(&program);
	for (uint32_t i = 0; i < FLOOD; i++) {
		program_set_time(&program, START_NS + NS_PER_S + i * step_ns);
		/* Never one of the known, and none twice. */
		passes4(&program, 0x0a000000 + i, IPPROTO_UDP);
		if (i % 20)
			continue;
		assert_true(passes4(&program, NET(192, 0, 2, 1) + sent % KNOWN, IPPROTO_UDP));
		sent++;
	}
	after = program_counters(&program);
	if (admitted) {
		assert_int_equal(after.newcomers_admitted - before.newcomers_admitted, FLOOD);
		assert_true(after.inserts[0] > 4 * SOURCES);
		assert_int_equal(after.inserts[0] - after.evictions[0], SOURCES);
	} else {
		assert_int_equal(after.inserts[0] - before.inserts[0],
				 windows * (after.newcomers_admitted - before.newcomers_admitted));
	}
	assert_int_equal(program_packets(&program), KNOWN + FLOOD + sent);
	program_close(&program);
}

/* The guard shuts the flood out; the known are never taken for newcomers. */
static void known_sources_pass_while_others_flood(void **state)
{
	(void)state;
	program_run_on(0);
	a_flood_takes_nothing_from_the_known(
		"limit add any rate 1k/1s\nnewcomers rate 100/1s then drop\n", 1, NS_PER_MS / 50,
		false);
	a_flood_takes_nothing_from_the_known("limit add any rate 1k/1s\n"
					     "limit add udp rate 2k/1s match udp\n"
					     "newcomers rate 100/1s then drop\n",
					     2, NS_PER_MS / 50, false);
}

/* The guard lets all of the flood in: the room is filled again and again. */
static void known_sources_stay_known_while_others_come_and_go(void **state)
{
	(void)state;
	program_run_on(0);
	a_flood_takes_nothing_from_the_known(
		"limit add any rate 1k/1s\nnewcomers rate 1M/1s then drop\n", 1, NS_PER_MS, true);
}

/* Each family has its own map, so a flood of one family makes no source of the other forgotten. */
static void a_flood_of_one_family_leaves_the_other_known(void **state)
{
	struct program *program = *state;
	const struct frame6 frame = frame6_from("2001:db8::1");
	const struct bpf_program *entry = program->object->progs.ringfence;
	uint32_t source = NET(10, 0, 0, 0);

	program_apply(program, "limit add any rate 100/1h\nnewcomers rate 500/1s then drop\n");
	assert_int_equal(program_run(entry, &frame, sizeof(frame)), XDP_PASS);
	for (int second = 0; second < 60; second++) {
		program_set_time(program, START_NS + (second + 1) * 4 * NS_PER_S);
		for (int i = 0; i < 600; i++)
			passes4(program, source++, IPPROTO_UDP);
	}
	assert_true(program_counters(program).inserts[0] > 4 * SOURCES);
	for (int i = 0; i < 600; i++) /* the guard is exhausted */
		passes4(program, source++, IPPROTO_UDP);
	assert_int_equal(program_run(entry, &frame, sizeof(frame)), XDP_PASS);
}

/* Known sources get the same verdicts and counters as from the windows without the filter. */
static void the_known_filter_changes_no_verdict(void **state)
{
	const char *const rules = "limit add any rate 20/1s\nnewcomers rate 60/1s then drop\n";
	struct program *program = *state, other;
	uint64_t random = unit_seed();
	struct rf_counters one, two;

	program_open(&other);
	program_load(&other);
	program_apply(program, rules);
	program_apply(&other, rules);
	other.config->known_filter_shift = 0;
	other.config->groupings = 0;
	for (int i = 0; i < 20000; i++) {
		uint32_t source = unit_below(&random, unit_below(&random, 2) ? 50 : 100000);

		program_set_time(program, START_NS + i * NS_PER_MS / 2);
		program_set_time(&other, START_NS + i * NS_PER_MS / 2);
		assert_int_equal(passes4(program, source, IPPROTO_UDP),
				 passes4(&other, source, IPPROTO_UDP));
	}
	one = program_counters(program);
	two = program_counters(&other);
	assert_memory_equal(&one, &two, sizeof(one));
	program_close(&other);
}

/*
 * In a full map with equally new windows, the hand goes round: a new window remains until about as
 * many others were created as there are slots.
 */
static void new_windows_give_way_in_turn(void **state)
{
	struct program *program = *state;
	uint64_t inserts;

	program_apply(program, "limit add any rate 5/10s\n");
	each_of(program, NET(10, 0, 0, 0), 4 * SOURCES);
	inserts = program_counters(program).inserts[0];
	each_of(program, NET(10, 0, 0, 0) + 4 * SOURCES - SOURCES / 2, SOURCES / 2);
	assert_int_equal(program_counters(program).inserts[0] - inserts, 0);
}

/* ---- errors of maps ---- */

/* Room for few windows, and for more slots, which makes inserts fail. */
static void set_room_for(struct program *program, uint32_t windows)
{
	program_open(program);
	assert_int_equal(bpf_map__set_max_entries(program->object->maps.windows4, windows), 0);
	program_load(program);
	program->fence.sources = program->config->slots = SOURCES;
	program_set_time(program, START_NS);
}

/* The packet does not pass: a full map lets nothing through. */
static void a_window_that_could_not_be_allocated_is_counted(void **state)
{
	struct rf_counters counters;
	struct program program;

	(void)state;
	program_run_on(0);
	set_room_for(&program, 3);
	program_apply(&program, "limit add each rate 5/10s\nlimit add net rate 7/10s per /24\n");
	assert_int_equal(burst(&program, NET(10, 0, 0, 1), 3), 3);
	assert_int_equal(burst(&program, NET(10, 0, 1, 1), 3), 0); /* of its two windows one */
	assert_int_equal(burst(&program, NET(10, 0, 2, 1), 9), 0); /* of its two windows none */
	counters = program_counters(&program);
	assert_int_equal(counters.reason[RF_UNDER_LIMIT].packets, 3);
	assert_int_equal(counters.reason[RF_NO_WINDOW].packets, 3 + 9);
	assert_int_equal(counters.map_error[RF_INSERT_FULL], 3 + 9);
	assert_int_equal(counters.inserts[0], 3);
	assert_int_equal(program_packets(&program), 15);
	program_close(&program);
}

/* A source that gets no window counts as beyond the guard, even if the guard has room. */
static void a_newcomer_without_a_window_counts_as_over_the_rate(void **state)
{
	struct rf_counters counters;
	struct program program;

	(void)state;
	program_run_on(0);
	set_room_for(&program, 2);
	program_apply(&program, "limit add any rate 5/10s\nnewcomers rate 100/10s then drop\n");
	assert_int_equal(each_of(&program, NET(10, 0, 0, 0), 10), 2);
	program_apply(&program, "limit add any rate 5/10s\nnewcomers rate 100/10s then pass\n");
	assert_int_equal(each_of(&program, NET(10, 0, 0, 0), 10), 10);
	program_apply(&program, "limit add any rate 5/10s\n"
				"newcomers rate 100/10s then aggregate\n");
	assert_int_equal(each_of(&program, NET(10, 0, 0, 0), 10), 2 + 5);
	counters = program_counters(&program);
	assert_int_equal(counters.reason[RF_NEWCOMER_DROP].packets, 8);
	assert_int_equal(counters.reason[RF_NEWCOMER_PASS].packets, 8);
	assert_int_equal(counters.reason[RF_UNDER_LIMIT].packets, 2 + 2 + 2 + 5);
	assert_int_equal(counters.reason[RF_OVER_LIMIT].packets, 3);
	assert_int_equal(counters.newcomers_admitted, 10 + 8 + 8);
	assert_int_equal(counters.map_error[RF_INSERT_FULL], 3 * 8);
	program_close(&program);
}

/* Without a window nothing is charged, not even to shadows. */
static void a_shadow_without_a_window_charges_nothing(void **state)
{
	struct rf_counters counters;
	struct program program;

	(void)state;
	program_run_on(0);
	set_room_for(&program, 2);
	program_apply(&program, "limit add one rate 5/10s shadow\n"
				"limit add two rate 7/10s match udp shadow\n");
	assert_int_equal(burst(&program, 1, 3), 3);
	assert_int_equal(burst(&program, 2, 9), 9);
	counters = program_counters(&program);
	assert_int_equal(counters.reason[RF_UNDER_LIMIT].packets, 3);
	assert_int_equal(counters.reason[RF_MAP_ERROR].packets, 9);
	assert_int_equal(counters.map_error[RF_INSERT_FULL], 18);
	program_close(&program);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, bursts_setup, program_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(closed_drops_newcomers_over_the_rate),
		TEST(open_passes_newcomers_over_the_rate_uncharged),
		TEST(no_more_than_count_newcomers_get_a_window_in_any_time),
		TEST(the_newcomers_rate_is_one_for_both_families_and_all_limits),
		TEST(newcomers_over_the_rate_share_a_window_by_24),
		TEST(newcomers_over_the_rate_share_a_window_by_48),
		TEST(newcomers_over_the_rate_share_windows_of_several_limits),
		TEST(aggregates_of_another_limit_start_empty),
		TEST(aggregates_of_prepared_rules_are_not_those_in_force),
		TEST(a_source_of_shadows_only_does_not_use_up_the_newcomers_rate),
		TEST(several_shadows_pass_newcomers_over_the_rate),
		TEST(a_limit_with_a_window_is_asked_when_another_has_none),
		TEST(a_source_from_before_the_guard_is_known),
		cmocka_unit_test(known_sources_pass_while_others_flood),
		cmocka_unit_test(known_sources_stay_known_while_others_come_and_go),
		TEST(a_flood_of_one_family_leaves_the_other_known),
		TEST(the_known_filter_changes_no_verdict),
		TEST(new_windows_give_way_in_turn),
		cmocka_unit_test(a_window_that_could_not_be_allocated_is_counted),
		cmocka_unit_test(a_newcomer_without_a_window_counts_as_over_the_rate),
		cmocka_unit_test(a_shadow_without_a_window_charges_nothing),
	};

	return cmocka_run_group_tests_name("newcomers", tests, NULL, NULL);
}
