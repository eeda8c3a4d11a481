// SPDX-License-Identifier: GPL-2.0
/*
 * The limiter against an oracle that is too simple to be wrong, a list of all admissions: idle
 * times of every length, random traffic, and windows that no limiter wrote.
 *
 * Random runs print their seed when they fail; RF_TEST_SEED sets it.
 */
#include "limiter.h"

/* ---- the oracle: a list of all admissions ---- */

#define HISTORY_MAX 512 /* over every L of the random rows, so that a live entry is never lost */

struct admission {
	uint64_t when;
	uint32_t cost;
};

struct history {
	uint64_t first, end;
	struct admission admission[HISTORY_MAX];
};

struct source {
	struct rf_window window;
	bool known;
	uint64_t latest; /* a clock that goes back stands still */
	struct history history;
};

/* What was admitted from `oldest` to `newest`. */
static uint64_t history_sum(const struct history *history, uint64_t oldest, uint64_t newest)
{
	uint64_t sum = 0;

	for (uint64_t i = history->first; i < history->end; i++) {
		const struct admission *admission = &history->admission[i % HISTORY_MAX];

		if (admission->when >= oldest && admission->when <= newest)
			sum += admission->cost;
	}
	return sum;
}

/* The same up to now; what is older is never asked for again. */
static uint64_t history_sum_since(struct history *history, uint64_t oldest)
{
	while (history->first < history->end &&
	       history->admission[history->first % HISTORY_MAX].when < oldest)
		history->first++;
	return history_sum(history, oldest, UINT64_MAX);
}

static void history_add(struct history *history, uint64_t when, uint32_t cost)
{
	history->admission[history->end++ % HISTORY_MAX] = (struct admission){when, cost};
}

static void source_sees(struct source *source, const struct rf_policy *policy, uint64_t time,
			uint64_t when)
{
	if (!source->known)
		rf_window_open(&source->window, rf_epoch(policy, time));
	source->known = true;
	if (source->latest < when)
		source->latest = when;
}

/* What counts against L in the source's latest epoch. */
static uint64_t oracle_used(struct source *source, const struct rf_policy *policy)
{
	uint64_t epoch = source->latest;

	return history_sum_since(&source->history,
				 epoch >= policy->cells ? epoch - policy->cells + 1 : 0);
}

static enum rf_verdict oracle_take(struct source *source, const struct rf_policy *policy,
				   uint32_t cost)
{
	if (oracle_used(source, policy) + cost > policy->limit)
		return RF_OVER;
	history_add(&source->history, source->latest, cost);
	return RF_UNDER;
}

static bool take_agrees(struct source *source, const struct rf_policy *policy, uint64_t time,
			uint32_t cost)
{
	source_sees(source, policy, time, time / policy->cell);
	return rf_take(&source->window, policy, time, cost) == oracle_take(source, policy, cost);
}

/* For what needs no verdict of the oracle: its list alone, filled by the limiter's. */
static bool take_noted(struct source *source, const struct rf_policy *policy, uint64_t time,
		       uint32_t cost)
{
	if (rf_take(&source->window, policy, time, cost) != RF_UNDER)
		return false;
	history_add(&source->history, source->latest, cost);
	return true;
}

/* ---- idle for very long ---- */

/*
 * Not here, since "less than 2^16 cells ahead is present" cannot tell them from a CPU that reads an
 * old clock: an idle time of 2^32 - 2^16 + 1 to 2^32 cells, and its multiples, is the present (who
 * was over the limit stays so until the clock catches up). And up to 15 cells more than 2^32 look
 * like 15 cells: the window counts again.
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
	EPOCHS + 16,
	EPOCHS + 17,
	EPOCHS + 40,
	3 * EPOCHS + EPOCHS / 2,
	99 * EPOCHS + 40,
};

/* Traffic in every cell, so that the ring is full of admissions. */
static bool fill_agrees(struct source *source, const struct rf_policy *policy, uint64_t epoch,
			uint64_t cells)
{
	for (uint64_t i = 0; i < cells; i++)
		for (uint32_t cost = 1; cost <= 3; cost++)
			if (!take_agrees(source, policy, (epoch + i) * CELL, cost))
				return false;
	return true;
}

static void idle_from(uint64_t origin, uint64_t idle)
{
	struct rf_policy policy = policy_of(40, CELL);
	struct source source = {};

	if (!fill_agrees(&source, &policy, origin, 37) ||
	    !fill_agrees(&source, &policy, origin + 36 + idle, 80))
		fail_msg("origin %" PRIu64 ", idle for %" PRIu64 " cells: not the oracle's verdict",
			 origin, idle);
}

static void idle_for_long(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(idles); i++)
		for (size_t j = 0; j < UNIT_ARRAY_SIZE(origins); j++)
			idle_from(origins[j], idles[i]);
}

/* A cell that was never written is all zero, and epoch 0 lies ahead of the last ones. */
static void newcomer_before_the_wrap(void **state)
{
	struct rf_policy policy = policy_of(10, CELL);

	(void)state;
	for (uint64_t before = 0; before < 70000; before += 911) {
		struct rf_window window;

		rf_window_open(&window, rf_epoch(&policy, (EPOCHS - before) * CELL));
		assert_int_equal(offer(&window, &policy, (EPOCHS - before) * CELL, 15, 1), 10);
		assert_int_equal(offer(&window, &policy, (EPOCHS - before + 1) * CELL, 15, 1), 0);
	}
}

/* To the head this is the past, as it should be; to the older cells of the ring it must be too. */
static void idle_just_outside_the_present(void **state)
{
	(void)state;
	for (uint64_t idle = EPOCHS - 65536 - 40; idle <= EPOCHS - 65536; idle++)
		idle_from(12345, idle);
}

/* The ring's cells were written at different times, so one of them may be that old alone. */
static void old_cell_hides_no_new_one(void **state)
{
	struct rf_policy policy = policy_of(40, CELL);
	struct source source = {};
	uint64_t back = 36 + EPOCHS - (1 << 17);

	(void)state;
	assert_true(fill_agrees(&source, &policy, 0, 37));
	assert_true(fill_agrees(&source, &policy, back, 1));
	assert_true(fill_agrees(&source, &policy, back + (1 << 17) - 1000, 80));
}

/* ---- random traffic ---- */

#define SOURCES_MAX 8

struct run;

struct traffic {
	/* Takes one packet and checks what must hold; true when it was let through. */
	bool (*take)(struct run *run, struct source *source, uint32_t cost);
	uint32_t packets;
	uint32_t limit;
	uint64_t window_ns;
	uint32_t tick_ns;
	uint32_t sources;
	uint32_t cost_max;
	uint8_t cells;	      /* 0 stands for RF_CELLS */
	bool limit_changes;   /* up to `limit` */
	uint64_t start_cells; /* from the clock's zero */
};

struct run {
	const struct traffic *traffic;
	struct rf_policy policy;
	uint64_t random;
	uint64_t unit_ns;
	uint64_t cell_ns;
	uint64_t clock_ns;
	uint32_t packet;
	uint32_t admitted;
};

static struct source sources[SOURCES_MAX]; /* of the row that runs */

static void run_start(struct run *run, const struct traffic *traffic)
{
	uint8_t cells = traffic->cells ? traffic->cells : RF_CELLS;

	*run = (struct run){.traffic = traffic, .random = unit_seed()};
	run->policy = policy_compiled(traffic->limit, traffic->window_ns, traffic->tick_ns, cells);
	run->unit_ns = policy_unit_ns(&run->policy, traffic->tick_ns);
	run->cell_ns = run->policy.cell * run->unit_ns;
	run->clock_ns = (traffic->start_cells + 100) * run->cell_ns;
	memset(sources, 0, sizeof(sources));
}

#define RUN_FAIL(run, format, ...)                                                           \
	fail_msg("RF_TEST_SEED=%" PRIu64 ", packet %u: " format, unit_seed(), (run)->packet, \
		 __VA_ARGS__)

/*
 * Bursts, and about twice what the limits allow; a few times per window a jump of up to a window
 * or a step back, at times a long silence, and one reading in 16 is an old one.
 */
static uint64_t next_time_ns(struct run *run)
{
	uint64_t window_packets = (uint64_t)run->traffic->limit * run->traffic->sources;
	uint64_t window_ns = run->policy.cells * run->cell_ns;
	uint64_t roll = unit_below(&run->random, 16 * window_packets + 64);
	uint64_t back_ns = 0;

	if (roll == 0)
		run->clock_ns += unit_below(&run->random, 4 * window_ns);
	else if (roll < 6)
		run->clock_ns += unit_below(&run->random, window_ns + run->cell_ns);
	else if (roll < 10)
		run->clock_ns -= unit_below(&run->random, 3 * run->cell_ns);
	else if (roll % 2)
		run->clock_ns += unit_below(&run->random, 2 * window_ns / window_packets);
	if (unit_below(&run->random, 16) == 0)
		back_ns = unit_below(&run->random, 3 * run->cell_ns);
	return run->clock_ns - back_ns;
}

static void run_traffic(void **state)
{
	const struct traffic *traffic = *state;
	struct run run;

	run_start(&run, traffic);
	for (; run.packet < traffic->packets; run.packet++) {
		struct source *source = &sources[unit_below(&run.random, traffic->sources)];
		uint32_t cost = 1 + unit_below(&run.random, traffic->cost_max);

		if (traffic->limit_changes && unit_below(&run.random, 1000) == 0)
			run.policy.limit = 1 + unit_below(&run.random, traffic->limit);
		run.admitted += traffic->take(&run, source, cost);
	}
	/* Traffic that is nearly all let through, or nearly all refused, shows little. */
	assert_in_range(run.admitted, run.packet / 10, run.packet - run.packet / 10);
}

/* ---- by the oracle's verdict ---- */

static bool agrees_with_oracle(struct run *run, struct source *source, uint32_t cost)
{
	uint64_t time = next_time_ns(run) / run->unit_ns;
	uint64_t before = source->history.end;

	if (!take_agrees(source, &run->policy, time, cost))
		RUN_FAIL(run, "cost %u at %" PRIu64 ": not the oracle's verdict", cost, time);
	return source->history.end != before;
}

/* ---- by what readers say ---- */

static void check_used(struct run *run, struct source *source, uint64_t time)
{
	const struct rf_policy *policy = &run->policy;
	uint64_t expected = oracle_used(source, policy);
	uint32_t used = rf_window_used(&source->window, policy, rf_epoch(policy, time));

	if (used != expected)
		RUN_FAIL(run, "used %u, not %" PRIu64, used, expected);
	for (uint64_t age = 0; age < policy->cells; age++) {
		uint64_t epoch = source->latest - age;
		uint32_t cell = rf_window_cell(&source->window, policy, epoch);

		expected = history_sum(&source->history, epoch, epoch);
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

static void check_passes_again(struct run *run, struct source *source, uint64_t time, uint32_t cost)
{
	const struct rf_policy *policy = &run->policy;
	uint64_t wait = rf_window_passes_again(&source->window, policy, time, cost);

	if ((wait == ~0ULL) != (cost > policy->limit))
		RUN_FAIL(run, "cost %u of %u: passes in %" PRIu64, cost, policy->limit, wait);
	if (wait == ~0ULL)
		return;
	if (wait > 0 && take_on_copy(source, policy, time + wait - 1, cost) != RF_OVER)
		RUN_FAIL(run, "cost %u passes earlier than in %" PRIu64, cost, wait);
	if (take_on_copy(source, policy, time + wait, cost) != RF_UNDER)
		RUN_FAIL(run, "cost %u does not pass in %" PRIu64, cost, wait);
}

static bool readers_agree(struct run *run, struct source *source, uint32_t cost)
{
	uint64_t time = next_time_ns(run) / run->unit_ns;

	source_sees(source, &run->policy, time, time / run->policy.cell);
	check_used(run, source, time);
	check_passes_again(run, source, time, cost);
	return take_noted(source, &run->policy, time, cost);
}

/* ---- by any interval of length W ---- */

/* Sometimes the clock jumps to where W after the oldest admission ends, to the ns. */
static void jump_to_end(struct run *run, const struct source *source)
{
	const struct history *history = &source->history;
	uint64_t end_ns;

	if (history->first == history->end ||
	    unit_below(&run->random, run->traffic->limit * run->traffic->sources) != 0)
		return;
	end_ns = history->admission[history->first % HISTORY_MAX].when + run->traffic->window_ns;
	if (run->clock_ns < end_ns)
		run->clock_ns = end_ns;
}

/* Knows neither cells nor epochs: what was admitted in the last W, both ends included. */
static bool interval_holds(struct run *run, struct source *source, uint32_t cost)
{
	uint64_t time_ns, sum;

	jump_to_end(run, source);
	time_ns = next_time_ns(run);
	source_sees(source, &run->policy, time_ns / run->unit_ns, time_ns);
	if (!take_noted(source, &run->policy, time_ns / run->unit_ns, cost))
		return false;
	sum = history_sum_since(&source->history, source->latest - run->traffic->window_ns);
	if (sum > run->policy.limit)
		RUN_FAIL(run, "%" PRIu64 " in W before %" PRIu64 " ns", sum, source->latest);
	return true;
}

#define TRAFFIC(title, function, number, ...) \
	UNIT_ROW_OF(title, run_traffic,       \
		    (&(struct traffic){.take = function, .packets = number, __VA_ARGS__}))
#define ORACLE(title, ...) TRAFFIC("oracle: " title, agrees_with_oracle, 1000000, __VA_ARGS__)
#define READERS(title, ...) TRAFFIC("readers: " title, readers_agree, 100000, __VA_ARGS__)
#define INTERVAL(title, ...) TRAFFIC("strong form: " title, interval_holds, 400000, __VA_ARGS__)

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
	policy->limit = unit_random(random) >> unit_below(random, 64) & 0x7fffffff;
	policy->clip = unit_random(random) >> unit_below(random, 64);
	policy->cells = unit_random(random) >> unit_below(random, 64);
	policy->cell = unit_random(random) >> (24 + unit_below(random, 40));
	window->head = hostile_word(random, rf_epoch(policy, time));
	for (int i = 0; i < RF_CELLS; i++)
		window->cell[i] = hostile_word(random, rf_epoch(policy, time));
}

static void check_hostile(struct rf_window *window, const struct rf_policy *policy, uint64_t time,
			  uint32_t cost)
{
	uint32_t now = rf_epoch(policy, time);
	uint64_t wait = rf_window_passes_again(window, policy, time, cost);

	if (cost > policy->limit)
		assert_true(wait == ~0ULL);
	rf_window_used(window, policy, now);
	rf_window_cell(window, policy, now);
	if (offer(window, policy, time, 1, cost) == 0)
		return;
	assert_in_range(rf_word_used(window->head), cost, policy->limit);
	assert_true(rf_epoch_is_present(rf_word_epoch(window->head), now));
}

static void hostile_windows(void **state)
{
	uint64_t random = unit_seed();

	(void)state;
	for (int i = 0; i < 100000; i++) {
		struct rf_policy policy = {};
		struct rf_window window;
		uint64_t time = unit_random(&random) >> unit_below(&random, 64);

		hostile_fill(&random, &window, &policy, time);
		for (int j = 0; j < 4; j++)
			check_hostile(&window, &policy, time + j * policy.cell,
				      1 + (unit_random(&random) >> 33 >> unit_below(&random, 31)));
	}
}

static const struct CMUnitTest tests[] = {
	UNIT_ROW("idle for up to 2^32 cells and more: neither let through nor shut out",
		 idle_for_long),
	UNIT_ROW("a newcomer before the epochs wrap: exactly L", newcomer_before_the_wrap),
	UNIT_ROW("idle for 2^32 - 2^16 cells: an old ring hides nothing new",
		 idle_just_outside_the_present),
	UNIT_ROW("a cell of 2^32 - 2^16 cells ago hides nothing new", old_cell_hides_no_new_one),

	ORACLE("1/1s, HZ 250", 1, SECOND, HZ250, 3, 1),
	ORACLE("5/10s, HZ 1000", 5, 10 * SECOND, HZ1000, 8, 3),
	ORACLE("10/1s, HZ 100", 10, SECOND, HZ100, 3, 3),
	ORACLE("64/1ms, across the wrap", 64, MS, HZ300, 4, 3, .start_cells = EPOCHS - 10000),
	ORACLE("300/1s, across the wrap", 300, SECOND, HZ250, 2, 3, .start_cells = EPOCHS - 1000),
	ORACLE("the limit changes, 40/1s", 40, SECOND, HZ1000, 3, 3, .limit_changes = true,
	       .start_cells = EPOCHS - 10000),
	ORACLE("7 cells, 20/1s", 20, SECOND, HZ250, 3, 3, .cells = 7),
	ORACLE("2 cells, 20/1s", 20, SECOND, HZ250, 3, 3, .cells = 2),

	READERS("1/1s", 1, SECOND, HZ250, 3, 1),
	READERS("2/1s, cost over L among them", 2, SECOND, HZ100, 3, 3),
	READERS("64/1ms, across the wrap", 64, MS, HZ300, 4, 3, .start_cells = EPOCHS - 1000),
	READERS("the limit changes, 40/1s", 40, SECOND, HZ1000, 3, 3, .limit_changes = true),
	READERS("5 cells, 20/1s", 20, SECOND, HZ250, 3, 3, .cells = 5),

	INTERVAL("5/1s, HZ 100", 5, SECOND, HZ100, 3, 1),
	INTERVAL("5/1s, HZ 250", 5, SECOND, HZ250, 3, 1),
	INTERVAL("5/1s, HZ 300", 5, SECOND, HZ300, 3, 1),
	INTERVAL("5/1s, HZ 1000", 5, SECOND, HZ1000, 3, 1),
	INTERVAL("50/10s, HZ 100", 50, 10 * SECOND, HZ100, 3, 3),
	INTERVAL("50/10s, HZ 250", 50, 10 * SECOND, HZ250, 3, 3),
	INTERVAL("50/10s, HZ 300", 50, 10 * SECOND, HZ300, 3, 3),
	INTERVAL("50/7ms, HZ 1000", 50, 7 * MS, HZ1000, 3, 3),

	UNIT_ROW("hostile windows: no crash, no pass over L", hostile_windows),
};

int main(void)
{
	return cmocka_run_group_tests_name("limiter, random", tests, NULL, NULL);
}
