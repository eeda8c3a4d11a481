// SPDX-License-Identifier: GPL-2.0
/*
 * For a limit over many hosts: the amounts that pass without a share, that are granted, and that
 * pass at most.
 */
#include "unit.h"

#include "ringfence/fleet.h"

struct row {
	uint64_t limit;
	uint32_t hosts;
	uint64_t first, pool, bound;
	bool is_loose;
};

static void compute(void **state)
{
	const struct row *row = *state;
	const uint64_t first = rf_fleet_first(row->limit, row->hosts);

	assert_int_equal(first, row->first);
	assert_int_equal(rf_fleet_pool(row->limit, row->hosts, first), row->pool);
	assert_int_equal(rf_fleet_bound(row->limit, row->hosts, first), row->bound);
	assert_int_equal(rf_fleet_is_loose(row->limit, row->hosts, first), row->is_loose);
}

/* The bound is L as long as N f is within L / 64, and 63/64 L + N f beyond. */
static void bound_is_the_limit_or_more(void **state)
{
	uint64_t random = unit_seed();

	(void)state;
	for (int i = 0; i < 1000000; i++) {
		const uint64_t limit = 1 + unit_below(&random, 1ULL << (1 + i % 31));
		const uint32_t hosts = 1 + unit_below(&random, RF_FLEET_HOSTS_MAX);
		const uint64_t first = unit_below(&random, 3) ? rf_fleet_first(limit, hosts)
							      : unit_below(&random, limit);
		const uint64_t bound = rf_fleet_bound(limit, hosts, first);

		if (first * hosts <= limit / 64)
			assert_int_equal(bound, limit);
		else
			assert_int_equal(bound, limit - limit / 64 + first * hosts);
	}
}

static void a_host_alone_has_no_more_than_the_limit(void **state)
{
	(void)state;
	assert_int_equal(rf_fleet_room(100, 1, 0), 1);
	assert_int_equal(rf_fleet_room(100, 1, 98), 99);
	assert_int_equal(rf_fleet_room(100, 1, 99), 100);
	assert_int_equal(rf_fleet_room(100, 50, 99), 100);
	assert_int_equal(rf_fleet_room(100, 0, 0), 0);
}

#define ROW(title, ...) UNIT_ROW_OF(title, compute, (&(struct row){__VA_ARGS__}))

static const struct CMUnitTest tests[] = {
	ROW("20k over 10 hosts", 20000, 10, 31, 19690, 20000, false),
	ROW("20k over 1000 hosts", 20000, 1000, 1, 19688, 20688, false),
	ROW("100 over 3 hosts", 100, 3, 1, 99, 102, false),
	ROW("100 over 11 hosts: 1.1 times", 100, 11, 1, 99, 110, false),
	ROW("100 over 12 hosts has to say its first", 100, 12, 1, 99, 111, true),
	ROW("5 over 2 hosts", 5, 2, 1, 5, 7, true),
	ROW("one host", 64, 1, 1, 63, 64, false),
	ROW("1", 1, 1, 1, 1, 2, true),
	ROW("the largest limit over the most hosts", 1ULL << 31, 1024, 32768,
	    (1ULL << 31) - (1ULL << 25), 1ULL << 31, false),
	UNIT_ROW("the bound is L while N f is within L / 64", bound_is_the_limit_or_more),
	UNIT_ROW("a share never admits more than L", a_host_alone_has_no_more_than_the_limit),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
