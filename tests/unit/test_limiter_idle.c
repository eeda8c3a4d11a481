// SPDX-License-Identifier: GPL-2.0
/*
 * How a window treats a source that comes back after any time at all, and words that no limiter
 * wrote. After an idle time every verdict must be the oracle's.
 */
#include "oracle.h"
#include "script.h"

#include "tests/limits.h"

struct kind {
	struct rf_policy policy;
	struct rf_limit limit; /* of a bucket, as it is written */
};

struct source {
	struct rf_window window;
	struct oracle oracle;
};

#define FILL_CELLS 37
#define BACK_CELLS 80

static bool agrees(struct source *source, const struct kind *kind, uint64_t time, uint32_t cost)
{
	struct rf_limit limit = kind->limit;
	bool passes;

	limit.algorithm = kind->policy.algorithm;
	passes = oracle_take(&source->oracle, &limit, &kind->policy, time, cost);
	return rf_take(&source->window, &kind->policy, time, cost) == (passes ? RF_UNDER : RF_OVER);
}

/* Traffic in every cell, to fill the ring with admissions. */
static bool fill_agrees(struct source *source, const struct kind *kind, uint64_t first,
			uint64_t cells)
{
	for (uint64_t i = 0; i < cells; i++)
		for (uint32_t cost = 1; cost <= 3; cost++)
			if (!agrees(source, kind, (first + i) * CELL + cost, cost))
				return false;
	return true;
}

static void start(struct source *source, const struct kind *kind, uint64_t first)
{
	memset(source, 0, sizeof(*source));
	rf_window_start(&source->window, &kind->policy, first * CELL);
}

static void idle_from(const struct kind *kind, uint64_t origin, uint64_t idle)
{
	static struct source source;

	start(&source, kind, origin);
	if (!fill_agrees(&source, kind, origin, FILL_CELLS) ||
	    !fill_agrees(&source, kind, origin + FILL_CELLS - 1 + idle, BACK_CELLS))
		fail_msg("origin %" PRIu64 ", idle for %" PRIu64 " cells: not the oracle's verdict",
			 origin, idle);
}

/* ---- in cells ---- */

/*
 * Omitted: about 2^32 cells and multiples of that, where the ring's tags look like the present
 * lap's.
 */
static const uint64_t idles[] = {
	1,
	14,
	15,
	16,
	17,
	65535,
	65536,
	65537,
	EPOCHS / 2 - 1,
	EPOCHS / 2,
	EPOCHS / 2 + 5,
	EPOCHS - (1 << 17),
	EPOCHS - 65536,
	EPOCHS - 65535,
	EPOCHS - 1000,
	EPOCHS - RF_CELLS_AHEAD - BACK_CELLS - 1,
	EPOCHS + 16,
	EPOCHS + 17,
	EPOCHS + 40,
	EPOCHS + EPOCHS / 2,
	2 * EPOCHS - 1000,
	3 * EPOCHS + EPOCHS / 2,
	99 * EPOCHS + 40,
};

static void idle_for_long(void **state)
{
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(idles); i++)
		for (size_t j = 0; j < UNIT_ARRAY_SIZE(origins); j++)
			idle_from(*state, origins[j], idles[i]);
}

/* The source returns at `back`, and floods each cell with `packets` while tags can be ambiguous. */
static void back_from_a_lap(const struct kind *kind, uint64_t idle, uint32_t packets)
{
	const uint64_t origin = 12345, over = RF_CELLS_AHEAD + RF_CELLS;
	const uint64_t back = origin + FILL_CELLS - 1 + idle;
	const struct rf_policy *policy = &kind->policy;
	static struct source source;

	start(&source, kind, origin);
	assert_true(fill_agrees(&source, kind, origin, FILL_CELLS));
	for (uint64_t cell = back; cell < back + over; cell++) {
		uint64_t time = cell * CELL + cell % CELL;

		oracle_add(&source.oracle, cell, offer(&source.window, policy, time, packets, 1));
		assert_true(oracle_cells(&source.oracle, cell, policy->cells) <= policy->limit);
	}
	assert_int_equal(offer(&source.window, policy, (back + over + 2 * RF_CELLS) * CELL, 50, 1),
			 policy->limit);
}

/* While tags are ambiguous the limiter can be too strict; afterwards it is exact again. */
static void idle_for_a_lap(void **state)
{
	for (uint64_t idle = EPOCHS - 200; idle < EPOCHS + 20; idle++) {
		back_from_a_lap(*state, idle, 1);
		back_from_a_lap(*state, idle, 50);
	}
}

/* A cell that was never written is all zero, and epoch 0 lies ahead of the last epochs. */
static void newcomer_before_the_wrap(void **state)
{
	const struct rf_policy *policy = &((const struct kind *)*state)->policy;

	for (uint64_t before = 0; before < 70000; before += 911) {
		uint64_t time = (EPOCHS - before) * CELL;
		struct rf_window window;

		rf_window_start(&window, policy, time);
		assert_int_equal(offer(&window, policy, time, 50, 1), policy->limit);
		assert_int_equal(offer(&window, policy, time + CELL - 1, 50, 1), 0);
	}
}

/* The ring's cells were written at different times, so a single cell can be that old. */
static void old_cell_hides_no_new_one(void **state)
{
	const uint64_t back = 36 + EPOCHS - (1 << 17);
	static struct source source;

	start(&source, *state, 0);
	assert_true(fill_agrees(&source, *state, 0, FILL_CELLS));
	assert_true(fill_agrees(&source, *state, back, 1));
	assert_true(fill_agrees(&source, *state, back + (1 << 17) - 1000, BACK_CELLS));
}

/* ---- in ns ---- */

/* Up to 9 years, and from a clock that is equally old. */
static void idle_in_ns(void **state)
{
	const uint64_t last = (1ULL << 58) / CELL - FILL_CELLS - BACK_CELLS;

	for (int bits = 0; bits < 51; bits++) {
		for (int more = -1; more <= 1; more++) {
			uint64_t idle = (1ULL << bits) + more;

			idle_from(*state, 0, idle);
			idle_from(*state, 12345, idle);
			idle_from(*state, last - idle, idle);
		}
	}
	idle_from(*state, 0, last);
}

/* ---- hostile windows ---- */

static uint64_t hostile_word(uint64_t *random, uint32_t now)
{
	uint32_t used = unit_random(random) >> unit_below(random, 64);

	if (unit_below(random, 2))
		return unit_random(random);
	return rf_word(now + unit_below(random, 40) - 20, used);
}

static void hostile_fill(uint64_t *random, struct rf_window *window, struct rf_policy *policy,
			 uint64_t time)
{
	*policy = (struct rf_policy){
		.limit = unit_random(random) >> unit_below(random, 64) & 0x7fffffff,
		.clip = unit_random(random) >> unit_below(random, 64),
		.cells = unit_random(random) >> unit_below(random, 64),
		.cell = unit_random(random) >> unit_below(random, 64),
		.depth = unit_random(random) >> unit_below(random, 64),
		.scale = unit_random(random) >> unit_below(random, 64),
		.unit = unit_random(random),
		.unit_shift = unit_random(random),
		.algorithm = unit_below(random, RF_LEAKY + 2),
		.edge = unit_below(random, RF_EDGE_WEIGHTED + 2),
		.flags = unit_below(random, 4) ? 0 : RF_COUNT_REJECTED,
	};
	window->head = hostile_word(random, rf_epoch(policy, time));
	window->newest = rf_epoch(policy, time) + unit_below(random, 40) - 20;
	for (int i = 0; i < RF_CELLS; i++)
		window->cell[i] = hostile_word(random, rf_epoch(policy, time));
}

static bool is_ring(const struct rf_policy *policy)
{
	return !rf_is_log(policy) && !rf_is_bucket(policy);
}

static void check_hostile(struct rf_window *window, const struct rf_policy *policy, uint64_t time,
			  uint32_t cost)
{
	const struct rf_window before = *window;

	if (cost > policy->limit)
		assert_true(rf_window_passes_again(window, policy, time, cost) == ~0ULL);
	else
		rf_window_passes_again(window, policy, time, cost);
	rf_used(window, policy, time);
	rf_window_cell(window, policy, rf_epoch(policy, time));
	assert_in_range(rf_cost(policy, time), 1, RF_COST_MAX);
	assert_memory_equal(window, &before, sizeof(before));
	if (rf_take(window, policy, time, cost) != RF_UNDER)
		return;
	assert_true(policy->limit > 0);
	if (!is_ring(policy))
		return;
	assert_in_range(rf_word_used(window->head), cost, policy->limit);
	assert_true(rf_head_is_present(window, policy, window->head, rf_epoch(policy, time)));
}

static void hostile_windows(void **state)
{
	uint64_t random = unit_seed();

	(void)state;
	for (int i = 0; i < 200000; i++) {
		struct rf_policy policy;
		struct rf_window window;
		uint64_t time = unit_random(&random) >> unit_below(&random, 64);

		hostile_fill(&random, &window, &policy, time);
		for (int j = 0; j < 4; j++)
			check_hostile(&window, &policy, time + j * policy.cell,
				      1 + (unit_random(&random) >> 33 >> unit_below(&random, 31)));
	}
}

/* ---- rows ---- */

#define KIND(title, function, ...) \
	UNIT_ROW_OF(title, function, (&(struct kind){.policy = __VA_ARGS__}))
#define LAPS(title, ...)                                                                          \
	KIND(title                                                                                \
	     ", idle for up to 2^32 cells and more: a source is not let through or shut out",     \
	     idle_for_long, __VA_ARGS__),                                                         \
		KIND(title                                                                        \
		     ", idle for about 2^32 cells: a source is limited rightly after one window", \
		     idle_for_a_lap, __VA_ARGS__),                                                \
		KIND(title ", a newcomer before the epochs wrap passes exactly L",                \
		     newcomer_before_the_wrap, __VA_ARGS__),                                      \
		KIND(title ", a cell of 2^32 - 2^16 cells ago hides nothing new",                 \
		     old_cell_hides_no_new_one, __VA_ARGS__)
#define NS(title, ...)                                                                  \
	KIND(title ", idle for up to 9 years: a source is not let through or shut out", \
	     idle_in_ns, __VA_ARGS__)

static const struct CMUnitTest tests[] = {
	LAPS("16 cells", {RING(40, 16)}),
	LAPS("2 cells", {RING(8, 2)}),
	LAPS("fixed", {ALIGNED(5)}),
	LAPS("weighted, 16 cells", {WEIGHTED_RING(40, 16)}),
	LAPS("weighted, 2 cells", {WEIGHTED_RING(8, 2)}),
	NS("log", {TIMES(16, 1000)}),
	NS("log, L = 1", {TIMES(1, 150)}),
	NS("token", {BUCKET(40, 30)}, .limit = LIMIT(1, 30, TOKEN(40))),
	NS("leaky", {BUCKET(3, 100)}, .limit = LIMIT(1, 100, LEAKY(3))),
	UNIT_ROW("hostile windows: no crash, no pass over L, no write by a reader",
		 hostile_windows),
};

int main(void)
{
	return cmocka_run_group_tests_name("limiter, idle", tests, NULL, NULL);
}
