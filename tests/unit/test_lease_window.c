// SPDX-License-Identifier: GPL-2.0
/*
 * Leases together with their windows: the effect of a verdict, at every origin of time, and that a
 * lease refuses only packets that its window would refuse.
 */
#include "lease.h"

/* ---- what follows, at every origin ---- */

#define TICKS_CELL 16 /* far enough from 0 for a lease at every origin */

static struct rf_policy jiffies_policy(uint32_t limit)
{
	struct rf_policy policy = policy_of(limit, TICKS_CELL);

	policy.clock = RF_JIFFIES;
	return policy;
}

static struct rf_ask ask_at(uint64_t jiffies, uint32_t cost)
{
	return (struct rf_ask){
		.time = jiffies, .jiffies = jiffies, .tick_ns = HZ1000, .cost = cost};
}

static void holds_credits_until_the_cell_ends(void **state)
{
	const struct rf_policy policy = jiffies_policy(10000);

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(origins); i++) {
		const struct rf_who who = who_of(GENERATION);
		struct rf_ask ask = ask_at(origins[i] * TICKS_CELL + 3, 639);
		struct rf_lease lease = {0};
		struct rf_window window;

		rf_window_start(&window, &policy, ask.time);
		assert_int_equal(ask_window(&lease, &who, &window, &policy, &ask), RF_UNDER);
		assert_int_equal(lease.credits, 0); /* too few for a further one of that cost */
		ask.cost = 1;
		assert_int_equal(ask_window(&lease, &who, &window, &policy, &ask), RF_UNDER);
		assert_int_equal(lease.credits, 10);
		assert_int_equal(rf_word_used(window.head), 650);
		assert_int_equal(lease.until, (origins[i] + 1) * TICKS_CELL);
		ask = ask_at((origins[i] + 1) * TICKS_CELL - 1, 10);
		assert_true(lease_answers(&lease, &who, &ask));
	}
}

/* A CPU whose clock reading is old is charged in the head's cell, and may spend in it. */
static void holds_credits_of_a_head_that_is_ahead(void **state)
{
	const struct rf_policy policy = jiffies_policy(10000);
	const struct rf_who who = who_of(GENERATION);

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(origins); i++) {
		struct rf_ask ask = ask_at(origins[i] * TICKS_CELL + 3, 639);
		struct rf_lease lease = {0};
		struct rf_window window;

		rf_window_start(&window, &policy, ask.time);
		rf_take(&window, &policy, ask.time + 2 * TICKS_CELL, 1);
		ask_window(&lease, &who, &window, &policy, &ask);
		ask.cost = 1;
		ask_window(&lease, &who, &window, &policy, &ask);
		assert_int_equal(lease.until, (origins[i] + 3) * TICKS_CELL);
		assert_int_equal(rf_word_used(window.head), 651);
	}
}

static void refuses_until_the_oldest_cell_leaves(void **state)
{
	const struct rf_policy policy = jiffies_policy(100);
	const struct rf_who who = who_of(GENERATION);

	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(origins); i++) {
		const uint64_t start = origins[i] * TICKS_CELL;
		struct rf_ask ask = ask_at(start + 5 * TICKS_CELL, 3);
		struct rf_lease lease = {0};
		struct rf_window window;

		rf_window_start(&window, &policy, start);
		offer(&window, &policy, start + 3, 40, 1);
		offer(&window, &policy, start + 3 * TICKS_CELL, 60, 1);
		assert_int_equal(ask_window(&lease, &who, &window, &policy, &ask), RF_OVER);
		assert_int_equal(lease.until, start + RF_CELLS * TICKS_CELL);
		assert_int_equal(lease.threshold, 2);
		assert_int_equal(lease.reason, RF_OVER_LIMIT);
		ask = ask_at(start + RF_CELLS * TICKS_CELL - 1, 3);
		assert_true(lease_answers(&lease, &who, &ask));
		ask = ask_at(start + RF_CELLS * TICKS_CELL, 3);
		assert_false(lease_answers(&lease, &who, &ask));
	}
}

/* The window refuses, but has reached a cell with room by the time that the lease looks. */
static void does_not_refuse_where_there_is_room(void **state)
{
	const struct rf_policy policy = jiffies_policy(100);
	const struct rf_ask ask = ask_at(15 * TICKS_CELL, 1);
	const struct rf_who who = who_of(GENERATION);
	struct rf_lease lease = {.source = who.source[0], .rules = who.rules};
	struct rf_window window;

	(void)state;
	rf_window_start(&window, &policy, 0);
	offer(&window, &policy, 0, 100, 1);
	assert_int_equal(rf_take(&window, &policy, ask.time, 1), RF_OVER);
	offer(&window, &policy, RF_CELLS * TICKS_CELL, 99, 1); /* another CPU */
	rf_lease_renew(&lease, &window, &policy, &ask, RF_OVER, 0);
	assert_int_equal(lease.until, 0);
}

/* A lease that refuses has lost its credits, a share of its passed packets. */
static void loses_credits_and_their_share(void **state)
{
	const struct rf_policy policy = jiffies_policy(10000);
	const struct rf_who who = who_of(GENERATION);
	struct rf_ask ask = ask_at(0, 6399);
	struct rf_lease lease = {0};
	struct rf_window window;

	(void)state;
	rf_window_start(&window, &policy, 0);
	ask_window(&lease, &who, &window, &policy, &ask);
	ask.cost = 1;
	ask_window(&lease, &who, &window, &policy, &ask);
	assert_int_equal(lease.credits, 100);
	ask = ask_at(1, 3501);
	assert_int_equal(ask_window(&lease, &who, &window, &policy, &ask), RF_OVER);
	assert_int_equal(lease.threshold, 3500);
	ask = ask_at(2, 639);
	assert_int_equal(ask_window(&lease, &who, &window, &policy, &ask), RF_UNDER);
	ask.cost = 1;
	assert_int_equal(ask_window(&lease, &who, &window, &policy, &ask), RF_UNDER);
	assert_int_equal(lease.credits, 10);
	assert_int_equal(rf_word_used(window.head), 6500 + 650);
}

/* A packet that costs more leaves credits over. */
static void counts_credits_left_over(void **state)
{
	const struct rf_policy policy = jiffies_policy(1000000);
	const struct rf_who who = who_of(GENERATION);
	struct rf_ask ask = ask_at(0, 6399);
	struct rf_lease lease = {0};
	struct rf_window window;

	(void)state;
	rf_window_start(&window, &policy, 0);
	ask_window(&lease, &who, &window, &policy, &ask);
	ask.cost = 1;
	ask_window(&lease, &who, &window, &policy, &ask);
	assert_int_equal(lease.credits, 100);
	ask.cost = 639;
	assert_false(lease_answers(&lease, &who, &ask));
	ask_window(&lease, &who, &window, &policy, &ask);
	assert_int_equal(lease.credits, 100); /* more would be of no use for another of that cost */
	ask.cost = 101;
	assert_false(lease_answers(&lease, &who, &ask));
	ask_window(&lease, &who, &window, &policy, &ask);
	assert_int_equal(lease.credits, (6400 + 639 + 101) / 64);
	assert_int_equal(rf_word_used(window.head), 6400 + 639 + 101 + lease.credits);
}

/* ---- refusals, compared with the window ---- */

#define REFUSERS 4

static struct rf_lease refusers[SOURCES_MAX][REFUSERS];
static uint64_t refused; /* by leases */

/*
 * A caller whose clock is behind the window's has stalled; the window no longer covers that time.
 */
static bool is_behind(const struct rf_window *window, const struct rf_policy *policy, uint64_t time)
{
	if (rf_is_bucket(policy))
		return false;
	if (rf_is_log(policy))
		return rf_log_read(window, policy, time).now > (time ? time : 1);
	return (int32_t)(rf_word_epoch(window->head) - (uint32_t)rf_epoch(policy, time)) > 0;
}

/* No lease refuses a packet that the window would pass. Another limit is a new generation. */
static bool leased_take(struct run *run, struct source *source, const struct packet *packet)
{
	const struct rf_policy *policy = run->policy;
	const struct rf_who who = who_of(policy->limit);
	const uint64_t tick = run->traffic->tick_ns;
	const struct rf_ask ask = {
		.time = packet->time,
		.jiffies = packet->time * run->unit_ns / tick,
		.tick_ns = tick,
		.cost = packet->cost,
	};
	struct rf_lease *lease;

	if (run->packet == 0) {
		memset(refusers, 0, sizeof(refusers));
		refused = 0;
	}
	lease = &refusers[source - sources][unit_below(&run->random, REFUSERS)];
	if (!lease_answers(lease, &who, &ask))
		return ask_window(lease, &who, &source->window, policy, &ask) == RF_UNDER;
	if (lease->has_credits)
		return true;
	refused++;
	if (!is_behind(&source->window, policy, ask.time) &&
	    rf_would_pass(&source->window, policy, ask.time, ask.cost))
		RUN_FAIL(run, "cost %u at %" PRIu64 ": refused by a lease until %" PRIu64, ask.cost,
			 ask.time, (uint64_t){lease->until});
	return false;
}

static void refusals_are_right(void **state)
{
	run_traffic(state);
	assert_true(refused > 100);
}

/* ---- rows ---- */

#define RIGHT(title, tick, ...)                                                                 \
	UNIT_ROW_OF("a lease refuses only what the window refuses: " title, refusals_are_right, \
		    (&(struct traffic){.take = leased_take,                                     \
				       .packets = 100000,                                       \
				       .sources = 3,                                            \
				       .tick_ns = tick,                                         \
				       .limit = __VA_ARGS__}))
#define TICKS(title, ...)                                                                         \
	RIGHT(title ", HZ 100", HZ100, __VA_ARGS__), RIGHT(title ", HZ 250", HZ250, __VA_ARGS__), \
		RIGHT(title ", HZ 300", HZ300, __VA_ARGS__),                                      \
		RIGHT(title ", HZ 1000", HZ1000, __VA_ARGS__)

static const struct CMUnitTest tests[] = {
	UNIT_ROW("a lease holds credits until the cell ends", holds_credits_until_the_cell_ends),
	UNIT_ROW("a lease holds credits of a head that is ahead of the clock",
		 holds_credits_of_a_head_that_is_ahead),
	UNIT_ROW("a lease refuses until the oldest cell leaves",
		 refuses_until_the_oldest_cell_leaves),
	UNIT_ROW("a lease does not refuse where there is room",
		 does_not_refuse_where_there_is_room),
	UNIT_ROW("a lease that refuses loses its credits and their share",
		 loses_credits_and_their_share),
	UNIT_ROW("credits that are left over count in the share", counts_credits_left_over),

	TICKS("strict, 300/1s", LIMIT(300, SECOND, STRICT(16)), .cost_max = 3),
	TICKS("strict, 64/120ms, in ns", LIMIT(64, 120 * MS, STRICT(16)), .cost_max = 3),
	TICKS("coarse, 20/1s", LIMIT(20, SECOND, COARSE(4)), .cost_max = 3),
	TICKS("fixed, 20/1s", LIMIT(20, SECOND, FIXED), .cost_max = 3),
	TICKS("fixed, 20/120ms", LIMIT(20, 120 * MS, FIXED), .cost_max = 3),
	TICKS("weighted, 300/1s", LIMIT(300, SECOND, WEIGHTED(5)), .cost_max = 3),
	TICKS("weighted, 60 kB/400ms, in ns", LIMIT(60000, 400 * MS, WEIGHTED(5), BYTES)),
	TICKS("weighted, 2 cells, 10/60s", LIMIT(10, 60 * SECOND, WEIGHTED(2)), .cost_max = 3),
	TICKS("log, 5/1s", LIMIT(5, SECOND, LOG)),
	TICKS("log, 16/100ms", LIMIT(16, 100 * MS, LOG)),
	TICKS("log, 16/1s, the limit changes", LIMIT(16, SECOND, LOG), .limit_changes = true),
	TICKS("token, 30/1s burst 5", LIMIT(30, SECOND, TOKEN(5)), .cost_max = 3),
	TICKS("token, 10 kB/1s burst 15140", LIMIT(10000, SECOND, TOKEN(15140), BYTES)),
	TICKS("leaky, 10/1s", LIMIT(10, SECOND, LEAKY(1))),
	TICKS("strict, 300/1s, the limit changes", LIMIT(300, SECOND, STRICT(16)), .cost_max = 3,
	      .limit_changes = true),
	TICKS("strict, 20/1s, across the wrap", LIMIT(20, SECOND, STRICT(16)),
	      .start_cells = EPOCHS - 1000),
};

int main(void)
{
	return cmocka_run_group_tests_name("leases, windows", tests, NULL, NULL);
}
