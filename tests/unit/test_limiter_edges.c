// SPDX-License-Identifier: GPL-2.0
/*
 * The most that any sender can pass in an interval, for each algorithm: floods at the worst times,
 * and every possible pattern for small windows. The tests show that the bounds are met and reached.
 */
#include "limiter.h"

#include "tests/limits.h"

static const uint32_t ticks_ns[] = {HZ1000, HZ300, HZ250, HZ100};

/* ---- floods ---- */

#define FLOODS_MAX 6

/* More than L packets, sent this many cells and units of the clock after the start of a cell. */
struct flood {
	int cells, units;
	uint32_t passed;
};

struct floods {
	struct rf_limit limit;
	struct flood flood[FLOODS_MAX];
	int floods;
};

/* When that cell starts; of a bucket, a cell is the time of a packet. */
static uint64_t start_of(const struct rf_policy *policy, uint64_t cell)
{
	const int shift = rf_is_bucket(policy) ? RF_BUCKET_SHIFT : policy->time_shift;
	const unsigned __int128 parts = (unsigned __int128)cell * policy->cell;

	return (parts + (1U << shift) - 1) >> shift;
}

static void send_floods(const struct floods *floods, uint32_t tick_ns, uint64_t origin)
{
	const struct rf_policy policy = policy_compiled(&floods->limit, tick_ns);
	struct rf_window window;

	for (int i = 0; i < floods->floods; i++) {
		const struct flood *flood = &floods->flood[i];
		uint64_t time = start_of(&policy, origin + flood->cells) + flood->units;
		uint32_t passed;

		if (i == 0)
			rf_window_start(&window, &policy, time);
		passed = offer(&window, &policy, time, policy.limit + 5, 1);
		if (passed != flood->passed)
			fail_msg("tick %u, origin %" PRIu64 ", flood %d: %u passed, not %u",
				 tick_ns, origin, i, passed, flood->passed);
	}
}

static void run_floods(void **state)
{
	const struct floods *floods = *state;
	bool ring = floods->limit.algorithm == RF_SLIDING || floods->limit.algorithm == RF_FIXED;

	for (size_t i = 0; i < UNIT_ARRAY_SIZE(ticks_ns); i++) {
		send_floods(floods, ticks_ns[i], 100);
		if (ring) {
			send_floods(floods, ticks_ns[i], EPOCHS - 3);
			send_floods(floods, ticks_ns[i], EPOCHS + 77);
		}
	}
}

/* ---- bursts at every place in a cell, to the ns ---- */

struct place {
	const struct rf_policy *policy;
	uint64_t window_ns, unit_ns;
	uint64_t reopens_ns; /* after the burst */
};

/* Sends a burst, then everything that lies within W of it. */
static void burst_at(const struct place *place, uint64_t burst_ns)
{
	const struct rf_policy *policy = place->policy;
	const uint64_t unit = place->unit_ns;
	struct rf_window window;

	rf_window_start(&window, policy, burst_ns / unit);
	assert_int_equal(offer(&window, policy, burst_ns / unit, 7, 1), 5);
	for (uint64_t eighth = 0; eighth <= 8; eighth++) {
		uint64_t time_ns = burst_ns + place->window_ns / 8 * eighth;

		assert_int_equal(offer(&window, policy, time_ns / unit, 2, 1), 0);
	}
	assert_int_equal(offer(&window, policy, (burst_ns + place->window_ns) / unit, 2, 1), 0);
	assert_int_equal(offer(&window, policy, (burst_ns + place->reopens_ns) / unit, 7, 1), 5);
}

static void burst_at_every_place(const struct rf_limit *limit, uint32_t tick_ns)
{
	const struct rf_policy policy = policy_compiled(limit, tick_ns);
	const uint64_t unit_ns = policy_unit_ns(&policy, tick_ns);
	const uint64_t cell_ns = policy_cells_ns(&policy, 1, tick_ns);
	struct place place = {&policy, limit->window_ns, unit_ns,
			      policy_cells_ns(&policy, policy.cells, tick_ns)};

	if (rf_is_log(&policy))
		place.reopens_ns = limit->window_ns + 1;
	for (uint64_t part = 0; part < 64; part++) {
		uint64_t burst_ns = 20 * cell_ns + cell_ns * part / 64;

		burst_at(&place, burst_ns);
		burst_at(&place, burst_ns + 1);
		burst_at(&place, burst_ns - 1);
	}
}

static void burst_is_shut_out(void **state)
{
	static const uint64_t windows_ns[] = {1 * MS, 333333333, 1 * SECOND, 10 * SECOND};
	struct rf_limit limit = *(const struct rf_limit *)*state;

	for (size_t i = 0; i < UNIT_ARRAY_SIZE(ticks_ns) * UNIT_ARRAY_SIZE(windows_ns); i++) {
		limit.window_ns = windows_ns[i % UNIT_ARRAY_SIZE(windows_ns)];
		burst_at_every_place(&limit, ticks_ns[i / UNIT_ARRAY_SIZE(windows_ns)]);
	}
}

/* ---- every pattern ---- */

#define UNITS_MAX 15

struct search {
	struct rf_policy policy;
	uint32_t units;		    /* how long a pattern is */
	uint32_t longest;	    /* interval that is looked at, far shorter */
	uint64_t start;		    /* of a cell; epochs wrap two cells later */
	uint32_t passed[UNITS_MAX]; /* in each unit of the clock */
	uint32_t most[UNITS_MAX];   /* in any interval of that length, both ends included */
};

static void note_most(struct search *search)
{
	for (uint32_t first = 0; first < search->units; first++) {
		uint32_t sum = 0;

		for (uint32_t last = first; last < search->units; last++) {
			sum += search->passed[last];
			if (search->most[last - first] < sum)
				search->most[last - first] = sum;
		}
	}
}

/* Tries 0 to L packets in each unit from `unit` on. */
static void search_from(struct search *search, const struct rf_window *window, uint32_t unit)
{
	const uint32_t most = search->policy.limit < RF_CELLS ? search->policy.limit : RF_CELLS;

	if (unit == search->units) {
		note_most(search);
		return;
	}
	for (uint32_t packets = 0; packets <= most; packets++) {
		struct rf_window copy = *window;

		search->passed[unit] =
			offer(&copy, &search->policy, search->start + unit, packets, 1);
		search_from(search, &copy, unit + 1);
	}
}

/* The limiter's promise for an interval of that length, both ends included. */
static uint32_t promised(const struct rf_policy *policy, uint32_t length)
{
	const uint32_t limit = policy->limit, cell = policy->cell;
	const uint32_t full = (policy->cells - 1) * cell;

	if (rf_is_bucket(policy))
		return limit + (length << RF_BUCKET_SHIFT) / cell;
	if (rf_is_log(policy))
		return length <= cell ? limit : 2 * limit;
	if (length <= full)
		return limit;
	if (rf_is_weighted(policy))
		return limit + limit * (length - full - 1) / cell;
	return 2 * limit;
}

static void every_pattern(void **state)
{
	static struct search search;
	struct rf_window window;

	search = *(const struct search *)*state;
	search.policy.clip = search.policy.limit;
	search.start = EPOCHS * 12 - 2 * search.policy.cell;
	rf_window_start(&window, &search.policy, search.start);
	search_from(&search, &window, 0);
	for (uint32_t length = 0; length <= search.longest; length++)
		if (search.most[length] != promised(&search.policy, length))
			fail_msg("at most %u in an interval of %u, not %u", search.most[length],
				 length, promised(&search.policy, length));
}

#define PATTERNS(title, length, interval, ...)                                                    \
	UNIT_ROW_OF("every pattern of packets reaches the promised bound: " title, every_pattern, \
		    (&(struct search){.units = length,                                            \
				      .longest = interval,                                        \
				      .policy = {.id = 1, __VA_ARGS__}}))
#define RING(most, number, units) .limit = most, .cells = number, .cell = units

/* ---- rows ---- */

#define FLOODS(title, count, ...) \
	UNIT_ROW_OF(title, run_floods, (&(struct floods){.floods = count, .limit = __VA_ARGS__}))
#define SHUT(title, ...) \
	UNIT_ROW_OF(title, burst_is_shut_out, (&(struct rf_limit)LIMIT(5, SECOND, __VA_ARGS__)))

static const struct CMUnitTest tests[] = {
	FLOODS("fixed: 2 L can pass in one unit of the clock", 3, LIMIT(10, 60 * SECOND, FIXED),
	       {{1, -1, 10}, {1, 0, 10}, {2, -1, 0}}),
	FLOODS("fixed, in ns: 2 L can pass in one unit of the clock", 3, LIMIT(10, 7 * MS, FIXED),
	       {{1, -1, 10}, {1, 0, 10}, {2, -1, 0}}),
	FLOODS("coarse: L can pass in W - cell, and 2 L in one unit more", 4,
	       LIMIT(10, 60 * SECOND, COARSE(10)),
	       {{1, -1, 10}, {10, -1, 0}, {10, 0, 10}, {11, -1, 0}}),
	FLOODS("coarse, in ns: L can pass in W - cell, and 2 L in one unit more", 4,
	       LIMIT(10, MS, COARSE(16)), {{1, -1, 10}, {16, -1, 0}, {16, 0, 10}, {17, -1, 0}}),
	FLOODS("weighted: L can pass in W - cell, and 2 L - 1 in W", 4,
	       LIMIT(10, 60 * SECOND, WEIGHTED(10)),
	       {{1, -1, 10}, {9, -1, 0}, {9, 0, 0}, {10, -1, 9}}),
	FLOODS("weighted, 2 cells: L can pass at once, and 2 L - 1 in W", 3,
	       LIMIT(10, 60 * SECOND, WEIGHTED(2)), {{1, -1, 10}, {1, 0, 0}, {2, -1, 9}}),
	FLOODS("weighted, in ns: L can pass in W - cell, and 2 L - 1 in W", 4,
	       LIMIT(10, MS, WEIGHTED(16)), {{1, -1, 10}, {15, -1, 0}, {15, 0, 0}, {16, -1, 9}}),
	FLOODS("strict: L can pass in N - 1 cells, which are over W, and L in one unit more", 3,
	       LIMIT(10, 60 * SECOND, STRICT(16)), {{1, -1, 10}, {16, -1, 0}, {16, 0, 10}}),
	FLOODS("log: L can pass in W, and L in one ns more", 3, LIMIT(10, 60 * SECOND, LOG),
	       {{1, 0, 10}, {2, 0, 0}, {2, 1, 10}}),
	FLOODS("token: burst + L*T/W can pass in any T", 6, LIMIT(10, SECOND, TOKEN(5)),
	       {{1, 0, 5}, {2, -1, 0}, {2, 0, 1}, {4, 0, 2}, {9, 0, 5}, {99, 0, 5}}),
	FLOODS("leaky: burst + L*T/W can pass in any T", 5, LIMIT(10, SECOND, LEAKY(1)),
	       {{1, 0, 1}, {2, -1, 0}, {2, 0, 1}, {3, 0, 1}, {99, 0, 1}}),

	SHUT("strict: after a burst at any place in a cell nothing passes for W, both ends",
	     STRICT(16)),
	SHUT("strict, 5 cells: after a burst at any place in a cell nothing passes for W",
	     STRICT(5)),
	SHUT("log: after a burst nothing passes for W, both ends, and no longer", LOG),

	PATTERNS("fixed, L = 3", 6, 3, RING(3, 1, 3), .algorithm = RF_FIXED),
	PATTERNS("strict or coarse, 2 cells, L = 2", 9, 6, RING(2, 2, 3)),
	PATTERNS("strict or coarse, 3 cells, L = 2", 9, 6, RING(2, 3, 2)),
	PATTERNS("strict or coarse, 4 cells, L = 1", 15, 12, RING(1, 4, 3)),
	PATTERNS("weighted, 2 cells, L = 4", 7, 3, RING(4, 1, 3), .edge = RF_EDGE_WEIGHTED),
	PATTERNS("weighted, 2 cells, L = 2", 9, 4, RING(2, 1, 4), .edge = RF_EDGE_WEIGHTED),
	PATTERNS("weighted, 3 cells, L = 2", 10, 6, RING(2, 2, 3), .edge = RF_EDGE_WEIGHTED),
	PATTERNS("weighted, 3 cells, L = 3", 8, 4, RING(3, 2, 2), .edge = RF_EDGE_WEIGHTED),
	PATTERNS("weighted, 4 cells, L = 2", 10, 6, RING(2, 3, 2), .edge = RF_EDGE_WEIGHTED),
	PATTERNS("log, L = 2", 10, 6, RING(2, 1, 5), .algorithm = RF_LOG),
	PATTERNS("token, burst 3, one in 2 ns", 8, 7, .limit = 3, .cell = 32, .depth = 96,
		 .algorithm = RF_TOKEN),
	PATTERNS("token, burst 2, one in 2.5 ns", 10, 9, .limit = 2, .cell = 40, .depth = 80,
		 .algorithm = RF_TOKEN),
};

int main(void)
{
	return cmocka_run_group_tests_name("limiter, edges", tests, NULL, NULL);
}
