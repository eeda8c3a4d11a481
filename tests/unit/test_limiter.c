// SPDX-License-Identifier: GPL-2.0
/*
 * Windows of cells that count in full (sliding, strict and coarse), in rows of known answers: which
 * packets are offered at which time, and which of them pass. One CPU at a time.
 */
#include "script.h"

#include "tests/limits.h"

/* A word of the ring. */
#define PAIR(even, odd_used, even_used) \
	((uint64_t)(even) << 32 | (uint64_t)(odd_used) << RF_HALF_BITS | (even_used))

static void one_in_every_cell(void **state)
{
	struct rf_policy policy = policy_of(10, CELL);
	struct rf_window window;

	(void)state;
	rf_window_open(&window, 0);
	for (uint64_t epoch = 0; epoch < 100; epoch++)
		assert_int_equal(offer(&window, &policy, epoch * CELL + epoch, 1, 1),
				 epoch % RF_CELLS < 10);
}

static void over_only_reads(void **state)
{
	struct rf_policy policy = policy_of(10, CELL);
	struct rf_window window, full;

	(void)state;
	rf_window_open(&window, 5);
	assert_int_equal(offer(&window, &policy, 5 * CELL, 10, 1), 10);
	full = window;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(rf_take(&window, &policy, 5 * CELL + i % CELL, 1 + i), RF_OVER);
	assert_memory_equal(&window, &full, sizeof(full));
}

static void a_policy_without_cell(void **state)
{
	struct rf_policy policy = policy_of(3, 0);
	struct rf_window window;

	(void)state;
	rf_window_open(&window, rf_epoch(&policy, 123456789));
	for (int i = 0; i < 10; i++)
		assert_int_equal(rf_take(&window, &policy, 123456789ULL * i, 1),
				 i < 3 ? RF_UNDER : RF_OVER);
	assert_int_equal(rf_window_passes_again(&window, &policy, 123456789, 4), ~0ULL);
}

/* ---- known answers ---- */

static void minute_edge_sliding(void **state)
{
	static const uint32_t ticks_ns[] = {HZ1000, HZ300, HZ250, HZ100};
	static const struct rf_limit limit = LIMIT(10, 60 * SECOND, STRICT(16));

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(ticks_ns); i++) {
		struct rf_policy policy = policy_compiled(&limit, ticks_ns[i]);
		uint64_t unit = policy_unit_ns(&policy, ticks_ns[i]);
		struct rf_window window;

		for (uint64_t lap = 0; lap < 40; lap++) {
			uint64_t boundary_ns = rf_epoch_start(&policy, lap) * unit;
			uint64_t first = (boundary_ns + 59 * SECOND) / unit;
			uint64_t second = (boundary_ns + 61 * SECOND) / unit;

			rf_window_open(&window, rf_epoch(&policy, first));
			assert_int_equal(offer(&window, &policy, first, 10, 1), 10);
			assert_int_equal(offer(&window, &policy, second, 10, 1), 0);
		}
	}
}

/* ---- a limit that changes under a window, and numbers at their edge ---- */

/* A clip that is too small loses counts, but the remaining count is never below zero. */
static void clip_below_the_window(void **state)
{
	struct rf_policy policy = policy_of(100, CELL);
	struct rf_window window;

	(void)state;
	rf_window_open(&window, 20);
	assert_int_equal(offer(&window, &policy, 20 * CELL, 50, 1), 50);
	assert_int_equal(offer(&window, &policy, 22 * CELL, 60, 1), 50);
	policy.limit = policy.clip = 10;
	assert_int_equal(offer(&window, &policy, 23 * CELL, 5, 1), 0);
	assert_in_range(rf_window_cell(&window, &policy, 22), 0, 50);
	assert_int_equal(offer(&window, &policy, 60 * CELL, 30, 1), 10);
}

static void largest_limit(void **state)
{
	struct rf_policy policy = policy_of(RF_LIMIT_MAX, CELL);
	struct rf_window window;

	(void)state;
	rf_window_open(&window, 20);
	assert_int_equal(rf_take(&window, &policy, 20 * CELL, RF_LIMIT_MAX - 2), RF_UNDER);
	assert_int_equal(rf_take(&window, &policy, 20 * CELL, 3), RF_OVER);
	assert_int_equal(rf_take(&window, &policy, 20 * CELL, UINT32_MAX), RF_OVER);
	assert_int_equal(offer(&window, &policy, 20 * CELL, 5, 1), 2);
	assert_int_equal(window.head, rf_word(20, RF_LIMIT_MAX));
	assert_int_equal(rf_take(&window, &policy, 21 * CELL, RF_LIMIT_MAX), RF_OVER);
	assert_int_equal(rf_take(&window, &policy, 21 * CELL, UINT32_MAX), RF_OVER);
	assert_int_equal(rf_take(&window, &policy, 35 * CELL, 1), RF_OVER);
	assert_int_equal(rf_take(&window, &policy, 36 * CELL, RF_LIMIT_MAX), RF_UNDER);
	assert_int_equal(rf_take(&window, &policy, 36 * CELL, RF_LIMIT_MAX), RF_OVER);
}

/* No limiter writes this: sixteen full cells, whose sum is a multiple of 2^32. */
static void sum_saturates(void **state)
{
	struct rf_policy policy = policy_of(RF_LIMIT_MAX, CELL), three = policy;
	struct rf_window window = {.head = rf_word(35, RF_LIMIT_MAX), .newest = 35};
	const uint32_t full = RF_LIMIT_MAX >> policy.used_shift;

	(void)state;
	three.cells = 3;
	for (uint32_t epoch = 20; epoch < 36; epoch++)
		window.cell[epoch / 2 % RF_CELLS] = PAIR(epoch & ~1U, full, full);
	assert_int_equal(rf_window_sums(&window, &policy, 35, 35).behind, 15ULL * RF_LIMIT_MAX);
	assert_int_equal(rf_window_sums(&window, &policy, 35, 36).before, 14ULL * RF_LIMIT_MAX);
	assert_int_equal(rf_window_sums(&window, &three, 22, 22).behind, 2ULL * RF_LIMIT_MAX);
	assert_int_equal(rf_head_own(&window, &policy, window.head), 0);
	assert_int_equal(rf_head_own(&window, &policy, rf_word(20, RF_LIMIT_MAX)), RF_LIMIT_MAX);
	assert_int_equal(rf_peek_sum(&window, &policy, window.head, 36), 2ULL * RF_LIMIT_MAX);
	assert_int_equal(rf_window_used(&window, &policy, 37), 2ULL * RF_LIMIT_MAX - 1);
	for (uint32_t epoch = 36; epoch < 50; epoch++)
		assert_int_equal(rf_take(&window, &policy, epoch * CELL, 1), RF_OVER);
}

static void inflation_is_clipped(void **state)
{
	struct rf_policy policy = policy_of(10, CELL);
	struct rf_window window;

	(void)state;
	rf_window_open(&window, 20);
	assert_int_equal(offer(&window, &policy, 20 * CELL, 4, 1), 4);
	assert_int_equal(offer(&window, &policy, 23 * CELL, 9, 1), 6);
	window.head += 5; /* five CPUs lost the race for the last permit */
	assert_int_equal(rf_window_used(&window, &policy, 23), 10);
	assert_int_equal(rf_window_cell(&window, &policy, 23), 6);
	assert_int_equal(offer(&window, &policy, 24 * CELL, 9, 1), 0);
	assert_int_equal(rf_window_cell(&window, &policy, 23), 6);
	assert_int_equal(offer(&window, &policy, 36 * CELL, 9, 1), 4);
	assert_int_equal(offer(&window, &policy, 39 * CELL, 9, 1), 6);
}

/* ---- closing a cell ---- */

static void raise_keeps_the_larger(void **state)
{
	static const struct {
		uint32_t head; /* its epoch: the cell's own, unless another CPU moved it on */
		uint64_t stands;
		uint32_t epoch, used;
		uint64_t expected;
	} rows[] = {
		{20, 0, 20, 5, PAIR(20, 0, 5)},
		{20, PAIR(20, 0, 5), 20, 4, PAIR(20, 0, 5)},
		{20, PAIR(20, 0, 5), 20, 5, PAIR(20, 0, 5)},
		{20, PAIR(20, 0, 5), 20, 6, PAIR(20, 0, 6)},
		{20, PAIR(20, 0, 5), 20, 0, PAIR(20, 0, 5)},
		{21, 0, 21, 5, PAIR(20, 5, 0)},
		{21, PAIR(20, 0, 7), 21, 3, PAIR(20, 3, 7)}, /* the other cell is retained */
		{21, PAIR(20, 3, 7), 21, 2, PAIR(20, 3, 7)},
		{21, PAIR(20, 3, 7), 20, 8, PAIR(20, 3, 8)}, /* a late one */
		{21, PAIR(20, 3, 7), 20, 6, PAIR(20, 3, 7)},
		{21, PAIR(20, 3, RF_HALF_MAX), 21, RF_HALF_MAX, PAIR(20, RF_HALF_MAX, RF_HALF_MAX)},
		{40, PAIR(8, 99, 98), 40, 1, PAIR(40, 0, 1)}, /* a lap ago */
		{41, PAIR(8, 99, 98), 41, 1, PAIR(40, 1, 0)},
		{4, PAIR(0xffffffe4, 9, 9), 4, 1, PAIR(4, 0, 1)}, /* the same across the wrap */
		{53, PAIR(52, 2, 1), 20, 99, PAIR(52, 2, 1)},	  /* the loser is a lap behind */
		{53, PAIR(52, 2, 1), 21, 99, PAIR(52, 2, 1)},
		{5, PAIR(4, 0, 1), 0xffffffe4, 9, PAIR(4, 0, 1)},
		{70000, PAIR(70000, 0, 1), 4464, 9, PAIR(70000, 0, 1)}, /* or 2^16 cells */
	};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		struct rf_window window = {.head = rf_word(rows[i].head, 0)}, expected = window;
		uint32_t slot = rows[i].epoch / 2 % RF_CELLS;

		window.cell[slot] = rows[i].stands;
		expected.cell[slot] = rows[i].expected;
		assert_true(rf_cell_raise(&window, rows[i].epoch, rows[i].used));
		assert_memory_equal(&window, &expected, sizeof(window));
	}
}

/* ---- readers ---- */

static void readers_of_a_burst(void **state)
{
	struct rf_policy policy = policy_of(10, CELL);
	struct rf_window window;

	(void)state;
	rf_window_open(&window, 20);
	assert_int_equal(rf_window_used(&window, &policy, 20), 0);
	assert_int_equal(rf_window_passes_again(&window, &policy, 2000, 10), 0);
	assert_int_equal(rf_window_passes_again(&window, &policy, 2000, 11), ~0ULL);
	assert_int_equal(offer(&window, &policy, 2000, 3, 1), 3);
	assert_int_equal(offer(&window, &policy, 2250, 9, 1), 7);
	assert_int_equal(rf_window_cell(&window, &policy, 20), 3);
	assert_int_equal(rf_window_cell(&window, &policy, 21), 0);
	assert_int_equal(rf_window_cell(&window, &policy, 22), 7);
	assert_int_equal(rf_window_used(&window, &policy, 35), 10);
	assert_int_equal(rf_window_used(&window, &policy, 36), 7);
	assert_int_equal(rf_window_used(&window, &policy, 38), 0);
	assert_int_equal(rf_window_passes_again(&window, &policy, 2299, 3), 3600 - 2299);
	assert_int_equal(rf_window_passes_again(&window, &policy, 2299, 4), 3800 - 2299);
	assert_int_equal(rf_window_passes_again(&window, &policy, 1999, 1), 3600 - 1999);
	assert_int_equal(rf_window_passes_again(&window, &policy, 3600, 3), 0);
}

/* Another CPU has moved the head to a cell that this reader's clock has not reached yet. */
static void reader_with_an_old_clock(void **state)
{
	struct rf_policy policy = policy_of(10, CELL);
	struct rf_window window;

	(void)state;
	rf_window_open(&window, 20);
	assert_int_equal(offer(&window, &policy, 2000, 7, 1), 7);
	assert_int_equal(rf_window_used(&window, &policy, 17), 7);
	assert_int_equal(rf_window_passes_again(&window, &policy, 1750, 4), 3600 - 1750);
	assert_int_equal(rf_window_passes_again(&window, &policy, 1750, 3), 0);
	assert_int_equal(offer(&window, &policy, 1750, 1, 3), 1);
}

#define SCRIPT_CELLS(title, largest, number, ...) \
	SCRIPT_OF(title, {RING(largest, number)}, STEPS(__VA_ARGS__))
#define SCRIPT(title, largest, ...) SCRIPT_CELLS(title, largest, RF_CELLS, __VA_ARGS__)

static const struct CMUnitTest tests[] = {
	SCRIPT("a newcomer's first packet passes", 1, AT(0, 1, 1)),
	SCRIPT("a burst: exactly L", 10, AT(0, 1000, 10), AT(99, 1000, 0)),
	SCRIPT("a burst over some cells: exactly L", 10, AT(0, 4, 4), AT(100, 4, 4), AT(250, 4, 2),
	       AT(300, 4, 0), AT(1599, 4, 0)),
	SCRIPT("burst, silence, then exactly one", 1, AT(0, 9, 1), AT(1600, 9, 1), AT(1699, 9, 0)),
	SCRIPT("burst, silence of a window, then L again", 10, AT(0, 15, 10), AT(1600, 15, 10),
	       AT(3200, 15, 10), AT(9999, 15, 10)),
	SCRIPT("burst at a cell's end: shut until the exact cell", 10, AT(99, 15, 10),
	       AT(100, 1, 0), AT(1499, 1, 0), AT(1598, 1, 0), AT(1599, 1, 0), AT(1600, 15, 10),
	       AT(3199, 1, 0), AT(3200, 15, 10)),
	SCRIPT("burst at a cell's start: shut until the exact cell", 10, AT(100, 15, 10),
	       AT(1600, 1, 0), AT(1699, 1, 0), AT(1700, 15, 10)),
	SCRIPT("a cell that leaves makes room for what it held", 10, AT(0, 3, 3), AT(150, 5, 5),
	       AT(1450, 9, 2), AT(1599, 9, 0), AT(1600, 9, 3), AT(1699, 9, 0), AT(1700, 9, 5),
	       AT(2999, 9, 0), AT(3000, 9, 2), AT(3200, 9, 3)),
	SCRIPT("a full window that is asked in every cell opens no later", 2, AT(0, 9, 2),
	       AT(100, 1, 0), AT(300, 1, 0), AT(400, 1, 0), AT(700, 1, 0), AT(900, 1, 0),
	       AT(1000, 1, 0), AT(1300, 1, 0), AT(1400, 1, 0), AT(1500, 1, 0), AT(1600, 9, 2)),
	SCRIPT("a rejected packet is not charged", 10, AT(0, 10, 10), AT(100, 99, 0),
	       AT(900, 99, 0), AT(1600, 6, 6), AT(1700, 99, 4)),
	SCRIPT("time that stands still opens nothing", 10, AT(777, 10, 10), AT(777, 99, 0),
	       AT(777, 99, 0)),
	SCRIPT("time that goes back opens nothing", 10, AT(5000, 10, 10), AT(4999, 9, 0),
	       AT(4000, 9, 0), AT(3300, 9, 0), AT(0, 9, 0), AT(6599, 9, 0), AT(6600, 15, 10)),
	SCRIPT("time that goes back is charged to the newest cell", 10, AT(5000, 4, 4),
	       AT(3000, 3, 3), AT(4899, 9, 3), AT(5000, 9, 0), AT(6599, 9, 0), AT(6600, 15, 10)),
	SCRIPT("a stalled CPU, its clock 70000 cells old: present", 10, AT(7000000, 4, 4),
	       AT(0, 9, 6), AT(6999999, 9, 0), AT(7001599, 9, 0), AT(7001600, 15, 10)),
	SCRIPT("cost over 1: a packet that does not fit leaves its room to a smaller one", 10,
	       AT_COST(0, 5, 3, 3), AT_COST(0, 1, 0, 2), AT_COST(0, 5, 1, 1),
	       AT_COST(1599, 1, 0, 1), AT_COST(1600, 1, 1, 10), AT_COST(1600, 1, 0, 1)),
	SCRIPT("cost over L never passes and charges nothing", 10, AT_COST(0, 9, 0, 11),
	       AT_COST(0, 9, 0, UINT32_MAX), AT_COST(100, 9, 0, 11), AT(100, 15, 10),
	       AT_COST(1700, 9, 0, 11), AT_COST(1700, 9, 0, UINT32_MAX), AT(1700, 15, 10)),
	SCRIPT_CELLS("two cells: a burst is shut out until its cell leaves", 3, 2, AT(50, 9, 3),
		     AT(199, 9, 0), AT(200, 2, 2), AT(300, 9, 1), AT(400, 9, 2)),
	SCRIPT_CELLS("five cells: a burst is shut out until its cell leaves", 3, 5, AT(50, 2, 2),
		     AT(150, 9, 1), AT(499, 9, 0), AT(500, 9, 2), AT(600, 9, 1)),
	UNIT_ROW("one packet in every cell: a cell that leaves makes room for one",
		 one_in_every_cell),
	UNIT_ROW("a packet over the limit only reads the window", over_only_reads),
	UNIT_ROW("a policy without a cell length: one cell, no division", a_policy_without_cell),

	UNIT_ROW("sliding: a burst on each side of a minute's edge passes L once",
		 minute_edge_sliding),

	SCRIPT("limit lowered under a full window: nothing is forgotten, then it recovers", 100,
	       AT(2000, 50, 50), AT(2200, 60, 50), AT_LIMIT(10, 100, 2200, 5, 0), AT(2300, 5, 0),
	       AT(2400, 5, 0), AT(2500, 5, 0), AT(2600, 5, 0), AT(2700, 5, 0), AT(2800, 5, 0),
	       AT(2900, 5, 0), AT(3000, 5, 0), AT(3100, 5, 0), AT(3200, 5, 0), AT(3300, 5, 0),
	       AT(3400, 5, 0), AT(3500, 5, 0), AT(3600, 5, 0), AT(3700, 5, 0), AT(3800, 30, 10),
	       AT(5300, 30, 0), AT(5400, 30, 10)),
	SCRIPT("limit lowered and raised: the old admissions count", 100, AT(2000, 80, 80),
	       AT_LIMIT(10, 100, 2100, 5, 0), AT_LIMIT(100, 100, 2200, 200, 20), AT(3600, 200, 80)),
	SCRIPT("limit raised: the difference passes at once, and no more", 10, AT(2000, 30, 10),
	       AT_LIMIT(25, 25, 2000, 30, 15), AT(3500, 30, 0), AT(3600, 30, 25)),
	UNIT_ROW("a clip below what the window holds: nothing underflows", clip_below_the_window),
	UNIT_ROW("L = 2^31: used never wraps", largest_limit),
	UNIT_ROW("a sum over 2^32 saturates", sum_saturates),
	UNIT_ROW("a lost race's inflation goes when its cell closes", inflation_is_clipped),
	UNIT_ROW("closing a cell keeps the larger and the newer", raise_keeps_the_larger),

	UNIT_ROW("readers of a burst see what is used, the cells, and when a packet passes again",
		 readers_of_a_burst),
	UNIT_ROW("a reader with an old clock sees that a packet passes now",
		 reader_with_an_old_clock),
};

int main(void)
{
	return cmocka_run_group_tests_name("limiter", tests, NULL, NULL);
}
