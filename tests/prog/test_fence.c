// SPDX-License-Identifier: GPL-2.0
/* What the command line does to a loaded fence: it measures its clock and switches its rules. */
#include "program.h"

#include <time.h>

#include "fence.h"
#include "ringfence/limiter.h"

#include "build/clock.skel.h"

static struct program program;

static int setup(void **state)
{
	(void)state;
	program_open(&program);
	program_load(&program);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	program_close(&program);
	return 0;
}

/* ---- clock ---- */

static void the_kernels_jiffies_are_known_from_the_monotonic_clock(void **state)
{
	const struct timespec pause = {.tv_nsec = 3 * NS_PER_MS};
	struct clock_bpf *clock = clock_bpf__open_and_load();
	struct rf_config config = {};
	struct rf_fence fence = {.config = &config};
	struct rf_error error = {};
	int64_t least = INT64_MAX;

	(void)state;
	assert_non_null(clock);
	assert_int_equal(rf_fence_measure_clock(&fence, &error), 0);
	assert_in_range(config.tick_ns, 1000000, 10000000); /* HZ 1000 … 100 */
	for (int i = 0; i < 100; i++) {
		struct rf_clock_reading now = {};
		LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = &now, .ctx_size_in = sizeof(now));
		int64_t late;

		assert_int_equal(
			bpf_prog_test_run_opts(bpf_program__fd(clock->progs.read_clocks), &run), 0);
		late = config.base.jiffies +
		       (now.ktime_ns - config.base.ktime_ns) / config.tick_ns - now.jiffies;
		/* A stall between the two readings makes it look late, never early. */
		assert_true(late >= -1);
		if (i > 50 && late < least)
			least = late;
		nanosleep(&pause, NULL);
	}
	assert_in_range(least + 1, 0, 2);
	clock_bpf__destroy(clock);
}

static void a_clock_is_measured_once(void **state)
{
	struct rf_config config = {.tick_ns = 1234567, .base = {7, 8}};
	struct rf_fence fence = {.config = &config};
	struct rf_error error = {};

	(void)state;
	assert_int_equal(rf_fence_measure_clock(&fence, &error), 0);
	assert_int_equal(config.tick_ns, 1234567);
	assert_int_equal(config.base.jiffies, 7);
}

/* ---- switching rules ---- */

static struct rf_bank rules_of(uint64_t rate, uint32_t id)
{
	const struct rf_limit limit = limit_of(rate, 3600 * NS_PER_S);
	struct rf_bank rules = {};

	rf_rules_put(&rules, 0, &limit, TICK_NS, &id);
	return rules;
}

/* The data path reads `active` once a packet, and then only the bank that it names. */
static void a_commit_leaves_the_bank_in_force_alone(void **state)
{
	struct rf_fence fence = {.config = program.config};
	const struct rf_bank rules[] = {rules_of(10, 1), rules_of(7, 2), rules_of(5, 3)};
	struct rf_error error = {};

	(void)state;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		uint64_t before = program.config->active;
		struct rf_bank in_force = program.config->bank[before & 1], now;

		assert_int_equal(rf_fence_commit(&fence, &rules[i], &error), 0);
		assert_int_equal(program.config->active, before + 1);
		assert_memory_equal(&program.config->bank[before & 1], &in_force, sizeof(in_force));
		rf_fence_rules(&fence, &now);
		for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
			assert_int_equal(now.policy[slot].born,
					 rules[i].policy[slot].id ? before + 1 : 0);
			now.policy[slot].born = now.limit[slot].born = 0;
		}
		assert_memory_equal(&now, &rules[i], sizeof(now));
	}
}

static void a_growing_limit_raises_its_clip_first(void **state)
{
	struct rf_fence fence = {.config = program.config};
	const struct rf_bank small = rules_of(10, 1), large = rules_of(1000, 1);
	struct rf_error error = {};
	struct rf_bank rules;
	uint64_t before;

	(void)state;
	assert_int_equal(rf_fence_commit(&fence, &small, &error), 0);
	before = program.config->active;
	assert_int_equal(rf_fence_commit(&fence, &large, &error), 0);
	/* Two switches: the bank before the last holds the old limit with the new clip. */
	assert_int_equal(program.config->active, before + 2);
	assert_int_equal(program.config->bank[(before + 1) & 1].policy[0].limit, 10);
	assert_int_equal(program.config->bank[(before + 1) & 1].policy[0].clip, 1000);
	rf_fence_rules(&fence, &rules);
	assert_int_equal(rules.policy[0].limit, 1000);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernels_jiffies_are_known_from_the_monotonic_clock),
		cmocka_unit_test(a_clock_is_measured_once),
		TEST(a_commit_leaves_the_bank_in_force_alone),
		TEST(a_growing_limit_raises_its_clip_first),
	};

	rf_fence_set_verbose(false);
	return cmocka_run_group_tests_name("fence", tests, NULL, NULL);
}
