// SPDX-License-Identifier: GPL-2.0
/*
 * An even sender: the highest rate at which it loses nothing, for each algorithm, at the real
 * ticks. Its packets are spaced to a fraction of a ns, and timed in units of the limit's clock, as
 * the kernel does. The next higher rate, beyond the bound, does lose packets.
 */
#include "limiter.h"

#include "tests/limits.h"

#define STARTS 8
#define WINDOWS 40
#define PACKETS_MAX 100000

/* `packets` every `over_ns`, evenly. */
struct pace {
	uint64_t packets, over_ns;
};

struct sender {
	struct rf_limit limit;
	uint32_t tick_ns;
	enum rf_clock clock;
	uint32_t cost; /* 0: 1 */
	/* Both are explicit, or 0/0 for the bound of the algorithm. */
	struct pace keeps, loses;
};

/* The number of lost packets, if they start at `start_ns` plus a fraction of their distance. */
static uint64_t lost_packets(const struct sender *sender, const struct rf_policy *policy,
			     struct pace pace, uint64_t start_ns, uint64_t fraction)
{
	const uint64_t unit = policy_unit_ns(policy, sender->tick_ns);
	const uint64_t packets = WINDOWS * pace.packets;
	struct rf_window window;
	uint64_t lost = 0;

	rf_window_start(&window, policy, start_ns / unit);
	for (uint64_t i = 0; i < packets && i < PACKETS_MAX; i++) {
		uint64_t after_ns =
			((unsigned __int128)i * pace.over_ns + fraction % pace.over_ns) /
			pace.packets;

		lost += rf_take(&window, policy, (start_ns + after_ns) / unit,
				sender->cost ? sender->cost : 1) != RF_UNDER;
	}
	return lost;
}

/*
 * The rates that lose nothing, and those that lose packets. A window of cells has L in any N of
 * them. The estimate of a weighted one rounds up, and uses the clock's reading as the time. A log
 * counts both ends of W. A bucket's times are whole ns: one that holds a single packet waits for
 * the next.
 */
static void bound_of(const struct sender *sender, const struct rf_policy *policy,
		     struct pace *keeps, struct pace *loses)
{
	const uint64_t cost = sender->cost ? sender->cost : 1;
	const uint64_t over_ns = policy_cells_ns(policy, policy->cells, sender->tick_ns);

	*keeps = (struct pace){policy->limit / cost, over_ns};
	*loses = (struct pace){keeps->packets + 1, keeps->over_ns};
	if (policy->time_shift) /* N cells can be a tick shorter */
		loses->over_ns -= policy_unit_ns(policy, sender->tick_ns);
	if (rf_is_weighted(policy)) {
		keeps->over_ns += policy_unit_ns(policy, sender->tick_ns);
		*loses = *keeps;
		keeps->packets = policy->limit - 1;
	} else if (rf_is_log(policy)) {
		loses->packets = keeps->packets;
		keeps->over_ns = policy->cell + 1;
	} else if (rf_is_bucket(policy)) {
		*keeps = (struct pace){1 << RF_BUCKET_SHIFT, rf_bucket_flow(policy, cost)};
		*loses = (struct pace){(1 << RF_BUCKET_SHIFT) * 1001, keeps->over_ns * 1000};
		if (policy->limit < 2 * cost) {
			keeps->over_ns = (keeps->over_ns + 15) / 16 * 16;
			*loses = (struct pace){16, keeps->over_ns - 1};
		}
	}
}

static void even_sender(void **state)
{
	const struct sender *sender = *state;
	struct rf_policy policy = policy_compiled(&sender->limit, sender->tick_ns);
	uint64_t random = unit_seed(), lost = 0;
	struct pace keeps, loses;

	assert_int_equal(policy.clock, sender->clock);
	bound_of(sender, &policy, &keeps, &loses);
	if (sender->keeps.packets)
		keeps = sender->keeps, loses = sender->loses;
	for (int i = 0; i < STARTS; i++) {
		uint64_t start_ns = 100 * SECOND + unit_below(&random, 100 * SECOND);
		uint64_t fraction = unit_random(&random);

		if (lost_packets(sender, &policy, keeps, start_ns, fraction))
			fail_msg("RF_TEST_SEED=%" PRIu64 ": start %d loses", unit_seed(), i);
		lost += lost_packets(sender, &policy, loses, start_ns, fraction);
	}
	assert_true(lost > 0);
}

/* After the clock: the limit, and other properties. */
#define SENDER(title, tick, read_in, ...)                                                \
	UNIT_ROW_OF("an even sender below its limit loses nothing: " title, even_sender, \
		    (&(struct sender){.tick_ns = tick, .clock = read_in, .limit = __VA_ARGS__}))
#define TICKS(title, ...)                                                 \
	SENDER(title ", HZ 100", HZ100, RF_JIFFIES, __VA_ARGS__),         \
		SENDER(title ", HZ 250", HZ250, RF_JIFFIES, __VA_ARGS__), \
		SENDER(title ", HZ 300", HZ300, RF_JIFFIES, __VA_ARGS__), \
		SENDER(title ", HZ 1000", HZ1000, RF_JIFFIES, __VA_ARGS__)
#define NS(title, ...) SENDER(title ", in ns", HZ250, RF_KTIME, __VA_ARGS__)

static const struct CMUnitTest tests[] = {
	TICKS("strict, 16 cells: L/(N*cell)", LIMIT(1600, 10 * SECOND, STRICT(16))),
	TICKS("strict, 7 cells: L/(N*cell)", LIMIT(100, 10 * SECOND, STRICT(7))),
	TICKS("strict, 2 cells: L/(N*cell)", LIMIT(5, SECOND, STRICT(2))),
	TICKS("strict, 31 cells: L/(N*cell)", LIMIT(1600, 10 * SECOND, STRICT(31))),
	TICKS("strict, 31 cells, an hour: L/(N*cell)", LIMIT(1600, 3600 * SECOND, STRICT(31))),
	TICKS("strict, 31 cells, 20 packets: L/(N*cell)", LIMIT(20, 60 * SECOND, STRICT(31))),
	NS("strict, 31 cells: L/(N*cell)", LIMIT(1600, 100 * MS, STRICT(31))),
	NS("strict, 16 cells: L/(N*cell)", LIMIT(20000, 100 * MS, STRICT(16))),
	NS("strict, 5 cells: L/(N*cell)", LIMIT(3, MS, STRICT(5))),
	/* (N-1)/N of L/W is 1500 a second: a little less in ns, more of it gone to a short tick's.
	 */
	SENDER("strict, 1600/1s in ns: 1499/1s and not 1501/1s", HZ100, RF_KTIME,
	       LIMIT(1600, SECOND, STRICT(16)), .keeps = {1499, SECOND}, .loses = {1501, SECOND}),
	SENDER("strict, 1600/1s at HZ 250: 1492/1s and not 1495/1s", HZ250, RF_JIFFIES,
	       LIMIT(1600, SECOND, STRICT(16)), .keeps = {1492, SECOND}, .loses = {1495, SECOND}),
	/* A whole number of cells is 259.4 ticks, so N of them can be 260. */
	SENDER("strict, 31 cells, 1600/1s at HZ 250: 1538/1s and not 1543/1s", HZ250, RF_JIFFIES,
	       LIMIT(1600, SECOND, STRICT(31)), .keeps = {1538, SECOND}, .loses = {1543, SECOND}),
	SENDER("strict, 31 cells, 100/1s at HZ 250: 96/1s", HZ250, RF_JIFFIES,
	       LIMIT(100, SECOND, STRICT(31)), .keeps = {96, SECOND}, .loses = {97, SECOND}),
	SENDER("strict, 31 cells, 100/1s at HZ 300: 96/1s", HZ300, RF_JIFFIES,
	       LIMIT(100, SECOND, STRICT(31)), .keeps = {96, SECOND}, .loses = {97, SECOND}),
	TICKS("strict, frames of 1000 bytes: a whole number of them",
	      LIMIT(100999, 10 * SECOND, STRICT(16), BYTES), .cost = 1000),

	TICKS("coarse, 16 cells: L/(N*cell)", LIMIT(1600, 10 * SECOND, COARSE(16))),
	TICKS("coarse, 2 cells: L/(N*cell)", LIMIT(100, SECOND, COARSE(2))),
	NS("coarse, 10 cells: L/(N*cell)", LIMIT(1600, 100 * MS, COARSE(10))),
	SENDER("coarse, 10 cells, whole ticks: L/W", HZ250, RF_JIFFIES,
	       LIMIT(1600, SECOND, COARSE(10)), .keeps = {1600, SECOND}, .loses = {1601, SECOND}),

	TICKS("fixed: L/cell", LIMIT(1600, SECOND, FIXED)),
	NS("fixed: L/cell", LIMIT(100, 50 * MS, FIXED)),
	SENDER("fixed, whole ticks: L/W", HZ250, RF_JIFFIES, LIMIT(1600, SECOND, FIXED),
	       .keeps = {1600, SECOND}, .loses = {1601, SECOND}),

	TICKS("weighted, 2 cells: (L-1)/(W + tick)", LIMIT(10, 60 * SECOND, WEIGHTED(2))),
	TICKS("weighted, 3 cells: (L-1)/(W + tick)", LIMIT(1600, SECOND, WEIGHTED(3))),
	TICKS("weighted, 16 cells: (L-1)/((N-1)*cell + tick)",
	      LIMIT(1600, 10 * SECOND, WEIGHTED(16))),
	NS("weighted, 2 cells: (L-1)/(W + 1 ns)", LIMIT(100, MS, WEIGHTED(2))),
	NS("weighted, 16 cells: (L-1)/((N-1)*cell + 1 ns)", LIMIT(1600, 100 * MS, WEIGHTED(16))),

	NS("log: L/(W + 1 ns), and not L/W", LIMIT(16, SECOND, LOG)),
	NS("log, L = 1: L/(W + 1 ns), and not L/W", LIMIT(1, MS, LOG)),
	NS("log, L = 7: L/(W + 1 ns), and not L/W", LIMIT(7, 10 * SECOND, LOG)),

	NS("token: L/W", LIMIT(1000, SECOND, TOKEN(2))),
	NS("token, 1/16 ns do not divide it: L/W", LIMIT(3, SECOND, TOKEN(2))),
	NS("token, 7M/1s: L/W, rounded by 1/16 ns", LIMIT(7000000, SECOND, TOKEN(100))),
	NS("leaky, burst 1: L/W", LIMIT(1000, SECOND, LEAKY(1))),
	NS("leaky, burst 1, not whole ns: the next whole one", LIMIT(3, SECOND, LEAKY(1))),
	NS("leaky, burst 2: L/W", LIMIT(3, SECOND, LEAKY(2))),
	NS("leaky, frames of 1000 bytes: L/W", LIMIT(1000000, SECOND, LEAKY(3000), BYTES),
	   .cost = 1000),
};

int main(void)
{
	return cmocka_run_group_tests_name("limiter, even senders", tests, NULL, NULL);
}
