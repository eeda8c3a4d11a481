// SPDX-License-Identifier: GPL-2.0
/*
 * Leases on several CPUs, under any traffic: no limit passes more than its COUNT, and at most 1/32
 * of it is charged as credits and not spent. With one limit, and with several that every packet
 * must pass.
 */
#include "fleet.h"

#define FLEET_PACKETS 60000

/* Bursts, silences, and everything between. */
static uint64_t next_time_ns_of(uint64_t time_ns)
{
	const uint64_t span_ns = fleet.row.limit[0].window_ns;
	const uint64_t mean_cost = fleet.row.cost_max / 2 + 1;
	const uint64_t each_ns = span_ns * mean_cost / fleet.row.limit[0].rate / fleet.row.sources;
	const uint64_t roll =
		unit_below(&fleet.random, 4 * fleet.row.limit[0].rate / mean_cost + 16);

	if (roll == 0)
		return time_ns + unit_below(&fleet.random, 2 * span_ns);
	if (roll < 8)
		return time_ns + unit_below(&fleet.random, 2 * fleet.cell_ns);
	return time_ns + unit_below(&fleet.random, 200 * each_ns / (fleet.row.percent ?: 200) + 1);
}

static void fleet_keeps_to_the_bound(void **state)
{
	uint64_t time_ns = 10000 * SECOND, passed = 0;

	fleet_start(*state, time_ns);
	for (int i = 0; i < FLEET_PACKETS; i++) {
		const uint32_t cost =
			1 +
			(fleet.row.cost_max ? unit_below(&fleet.random, fleet.row.cost_max) : 0);

		time_ns = next_time_ns_of(time_ns);
		passed += fleet_take(time_ns, cost);
	}
	assert_in_range(passed, FLEET_PACKETS / 20, FLEET_PACKETS - 100);
	/* With many CPUs, each CPU passes too little unless the packets arrive together. */
	assert_true(fleet.spent > 0 || (fleet.row.cpus == CPUS_MAX && fleet.row.percent < 800));
	assert_true(!fleet.row.disturbed || fleet.disturbances > 100 || fleet.row.cpus == CPUS_MAX);
}

/* ---- rows ---- */

#define BOUND(title, tick, ...)                                                                    \
	ORDERS("leases keep the bound, 2 CPUs: " title, fleet_keeps_to_the_bound, 2, tick,         \
	       __VA_ARGS__),                                                                       \
		ORDERS("leases keep the bound, 8 CPUs: " title, fleet_keeps_to_the_bound, 8, tick, \
		       __VA_ARGS__),                                                               \
		ORDERS("leases keep the bound, 64 CPUs: " title, fleet_keeps_to_the_bound, 64,     \
		       tick, __VA_ARGS__)

static const struct CMUnitTest tests[] = {
	BOUND("strict, 10k/1s", HZ250, .limit = {LIMIT(10000, SECOND, STRICT(16))}),
	BOUND("strict, 10k/1s, leases are displaced", HZ1000,
	      .limit = {LIMIT(10000, SECOND, STRICT(16))}, .displaced = true),
	BOUND("strict, 20k/10s, cost 1-40", HZ100, .limit = {LIMIT(20000, 10 * SECOND, STRICT(16))},
	      .cost_max = 40),
	BOUND("strict, 4 MB/10s, frames", HZ250,
	      .limit = {LIMIT(4000000, 10 * SECOND, STRICT(16), BYTES)}, .cost_max = 1514),
	BOUND("strict, 2 cells, 5000/1s", HZ300, .limit = {LIMIT(5000, SECOND, STRICT(2))}),
	BOUND("strict, 10k/1h", HZ250, .limit = {LIMIT(10000, 3600 * SECOND, STRICT(16))}),
	BOUND("weighted, 10k/1s", HZ250, .limit = {LIMIT(10000, SECOND, WEIGHTED(16))},
	      .cost_max = 3),
	BOUND("coarse, 10k/1s", HZ250, .limit = {LIMIT(10000, SECOND, COARSE(10))}, .cost_max = 3),
	BOUND("fixed, 5000/1s", HZ250, .limit = {LIMIT(5000, SECOND, FIXED)}, .percent = 400),
	ORDERS("64 CPUs: strict, 12k/1s in bursts", fleet_keeps_to_the_bound, CPUS_MAX, HZ250,
	       .limit = {LIMIT(12000, SECOND, STRICT(16))}, .percent = 800),

	BOUND("strict, 10k/1s, leases end soon", HZ1000,
	      .limit = {LIMIT(10000, SECOND, STRICT(16))}, .span = 49),
	BOUND("strict, 20k/2s, leases end soon", HZ250,
	      .limit = {LIMIT(20000, 2 * SECOND, STRICT(16))}, .span = 11),
	BOUND("fixed, 5000/1s, leases end soon", HZ100, .limit = {LIMIT(5000, SECOND, FIXED)},
	      .percent = 400, .span = 4),
	BOUND("1 s and 10 s, leases end soon", HZ250,
	      .limit = {LIMIT(10000, SECOND, STRICT(16)), LIMIT(60000, 10 * SECOND, STRICT(16))},
	      .span = 11),
	BOUND("1 s and 10 s", HZ250,
	      .limit = {LIMIT(10000, SECOND, STRICT(16)), LIMIT(60000, 10 * SECOND, STRICT(16))}),
	BOUND("10 s and 1 s, the shorter one is the tighter", HZ250,
	      .limit = {LIMIT(60000, 10 * SECOND, STRICT(16)), LIMIT(3000, SECOND, STRICT(16))}),
	BOUND("1 s and 10 s, races are lost", HZ250,
	      .limit = {LIMIT(10000, SECOND, STRICT(16)), LIMIT(60000, 10 * SECOND, STRICT(16))},
	      .disturbed = true),
	BOUND("1 s, and 1 s of the network that 4 sources share", HZ250,
	      .limit = {LIMIT(10000, SECOND, STRICT(16)), LIMIT(20000, SECOND, STRICT(16))},
	      .sources = 4, .shared = true),
	BOUND("1 s, and 10 s of the network that 4 sources share, races are lost", HZ1000,
	      .limit = {LIMIT(5000, SECOND, STRICT(16)), LIMIT(60000, 10 * SECOND, STRICT(16))},
	      .sources = 4, .shared = true, .disturbed = true),
	BOUND("four of many kinds, cost 1-20, leases are displaced", HZ250,
	      .limit = {LIMIT(20000, SECOND, STRICT(16)), LIMIT(30000, 2 * SECOND, FIXED),
			LIMIT(50000, 3 * SECOND, WEIGHTED(16)),
			LIMIT(70000, 7 * SECOND, COARSE(10))},
	      .cost_max = 20, .displaced = true, .disturbed = true),
};

int main(void)
{
	return cmocka_run_group_tests_name("fleets", tests, NULL, NULL);
}
