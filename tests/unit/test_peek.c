// SPDX-License-Identifier: GPL-2.0
/*
 * rf_peek() returns what rf_take() would return, for every algorithm, over random histories, at the
 * packet's time, before and after it, and for other costs. It writes nothing.
 */
#include "traffic.h"

#define PEEKS 6

static uint64_t looks, passes; /* of the row that runs */

static bool take_on_copy(const struct rf_window *window, const struct rf_policy *policy,
			 uint64_t time, uint32_t cost)
{
	struct rf_window copy = *window;

	return rf_take(&copy, policy, time, cost) == RF_UNDER;
}

static void check_peek(struct run *run, const struct source *source, uint64_t time, uint32_t cost)
{
	const struct rf_window before = source->window;
	const bool expected = take_on_copy(&before, run->policy, time, cost);
	const bool peeked = rf_peek(&source->window, run->policy, time, cost);

	assert_memory_equal(&source->window, &before, sizeof(before));
	if (peeked != expected)
		RUN_FAIL(run, "cost %u at %" PRIu64 ": peek says %d, take says %d", cost, time,
			 peeked, expected);
	/* Peeks by the head only, as the program does for any algorithm. */
	if (rf_has_room_at_once(&source->window, run->policy, cost) && !expected)
		RUN_FAIL(run, "cost %u at %" PRIu64 ": room at once, and take has none", cost,
			 time);
	looks++;
	passes += peeked;
}

/* The program's path if the tag is sufficient. */
static void check_at_once(struct run *run, const struct source *source, uint64_t time,
			  uint32_t cost)
{
	const uint64_t now = rf_epoch(run->policy, time), head = source->window.head;
	struct rf_window slow = source->window, fast = source->window;

	if (!rf_is_present_at_once(run->policy, head, now))
		return;
	assert_int_equal(rf_take_present(&fast, run->policy, head, now, cost, time),
			 rf_take_sliding(&slow, run->policy, time, cost));
	assert_memory_equal(&fast, &slow, sizeof(fast));
}

/*
 * Times around the packet's, with a clock that went back or is cells ahead, and across the window.
 */
static uint64_t near(struct run *run, uint64_t time)
{
	const uint64_t span = run->span_ns / run->unit_ns, cell = run->cell_ns / run->unit_ns;
	const uint64_t reach[] = {1, 2, cell + 1, 3 * cell + 1, span + cell + 1, 4 * span + 1};
	const uint64_t by =
		unit_below(&run->random, reach[unit_below(&run->random, UNIT_ARRAY_SIZE(reach))]);

	if (unit_below(&run->random, 3))
		return time + by;
	return time > by ? time - by : 0;
}

/* The largest cost that would pass, or nearly that. */
static uint32_t near_room(struct run *run, const struct source *source, uint64_t time)
{
	const uint64_t used = rf_used(&source->window, run->policy, time);
	const uint64_t room = used < run->policy->limit ? run->policy->limit - used : 0;
	const uint64_t cost = room + unit_below(&run->random, 4);

	if (cost < 2)
		return 1;
	return cost - 1 < RF_COST_MAX ? cost - 1 : RF_COST_MAX;
}

static bool peeks_right(struct run *run, struct source *source, const struct packet *packet)
{
	if (run->packet == 0)
		looks = passes = 0;
	for (int i = 0; i < PEEKS; i++) {
		const uint64_t time = i ? near(run, packet->time) : packet->time;

		check_peek(run, source, time, packet->cost);
		check_peek(run, source, time, near_room(run, source, time));
		check_at_once(run, source, time, packet->cost);
	}
	return rf_take(&source->window, run->policy, packet->time, packet->cost) == RF_UNDER;
}

static void peek_agrees(void **state)
{
	run_traffic(state);
	assert_in_range(passes, looks / 20, looks - looks / 20);
}

/* ---- by hand ---- */

/* The head's own cell is on the edge when the window advances by this many cells. */
static void peeks_at_its_own_edge(void **state)
{
	struct rf_policy policy = policy_of(100, CELL);

	(void)state;
	policy.edge = RF_EDGE_WEIGHTED;
	policy.cells = 4;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(origins); i++) {
		const uint64_t start = origins[i] * CELL;
		struct rf_window window;

		rf_window_start(&window, &policy, start);
		offer(&window, &policy, start, 80, 1);
		for (uint64_t later = 0; later < 6 * CELL; later++)
			for (uint32_t cost = 1; cost <= 101; cost += 4)
				assert_int_equal(
					rf_peek(&window, &policy, start + later, cost),
					take_on_copy(&window, &policy, start + later, cost));
		assert_false(rf_peek(&window, &policy, start + 4 * CELL, 21));
		assert_true(rf_peek(&window, &policy, start + 4 * CELL, 20));
		assert_true(rf_peek(&window, &policy, start + 4 * CELL + CELL / 2, 60));
		assert_false(rf_peek(&window, &policy, start + 4 * CELL + CELL / 2, 61));
	}
}

/* A clip for another L: losses by races count up to that clip. */
static void peeks_by_the_clip(void **state)
{
	static const uint32_t clips[] = {50, 100, 150, 400, UINT32_MAX};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(clips) * UNIT_ARRAY_SIZE(origins); i++) {
		const uint64_t start = origins[i / UNIT_ARRAY_SIZE(clips)] * CELL;
		struct rf_policy policy = policy_of(100, CELL);
		struct rf_window window;

		policy.clip = clips[i % UNIT_ARRAY_SIZE(clips)];
		rf_window_start(&window, &policy, start);
		window.head += 130; /* losers have added */
		for (uint64_t later = 0; later < 18 * CELL; later += CELL / 2)
			for (uint32_t cost = 1; cost <= 101; cost += 10)
				assert_int_equal(
					rf_peek(&window, &policy, start + later, cost),
					take_on_copy(&window, &policy, start + later, cost));
	}
}

/*
 * After nearly a lap of all tags, a lap, and more, an old head can be mistaken for a present one.
 */
static void peeks_after_idle_laps(void **state)
{
	static const uint64_t idle[] = {
		EPOCHS / 2,  EPOCHS - 200, EPOCHS - 65, EPOCHS - 64, EPOCHS - 63,    EPOCHS - 17,
		EPOCHS - 16, EPOCHS - 1,   EPOCHS,	EPOCHS + 1,  EPOCHS + 15,    EPOCHS + 16,
		EPOCHS + 17, EPOCHS + 63,  EPOCHS + 65, 2 * EPOCHS,  3 * EPOCHS - 5, 3 * EPOCHS + 5,
	};
	const uint8_t cells[] = {1, 2, 5, RF_CELLS};

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(idle) * UNIT_ARRAY_SIZE(origins) * 8; i++) {
		const uint64_t start = origins[i / 8 % UNIT_ARRAY_SIZE(origins)] * CELL;
		const uint64_t later = idle[i / 8 / UNIT_ARRAY_SIZE(origins)];
		struct rf_policy policy = policy_of(20, CELL);
		struct rf_window window;

		policy.cells = cells[i % 4];
		if (i & 4) {
			policy.edge = RF_EDGE_WEIGHTED;
			policy.cells -= policy.cells == RF_CELLS;
		}
		rf_window_start(&window, &policy, start);
		for (int packet = 0; packet < 40; packet++)
			rf_take(&window, &policy, start + packet * CELL / 2, 1 + packet % 3);
		for (uint32_t cost = 1; cost <= 21; cost++)
			assert_int_equal(
				rf_peek(&window, &policy, start + later * CELL + CELL / 3, cost),
				take_on_copy(&window, &policy, start + later * CELL + CELL / 3,
					     cost));
	}
}

/* ---- rows ---- */

#define PEEK(title, tick, ...)                                                   \
	UNIT_ROW_OF("a peek agrees with a take: " title ", " #tick, peek_agrees, \
		    (&(struct traffic){.take = peeks_right,                      \
				       .packets = 30000,                         \
				       .sources = 3,                             \
				       .tick_ns = tick,                          \
				       .limit = __VA_ARGS__}))
#define PEEKS_OF(title, ...)                                              \
	PEEK(title, HZ100, __VA_ARGS__), PEEK(title, HZ250, __VA_ARGS__), \
		PEEK(title, HZ300, __VA_ARGS__), PEEK(title, HZ1000, __VA_ARGS__)

static const struct CMUnitTest tests[] = {
	UNIT_ROW("a peek reads the head's own cell on the edge", peeks_at_its_own_edge),
	UNIT_ROW("a peek reads the clip for another L", peeks_by_the_clip),
	UNIT_ROW("a peek reads a window after idle laps", peeks_after_idle_laps),
	PEEKS_OF("strict, 300/1s", LIMIT(300, SECOND, STRICT(16)), .cost_max = 3),
	PEEKS_OF("strict, 2 cells", LIMIT(40, SECOND, STRICT(2)), .cost_max = 9),
	PEEKS_OF("strict, 64/120ms, in ns", LIMIT(64, 120 * MS, STRICT(16)), .cost_max = 3),
	PEEKS_OF("strict, 60 kB/400ms", LIMIT(60000, 400 * MS, STRICT(16), BYTES)),
	PEEKS_OF("strict, the limit changes", LIMIT(300, SECOND, STRICT(16)), .cost_max = 3,
		 .limit_changes = true),
	PEEKS_OF("strict, refused packets count",
		 LIMIT(300, SECOND, STRICT(16), .flags = RF_COUNT_REJECTED), .pace = 60,
		 .limit_changes = true),
	PEEKS_OF("strict, across the wrap", LIMIT(20, SECOND, STRICT(16)),
		 .start_cells = EPOCHS - 1000),
	PEEKS_OF("strict, from the clock's zero", LIMIT(20, SECOND, STRICT(16)), .from_zero = true),
	PEEKS_OF("coarse, 20/1s", LIMIT(20, SECOND, COARSE(4)), .cost_max = 3),
	PEEKS_OF("fixed, 20/1s", LIMIT(20, SECOND, FIXED), .cost_max = 3),
	PEEKS_OF("weighted, 300/1s", LIMIT(300, SECOND, WEIGHTED(5)), .cost_max = 3),
	PEEKS_OF("weighted, the limit changes", LIMIT(300, SECOND, WEIGHTED(16)), .cost_max = 3,
		 .limit_changes = true),
	PEEKS_OF("weighted, 60 kB/400ms, in ns", LIMIT(60000, 400 * MS, WEIGHTED(5), BYTES)),
	PEEKS_OF("weighted, 2 cells", LIMIT(10, 60 * SECOND, WEIGHTED(2)), .cost_max = 3),
	PEEKS_OF("weighted, across the wrap", LIMIT(20, SECOND, WEIGHTED(3)),
		 .start_cells = EPOCHS - 1000),
	PEEKS_OF("log, 5/1s", LIMIT(5, SECOND, LOG)),
	PEEKS_OF("log, 16/1s, the limit changes", LIMIT(16, SECOND, LOG), .limit_changes = true),
	PEEKS_OF("log, from the clock's zero", LIMIT(16, SECOND, LOG), .from_zero = true),
	PEEKS_OF("token, 30/1s burst 5", LIMIT(30, SECOND, TOKEN(5)), .cost_max = 3),
	PEEKS_OF("token, 10 kB/1s burst 15140", LIMIT(10000, SECOND, TOKEN(15140), BYTES)),
	PEEKS_OF("token, the limit changes", LIMIT(30, SECOND, TOKEN(15)), .cost_max = 3,
		 .limit_changes = true),
	PEEKS_OF("leaky, 10/1s", LIMIT(10, SECOND, LEAKY(1))),
};

int main(void)
{
	return cmocka_run_group_tests_name("peek", tests, NULL, NULL);
}
