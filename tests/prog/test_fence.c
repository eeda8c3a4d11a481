// SPDX-License-Identifier: GPL-2.0
/* The command line's actions on a loaded fence: measuring its clock and switching its rules. */
#include "program.h"

#include <time.h>

#include "fence/fence.h"
#include "kernel/log.h"
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

static void the_clock_of_a_fence_is_measured_once(void **state)
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

static void put_rules(const char *text)
{
	program_apply(&program, text);
}

/* The data path reads `active` once a packet, and then reads only the bank that `active` names. */
static void a_commit_leaves_the_bank_in_force_alone(void **state)
{
	static const char *const rules[] = {
		"limit add any rate 10/1h\nallow add 192.0.2.1",
		"limit add any rate 7/1h\nlimit add dns rate 5/1s match udp dport 53",
		"limit add other rate 5/1h from 192.0.2.0/24",
	};
	struct rf_error error = {};

	(void)state;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		uint64_t before = program.config->active;
		struct rf_bank in_force = program.config->bank[before & 1], now;

		put_rules(rules[i]);
		assert_int_equal(program.config->active, before + 1);
		assert_memory_equal(&program.config->bank[before & 1], &in_force, sizeof(in_force));
		assert_done(rf_fence_bank(&program.fence, &now, &error), &error);
		for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
			bool is_new = !in_force.policy[slot].id ||
				      now.policy[slot].id != in_force.policy[slot].id;

			if (now.policy[slot].id)
				assert_int_equal(now.policy[slot].since_generation,
						 is_new ? before + 1
							: in_force.policy[slot].since_generation);
		}
	}
}

static void a_growing_limit_raises_its_clip_first(void **state)
{
	struct rf_error error = {};
	struct rf_bank rules;
	uint64_t before;

	(void)state;
	put_rules("limit add any rate 10/1h");
	before = program.config->active;
	put_rules("limit add any rate 1k/1h");
	/* Two switches: the bank before the last holds the old limit with the new clip. */
	assert_int_equal(program.config->active, before + 2);
	assert_int_equal(program.config->bank[(before + 1) & 1].policy[0].limit, 10);
	assert_int_equal(program.config->bank[(before + 1) & 1].policy[0].clip, 1000);
	assert_done(rf_fence_bank(&program.fence, &rules, &error), &error);
	assert_int_equal(rules.policy[0].limit, 1000);
}

/* Limits of any kind are read back as they were written. */
static void rules_are_read_back_from_the_maps(void **state)
{
	static const char *const lines[] = {
		"limit add any rate 10/1h",
		"limit add dns rate 5/1s match udp dport 53,1000-2000,65535 shadow",
		"limit add net rate 7/1s from 192.0.2.0/24,2001:db8::/32 per /24",
		"limit add tcp rate 0 match udp dport 53 over truncate 1/1000",
	};
	struct rf_ruleset rules;
	char text[512] = "allow add 192.0.2.1\ndeny add 2001:db8::7\n";

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		strcat(strcat(text, lines[i]), "\n");
	put_rules(text);
	rules = program_rules(&program);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char *line = rf_ruleset_format_limit(&rules, i);

		assert_string_equal(line, lines[i]);
		free(line);
	}
	/* The entries: two of the lists, two of the limit, and the /64 around the whole address. */
	assert_int_equal(rules.listed_count, 5);
	rf_ruleset_free(&rules);
}

/* ---- newcomers ---- */

#define LIMIT "limit add any rate 10/1h\n"
#define DROP LIMIT "newcomers rate 100/1s then drop"
#define ESTABLISHED DROP " except established"
#define CHALLENGE LIMIT "newcomers rate 100/1s then challenge"

static void put_unconfirmed(const char *text)
{
	program_apply_unconfirmed(&program, text, 10 * NS_PER_S);
}

static void confirm(void)
{
	struct rf_standing before;
	struct rf_error error = {};

	assert_done(rf_fence_confirm(&program.fence, &before, &error), &error);
}

static void revert(void)
{
	struct rf_error error = {};

	assert_done(rf_fence_revert(&program.fence, &error), &error);
}

static void newcomers_are_examined_while_rules_can_need_it(void **state)
{
	(void)state;
	put_rules(DROP);
	assert_int_equal(program.config->is_examining, 0);
	put_rules(ESTABLISHED);
	assert_int_equal(program.config->is_examining, 1);
	put_rules(CHALLENGE);
	assert_int_equal(program.config->is_examining, 1);
	put_rules(DROP);
	assert_int_equal(program.config->is_examining, 0);
	assert_int_equal(program.config->after_verdict, 0);
}

static void newcomers_are_examined_while_rules_are_unconfirmed(void **state)
{
	(void)state;
	put_rules(ESTABLISHED);
	put_unconfirmed(DROP);
	assert_int_equal(program.config->is_examining, 1);
	confirm();
	assert_int_equal(program.config->is_examining, 0);
	put_unconfirmed(ESTABLISHED);
	assert_int_equal(program.config->is_examining, 1);
	revert();
	assert_int_equal(program.config->is_examining, 0);
	put_unconfirmed(ESTABLISHED);
	confirm();
	assert_int_equal(program.config->is_examining, 1);
	put_unconfirmed(DROP);
	revert();
	assert_int_equal(program.config->is_examining, 1);
}

/* The data path restores the old rules, and no command runs. */
static void newcomers_are_examined_after_rules_were_not_confirmed_in_time(void **state)
{
	struct rf_error error = {};
	struct rf_bank rules;

	(void)state;
	put_rules(CHALLENGE);
	put_unconfirmed(LIMIT);
	program.config->bank[program.config->active & 1].deadline = 1; /* long ago */
	assert_done(rf_fence_bank(&program.fence, &rules, &error), &error);
	assert_int_equal(rules.newcomers.then, RF_NEWCOMERS_CHALLENGE);
	assert_int_equal(program.config->is_examining, 1);
	put_rules(LIMIT);
	assert_int_equal(program.config->is_examining, 0);
}

#define TRUNCATE(n) "limit add dns rate 5/1s match udp dport 53 over truncate 1/" #n "\n"

/* The data path draws by the least N of all limits, of both banks that can be active. */
static void the_least_share_of_truncated_responses_is_set(void **state)
{
	(void)state;
	put_rules(TRUNCATE(7));
	assert_int_equal(program.config->truncate_one_in, 7);
	assert_int_equal(program.config->bank[program.config->active & 1].truncates, 1);
	put_rules(TRUNCATE(7) "limit add more rate 9/1s match udp dport 53 over truncate 1/3");
	assert_int_equal(program.config->truncate_one_in, 3);
	put_unconfirmed(TRUNCATE(9));
	assert_int_equal(program.config->truncate_one_in, 3);
	confirm();
	assert_int_equal(program.config->truncate_one_in, 9);
	put_rules("limit add dns rate 5/1s match udp dport 53 over truncate 1/9 shadow");
	assert_int_equal(program.config->after_verdict, 0);
}

static struct rf_newcomers newcomers(void)
{
	return program.config->bank[program.config->active & 1].newcomers;
}

/* A window that is started again loses the mark. */
static void mark(struct rf_window *window)
{
	window->newest = 12345;
}

static void a_guard_that_is_the_same_retains_its_windows(void **state)
{
	unsigned int guard;

	(void)state;
	put_rules(DROP);
	guard = newcomers().guard;
	mark(&program.config->guard[guard].limits);
	mark(&program.config->guard[guard].proofs);
	put_rules(CHALLENGE);
	assert_int_equal(newcomers().guard, guard);
	assert_int_equal(program.config->guard[guard].limits.newest, 12345);
	assert_int_equal(program.config->guard[guard].proofs.newest, 12345);
	assert_int_not_equal(program.config->guard[guard].answers.head, 0);
	mark(&program.config->guard[guard].answers);
	put_rules(CHALLENGE " dns none");
	assert_int_equal(newcomers().guard, guard);
	assert_int_equal(program.config->guard[guard].answers.newest, 12345);
	put_rules(CHALLENGE " answers 5/1s");
	assert_int_not_equal(newcomers().guard, guard);
	assert_int_equal(newcomers().answers_policy.limit, 5);
	assert_int_not_equal(program.config->guard[!guard].answers.newest, 12345);
	assert_int_equal(program.config->guard[guard].answers.newest, 12345);
}

/* Responses are limited with and without a guard, and a change of rules does not forget them. */
static void the_window_of_responses_is_retained(void **state)
{
	unsigned int guard;

	(void)state;
	put_rules(TRUNCATE(2));
	guard = newcomers().guard;
	assert_int_equal(newcomers().answers_policy.limit, RF_ANSWERS_DEFAULT);
	assert_int_not_equal(program.config->guard[guard].answers.head, 0);
	mark(&program.config->guard[guard].answers);
	put_rules(TRUNCATE(3));
	assert_int_equal(newcomers().guard, guard);
	assert_int_equal(program.config->guard[guard].answers.newest, 12345);
	put_rules(TRUNCATE(3) "newcomers rate 100/1s then challenge answers 5/1s");
	assert_int_not_equal(newcomers().guard, guard);
	assert_int_equal(newcomers().answers_policy.limit, 5);
	mark(&program.config->guard[!guard].answers);
	put_rules(TRUNCATE(3) "newcomers rate 100/1s then drop");
	assert_int_equal(newcomers().answers_policy.limit, RF_ANSWERS_DEFAULT);
	assert_int_not_equal(program.config->guard[newcomers().guard].answers.newest, 12345);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernels_jiffies_are_known_from_the_monotonic_clock),
		cmocka_unit_test(the_clock_of_a_fence_is_measured_once),
		TEST(a_commit_leaves_the_bank_in_force_alone),
		TEST(a_growing_limit_raises_its_clip_first),
		TEST(rules_are_read_back_from_the_maps),
		TEST(newcomers_are_examined_while_rules_can_need_it),
		TEST(newcomers_are_examined_while_rules_are_unconfirmed),
		TEST(newcomers_are_examined_after_rules_were_not_confirmed_in_time),
		TEST(a_guard_that_is_the_same_retains_its_windows),
		TEST(the_least_share_of_truncated_responses_is_set),
		TEST(the_window_of_responses_is_retained),
	};

	rf_log_set_verbose(false);
	return cmocka_run_group_tests_name("fence", tests, NULL, NULL);
}
