// SPDX-License-Identifier: GPL-2.0
/* Counters that never step back to a reader. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>

#include "watch/metrics_of.h"

#define A "boot-1"
#define B "boot-2"

static int setup(void **state)
{
	*state = rf_monotonic_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	rf_monotonic_free(*state);
	return 0;
}

/* A new process's result for it. */
static struct rf_monotonic *restart(struct rf_monotonic *counters)
{
	struct rf_monotonic *next = rf_monotonic_new();
	char *text = rf_monotonic_save(counters);

	assert_non_null(text);
	assert_null(strchr(text, '\n'));
	assert_int_equal(rf_monotonic_restore(next, text), 0);
	free(text);
	rf_monotonic_free(counters);
	return next;
}

static uint64_t see(struct rf_monotonic *counters, const char *identity, uint64_t now)
{
	rf_monotonic_begin(counters, identity, 1);
	return rf_monotonic_see(counters, "passed", now);
}

static void a_dip_is_not_told(void **state)
{
	assert_int_equal(see(*state, A, 100), 100);
	assert_int_equal(see(*state, A, 90), 100);
	assert_int_equal(see(*state, A, 99), 100);
	assert_int_equal(see(*state, A, 101), 101);
	assert_int_equal(rf_monotonic_told(*state, "passed"), 101);
	assert_int_equal(rf_monotonic_told(*state, "dropped"), 0);
}

static void a_new_fence_goes_on(void **state)
{
	see(*state, A, 100);
	see(*state, A, 95);
	assert_int_equal(see(*state, B, 0), 100);
	assert_int_equal(see(*state, B, 7), 107);
	/* Unseen counts of the fence in between were lost with the previous one. */
	assert_int_equal(rf_monotonic_see(*state, "dropped", 5), 5);
	see(*state, A, 1);
	assert_int_equal(see(*state, B, 2), 110);
	assert_int_equal(rf_monotonic_see(*state, "dropped", 3), 8);
}

static uint64_t see_limit(struct rf_monotonic *counters, uint32_t generation, uint32_t since,
			  uint64_t now)
{
	rf_monotonic_begin(counters, A, generation);
	return rf_monotonic_see_since(counters, "limit", since, now);
}

static void a_limit_made_anew_goes_on(void **state)
{
	assert_int_equal(see_limit(*state, 5, 3, 100), 100);
	assert_int_equal(see_limit(*state, 9, 3, 110), 110);
	/* Deleted, made again, and seen only when it has more than before. */
	assert_int_equal(see_limit(*state, 12, 11, 500), 610);
	assert_int_equal(see_limit(*state, 12, 11, 501), 611);
	/* Gone for some readings. */
	rf_monotonic_begin(*state, A, 14);
	rf_monotonic_begin(*state, A, 15);
	assert_int_equal(see_limit(*state, 17, 16, 1), 612);
}

/* The commit can be between the reading of the generation and the reading of the rules. */
static void a_limit_newer_than_the_generation_is_new_once(void **state)
{
	see_limit(*state, 5, 3, 100);
	assert_int_equal(see_limit(*state, 5, 6, 10), 110);
	assert_int_equal(see_limit(*state, 6, 6, 20), 120);
	assert_int_equal(see_limit(*state, 6, 6, 30), 130);
}

/* An old limit's generation is advanced now and then, to remain comparable. */
static void an_old_limit_is_not_new(void **state)
{
	see_limit(*state, 5000000, 800000, 100);
	assert_int_equal(see_limit(*state, 5000001, 800001, 101), 101);
}

static void generations_wrap(void **state)
{
	assert_int_equal(see_limit(*state, UINT32_MAX, UINT32_MAX - 5, 100), 100);
	assert_int_equal(see_limit(*state, 2, UINT32_MAX - 5, 101), 101);
	assert_int_equal(see_limit(*state, 4, 3, 5), 106);
}

static void a_restart_forgets_nothing(void **state)
{
	struct rf_monotonic *counters = *state;

	see(counters, A, 100);
	assert_int_equal(rf_monotonic_add(counters, "events", 3), 3);
	counters = restart(counters);
	assert_int_equal(rf_monotonic_told(counters, "passed"), 100);
	assert_int_equal(see(counters, A, 90), 100);
	assert_int_equal(see(counters, A, 120), 120);
	assert_int_equal(rf_monotonic_add(counters, "events", 2), 5);
	/* The fence was replaced without a reader. */
	counters = restart(counters);
	assert_int_equal(see(counters, B, 8), 128);
	assert_int_equal(rf_monotonic_add(counters, "events", 0), 5);
	*state = counters;
}

static void a_limit_made_anew_over_a_restart_goes_on(void **state)
{
	see_limit(*state, 5, 3, 100);
	*state = restart(*state);
	assert_int_equal(see_limit(*state, 9, 8, 400), 500);
}

static void a_state_that_comes_late_is_added(void **state)
{
	struct rf_monotonic *before = rf_monotonic_new();
	char *text;

	see(before, A, 100);
	rf_monotonic_add(before, "events", 3);
	text = rf_monotonic_save(before);
	/* The same fence, seen before the state could be read. */
	assert_int_equal(see(*state, A, 120), 120);
	rf_monotonic_add(*state, "events", 1);
	assert_int_equal(rf_monotonic_restore(*state, text), 0);
	assert_int_equal(see(*state, A, 121), 121);
	assert_int_equal(rf_monotonic_told(*state, "events"), 4);
	/* A different one. */
	rf_monotonic_free(*state);
	*state = rf_monotonic_new();
	see(*state, B, 8);
	assert_int_equal(rf_monotonic_restore(*state, text), 0);
	assert_int_equal(see(*state, B, 9), 109);
	free(text);
	rf_monotonic_free(before);
}

static void a_damaged_state_changes_nothing(void **state)
{
	static const char *const damaged[] = {
		"",
		"{",
		"[]",
		"null",
		"{}",
		"{\"identity\":\"x\",\"generation\":1}",
		"{\"identity\":7,\"generation\":1,\"counters\":{}}",
		"{\"identity\":\"x\",\"generation\":-1,\"counters\":{}}",
		"{\"identity\":\"x\",\"generation\":4294967296,\"counters\":{}}",
		"{\"identity\":\"x\",\"generation\":1,\"counters\":[]}",
		"{\"identity\":\"x\",\"generation\":1,\"counters\":{\"passed\":5}}",
		"{\"identity\":\"x\",\"generation\":1,\"counters\":{\"passed\":[5]}}",
		"{\"identity\":\"x\",\"generation\":1,\"counters\":{\"passed\":[5,6,7]}}",
		"{\"identity\":\"x\",\"generation\":1,\"counters\":{\"passed\":[5,-6]}}",
		"{\"identity\":\"x\",\"generation\":1,\"counters\":{\"passed\":["
		"9223372036854775807,1]}}",
		"{\"identity\":\"x\",\"generation\":1,\"counters\":{\"\":[5,6]}}",
		"{\"identity\":"
		"\"0123456789012345678901234567890123456789012345678901234567890123\","
		"\"generation\":1,\"counters\":{}}",
	};

	see(*state, A, 100);
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(damaged); i++) {
		assert_int_equal(rf_monotonic_restore(*state, damaged[i]), -EINVAL);
		assert_int_equal(see(*state, A, 100), 100);
	}
}

static void of_too_many_the_longest_unseen_go(void **state)
{
	char key[32];

	for (int i = 0; i < RF_MONOTONIC_MAX + 100; i++) {
		rf_monotonic_begin(*state, A, 1);
		assert_int_equal(rf_monotonic_see(*state, "kept", 10), 10);
		snprintf(key, sizeof(key), "limit %d", i);
		assert_int_equal(rf_monotonic_see(*state, key, 5), 5);
	}
	assert_int_equal(rf_monotonic_told(*state, "kept"), 10);
	assert_int_equal(rf_monotonic_told(*state, "limit 100"), 0);
	assert_int_equal(rf_monotonic_told(*state, key), 5);
	*state = restart(*state);
	assert_int_equal(rf_monotonic_told(*state, "kept"), 10);
}

/* A fence with a limit, as its kernel counts it. */
struct model {
	char identity[24];
	uint32_t generation, since;
	uint64_t count, truth; /* of this limit, and of all that had its name */
};

static void count_or_change(struct model *model, uint64_t *random, int *fences)
{
	const uint64_t more = unit_below(random, 1000);

	model->count += more;
	model->truth += more;
	switch (unit_below(random, 20)) {
	case 0:
		snprintf(model->identity, sizeof(model->identity), "fence %d", ++*fences);
		model->generation = model->since = 1 + unit_below(random, 3);
		model->count = 0;
		break;
	case 1:
		model->since = ++model->generation;
		model->count = 0;
		break;
	case 2:
		model->generation++;
	}
}

/* Readings are some counts short, as leases make them. */
static void whatever_happens_it_never_steps_back(void **state)
{
	uint64_t random = unit_seed();

	for (int run = 0; run < 200; run++) {
		struct model model = {.identity = "first", .generation = 1, .since = 1};
		uint64_t told = 0;
		int fences = 0;

		rf_monotonic_free(*state);
		*state = rf_monotonic_new();
		for (int i = 0; i < 300; i++) {
			const uint64_t missing =
				unit_below(&random, 3) ? 0 : unit_below(&random, 50);
			const uint64_t now = model.count > missing ? model.count - missing : 0;
			uint64_t next;

			if (!unit_below(&random, 15))
				*state = restart(*state);
			rf_monotonic_begin(*state, model.identity, model.generation);
			next = rf_monotonic_see_since(*state, "limit", model.since, now);
			assert_true(next >= told);
			assert_true(next <= model.truth);
			told = next;
			count_or_change(&model, &random, &fences);
		}
	}
}

#define ROW(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

static const struct CMUnitTest tests[] = {
	ROW(a_dip_is_not_told),
	ROW(a_new_fence_goes_on),
	ROW(a_limit_made_anew_goes_on),
	ROW(a_limit_newer_than_the_generation_is_new_once),
	ROW(an_old_limit_is_not_new),
	ROW(generations_wrap),
	ROW(a_restart_forgets_nothing),
	ROW(a_limit_made_anew_over_a_restart_goes_on),
	ROW(a_state_that_comes_late_is_added),
	ROW(a_damaged_state_changes_nothing),
	ROW(of_too_many_the_longest_unseen_go),
	ROW(whatever_happens_it_never_steps_back),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
