// SPDX-License-Identifier: GPL-2.0
/* Limits of a fleet, as the data path gets them. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "rules/policy.h"

#define TICK_NS 4000000

static struct rf_limit limit_of(uint64_t rate)
{
	return (struct rf_limit){.name = "any",
				 .rate = rate,
				 .window_ns = SECOND,
				 .cells = RF_CELLS,
				 .per4 = 32,
				 .per6 = 64};
}

static struct rf_policy put(struct rf_bank *bank, const struct rf_limit *limit,
			    const struct rf_fleet_terms *terms)
{
	const struct rf_policy before = bank->policy[0];
	uint32_t next_id = 1 + before.id;

	rf_bank_put(bank, 0, limit, TICK_NS, &next_id);
	if (terms)
		rf_policy_join_fleet(&bank->policy[0], &before, terms);
	return bank->policy[0];
}

static void which_limits_a_fleet_can_hold(void **state)
{
	struct rf_limit rows[] = {limit_of(100), limit_of(100), limit_of(100), limit_of(100),
				  limit_of(100), limit_of(100), limit_of(100)};
	const bool can[UNIT_ARRAY_SIZE(rows)] = {true, [6] = true};
	struct rf_policy policy;

	(void)state;
	rows[1].edge = RF_EDGE_COARSE;
	rows[2].algorithm = RF_FIXED;
	rows[3].flags = RF_COUNT_REJECTED;
	rows[4].match = RF_MATCH_OTHER;
	rows[5].window_ns = SECOND / 10;
	rows[6].ban_ns = SECOND;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		rf_policy_compile(&rows[i], 1, TICK_NS, &policy);
		assert_int_equal(!rf_policy_no_fleet(&rows[i], &policy), can[i]);
	}
}

static void terms_are_kept_within_the_limit(void **state)
{
	static const struct {
		struct rf_fleet_terms terms;
		uint32_t first, alone;
	} rows[] = {
		{{4, 100, 1}, 4, 100}, {{4, 50, 1}, 4, 50},	  {{4, 4, 1}, 4, 4},
		{{0, 0, 1}, 0, 0},     {{200, 0, 1}, 100, 100},	  {{4, 500, 1}, 4, 100},
		{{40, 20, 1}, 40, 40}, {{100, 100, 1}, 100, 100},
	};
	struct rf_limit limit = limit_of(100);

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		struct rf_bank bank = {};
		const struct rf_policy policy = put(&bank, &limit, &rows[i].terms);

		assert_int_equal(policy.first, rows[i].first);
		assert_int_equal(policy.alone, rows[i].alone);
		assert_int_equal(policy.tag, 1);
		assert_int_equal(policy.flags, RF_FLEET);
	}
}

static void terms_are_in_units(void **state)
{
	const struct rf_fleet_terms terms = {1ULL << 33, 1ULL << 34, 1};
	struct rf_limit limit = limit_of(1ULL << 36);
	struct rf_bank bank = {};
	struct rf_policy policy;

	(void)state;
	limit.unit = RF_BYTES;
	policy = put(&bank, &limit, &terms);
	assert_int_equal(policy.first, (1ULL << 33) >> policy.unit_shift);
	assert_int_equal(policy.alone, (1ULL << 34) >> policy.unit_shift);
}

static void windows_of_other_terms_are_clipped_by_the_largest_limit(void **state)
{
	static const struct rf_fleet_terms one = {4, 100, 1}, other = {8, 100, 2},
					   alone = {4, 50, 3};
	const struct rf_fleet_terms *const rows[] = {NULL, &one, &other, &alone};
	struct rf_limit limit = limit_of(100), finer = limit_of(100);

	(void)state;
	finer.per4 = 24;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		for (size_t j = 1; j < UNIT_ARRAY_SIZE(rows); j++) {
			struct rf_bank bank = {};

			put(&bank, &limit, rows[i]);
			assert_int_equal(!(put(&bank, &limit, rows[j]).flags & RF_FLEET_CHANGED),
					 i == j);
			/* For good: these windows remain. */
			if (i != j)
				assert_true(put(&bank, &limit, rows[j]).flags & RF_FLEET_CHANGED);
			assert_int_equal(put(&bank, &finer, rows[j]).flags, RF_FLEET);
		}
	}
}

static void the_present_bank_is_clipped_so_before(void **state)
{
	static const struct rf_fleet_terms one = {4, 100, 1}, other = {8, 100, 2};
	struct rf_limit limit = limit_of(100);
	struct rf_bank present = {}, next;

	(void)state;
	put(&present, &limit, &one);
	next = present;
	put(&next, &limit, &one);
	assert_false(rf_bank_raise_clips(&present, &next));
	assert_int_equal(present.policy[0].flags, RF_FLEET);
	put(&next, &limit, &other);
	assert_true(rf_bank_raise_clips(&present, &next));
	assert_int_equal(present.policy[0].flags, RF_FLEET | RF_FLEET_CHANGED);
	assert_false(rf_bank_raise_clips(&present, &next));

	present = (struct rf_bank){};
	put(&present, &limit, &one);
	next = present;
	put(&next, &limit, NULL); /* no longer of the fleet */
	assert_true(rf_bank_raise_clips(&present, &next));
	assert_true(present.policy[0].flags & RF_FLEET_CHANGED);
}

/* ---- as a limit specifies it ---- */

static struct rf_limit fleet_of(uint64_t rate, uint32_t flags, uint64_t first, uint64_t alone)
{
	struct rf_limit limit = limit_of(rate);

	limit.flags = RF_FLEET | flags;
	limit.first = first;
	limit.alone = alone;
	return limit;
}

static void a_limit_gets_its_terms_by_its_words(void **state)
{
	const struct {
		struct rf_limit limit;
		uint32_t hosts, first, alone;
	} rows[] = {
		{fleet_of(20000, 0, 0, 0), 10, 31, 20000},
		{fleet_of(20000, 0, 0, 0), 1000, 1, 20000},
		{fleet_of(20000, 0, 0, 5000), 10, 31, 5000},
		{fleet_of(20000, RF_INITIAL_GIVEN, 2, 0), 10, 2, 20000},
		{fleet_of(20000, RF_INITIAL_GIVEN, 0, 0), 10, 0, 20000},
		{fleet_of(20000, RF_INITIAL_GIVEN | RF_OFFLINE_INITIAL, 7, 0), 10, 7, 7},
		{fleet_of(20000, RF_INITIAL_GIVEN | RF_OFFLINE_INITIAL, 0, 0), 10, 0, 0},
		{fleet_of(20000, RF_OFFLINE_INITIAL, 0, 0), 10, 31, 31},
	};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		struct rf_bank early = {.hosts = rows[i].hosts}, late = {};

		put(&early, &rows[i].limit, NULL);
		assert_int_equal(early.policy[0].first, rows[i].first);
		assert_int_equal(early.policy[0].alone, rows[i].alone);
		assert_int_equal(early.policy[0].flags, RF_FLEET);
		/* The same, whichever comes first. */
		put(&late, &rows[i].limit, NULL);
		rf_bank_set_hosts(&late, rows[i].hosts);
		assert_int_equal(late.policy[0].first, rows[i].first);
		assert_int_equal(late.policy[0].alone, rows[i].alone);
	}
}

static void a_loose_limit_has_to_say_its_first(void **state)
{
	struct rf_limit limit = fleet_of(100, 0, 0, 0);
	struct rf_bank bank = {.hosts = 11};
	struct rf_error error = {};
	uint32_t refused;

	(void)state;
	put(&bank, &limit, NULL);
	assert_int_equal(rf_bank_check_fleet(&bank, &refused, &error), 0);
	assert_int_equal(refused, 0);
	rf_bank_set_hosts(&bank, 12);
	assert_int_equal(rf_bank_check_fleet(&bank, &refused, &error), -EINVAL);
	assert_int_equal(refused, 1);
	assert_string_equal(error.text,
			    "limit 'any': 'fleet' would pass up to 111 of its 100 over 12 hosts; "
			    "accept that by 'initial 1', or write 'initial 0'");
	limit = fleet_of(100, RF_INITIAL_GIVEN, 1, 0);
	put(&bank, &limit, NULL);
	assert_int_equal(rf_bank_check_fleet(&bank, &refused, &error), 0);
	limit.edge = RF_EDGE_COARSE;
	put(&bank, &limit, NULL);
	assert_int_equal(rf_bank_check_fleet(&bank, &refused, &error), -EINVAL);
	assert_non_null(strstr(error.text, "limit 'any': 'fleet': only a sliding limit"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_limits_a_fleet_can_hold),
		cmocka_unit_test(terms_are_kept_within_the_limit),
		cmocka_unit_test(terms_are_in_units),
		cmocka_unit_test(windows_of_other_terms_are_clipped_by_the_largest_limit),
		cmocka_unit_test(the_present_bank_is_clipped_so_before),
		cmocka_unit_test(a_limit_gets_its_terms_by_its_words),
		cmocka_unit_test(a_loose_limit_has_to_say_its_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
