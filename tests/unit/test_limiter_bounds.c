// SPDX-License-Identifier: GPL-2.0
/*
 * The limiter's promises for any pattern, in real time: how much passes in an interval of a given
 * length, and how little is refused beyond that. The check uses neither cells nor tags, but the
 * list of passed packets and a bucket of exact fractions.
 */
#include "traffic.h"

/* ---- intervals ---- */

/* At most this much passes in any interval of that length, both ends included. */
struct bound {
	uint64_t interval_ns;
	uint64_t at_most; /* packets or bytes */
};

#define BOUNDS_MAX 2

static void bounds_of(const struct run *run, struct bound bound[BOUNDS_MAX])
{
	const uint64_t window_ns = run->limit.window_ns, limit = run->limit.rate;
	const uint64_t last_cell_ns =
		((run->policy->cells - 1) * run->policy->cell >> run->policy->time_shift) *
		run->unit_ns;

	bound[0] = bound[1] = (struct bound){window_ns, limit};
	if (run->limit.algorithm == RF_FIXED) {
		bound[0] = bound[1] = (struct bound){window_ns, 2 * limit};
	} else if (oracle_is_weighted(run->policy)) {
		bound[0] = (struct bound){last_cell_ns, limit};
		bound[1] = (struct bound){window_ns, 2 * limit - 1};
	} else if (run->limit.algorithm == RF_SLIDING && run->limit.edge == RF_EDGE_COARSE) {
		bound[0] = (struct bound){last_cell_ns, limit};
		bound[1] = (struct bound){window_ns, 2 * limit};
	}
}

static uint64_t amount(const struct run *run, const struct packet *packet)
{
	return run->limit.unit == RF_BYTES ? packet->length : packet->cost;
}

/* Sometimes the clock jumps to the exact ns at which an interval after an earlier packet ends. */
static void jump_to_end(struct run *run, struct source *source, const struct bound *bound,
			struct packet *packet)
{
	struct oracle *list = &source->oracle;
	uint64_t end_ns, number;

	if (list->first == list->end || unit_below(&run->random, run->span_packets) != 0)
		return;
	number = list->first + unit_below(&run->random, list->end - list->first);
	end_ns = oracle_charge(list, number)->when +
		 bound[unit_below(&run->random, BOUNDS_MAX)].interval_ns +
		 unit_below(&run->random, 2);
	if (run->clock_ns >= end_ns)
		return;
	run->clock_ns = packet->time_ns = end_ns;
	packet->time = read_clock(run, end_ns);
}

static void check_bounds(struct run *run, struct source *source, const struct bound *bound)
{
	uint64_t now_ns = source->latest_ns;

	for (int i = 0; i < BOUNDS_MAX; i++) {
		uint64_t sum = oracle_sum(&source->oracle, now_ns - bound[i].interval_ns, now_ns);

		if (sum > bound[i].at_most)
			RUN_FAIL(run, "%" PRIu64 " in %" PRIu64 " ns before %" PRIu64, sum,
				 bound[i].interval_ns, now_ns);
	}
}

/* The bound also holds in the aligned window. */
static void check_aligned(struct run *run, struct source *source)
{
	uint64_t start_ns = source->latest_ns / run->cell_ns * run->cell_ns;
	uint64_t sum = oracle_sum(&source->oracle, start_ns, source->latest_ns);

	if (run->limit.algorithm == RF_FIXED && sum > run->limit.rate)
		RUN_FAIL(run, "%" PRIu64 " in a window", sum);
}

/*
 * Refused only if with it there were more than L in all cells that a window reaches into: N, for a
 * weighted one the one on its edge among them; for a log, in W itself.
 */
static void check_refusal(struct run *run, struct source *source, const struct packet *packet)
{
	uint64_t cells = run->policy->cells + oracle_is_weighted(run->policy);
	uint64_t now_ns = source->latest_ns;
	uint64_t reach_ns = policy_cells_ns(run->policy, cells, run->traffic->tick_ns) - 1;

	if (rf_is_log(run->policy))
		reach_ns = run->limit.window_ns;
	if (rf_is_log(run->policy) && packet->time_ns > now_ns)
		now_ns = packet->time_ns;
	if (run->traffic->late_ticks)
		reach_ns += run->unit_ns;
	if (oracle_sum(&source->oracle, now_ns - reach_ns, now_ns) + amount(run, packet) <=
	    run->limit.rate)
		RUN_FAIL(run, "refused at %" PRIu64 " ns", packet->time_ns);
}

static bool keeps_bounds(struct run *run, struct source *source, const struct packet *offered)
{
	struct packet packet = *offered;
	struct bound bound[BOUNDS_MAX];
	bool passes;

	bounds_of(run, bound);
	jump_to_end(run, source, bound, &packet);
	passes = rf_take(&source->window, run->policy, packet.time, packet.cost) == RF_UNDER;
	/* Any packet moves a window of cells on; only a packet that passes moves a log on. */
	if ((passes || !rf_is_log(run->policy)) && source->latest_ns < packet.time_ns)
		source->latest_ns = packet.time_ns;
	if (!passes) {
		if (!(run->limit.flags & RF_COUNT_REJECTED) && !run->policy->unit_shift)
			check_refusal(run, source, &packet);
		return false;
	}
	oracle_add(&source->oracle, source->latest_ns, amount(run, &packet));
	oracle_forget(&source->oracle, source->latest_ns - 2 * run->span_ns);
	check_bounds(run, source, bound);
	check_aligned(run, source);
	return true;
}

/* ---- buckets, in exact fractions: a time is counted in 1/(16 L) ns ---- */

static int128 exact_depth(const struct rf_limit *limit)
{
	return (int128)limit->burst * limit->window_ns * 16;
}

/* The content of the bucket at `time_ns`; `oracle` stores the level after the last packet. */
static int128 exact_level(const struct oracle *oracle, const struct rf_limit *limit, int128 depth,
			  uint64_t time_ns)
{
	int128 level = oracle->level + ((int128)time_ns * 16 - oracle->level_time) * limit->rate;

	if (!oracle->charged || level > depth)
		return depth;
	return level > 0 ? level : 0;
}

/*
 * Never over burst + L*T/W in any T: every packet that passes also passes an exact bucket. In bytes
 * the depth is rounded up, so it can hold the flow of 1/16 ns more. And every refused packet would
 * also be refused by a bucket in which each packet costs as much more as the rounding can add.
 */
static bool keeps_rate(struct run *run, struct source *source, const struct packet *packet)
{
	const struct rf_limit *limit = &run->limit;
	const bool bytes = limit->unit == RF_BYTES;
	const int128 flow = (int128)packet->cost * limit->window_ns * 16;
	const int128 most = exact_depth(limit) + (bytes ? limit->rate : 0);
	const int128 rounding = 1 + (packet->cost >> run->policy->scale);
	const int128 slow = flow + (bytes ? rounding : packet->cost) * limit->rate;
	bool passes = rf_take(&source->window, run->policy, packet->time, packet->cost) == RF_UNDER;
	int128 level;

	if (!passes) {
		level = exact_level(&source->other, limit, exact_depth(limit), packet->time_ns);
		if (level >= slow && packet->cost <= limit->burst)
			RUN_FAIL(run, "cost %u refused at %" PRIu64 " ns", packet->cost,
				 packet->time_ns);
		return false;
	}
	if (source->latest_ns < packet->time_ns)
		source->latest_ns = packet->time_ns;
	level = exact_level(&source->oracle, limit, most, source->latest_ns) - flow;
	if (level < 0)
		RUN_FAIL(run, "cost %u too many at %" PRIu64 " ns", packet->cost, packet->time_ns);
	oracle_set_level(&source->oracle, level, source->latest_ns);
	level = exact_level(&source->other, limit, exact_depth(limit), packet->time_ns);
	oracle_set_level(&source->other, level - slow, packet->time_ns);
	return true;
}

/* ---- the estimate for cells long enough to omit binary places ---- */

#define YEAR (8784ULL * 3600 * SECOND)

static bool keeps_estimate(struct run *run, struct source *source, const struct packet *packet)
{
	const struct rf_policy *policy = run->policy;
	const uint64_t rounding = (1ULL << policy->used_shift) - 1; /* of the ring */
	const uint64_t slack = 1 + (policy->limit >> 29) + (policy->cells + 1) * rounding;
	uint64_t used = oracle_cells_used(&source->oracle, policy, packet->time);
	bool passes = rf_take(&source->window, policy, packet->time, packet->cost) == RF_UNDER;

	assert_true(policy->scale > 0);
	if (passes && used + packet->cost > policy->limit)
		RUN_FAIL(run, "cost %u passes at %" PRIu64 ", used are %" PRIu64, packet->cost,
			 packet->time, used);
	if (!passes && used + slack + packet->cost <= policy->limit)
		RUN_FAIL(run, "cost %u refused at %" PRIu64 ", used are %" PRIu64, packet->cost,
			 packet->time, used);
	source->oracle.latest = oracle_last_cell(&source->oracle, policy, packet->time);
	if (passes)
		oracle_add(&source->oracle, source->oracle.latest, packet->cost);
	oracle_forget(&source->oracle, source->oracle.latest - policy->cells);
	return passes;
}

/* The same of a full cell on the edge, to the tick: never below the exact part, and little over. */
static void estimate_is_rounded_up(void **state)
{
	static const uint64_t ticks[] = {(1ULL << 31) + 1, (1ULL << 34) + 7, YEAR / MS};
	uint64_t random = unit_seed();

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(ticks); i++) {
		struct rf_limit limit = LIMIT(RF_LIMIT_MAX, ticks[i] * MS, WEIGHTED(2));
		struct rf_policy policy = policy_compiled(&limit, HZ1000);
		uint64_t start = 7 * policy.cell;
		struct rf_window window;

		rf_window_start(&window, &policy, start - 1);
		assert_int_equal(rf_take(&window, &policy, start - 1, RF_LIMIT_MAX), RF_UNDER);
		assert_int_equal(rf_take(&window, &policy, start, 1), RF_OVER);
		for (int j = 0; j < 10000; j++) {
			uint64_t left = 1 + unit_below(&random, policy.cell) %
						    (j % 2 ? 1000000 : policy.cell);
			uint64_t exact = oracle_divide_up((int128)RF_LIMIT_MAX * left, policy.cell);
			uint64_t used = rf_used(&window, &policy, start + policy.cell - left);

			assert_in_range(used, exact, exact + 1 + (RF_LIMIT_MAX >> 29));
		}
	}
}

/* ---- rows ---- */

/* After the tick: the limit, and other properties of the traffic. */
#define BOUNDS(title, tick, ...)                                                       \
	TRAFFIC(title ", random", keeps_bounds, 300000, .tick_ns = tick, .sources = 3, \
		.limit = __VA_ARGS__)
#define TICKS(title, ...)                                     \
	BOUNDS(title ", HZ 100", HZ100, __VA_ARGS__),         \
		BOUNDS(title ", HZ 250", HZ250, __VA_ARGS__), \
		BOUNDS(title ", HZ 300", HZ300, __VA_ARGS__), \
		BOUNDS(title ", HZ 1000", HZ1000, __VA_ARGS__)
#define RATE(title, ...) \
	TRAFFIC(title, keeps_rate, 300000, .tick_ns = HZ250, .sources = 3, .limit = __VA_ARGS__)
/* A hundred years, which fit easily into 64 bits of ns. */
#define ESTIMATE(title, tick, ...)                                                      \
	TRAFFIC("weighted, long cells: " title, keeps_estimate, 30000, .tick_ns = tick, \
		.sources = 1, .limit = __VA_ARGS__)

static const struct CMUnitTest tests[] = {
	TICKS("strict: at most L in any W, 5/1s", LIMIT(5, SECOND, STRICT(16))),
	TICKS("strict: at most L in any W, 50/10s", LIMIT(50, 10 * SECOND, STRICT(16)),
	      .cost_max = 3),
	TICKS("strict: at most L in any W, ticks late", LIMIT(5, SECOND, STRICT(9)),
	      .late_ticks = true),
	TICKS("strict: at most L in any W, 2 cells, ticks late", LIMIT(5, SECOND, STRICT(2)),
	      .late_ticks = true),
	BOUNDS("strict: at most L in any W, 50/7ms", HZ1000, LIMIT(50, 7 * MS, STRICT(16)),
	       .cost_max = 3),
	BOUNDS("strict: at most L in any W, 60 kB/1s", HZ250,
	       LIMIT(60000, SECOND, STRICT(16), BYTES)),
	TRAFFIC("strict: at most L in any W, 70 GB/1s, in units of 64 bytes, random", keeps_bounds,
		30000, .tick_ns = HZ250, .sources = 1,
		.limit = LIMIT(70000000000ULL, SECOND, STRICT(16), BYTES), .cost_max = 1 << 26),
	BOUNDS("strict: at most L in any W, the limit changes", HZ250,
	       LIMIT(40, SECOND, STRICT(16)), .cost_max = 3, .limit_changes = true),
	BOUNDS("strict: at most L in any W, count rejected", HZ250,
	       LIMIT(20, SECOND, STRICT(16), COUNT_REJECTED), .pace = 90),

	TICKS("coarse: L in W - cell, 2 L in W", LIMIT(5, SECOND, COARSE(10))),
	BOUNDS("coarse: L in W - cell, 2 L in W, in ns", HZ250, LIMIT(50, 7 * MS, COARSE(4)),
	       .cost_max = 3),
	BOUNDS("coarse: L in W - cell, 2 L in W, 60 kB/1s", HZ250,
	       LIMIT(60000, SECOND, COARSE(16), BYTES)),

	TICKS("fixed: L in an aligned window, 2 L in W", LIMIT(5, SECOND, FIXED)),
	BOUNDS("fixed: L in an aligned window, 2 L in W, in ns", HZ250, LIMIT(50, 7 * MS, FIXED),
	       .cost_max = 3),
	BOUNDS("fixed: L in an aligned window, 2 L in W, 60 kB/1s", HZ250,
	       LIMIT(60000, SECOND, FIXED, BYTES)),

	TICKS("weighted: L in W - cell, under 2 L in W, 5/1s", LIMIT(5, SECOND, WEIGHTED(10))),
	TICKS("weighted: L in W - cell, under 2 L in W, 50/1s", LIMIT(50, SECOND, WEIGHTED(3)),
	      .cost_max = 3),
	BOUNDS("weighted: L in W - cell, under 2 L in W, 2 cells in ns", HZ250,
	       LIMIT(50, 7 * MS, WEIGHTED(2)), .cost_max = 3),
	BOUNDS("weighted: L in W - cell, under 2 L in W, 60 kB/1s", HZ250,
	       LIMIT(60000, SECOND, WEIGHTED(16), BYTES)),

	BOUNDS("log: at most L in any W, and exactly, 5/1s", HZ250, LIMIT(5, SECOND, LOG)),
	BOUNDS("log: at most L in any W, and exactly, 16/1ms", HZ250, LIMIT(16, MS, LOG)),
	BOUNDS("log: at most L in any W, and exactly, the limit changes", HZ250,
	       LIMIT(16, SECOND, LOG), .limit_changes = true),
	BOUNDS("log: at most L in any W, count rejected", HZ250,
	       LIMIT(10, SECOND, LOG, COUNT_REJECTED), .pace = 80),

	RATE("token: burst + L*T/W in any T, 10/1s burst 5", LIMIT(10, SECOND, TOKEN(5)),
	     .cost_max = 3),
	RATE("token: burst + L*T/W in any T, 1/16 ns do not divide it, 3/1s burst 7",
	     LIMIT(3, SECOND, TOKEN(7)), .cost_max = 3),
	RATE("token: burst + L*T/W in any T, 7M/1s burst 100", LIMIT(7000000, SECOND, TOKEN(100)),
	     .cost_max = 3),
	RATE("token: burst + L*T/W in any T, 3 G/1s burst 1000",
	     LIMIT(RF_LIMIT_MAX, 700 * MS, TOKEN(1000)), .cost_max = 3),
	RATE("token: burst + L*T/W in any T, 1 MB/1s", LIMIT(1000000, SECOND, TOKEN(15140), BYTES)),
	RATE("token: burst + L*T/W in any T, 100 Gbit/s",
	     LIMIT(12500000000ULL, SECOND, TOKEN(1000000), BYTES)),
	RATE("token: burst + L*T/W in any T, 300 Gbit/s, where 1/16 ns is more than a byte",
	     LIMIT(37500000000ULL, SECOND, TOKEN(1000000), BYTES)),
	RATE("token: burst + L*T/W in any T, 700 kB/1s burst 2 GiB, places left out",
	     LIMIT(700000, 3 * SECOND, TOKEN(RF_LIMIT_MAX), BYTES), .cost_max = 1000000),
	RATE("leaky: burst + L*T/W in any T, 10/1s", LIMIT(10, SECOND, LEAKY(1))),
	RATE("leaky: burst + L*T/W in any T, 3M/1s", LIMIT(3000000, SECOND, LEAKY(1))),
	RATE("leaky: burst + L*T/W in any T, 1 MB/1s", LIMIT(1000000, SECOND, LEAKY(9014), BYTES)),

	ESTIMATE("300 in a year, 2 cells, HZ 1000", HZ1000, LIMIT(300, YEAR, WEIGHTED(2)),
		 .cost_max = 3),
	ESTIMATE("300 in a year, 4 cells, HZ 1000", HZ1000, LIMIT(300, YEAR, WEIGHTED(4)),
		 .cost_max = 3),
	ESTIMATE("2^29 in a year, 2 cells, HZ 100", HZ100, LIMIT(1 << 29, YEAR, WEIGHTED(2)),
		 .cost_max = RF_COST_MAX),
	UNIT_ROW("weighted, long cells: a full cell is rounded up by little",
		 estimate_is_rounded_up),
};

int main(void)
{
	return cmocka_run_group_tests_name("limiter, bounds", tests, NULL, NULL);
}
