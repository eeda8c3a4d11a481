// SPDX-License-Identifier: GPL-2.0
/*
 * Windows that have used half of COUNT are protected, and windows that have used less are evicted
 * after others, so no source can remove its own window by a flood of newcomers with forged
 * addresses. In simulated time, in a fence of 4,096 windows.
 */
#include "crowd.h"

#include <stdio.h>

#include "tests/unit/unit.h"

#define GUARD_500 "newcomers rate 500/1s then drop\n" /* each slot has its turn in 8 s */
#define GUARD_62 "newcomers rate 62/1s then drop\n"   /* as 1k/1s for 65,536 windows */
#define SHEDDERS 6
#define TRIES_MOST 4096

/* Sources that send bursts, each with its own silence before the next. */
static const uint64_t silence_s[SHEDDERS] = {3, 4, 6, 9, 15, 25};

struct shedder {
	uint64_t passed_ns[TRIES_MOST];
	int passed, first, most;
};

static struct shedder shedders[SHEDDERS];

static void run_for(uint64_t for_ns)
{
	scene_run(&scene, scene.now_ns + for_ns);
}

static void send_burst(struct shedder *shedder, enum crowd_family family, int packets,
		       uint32_t source, uint64_t time_ns)
{
	for (int i = 0; i < packets; i++) {
		if (crowd_send(&scene, &(struct crowd){.family = family}, source))
			continue;
		assert_true(shedder->passed < TRIES_MOST);
		shedder->passed_ns[shedder->passed++] = scene.now_ns;
		while (scene.now_ns - shedder->passed_ns[shedder->first] >= time_ns)
			shedder->first++;
		if (shedder->passed - shedder->first > shedder->most)
			shedder->most = shedder->passed - shedder->first;
	}
}

/* ---- COUNT in TIME ---- */

struct shed {
	const char *limit, *newcomers;
	int count, burst;
	uint64_t time_s;
	enum crowd_family family;
};

static const struct shed sheds[] = {
	{"6/1m algorithm log", "then drop", 6, 8, 60, CROWD_IPV4},
	{"6/1m algorithm log", "then drop", 6, 2, 60, CROWD_IPV4},
	{"6/1m algorithm log", "then drop", 6, 8, 60, CROWD_MIXED},
	{"6/1m algorithm log", "then aggregate", 6, 8, 60, CROWD_IPV4},
	{"6/1m", "then drop", 6, 8, 60, CROWD_IPV4},
	{"6/1m edge weighted", "then drop", 6, 8, 60, CROWD_IPV4},
	{"6/1m algorithm fixed", "then drop", 2 * 6, 8, 60, CROWD_IPV4},
	{"60/5m algorithm token burst 6", "then drop", 60 + 6, 8, 300, CROWD_IPV4},
	{"3/1m", "then drop", 3, 8, 60, CROWD_IPV4},
	{"100/5m", "then drop", 100, 110, 300, CROWD_IPV4},
	{"100/5m", "then drop", 100, 12, 300, CROWD_IPV4},
	{"40/10m", "then drop", 40, 50, 600, CROWD_IPV4},
	{"5k/1m bytes", "then drop", 2 * 5000 / sizeof(struct frame4), 90, 60, CROWD_IPV4},
	{"5k/1m bytes algorithm sliding", "then drop", 5000 / sizeof(struct frame4), 90, 60,
	 CROWD_IPV4},
};

/*
 * A flood of newcomers fills the room, and continues. The most packets of one shedder that pass in
 * any `time_s`.
 */
static int most_of_shedders(const char *rules, const struct shed *shed)
{
	const uint64_t for_s = 3 * shed->time_s, time_ns = shed->time_s * NS_PER_S;
	const struct crowd flood = {.family = shed->family, .first = ATTACK_FIRST, .rate = 1200};
	int most = 0;

	memset(shedders, 0, sizeof(shedders));
	scene_open(&scene, rules);
	scene_add(&scene, flood, (for_s + 20) * NS_PER_S);
	run_for(20 * NS_PER_S);
	for (uint64_t second = 0; second < for_s; second++) {
		for (int i = 0; i < SHEDDERS; i++)
			if (second % silence_s[i] == 0)
				send_burst(&shedders[i], shed->family, shed->burst, KNOWN_FIRST + i,
					   time_ns);
		run_for(NS_PER_S);
	}
	for (int i = 0; i < SHEDDERS; i++)
		most = shedders[i].most > most ? shedders[i].most : most;
	return most;
}

static void a_flood_of_newcomers_sheds_no_window(void **state)
{
	const struct shed *shed = *state;
	char rules[160];
	int most;

	snprintf(rules, sizeof(rules), "limit add any rate %s\nnewcomers rate 500/1s %s\n",
		 shed->limit, shed->newcomers);
	most = most_of_shedders(rules, shed);
	print_message("#   at most %d of %d in any %ju s, in bursts of %d\n", most, shed->count,
		      (uintmax_t)shed->time_s, shed->burst);
	assert_in_range(most, 1, shed->count);
}

static void a_source_that_would_shed_its_window_is_banned(void **state)
{
	(void)state;
	most_of_shedders("limit add any rate 6/1m algorithm log ban 1h\n" GUARD_500, &sheds[0]);
	for (int i = 0; i < SHEDDERS; i++) {
		print_message("#   passes %d in 3 min\n", shedders[i].passed);
		assert_in_range(shedders[i].passed, 0, 6);
	}
}

/* Windows are protected for ten minutes: windows of a long TIME do not fill the room. */
static void a_window_is_kept_for_ten_minutes_at_most(void **state)
{
	struct shedder *shedder = &shedders[0];
	const struct crowd flood = {.first = ATTACK_FIRST, .rate = 600};

	(void)state;
	memset(shedders, 0, sizeof(shedders));
	scene_open(&scene, "limit add any rate 6/1h\n" GUARD_500);
	while (!shedder->passed)
		send_burst(shedder, CROWD_IPV4, 6, KNOWN_FIRST, NS_PER_S);
	assert_int_equal(shedder->passed, 6);
	scene_add(&scene, flood, 3600 * NS_PER_S);
	run_for(595 * NS_PER_S);
	send_burst(shedder, CROWD_IPV4, 6, KNOWN_FIRST, NS_PER_S);
	assert_int_equal(shedder->passed, 6);
	run_for(720 * NS_PER_S);
	for (int i = 0; i < 60 && shedder->passed == 6; i++) {
		run_for(NS_PER_S);
		send_burst(shedder, CROWD_IPV4, 1, KNOWN_FIRST, NS_PER_S);
	}
	assert_int_equal(shedder->passed, 7);
}

/* ---- the cost to newcomers ---- */

/* Packets that 100 honest newcomers lose, which come once that flood has run for three minutes. */
static uint64_t losses_in(struct crowd flood, const char *limit)
{
	const struct crowd honest = {.first = KNOWN_FIRST,
				     .sources = 100,
				     .apart_ns = 12 * NS_PER_S,
				     .is_watched = true};
	char rules[160];
	struct crowd *theirs;
	uint64_t lost = 0;

	snprintf(rules, sizeof(rules), "limit add any rate %s\n" GUARD_62, limit);
	scene_open_empty(&scene, rules);
	scene_add(&scene, flood, 400 * NS_PER_S);
	run_for(180 * NS_PER_S);
	theirs = scene_add(&scene, honest, 120 * NS_PER_S);
	run_for(120 * NS_PER_S);
	for (uint32_t i = 0; i < theirs->sources; i++)
		lost += theirs->member[i].tries + theirs->member[i].lost;
	return lost;
}

/*
 * Each source of the flood sends `times` packets; half of COUNT protects its window. If no window
 * were protected, the newcomers would lose 0 among sources of one packet, 67 of three, and 242 of
 * fifteen.
 */
static void assert_costs_newcomers(uint32_t times, const char *limit, uint64_t most)
{
	const struct crowd flood = {
		.first = ATTACK_FIRST, .rate = 50 * times, .times = times, .apart_ns = NS_PER_S};
	const uint64_t lost = losses_in(flood, limit);

	print_message("#   %u packets of each forged source, %s: 100 newcomers lost %ju of 1000\n",
		      times, limit, (uintmax_t)lost);
	assert_in_range(lost, 0, most);
	crowd_close(NULL);
}

static void kept_windows_cost_newcomers_little(void **state)
{
	(void)state;
	assert_costs_newcomers(1, "200/1m", 0);
	assert_costs_newcomers(3, "200/1m", 67);
	assert_costs_newcomers(1, "6/1m", 0);
	assert_costs_newcomers(3, "6/1m", 67);
	assert_costs_newcomers(3, "30/5m", 75);
	assert_costs_newcomers(15, "30/5m", 300);
}

/* ---- rows ---- */

#define TEST(function) cmocka_unit_test_teardown(function, crowd_close)

int main(void)
{
	const struct CMUnitTest others[] = {
		TEST(a_source_that_would_shed_its_window_is_banned),
		TEST(a_window_is_kept_for_ten_minutes_at_most),
		TEST(kept_windows_cost_newcomers_little),
	};
	struct CMUnitTest tests[UNIT_ARRAY_SIZE(sheds) + UNIT_ARRAY_SIZE(others)];
	static char names[UNIT_ARRAY_SIZE(sheds)][128];

	for (size_t i = 0; i < UNIT_ARRAY_SIZE(sheds); i++) {
		snprintf(names[i], sizeof(names[i]),
			 "a flood of newcomers sheds no window: %s, bursts of %d, %s, %s",
			 sheds[i].limit, sheds[i].burst, sheds[i].newcomers,
			 sheds[i].family == CROWD_IPV4 ? "IPv4" : "IPv4 and IPv6");
		tests[i] = (struct CMUnitTest){.name = names[i],
					       .test_func = a_flood_of_newcomers_sheds_no_window,
					       .teardown_func = crowd_close,
					       .initial_state = (void *)&sheds[i]};
	}
	memcpy(&tests[UNIT_ARRAY_SIZE(sheds)], others, sizeof(others));
	return cmocka_run_group_tests_name("kept", tests, NULL, crowd_unload);
}
