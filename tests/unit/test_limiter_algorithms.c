// SPDX-License-Identifier: GPL-2.0
/*
 * Weighted, fixed, log, token and leaky, and limits that count rejected packets, in rows of known
 * answers: which packets are offered at which time, and which of them pass. One CPU at a time.
 */
#include "script.h"

#include "tests/limits.h"

/* ---- the clock's zero ---- */

/*
 * Time 0 is stored as 1, because 0 marks an empty slot; W therefore ends one ns later than it
 * should.
 */
static void log_at_zero(void **state)
{
	const struct rf_policy policy = {TIMES(3, 1000)};
	struct rf_window window;

	(void)state;
	rf_window_start(&window, &policy, 0);
	assert_int_equal(rf_used(&window, &policy, 0), 0);
	assert_int_equal(rf_window_passes_again(&window, &policy, 0, 1), 0);
	assert_int_equal(offer(&window, &policy, 0, 9, 1), 3);
	assert_int_equal(rf_used(&window, &policy, 0), 3);
	assert_int_equal(rf_window_passes_again(&window, &policy, 0, 1), 1002);
	assert_int_equal(offer(&window, &policy, 1001, 9, 1), 0);
	assert_int_equal(offer(&window, &policy, 1002, 9, 1), 3);
}

static void bucket_at_zero(void **state)
{
	const struct rf_policy policy = {BUCKET(5, 100)};
	struct rf_window window;

	(void)state;
	rf_window_start(&window, &policy, 0);
	assert_int_equal(rf_used(&window, &policy, 0), 0);
	assert_int_equal(offer(&window, &policy, 0, 9, 1), 5);
	assert_int_equal(rf_used(&window, &policy, 0), 5);
	assert_int_equal(rf_window_passes_again(&window, &policy, 0, 5), 500);
	assert_int_equal(offer(&window, &policy, 99, 9, 1), 0);
	assert_int_equal(offer(&window, &policy, 100, 9, 1), 1);
}

/* The deepest possible bucket, more than a year, is full in the first ns. */
static void deepest_bucket_at_zero(void **state)
{
	static const struct rf_limit limit = LIMIT(1, 8784 * 3600 * SECOND, TOKEN(1));
	const struct rf_policy policy = policy_compiled(&limit, HZ250);
	struct rf_window window;

	(void)state;
	rf_window_start(&window, &policy, 0);
	assert_int_equal(offer(&window, &policy, 0, 9, 1), 1);
	assert_int_equal(rf_window_passes_again(&window, &policy, 0, 1), limit.window_ns);
	assert_int_equal(offer(&window, &policy, limit.window_ns - 1, 9, 1), 0);
	assert_int_equal(offer(&window, &policy, limit.window_ns, 9, 1), 1);
}

/* ---- numbers at their edge ---- */

/* A flood of refused packets stops counting before a word overflows, and its window expires. */
static void refused_packets_saturate(void **state)
{
	const struct rf_policy policy = {COUNTING_RING(RF_LIMIT_MAX / 2, 3)};
	struct rf_window window;
	uint64_t passed = 0;

	(void)state;
	rf_window_start(&window, &policy, 2000);
	for (int i = 0; i < 6000; i++)
		passed += offer(&window, &policy, 2000, 1, RF_COST_MAX);
	assert_int_equal(passed * RF_COST_MAX, policy.limit);
	assert_in_range(rf_used(&window, &policy, 2000), RF_USED_MAX, RF_USED_MAX + RF_COST_MAX);
	assert_int_equal(offer(&window, &policy, 2100, 6000, RF_COST_MAX), 0);
	assert_int_equal(offer(&window, &policy, 2200, 9, 1), 0);
	assert_int_equal(offer(&window, &policy, 2300, 9, 1), 0);
	assert_int_equal(offer(&window, &policy, 2400, 9, 1), 9);
	/* The nine of each cell behind are rounded up to a unit of the ring. */
	assert_int_equal(rf_used(&window, &policy, 2400), (2 << policy.used_shift) + 9);
}

static void largest_weighted(void **state)
{
	const struct rf_policy policy = {WEIGHTED_RING(RF_LIMIT_MAX, 2)};
	struct rf_window window;

	(void)state;
	rf_window_start(&window, &policy, 2000);
	assert_int_equal(rf_take(&window, &policy, 2000, RF_LIMIT_MAX), RF_UNDER);
	assert_int_equal(rf_take(&window, &policy, 2100, 1), RF_OVER);
	assert_int_equal(rf_take(&window, &policy, 2150, RF_LIMIT_MAX / 2 + 1), RF_OVER);
	assert_int_equal(rf_take(&window, &policy, 2150, UINT32_MAX), RF_OVER);
	assert_int_equal(rf_take(&window, &policy, 2150, RF_LIMIT_MAX / 2), RF_UNDER);
	assert_int_equal(rf_used(&window, &policy, 2150), RF_LIMIT_MAX);
}

/* No packet may exceed the burst, even if both take the same time after rounding up. */
static void cost_over_the_burst(void **state)
{
	static const struct rf_limit limit = LIMIT(32 * SECOND, SECOND, TOKEN(1515), BYTES);
	const struct rf_policy policy = policy_compiled(&limit, HZ250);
	struct rf_window window;

	(void)state;
	assert_int_equal(rf_bucket_flow(&policy, 1516), rf_bucket_flow(&policy, 1515));
	rf_window_start(&window, &policy, SECOND);
	assert_int_equal(rf_take(&window, &policy, SECOND, 1516), RF_OVER);
	assert_int_equal(rf_window_passes_again(&window, &policy, SECOND, 1516), ~0ULL);
	assert_int_equal(rf_take(&window, &policy, SECOND, 1515), RF_UNDER);
}

/*
 * A byte takes half of 1/16 ns. The burst of 787.5 such sixteenths is rounded up, so 1576 bytes
 * fit.
 */
static void burst_is_rounded_up(void **state)
{
	static const struct rf_limit limit = LIMIT(32 * SECOND, SECOND, TOKEN(1575), BYTES);
	const struct rf_policy policy = policy_compiled(&limit, HZ250);
	struct rf_window window;

	(void)state;
	rf_window_start(&window, &policy, SECOND);
	assert_int_equal(offer(&window, &policy, SECOND, 25, 60), 25);
	assert_int_equal(offer(&window, &policy, SECOND, 1, 77), 0);
	assert_int_equal(offer(&window, &policy, SECOND, 1, 76), 1);
	assert_int_equal(offer(&window, &policy, SECOND, 1, 1), 0);
}

/* ---- readers ---- */

static void reader_of_an_estimate(void **state)
{
	const struct rf_policy policy = {WEIGHTED_RING(14, 2)};
	struct rf_window window;

	(void)state;
	rf_window_start(&window, &policy, 2000);
	assert_int_equal(offer(&window, &policy, 2000, 9, 1), 9);
	assert_int_equal(rf_used(&window, &policy, 2199), 1); /* the head's cell on the edge */
	assert_int_equal(offer(&window, &policy, 2100, 9, 1), 5);
	assert_int_equal(rf_used(&window, &policy, 2100), 14);
	assert_int_equal(rf_used(&window, &policy, 2125), 12); /* 9 * 0.75 + 5 */
	assert_int_equal(rf_used(&window, &policy, 2199), 6);  /* 9 * 0.01 + 5 */
	assert_int_equal(rf_used(&window, &policy, 2200), 5);
	assert_int_equal(rf_used(&window, &policy, 2250), 3);
	assert_int_equal(rf_used(&window, &policy, 2300), 0);
	assert_int_equal(rf_window_passes_again(&window, &policy, 2100, 1), 12); /* 9 * 0.88 */
	assert_int_equal(rf_window_passes_again(&window, &policy, 2125, 3), 9);	 /* 9 * 0.66 */
	assert_int_equal(rf_window_passes_again(&window, &policy, 2125, 14), 2300 - 2125);
	assert_int_equal(rf_window_passes_again(&window, &policy, 2125, 15), ~0ULL);
	/* Another CPU is ahead: the edge counts in full until this CPU's clock gets there. */
	assert_int_equal(rf_used(&window, &policy, 2099), 14);
	assert_int_equal(rf_window_passes_again(&window, &policy, 2099, 1), 13);
}

static void reader_of_a_log(void **state)
{
	const struct rf_policy policy = {TIMES(4, 1000)};
	struct rf_window window;

	(void)state;
	rf_window_start(&window, &policy, 2000);
	assert_int_equal(offer(&window, &policy, 2000, 1, 1), 1);
	assert_int_equal(offer(&window, &policy, 2300, 9, 1), 3);
	assert_int_equal(rf_used(&window, &policy, 2300), 4);
	assert_int_equal(rf_used(&window, &policy, 1500), 4);
	assert_int_equal(rf_used(&window, &policy, 3000), 4);
	assert_int_equal(rf_used(&window, &policy, 3001), 3);
	assert_int_equal(rf_used(&window, &policy, 3301), 0);
	assert_int_equal(rf_window_passes_again(&window, &policy, 2400, 1), 601);
	assert_int_equal(rf_window_passes_again(&window, &policy, 1500, 1), 1501);
	assert_int_equal(rf_window_passes_again(&window, &policy, 3001, 1), 0);
}

static void reader_of_a_bucket(void **state)
{
	const struct rf_policy policy = {BUCKET(5, 100)};
	struct rf_window window;

	(void)state;
	rf_window_start(&window, &policy, 2000);
	assert_int_equal(rf_used(&window, &policy, 2000), 0);
	assert_int_equal(offer(&window, &policy, 2000, 9, 1), 5);
	assert_int_equal(rf_used(&window, &policy, 2000), 5);
	assert_int_equal(rf_used(&window, &policy, 2099), 5); /* 4.01 */
	assert_int_equal(rf_used(&window, &policy, 2100), 4);
	assert_int_equal(rf_used(&window, &policy, 2500), 0);
	assert_int_equal(rf_used(&window, &policy, 1000), 5);
	assert_int_equal(rf_window_passes_again(&window, &policy, 2050, 1), 50);
	assert_int_equal(rf_window_passes_again(&window, &policy, 2050, 5), 450);
	assert_int_equal(rf_window_passes_again(&window, &policy, 1950, 1), 150);
	assert_int_equal(rf_window_passes_again(&window, &policy, 2050, 6), ~0ULL);
	assert_int_equal(rf_window_passes_again(&window, &policy, 2100, 1), 0);
}

/* ---- the cost of a frame ---- */

static void cost_of_a_frame(void **state)
{
	static const struct {
		uint8_t unit, shift;
		uint64_t length;
		uint32_t cost;
	} rows[] = {
		{RF_PACKETS, 0, 0, 1},
		{RF_PACKETS, 0, 1514, 1},
		{RF_PACKETS, 6, 9014, 1},
		{RF_BYTES, 0, 0, 1},
		{RF_BYTES, 0, 1, 1},
		{RF_BYTES, 0, 60, 60},
		{RF_BYTES, 0, 1514, 1514},
		{RF_BYTES, 1, 1513, 757},
		{RF_BYTES, 1, 1514, 757},
		{RF_BYTES, 6, 60, 1},
		{RF_BYTES, 6, 64, 1},
		{RF_BYTES, 6, 65, 2},
		{RF_BYTES, 6, 1514, 24},
		{RF_BYTES, 0, RF_COST_MAX, RF_COST_MAX},
		{RF_BYTES, 0, 5ULL << 32, RF_COST_MAX},
		{RF_BYTES, 6, 64ULL * RF_COST_MAX + 1, RF_COST_MAX},
	};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		struct rf_policy policy = {.unit = rows[i].unit, .unit_shift = rows[i].shift};

		assert_int_equal(rf_cost(&policy, rows[i].length), rows[i].cost);
	}
}

static const struct CMUnitTest tests[] = {
	/* weighted */
	SCRIPT_OF("weighted, 2 cells: the edge leaves bit by bit, rounded up",
		  {WEIGHTED_RING(10, 2)},
		  STEPS(AT(2050, 99, 10), AT(2100, 9, 0), AT(2109, 9, 0), AT(2110, 9, 1),
			AT(2119, 9, 0), AT(2120, 9, 1), AT(2199, 9, 7), AT(2200, 9, 1),
			AT(2201, 9, 0), AT(2300, 9, 9))),
	SCRIPT_OF("weighted, 3 cells: two cells count in full, the edge by its part",
		  {WEIGHTED_RING(10, 3)},
		  STEPS(AT(2099, 4, 4), AT(2100, 9, 6), AT(2199, 9, 0), AT(2200, 9, 0),
			AT(2225, 9, 1), AT(2250, 9, 1), AT(2299, 9, 1), AT(2300, 9, 1),
			AT(2350, 9, 3))),
	SCRIPT_OF("weighted: a flood all the time gets L in W, in the long run",
		  {WEIGHTED_RING(4, 2)},
		  STEPS(AT(2000, 9, 4), AT(2100, 9, 0), AT(2125, 9, 1), AT(2150, 9, 1),
			AT(2175, 9, 1), AT(2200, 9, 1), AT(2250, 9, 1), AT(2300, 9, 2),
			AT(2350, 9, 1), AT(2400, 9, 1))),
	SCRIPT_OF("weighted: time that goes back opens nothing", {WEIGHTED_RING(10, 3)},
		  STEPS(AT(5000, 15, 10), AT(4999, 9, 0), AT(0, 9, 0), AT(5199, 9, 0),
			AT(5209, 9, 0), AT(5210, 9, 1), AT(5205, 9, 0), AT(5210, 9, 0))),
	SCRIPT_OF("weighted: an old clock sees the edge in full", {WEIGHTED_RING(10, 3)},
		  STEPS(AT(5000, 8, 8), AT(5250, 9, 6), AT(5199, 9, 0), AT(5225, 9, 0),
			AT(5275, 9, 2), AT(5250, 9, 0))),
	SCRIPT_OF("weighted: a stalled CPU, its clock 70000 cells old: present",
		  {WEIGHTED_RING(10, 3)},
		  STEPS(AT(7000000, 4, 4), AT(0, 9, 6), AT(6999999, 9, 0), AT(7000199, 9, 0),
			AT(7000300, 15, 10))),
	SCRIPT_OF("weighted: time that stands still opens nothing", {WEIGHTED_RING(10, 3)},
		  STEPS(AT(777, 10, 10), AT(777, 99, 0), AT(950, 99, 5), AT(950, 99, 0))),
	SCRIPT_OF("weighted: after two idle windows a whole burst passes", {WEIGHTED_RING(10, 2)},
		  STEPS(AT(2000, 9, 9), AT(2300, 15, 10))),
	SCRIPT_OF("weighted: a packet of cost over 1, and one over L", {WEIGHTED_RING(10, 2)},
		  STEPS(AT_COST(2000, 9, 3, 3), AT_COST(2000, 9, 0, 2), AT_COST(2100, 9, 0, 2),
			AT_COST(2112, 9, 1, 2), AT_COST(2300, 9, 0, 11), AT_COST(2300, 9, 1, 10),
			AT_COST(2300, 9, 0, UINT32_MAX))),
	SCRIPT_OF("weighted: limit lowered under a full window, nothing is forgotten",
		  {WEIGHTED_RING(100, 3)},
		  STEPS(AT(2000, 50, 50), AT_LIMIT(10, 100, 2050, 5, 0), AT(2100, 5, 0),
			AT(2200, 5, 0), AT(2250, 5, 0), AT(2281, 5, 0), AT(2282, 5, 1),
			AT(2290, 9, 4), AT(2300, 9, 5))),
	SCRIPT_OF("weighted: limit raised, the difference passes at once, and no more",
		  {WEIGHTED_RING(10, 3)},
		  STEPS(AT(2000, 30, 10), AT_LIMIT(25, 25, 2000, 30, 15), AT(2100, 30, 0),
			AT(2200, 30, 0), AT(2203, 30, 0), AT(2204, 30, 1))),

	/* fixed */
	SCRIPT_OF("fixed: L pass in each aligned window", {ALIGNED(10)},
		  STEPS(AT(2099, 99, 10), AT(2100, 99, 10), AT(2199, 99, 0), AT(2200, 4, 4),
			AT(2250, 99, 6), AT(2999, 99, 10))),
	SCRIPT_OF("fixed: time that goes back or stands still opens nothing", {ALIGNED(10)},
		  STEPS(AT(5000, 15, 10), AT(4999, 9, 0), AT(0, 9, 0), AT(5099, 9, 0),
			AT(5099, 9, 0), AT(5100, 15, 10))),
	SCRIPT_OF("fixed: a stalled CPU, its clock 70000 cells old: present", {ALIGNED(10)},
		  STEPS(AT(7000000, 4, 4), AT(0, 9, 6), AT(6999999, 9, 0), AT(7000100, 15, 10))),
	SCRIPT_OF("fixed: limit lowered under a full window, then raised", {ALIGNED(100)},
		  STEPS(AT(2000, 50, 50), AT_LIMIT(10, 100, 2050, 5, 0),
			AT_LIMIT(60, 100, 2050, 99, 10), AT_LIMIT(10, 100, 2100, 30, 10),
			AT_LIMIT(25, 100, 2150, 30, 15))),

	/* log */
	SCRIPT_OF("log: a packet makes room when it is more than W old", {TIMES(3, 1000)},
		  STEPS(AT(2000, 1, 1), AT(2100, 1, 1), AT(2200, 9, 1), AT(3000, 9, 0),
			AT(3001, 9, 1), AT(3100, 9, 0), AT(3101, 9, 1), AT(3201, 9, 1),
			AT(4001, 9, 0), AT(4002, 9, 1))),
	SCRIPT_OF("log: L = 16 uses all slots", {TIMES(16, 1000)},
		  STEPS(AT(2000, 10, 10), AT(2500, 99, 6), AT(3000, 99, 0), AT(3001, 99, 10),
			AT(3500, 99, 0), AT(3501, 99, 6), AT(9999, 99, 16))),
	SCRIPT_OF("log: time that stands still opens nothing", {TIMES(3, 1000)},
		  STEPS(AT(777, 9, 3), AT(777, 99, 0), AT(777, 99, 0))),
	SCRIPT_OF("log: time that goes back counts as the newest", {TIMES(10, 1000)},
		  STEPS(AT(5000, 4, 4), AT(3000, 3, 3), AT(4000, 9, 3), AT(5000, 9, 0),
			AT(6000, 9, 0), AT(6001, 15, 10), AT(2000, 9, 0))),
	SCRIPT_OF("log: a stalled CPU whose clock is thousands of W old", {TIMES(10, 1000)},
		  STEPS(AT(7000000, 4, 4), AT(1, 9, 6), AT(6999999, 9, 0), AT(7001000, 9, 0),
			AT(7001001, 15, 10))),
	SCRIPT_OF("log: limit lowered under a full window, nothing is forgotten", {TIMES(16, 1000)},
		  STEPS(AT(2000, 6, 6), AT(2400, 3, 3), AT_LIMIT(4, 0, 2500, 9, 0), AT(3000, 9, 0),
			AT(3001, 9, 1), AT(3400, 9, 0), AT(3401, 9, 3))),
	SCRIPT_OF("log: limit raised, the difference passes at once, and no more", {TIMES(4, 1000)},
		  STEPS(AT(2000, 9, 4), AT_LIMIT(16, 0, 2000, 30, 12), AT(3000, 9, 0),
			AT(3001, 30, 16))),
	SCRIPT_OF("log: limit lowered and raised, the old admissions count", {TIMES(16, 1000)},
		  STEPS(AT(2000, 9, 9), AT_LIMIT(2, 0, 2100, 9, 0), AT_LIMIT(16, 0, 2200, 30, 7),
			AT(3001, 30, 9))),

	/* buckets */
	SCRIPT_OF("token: a burst passes, then one packet each 100 ns", {BUCKET(5, 100)},
		  STEPS(AT(2000, 99, 5), AT(2099, 9, 0), AT(2100, 9, 1), AT(2250, 9, 1),
			AT(2300, 9, 1), AT(2799, 9, 4), AT(2800, 9, 1), AT(9999, 99, 5))),
	SCRIPT_OF("token: a packet of cost over 1, and one over the burst", {BUCKET(5, 100)},
		  STEPS(AT_COST(2000, 9, 2, 2), AT_COST(2000, 9, 0, 2), AT_COST(2000, 9, 1, 1),
			AT_COST(2499, 9, 0, 5), AT_COST(2500, 9, 1, 5), AT_COST(9000, 9, 0, 6),
			AT_COST(9000, 9, 0, UINT32_MAX), AT_COST(9000, 9, 1, 5))),
	SCRIPT_OF("leaky: one packet passes each 100 ns, and no burst", {BUCKET(1, 100)},
		  STEPS(AT(2000, 9, 1), AT(2050, 9, 0), AT(2099, 9, 0), AT(2100, 9, 1),
			AT(2150, 9, 0), AT(2300, 9, 1))),
	SCRIPT_OF("token: time that stands still opens nothing", {BUCKET(5, 100)},
		  STEPS(AT(777, 9, 5), AT(777, 99, 0), AT(777, 99, 0))),
	SCRIPT_OF(
		"token: time that goes back opens nothing", {BUCKET(5, 100)},
		STEPS(AT(5000, 9, 5), AT(4000, 9, 0), AT(0, 9, 0), AT(5099, 9, 0), AT(5100, 9, 1))),
	SCRIPT_OF("token: time that goes back takes from what is left", {BUCKET(5, 100)},
		  STEPS(AT(5000, 2, 2), AT(4900, 9, 2), AT(5000, 9, 1), AT(5100, 9, 1))),
	SCRIPT_OF("token: a stalled CPU whose clock is far behind", {BUCKET(5, 100)},
		  STEPS(AT(7000000, 2, 2), AT(0, 9, 0), AT(6999699, 9, 0), AT(7000000, 9, 3))),
	SCRIPT_OF("token: an empty bucket is empty under a larger burst", {BUCKET(5, 100)},
		  STEPS(AT(2000, 9, 5), AT_BUCKET(50, 100, 2000, 9, 0), AT(2100, 9, 1),
			AT(7100, 99, 50))),
	SCRIPT_OF("token: an empty bucket is empty under a higher rate", {BUCKET(5, 100)},
		  STEPS(AT(2000, 9, 5), AT_BUCKET(5, 10, 2000, 9, 0), AT(2009, 9, 0),
			AT(2010, 9, 1), AT(2060, 9, 5))),
	SCRIPT_OF("token: under a lower rate the next packet waits no longer than that rate says",
		  {BUCKET(5, 100)},
		  STEPS(AT(2000, 9, 5), AT_BUCKET(5, 1000, 2000, 9, 0), AT(2999, 9, 0),
			AT(3000, 9, 1))),
	SCRIPT_OF("token: a smaller burst takes the rest at once", {BUCKET(50, 100)},
		  STEPS(AT(2000, 30, 30), AT_BUCKET(5, 100, 2000, 9, 5),
			AT_BUCKET(50, 100, 2000, 9, 0), AT(2300, 9, 3))),
	SCRIPT_OF("token: a newcomer's bucket is full under any burst", {BUCKET(5, 100)},
		  STEPS(AT_BUCKET(50, 100, 2000, 99, 50))),

	/* count rejected */
	SCRIPT_OF("count rejected: a flood keeps itself out", {COUNTING_RING(10, 16)},
		  STEPS(AT(2000, 15, 10), AT(2100, 1, 0), AT(3500, 1, 0), AT(3600, 20, 8),
			AT(3700, 1, 0), AT(5100, 3, 0), AT(5200, 15, 6))),
	SCRIPT_OF("count rejected: a packet over L counts by its cost", {COUNTING_RING(10, 2)},
		  STEPS(AT_COST(2000, 1, 0, 11), AT(2100, 1, 0), AT_COST(2200, 1, 0, 10),
			AT_COST(2400, 1, 1, 10))),
	SCRIPT_OF("count rejected, fixed: rejected packets count in their own window only",
		  {COUNTING_RING(10, 1), .algorithm = RF_FIXED},
		  STEPS(AT(2000, 99, 10), AT(2099, 9, 0), AT(2100, 99, 10))),
	SCRIPT_OF("count rejected, weighted: rejected packets leave with the edge",
		  {COUNTING_RING(10, 1), .edge = RF_EDGE_WEIGHTED},
		  STEPS(AT(2000, 20, 10), AT(2150, 1, 0), AT(2159, 1, 0), AT(2160, 1, 0),
			AT(2199, 1, 1), AT(2200, 9, 6))),
	SCRIPT_OF("count rejected, log: the newest times are those of refused packets",
		  {TIMES(3, 1000), .flags = RF_COUNT_REJECTED},
		  STEPS(AT(2000, 3, 3), AT(2500, 2, 0), AT(3001, 1, 1), AT(3400, 1, 0),
			AT(4002, 9, 2), AT(5002, 9, 0), AT(6003, 9, 3))),
	SCRIPT_OF("count rejected, token: a refused packet empties the bucket",
		  {BUCKET(5, 100), .flags = RF_COUNT_REJECTED},
		  STEPS(AT(2000, 3, 3), AT_COST(2000, 1, 0, 3), AT(2000, 1, 0), AT(2050, 1, 0),
			AT(2100, 1, 0), AT(2199, 1, 0), AT(2299, 1, 1))),

	UNIT_ROW("log: time 0 is a time like any other", log_at_zero),
	UNIT_ROW("token: a bucket is full at the clock's zero", bucket_at_zero),
	UNIT_ROW("token: the deepest bucket is full at the clock's zero", deepest_bucket_at_zero),

	UNIT_ROW("count rejected: rejected packets fill no more than a word, and the window ends",
		 refused_packets_saturate),
	UNIT_ROW("weighted, L = 2^31: the estimate does not wrap", largest_weighted),
	UNIT_ROW("token: a packet over the burst never passes, whatever its flow",
		 cost_over_the_burst),
	UNIT_ROW("token: a burst of bytes is rounded up to 1/16 ns", burst_is_rounded_up),

	UNIT_ROW("readers of a weighted window see what is used and when a packet passes again",
		 reader_of_an_estimate),
	UNIT_ROW("readers of a log see what is used and when a packet passes again",
		 reader_of_a_log),
	UNIT_ROW("readers of a bucket see what is used and when a packet passes again",
		 reader_of_a_bucket),
	UNIT_ROW("the cost of a frame is 1 in packets, and in bytes its units, rounded up",
		 cost_of_a_frame),
};

int main(void)
{
	return cmocka_run_group_tests_name("limiter, algorithms", tests, NULL, NULL);
}
