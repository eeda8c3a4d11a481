// SPDX-License-Identifier: GPL-2.0
/*
 * Sibling windows: windows under further limits of sources that have a window already. They are
 * made without the guard, so they must cost honest newcomers no more than the windows of as many
 * single-limit sources that the guard admitted. In simulated time, in a fence of 4,096 windows.
 */
#include "crowd.h"

#include <stdio.h>

#include "tests/unit/unit.h"

#define FIRST_PORT 1001
#define HONEST_FIRST 0x50000000U /* 80.0.0.0 */
#define HONEST 200
#define HONEST_PACKETS 31 /* each second one */
#define SLOW_GUARD 100	  /* newcomers a second */

static void run_for(uint64_t for_ns)
{
	scene_run(&scene, scene.now_ns + for_ns);
}

static void open_limits(int limits, const char *rate, const char *newcomers)
{
	static char rules[4096];
	size_t used = snprintf(rules, sizeof(rules), "%s\n", newcomers);

	for (int i = 0; i < limits; i++)
		used += snprintf(rules + used, sizeof(rules) - used,
				 "limit add port%d rate %s match udp dport %d\n", i, rate,
				 FIRST_PORT + i);
	assert_true(used < sizeof(rules));
	scene_open_empty(&scene, rules);
}

/* ---- what honest newcomers lose ---- */

/* Sources that send under `limits` limits, each limit once a second, and never stop. */
struct holders {
	int sources, limits;
};

static uint16_t port_of(int limit)
{
	return FIRST_PORT + limit;
}

/* A second of the holders' packets and the honest sources', evenly spread. Returns the losses. */
static int run_second(const struct holders *holders, int honest)
{
	const int packets = holders->sources * holders->limits, steps = 100;
	int lost = 0;

	for (int step = 0; step < steps; step++) {
		for (int n = packets * step / steps; n < packets * (step + 1) / steps; n++)
			crowd_send(&scene, &(struct crowd){.port = port_of(n / holders->sources)},
				   ATTACK_FIRST + n % holders->sources);
		for (int n = honest * step / steps; n < honest * (step + 1) / steps; n++)
			lost += crowd_send(&scene, &(struct crowd){.port = FIRST_PORT},
					   HONEST_FIRST + n);
		run_for(NS_PER_S / steps);
	}
	return lost;
}

/*
 * The holders pass the guard with one window each, `apart_s` seconds before they send under their
 * other limits. Then the honest newcomers come. Returns how many of their packets are lost.
 */
static int losses_beside(struct holders holders, int apart_s)
{
	const struct holders first = {holders.sources, 1};
	const int admitted_s = holders.sources / SLOW_GUARD + 2;
	int lost = 0;

	open_limits(RF_LIMITS_MAX, "20k/10s", "newcomers rate 100/1s then drop");
	for (int second = 0; second < admitted_s + apart_s; second++)
		run_second(&first, 0);
	for (int second = 0; second < HONEST_PACKETS; second++)
		lost += run_second(&holders, HONEST);
	crowd_close(NULL);
	return lost;
}

static void assert_siblings_cost_no_more(int sources, int limits)
{
	const int singles = losses_beside((struct holders){sources * limits, 1}, 10);

	for (int apart_s = 0; apart_s <= 12; apart_s += 12) {
		const int siblings = losses_beside((struct holders){sources, limits}, apart_s);

		print_message("#   %d sources x %d limits, %d s apart: of %d packets of newcomers "
			      "%d lost; beside %d sources of one limit %d\n",
			      sources, limits, apart_s, HONEST * HONEST_PACKETS, siblings,
			      sources * limits, singles);
		assert_true(siblings <= singles);
	}
}

static void siblings_of_110_sources_cost_newcomers_nothing(void **state)
{
	(void)state;
	assert_siblings_cost_no_more(110, RF_LIMITS_MAX);
}

static void siblings_of_130_sources_cost_newcomers_no_more_than_single_windows(void **state)
{
	(void)state;
	assert_siblings_cost_no_more(130, RF_LIMITS_MAX);
}

static void siblings_of_520_sources_cost_newcomers_no_more_than_single_windows(void **state)
{
	(void)state;
	assert_siblings_cost_no_more(520, 8);
}

/* ---- a known source for which no slot is idle ---- */

/* How many of `count` packets of that source pass under the limit. */
static int pass_of(uint32_t source, int limit, int count)
{
	int passed = 0;

	for (int i = 0; i < count; i++)
		passed += !crowd_send(&scene, &(struct crowd){.port = port_of(limit)}, source);
	return passed;
}

/* Each window belongs to an active source; the guard comes afterwards. */
static void fill_room(const char *newcomers)
{
	char rules[512];

	open_limits(2, "5/10s", "newcomers off");
	for (uint32_t i = 0; i < SOURCES; i++)
		assert_int_equal(pass_of(ATTACK_FIRST + i, 0, 1), 1);
	snprintf(rules, sizeof(rules),
		 "limit add port0 rate 5/10s match udp dport %d\n"
		 "limit add port1 rate 5/10s match udp dport %d\n%s\n",
		 port_of(0), port_of(1), newcomers);
	program_apply(scene.program, rules);
}

static void assert_limited_by_network(const char *newcomers)
{
	uint64_t evictions;

	fill_room(newcomers);
	evictions = program_counters(scene.program).evictions[0];
	assert_int_equal(pass_of(ATTACK_FIRST, 1, 3), 3);
	assert_int_equal(pass_of(ATTACK_FIRST + 1, 1, 20), 2);
	assert_int_equal(pass_of(ATTACK_FIRST + 256, 1, 20), 5);
	assert_int_equal(program_counters(scene.program).newcomers_aggregated, 43);
	assert_int_equal(program_counters(scene.program).evictions[0], evictions);
	/* Windows are idle now: the source gets a separate one, with its earlier use. */
	run_for(4 * NS_PER_S);
	assert_int_equal(pass_of(ATTACK_FIRST, 1, 20), 0);
	assert_int_equal(program_counters(scene.program).newcomers_aggregated, 43);
	run_for(30 * NS_PER_S);
	assert_int_equal(pass_of(ATTACK_FIRST, 1, 20), 5);
	crowd_close(NULL);
}

static void a_known_source_without_an_idle_slot_is_limited_with_its_network(void **state)
{
	(void)state;
	assert_limited_by_network("newcomers rate 100/1s then drop");
	assert_limited_by_network("newcomers rate 100/1s then pass");
	assert_limited_by_network("newcomers rate 100/1s then aggregate");
}

#define TEST(function) cmocka_unit_test_teardown(function, crowd_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(siblings_of_110_sources_cost_newcomers_nothing),
		TEST(siblings_of_130_sources_cost_newcomers_no_more_than_single_windows),
		TEST(siblings_of_520_sources_cost_newcomers_no_more_than_single_windows),
		TEST(a_known_source_without_an_idle_slot_is_limited_with_its_network),
	};

	return cmocka_run_group_tests_name("siblings", tests, NULL, crowd_unload);
}
