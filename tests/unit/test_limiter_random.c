// SPDX-License-Identifier: GPL-2.0
/*
 * The limiter and its readers against the oracle: each verdict, the used amount, and the time at
 * which the source passes again must exactly match the list of all charges.
 */
#include "traffic.h"

/* ---- verdicts ---- */

static bool agrees(struct run *run, struct source *source, const struct packet *packet)
{
	bool passes =
		oracle_take(&source->oracle, &run->limit, run->policy, packet->time, packet->cost);
	enum rf_verdict verdict = rf_take(&source->window, run->policy, packet->time, packet->cost);

	if (verdict != (passes ? RF_UNDER : RF_OVER))
		RUN_FAIL(run, "cost %u at %" PRIu64 ": not the oracle's verdict", packet->cost,
			 packet->time);
	return passes;
}

/* ---- readers ---- */

/*
 * A cell's count in a window that ends with `last`. If a closed one refused enough to fill its half
 * of a word, the count is that maximum.
 */
static uint64_t expected_in(struct run *run, struct source *source, uint64_t epoch, uint64_t last)
{
	const uint64_t most = (uint64_t)RF_HALF_MAX << run->policy->used_shift;
	const uint64_t sum = oracle_cells(&source->oracle, epoch, 1);

	return epoch < last && sum > most ? most : sum;
}

static uint64_t expected_used(struct run *run, struct source *source, uint64_t time)
{
	const struct rf_policy *policy = run->policy;
	uint64_t last, sum = 0;

	if (!rf_counts_rejected(policy) || !rf_is_ring(policy))
		return oracle_used(&source->oracle, &run->limit, policy, time);
	last = oracle_last_cell(&source->oracle, policy, time);
	for (uint64_t age = 0; age < policy->cells; age++)
		sum += expected_in(run, source, last - age, last);
	return sum;
}

static void check_used(struct run *run, struct source *source, uint64_t time)
{
	uint64_t expected = expected_used(run, source, time);
	uint64_t used = rf_used(&source->window, run->policy, time);

	/* The limit has no more slots, and L is no larger. */
	if (rf_is_log(run->policy) && expected > RF_CELLS)
		expected = RF_CELLS;
	if (used != expected)
		RUN_FAIL(run, "at %" PRIu64 ": used %" PRIu64 ", not %" PRIu64, time, used,
			 expected);
}

static void check_cells(struct run *run, struct source *source, uint64_t time)
{
	const struct rf_policy *policy = run->policy;
	uint64_t last;

	if (rf_is_log(policy) || rf_is_bucket(policy))
		return;
	last = oracle_last_cell(&source->oracle, policy, time);
	for (uint64_t age = 0; age < policy->cells; age++) {
		uint64_t expected = expected_in(run, source, last - age, source->oracle.latest);
		uint32_t cell = rf_window_cell(&source->window, policy, last - age);

		if (cell != expected)
			RUN_FAIL(run, "%" PRIu64 " cells ago: %u, not %" PRIu64, age, cell,
				 expected);
	}
}

static enum rf_verdict take_on_copy(const struct source *source, const struct rf_policy *policy,
				    uint64_t time, uint32_t cost)
{
	struct rf_window copy = source->window;

	return rf_take(&copy, policy, time, cost);
}

static void check_passes_again(struct run *run, struct source *source, const struct packet *packet)
{
	const struct rf_policy *policy = run->policy;
	uint64_t time = packet->time;
	uint64_t wait = rf_window_passes_again(&source->window, policy, time, packet->cost);
	uint64_t passes = oracle_passes(&source->oracle, &run->limit, policy, time, packet->cost);

	if (wait != (passes == ORACLE_NEVER ? ~0ULL : passes - time))
		RUN_FAIL(run, "at %" PRIu64 ", cost %u: passes in %" PRIu64 ", not at %" PRIu64,
			 time, packet->cost, wait, passes);
	if (passes == ORACLE_NEVER)
		return;
	if (wait > 0 && take_on_copy(source, policy, passes - 1, packet->cost) != RF_OVER)
		RUN_FAIL(run, "cost %u passes earlier than in %" PRIu64, packet->cost, wait);
	if (take_on_copy(source, policy, passes, packet->cost) != RF_UNDER)
		RUN_FAIL(run, "cost %u does not pass in %" PRIu64, packet->cost, wait);
}

static bool readers_agree(struct run *run, struct source *source, const struct packet *packet)
{
	const struct rf_window before = source->window;

	check_used(run, source, packet->time);
	check_cells(run, source, packet->time);
	check_passes_again(run, source, packet);
	assert_memory_equal(&source->window, &before, sizeof(before));
	return agrees(run, source, packet);
}

/* ---- rows ---- */

/* After the number of sources: the limit, and other properties of the traffic. */
#define ROW(title, tick, most, ...)                                                         \
	TRAFFIC("verdicts agree with the oracle: " title, agrees, 1000000, .tick_ns = tick, \
		.sources = most, .limit = __VA_ARGS__),                                     \
		TRAFFIC("readers agree with the oracle: " title, readers_agree, 50000,      \
			.tick_ns = tick, .sources = most, .limit = __VA_ARGS__)

static const struct CMUnitTest tests[] = {
	ROW("strict, 1/1s, HZ 250", HZ250, 3, LIMIT(1, SECOND, STRICT(16))),
	ROW("strict, 5/10s, HZ 1000", HZ1000, 8, LIMIT(5, 10 * SECOND, STRICT(16)), .cost_max = 3),
	ROW("strict, 10/1s, HZ 100", HZ100, 3, LIMIT(10, SECOND, STRICT(16)), .cost_max = 3),
	ROW("strict, 64/1ms, across the wrap", HZ300, 4, LIMIT(64, MS, STRICT(16)), .cost_max = 3,
	    .start_cells = EPOCHS - 1000),
	ROW("strict, 300/1s, across the wrap", HZ250, 2, LIMIT(300, SECOND, STRICT(16)),
	    .cost_max = 3, .start_cells = EPOCHS - 1000),
	ROW("strict, 31 cells, 10/1s, HZ 250", HZ250, 3, LIMIT(10, SECOND, STRICT(31)),
	    .cost_max = 3),
	ROW("strict, 31 cells, 300/1s, HZ 300, across the wrap", HZ300, 2,
	    LIMIT(300, SECOND, STRICT(31)), .cost_max = 3, .start_cells = EPOCHS - 1000),
	ROW("strict, 31 cells, 64/1ms, across the wrap", HZ300, 4, LIMIT(64, MS, STRICT(31)),
	    .cost_max = 3, .start_cells = EPOCHS - 1000),
	ROW("strict, 30 cells, 40/1s, the limit changes", HZ1000, 3, LIMIT(40, SECOND, STRICT(30)),
	    .cost_max = 3, .limit_changes = true, .start_cells = EPOCHS - 1000),
	ROW("strict, 31 cells, 60 kB/10s", HZ100, 3, LIMIT(60000, 10 * SECOND, STRICT(31), BYTES)),
	ROW("strict, 31 cells, 20/1s, count rejected", HZ250, 3,
	    LIMIT(20, SECOND, STRICT(31), COUNT_REJECTED), .cost_max = 3, .pace = 90),
	ROW("strict, 7 cells, 20/1s", HZ250, 3, LIMIT(20, SECOND, STRICT(7)), .cost_max = 3),
	ROW("strict, 2 cells, 20/1s, cost over L among them", HZ250, 3,
	    LIMIT(20, SECOND, STRICT(2)), .cost_max = 25),
	ROW("strict, 40/1s, the limit changes", HZ1000, 3, LIMIT(40, SECOND, STRICT(16)),
	    .cost_max = 3, .limit_changes = true, .start_cells = EPOCHS - 1000),
	ROW("strict, 60 kB/1s", HZ250, 3, LIMIT(60000, SECOND, STRICT(16), BYTES)),
	ROW("strict, 20/1s, count rejected", HZ250, 3,
	    LIMIT(20, SECOND, STRICT(16), COUNT_REJECTED), .cost_max = 3, .pace = 90),
	ROW("strict, 60 kB/1s, count rejected, the limit changes", HZ250, 3,
	    LIMIT(60000, SECOND, STRICT(5), BYTES, COUNT_REJECTED), .pace = 60,
	    .limit_changes = true),

	ROW("coarse, 5/10s", HZ250, 3, LIMIT(5, 10 * SECOND, COARSE(10))),
	ROW("coarse, 50/1ms, across the wrap", HZ1000, 3, LIMIT(50, MS, COARSE(16)), .cost_max = 3,
	    .start_cells = EPOCHS - 1000),
	ROW("coarse, 31 cells, 40/1s", HZ250, 3, LIMIT(40, SECOND, COARSE(31)), .cost_max = 3),
	ROW("coarse, 2 cells, 40/1s, the limit changes", HZ300, 3, LIMIT(40, SECOND, COARSE(2)),
	    .cost_max = 3, .limit_changes = true),
	ROW("coarse, 60 kB/1s", HZ250, 3, LIMIT(60000, SECOND, COARSE(16), BYTES)),
	ROW("coarse, 20/1s, count rejected", HZ250, 3,
	    LIMIT(20, SECOND, COARSE(10), COUNT_REJECTED), .cost_max = 3, .pace = 90),

	ROW("fixed, 10/1s", HZ250, 3, LIMIT(10, SECOND, FIXED), .cost_max = 3),
	ROW("fixed, 64/1ms, across the wrap", HZ250, 3, LIMIT(64, MS, FIXED), .cost_max = 3,
	    .start_cells = EPOCHS - 1000),
	ROW("fixed, 40/1s, the limit changes", HZ300, 3, LIMIT(40, SECOND, FIXED), .cost_max = 3,
	    .limit_changes = true),
	ROW("fixed, 60 kB/1s", HZ250, 3, LIMIT(60000, SECOND, FIXED, BYTES)),
	ROW("fixed, 20/1s, count rejected", HZ250, 3, LIMIT(20, SECOND, FIXED, COUNT_REJECTED),
	    .cost_max = 3, .pace = 90),

	ROW("weighted, 2 cells, 10/60s", HZ250, 3, LIMIT(10, 60 * SECOND, WEIGHTED(2))),
	ROW("weighted, 16 cells, 64/1ms, across the wrap", HZ300, 4, LIMIT(64, MS, WEIGHTED(16)),
	    .cost_max = 3, .start_cells = EPOCHS - 1000),
	ROW("weighted, 16 cells, 300/1s", HZ250, 2, LIMIT(300, SECOND, WEIGHTED(16)),
	    .cost_max = 3),
	ROW("weighted, 31 cells, 64/1ms, across the wrap", HZ300, 4, LIMIT(64, MS, WEIGHTED(31)),
	    .cost_max = 3, .start_cells = EPOCHS - 1000),
	ROW("weighted, 30 cells, 40/10s", HZ300, 4, LIMIT(40, 10 * SECOND, WEIGHTED(30)),
	    .cost_max = 3),
	ROW("weighted, 5 cells, 40/1s, the limit changes", HZ1000, 3,
	    LIMIT(40, SECOND, WEIGHTED(5)), .cost_max = 3, .limit_changes = true),
	ROW("weighted, 3 cells, 60 kB/1s", HZ250, 3, LIMIT(60000, SECOND, WEIGHTED(3), BYTES)),
	ROW("weighted, 4 cells, 20/1s, count rejected", HZ250, 3,
	    LIMIT(20, SECOND, WEIGHTED(4), COUNT_REJECTED), .cost_max = 3, .pace = 90),

	ROW("log, 1/1s", HZ250, 3, LIMIT(1, SECOND, LOG)),
	ROW("log, 5/60s", HZ250, 3, LIMIT(5, 60 * SECOND, LOG)),
	ROW("log, 16/1ms, from the clock's zero", HZ250, 3, LIMIT(16, MS, LOG), .from_zero = true),
	ROW("log, 16/1s, the limit changes", HZ250, 3, LIMIT(16, SECOND, LOG),
	    .limit_changes = true),
	ROW("log, 16/1s, count rejected", HZ250, 3, LIMIT(16, SECOND, LOG, COUNT_REJECTED),
	    .pace = 90),
	ROW("log, 4/1s, count rejected, the limit changes", HZ250, 3,
	    LIMIT(4, SECOND, LOG, COUNT_REJECTED), .pace = 60, .limit_changes = true),

	ROW("token, 10/1s burst 5", HZ250, 3, LIMIT(10, SECOND, TOKEN(5)), .cost_max = 3),
	ROW("token, 3/1s burst 7", HZ250, 3, LIMIT(3, SECOND, TOKEN(7)), .cost_max = 3),
	ROW("token, 7M/1s burst 100, from the clock's zero", HZ250, 3,
	    LIMIT(7000000, SECOND, TOKEN(100)), .cost_max = 3, .from_zero = true),
	ROW("token, 30/1s burst 40, both change", HZ250, 3, LIMIT(30, SECOND, TOKEN(40)),
	    .cost_max = 3, .limit_changes = true),
	ROW("token, 1 MB/1s burst 15140", HZ250, 3, LIMIT(1000000, SECOND, TOKEN(15140), BYTES)),
	ROW("token, 100 Gbit/s burst 1 MB, both change", HZ250, 3,
	    LIMIT(12500000000ULL, SECOND, TOKEN(1000000), BYTES), .limit_changes = true),
	ROW("token, 500 kB/1s burst 2 GiB, both change", HZ250, 1,
	    LIMIT(500000, SECOND, TOKEN(RF_LIMIT_MAX), BYTES), .cost_max = 1000000,
	    .limit_changes = true),
	ROW("token, 10/1s burst 5, count rejected", HZ250, 3,
	    LIMIT(10, SECOND, TOKEN(5), COUNT_REJECTED), .cost_max = 3, .pace = 60),

	ROW("leaky, 10/1s", HZ250, 3, LIMIT(10, SECOND, LEAKY(1))),
	ROW("leaky, 3M/1s burst 2", HZ250, 3, LIMIT(3000000, SECOND, LEAKY(2))),
	ROW("leaky, 1 MB/1s burst 9014, count rejected, both change", HZ250, 3,
	    LIMIT(1000000, SECOND, LEAKY(9014), BYTES, COUNT_REJECTED), .pace = 60,
	    .limit_changes = true),
};

int main(void)
{
	return cmocka_run_group_tests_name("limiter, random", tests, NULL, NULL);
}
