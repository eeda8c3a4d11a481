// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzer of the limiter core, of every algorithm, in two kinds of run.
 *
 * Hostile: any bits for policy and window, any time, and a second writer that stores to the window
 * between the atomic operations. Nothing must crash, divide by zero or loop for ever; a refusal
 * charges only if the policy requires it; readers write nothing.
 *
 * Sound: the policy of a limit in range, an unused window, clocks that step forward, far forward
 * and back, and a second CPU that takes between the first CPU's operations. Each algorithm meets
 * the bound that limiter.h states, no word overflows into another, and readers report when a cost
 * passes again, to the unit of the clock. While only the first CPU runs, every packet within the
 * bound passes.
 */
#include <string.h>

#include "tests/fuzz/limiter_run.h"

/* ---- readers ---- */

static void read_window(uint64_t time)
{
	uint64_t now = rf_epoch(&run.policy, time);

	(void)rf_window_sums(&run.window, &run.policy, rf_word_epoch(run.window.head), now);
	(void)rf_head_own(&run.window, &run.policy, run.window.head);
	(void)rf_edge_part(&run.window, &run.policy, now, time);
	(void)rf_window_used(&run.window, &run.policy, now);
	(void)rf_used(&run.window, &run.policy, time);
	(void)rf_peek(&run.window, &run.policy, time, 1);
	for (uint32_t i = 0; i <= RF_CELLS_MAX; i++)
		(void)rf_window_cell(&run.window, &run.policy, now - i);
}

/* All readers must terminate and write nothing. Returns when the cost passes again. */
static uint64_t read_all(uint64_t time, uint32_t cost)
{
	const struct rf_window before = run.window;
	uint64_t wait;

	start_quiet();
	read_window(time);
	wait = rf_window_passes_again(&run.window, &run.policy, time, cost);
	REQUIRE(memcmp(&before, &run.window, sizeof(before)) == 0);
	return wait;
}

/* The cost of a frame: its length in units, rounded up, and at least one. */
static uint32_t cost_of(uint64_t length)
{
	const uint32_t cost = rf_cost(&run.policy, length);
	const uint64_t bytes = (uint64_t)cost << (run.policy.unit_shift & 31);

	REQUIRE(cost >= 1 && cost <= RF_COST_MAX);
	if (run.policy.unit != RF_BYTES)
		REQUIRE(cost == 1);
	else if (run.sound && cost < RF_COST_MAX)
		REQUIRE(bytes >= length && bytes - length < 1ULL << run.policy.unit_shift);
	return cost;
}

static enum rf_verdict would_take(uint64_t time, uint32_t cost)
{
	struct rf_window copy = run.window;

	start_quiet();
	return rf_take(&copy, &run.policy, time, cost);
}

static void check_passes_again(uint64_t time, uint32_t cost, uint64_t wait)
{
	if (wait == ~0ULL) {
		REQUIRE(cost > run.policy.limit);
		return;
	}
	REQUIRE(would_take(time + wait, cost) == RF_UNDER);
	if (wait)
		REQUIRE(would_take(time + wait - 1, cost) == RF_OVER);
}

/* The amount that counts against L decides what passes; for a bucket it is rounded up. */
static void check_used(uint64_t time, uint32_t cost)
{
	bool passes = would_take(time, cost) == RF_UNDER, has_room;

	start_quiet();
	has_room = rf_used(&run.window, &run.policy, time) + cost <= run.policy.limit;
	REQUIRE(passes == has_room || (passes && rf_is_bucket(&run.policy)));
	REQUIRE(rf_peek(&run.window, &run.policy, time, cost) == passes);
}

/* A single CPU: the cell's count equals its admissions. */
static void check_cells(void)
{
	const uint64_t epoch = present_epoch(run.newest);

	start_quiet();
	for (uint64_t age = 0; age < run.policy.cells && age <= epoch; age++)
		REQUIRE(rf_window_cell(&run.window, &run.policy, epoch - age) ==
			admitted_within(0, epoch - age));
}

static void check_readers(uint64_t time, uint32_t cost)
{
	const uint64_t wait = read_all(time, cost);

	if (!before_a_lap())
		return;
	check_passes_again(time, cost, wait);
	check_used(time, cost);
	if (has_cells() && run.alone && !rf_counts_rejected(&run.policy))
		check_cells();
}

/* ---- hostile runs ---- */

/* A refusal leaves the same state for any cost, and asking again changes nothing. */
static void check_refusal(const struct rf_window *before, uint64_t time, uint32_t cost)
{
	struct rf_window other = *before, again = run.window;

	start_quiet();
	if (rf_take(&other, &run.policy, time, RF_COST_MAX) == RF_OVER)
		REQUIRE(memcmp(&other, &run.window, sizeof(other)) == 0);
	REQUIRE(rf_take(&again, &run.policy, time, cost) == RF_OVER);
	REQUIRE(memcmp(&again, &run.window, sizeof(again)) == 0);
}

/* By a `newest` far ahead, a head behind the caller reads as present: added to, and refused. */
static bool adds_to_the_past(const struct rf_window *before, uint64_t time)
{
	const uint32_t epoch = rf_word_epoch(before->head);
	const uint32_t behind = (uint32_t)rf_epoch(&run.policy, time) - epoch;

	return has_cells() && !rf_is_weighted(&run.policy) && run.self.charged &&
	       rf_word_epoch(run.window.head) == epoch && behind && behind <= 1U << 31;
}

/* Checks a packet that no other CPU disturbed. */
static void check_undisturbed(const struct rf_window *before, enum rf_verdict verdict,
			      uint64_t time, uint32_t cost)
{
	const uint32_t epoch = rf_word_epoch(run.window.head);

	if (has_cells() && epoch != rf_word_epoch(before->head))
		REQUIRE(epoch == (uint32_t)rf_epoch(&run.policy, time));
	/* A single CPU loses no race; but no clock reaches 2^60, and such a word remains. */
	if (!rf_is_log(&run.policy))
		REQUIRE(verdict != RF_LOST_RACES);
	if (verdict == RF_OVER && !rf_counts_rejected(&run.policy) &&
	    !adds_to_the_past(before, time))
		check_refusal(before, time, cost);
}

static void run_hostile_step(const struct limiter_step *step)
{
	const uint32_t cost = 1 + step->cost % RF_COST_MAX;
	const struct rf_window before = run.window;
	struct rf_window fresh;
	enum rf_verdict verdict;

	start_disturbed(step);
	run.self.time = step->time;
	verdict = rf_take(&run.window, &run.policy, step->time, cost);
	watch_operation();
	REQUIRE(verdict == RF_UNDER || verdict == RF_OVER || verdict == RF_LOST_RACES);
	if (verdict == RF_UNDER)
		REQUIRE(run.policy.limit >= (rf_is_log(&run.policy) ? 1 : cost));
	if (verdict == RF_LOST_RACES ||
	    (verdict == RF_OVER && !has_cells() && !rf_counts_rejected(&run.policy)))
		REQUIRE(!run.self.charged);
	if (!step->every)
		check_undisturbed(&before, verdict, step->time, cost);
	read_all(step->time, cost);
	cost_of(step->word);
	rf_window_start(&fresh, &run.policy, step->time);
	start_disturbed(step);
	read_window(step->time);
	REQUIRE(!run.self.wrote);
}

/* ---- sound runs ---- */

static uint64_t within(uint64_t value, uint64_t min, uint64_t max)
{
	return value >= min && value <= max ? value : min + value % (max - min + 1);
}

/* Windows shorter than a user can configure are rounded most, so they are included. */
static void make_limit(const struct rf_limit *raw)
{
	struct rf_limit *limit = &run.limit;
	uint64_t rate_max = RF_LIMIT_MAX, burst_max = RF_LIMIT_MAX;
	wide flows;

	limit->algorithm = within(raw->algorithm, RF_SLIDING, RF_LEAKY);
	limit->flags = raw->flags & (RF_SHADOW | RF_COUNT_REJECTED);
	limit->cells = 1;
	if (limit->algorithm == RF_SLIDING) {
		limit->edge = within(raw->edge, RF_EDGE_STRICT, RF_EDGE_WEIGHTED);
		limit->cells = within(raw->cells, 2, RF_CELLS_MAX);
	}
	if (limit->algorithm == RF_LOG)
		rate_max = RF_LOG_MAX;
	else
		limit->unit = within(raw->unit, RF_PACKETS, RF_BYTES);
	if (limit->unit == RF_BYTES)
		rate_max <<= RF_UNIT_SHIFT_MAX;
	limit->rate = within(raw->rate, 1, rate_max);
	limit->window_ns = within(raw->window_ns, 1, RF_WINDOW_MAX_NS);
	if (limit->algorithm != RF_TOKEN && limit->algorithm != RF_LEAKY)
		return;
	flows = (wide)RF_WINDOW_MAX_NS * limit->rate / limit->window_ns;
	if (flows < burst_max)
		burst_max = flows;
	limit->burst = within(raw->burst, 1, burst_max);
}

static void make_sound(const struct limiter_sound *of)
{
	make_limit(&of->limit);
	rf_policy_compile(&run.limit, 1, within(of->tick_ns, TICK_MIN_NS, TICK_MAX_NS),
			  &run.policy);
	/* Whole ticks only: a cell starts at a multiple of its length. */
	run.policy.cell = ((run.policy.cell - 1) >> run.policy.time_shift) + 1;
	run.policy.time_shift = 0;
	/* Closed cells count exactly; the unit tests and the explorer cover cells that round up. */
	if (run.policy.used_shift) {
		run.limit.rate = run.policy.limit = run.policy.limit % (RF_HALF_MAX - 1) + 1;
		if (!rf_counts_rejected(&run.policy))
			run.policy.clip = run.policy.limit;
		run.policy.used_shift = 0;
	}
	run.cell = run.policy.cell;
	if (rf_is_log(&run.policy))
		run.cell = run.policy.cell / 8 + 1;
	if (rf_is_bucket(&run.policy))
		run.cell = (run.policy.depth >> RF_BUCKET_SHIFT) / 8 + 1;
	run.oldest = run.newest = of->start % (TIME_MAX / 2 / run.cell) * run.cell;
	start_quiet();
	rf_window_start(&run.window, &run.policy, run.oldest);
	run.head_epoch = run.oldest / run.cell;
	run.alone = true;
}

static uint64_t passes_again_at(uint64_t odd, uint32_t cost)
{
	uint64_t wait;

	start_quiet();
	wait = rf_window_passes_again(&run.window, &run.policy, run.newest, cost);
	if (wait == 0 || wait > TIME_MAX - run.newest)
		return run.newest;
	return run.newest + wait - odd;
}

/*
 * In the last cells before the end of a lap, the old head reads as a little ahead. Of two CPUs
 * there, the one whose clock is behind can find it in the past, and move it back.
 */
static bool is_nearly_a_lap(uint64_t epoch)
{
	const uint32_t ahead = (uint32_t)(run.head_epoch - epoch);

	return epoch > run.head_epoch && ahead > 0 && ahead <= 2 * RF_CELLS_AHEAD;
}

static uint64_t choose_time(const struct limiter_step *step, uint32_t cost)
{
	const uint64_t cells = step->time % (step->flags & LIMITER_FAR ? 4 * EPOCHS : 64);
	uint64_t time;

	if (step->flags & LIMITER_PASSES)
		return passes_again_at(step->word & 1, cost);
	if (step->flags & LIMITER_BACK)
		return back(apart(cells, BACK_LAPPED_MAX), step->word);
	time = forward(cells, step->word);
	return has_cells() && is_nearly_a_lap(time / run.cell) ? run.newest : time;
}

/* Counted in full, or up to the limit; a time is not more than it was. */
static void check_counted(uint64_t before, uint64_t time, uint32_t cost)
{
	uint64_t used, expected = before;

	start_quiet();
	used = rf_used(&run.window, &run.policy, time);
	if (has_cells())
		expected += cost;
	REQUIRE(used >= expected || (has_cells() && used > RF_LIMIT_MAX));
	REQUIRE(would_take(time, cost) != RF_UNDER);
}

/* Refused packets use up the window, and no word overflows however many they are. */
static void flood(uint64_t time, uint32_t cost)
{
	const uint32_t epoch = rf_word_epoch(run.window.head);
	uint64_t head = 0;

	if (run.floods++ >= FLOODS_MAX)
		return;
	start_quiet();
	for (int i = 0; i < FLOOD_PACKETS && head != run.window.head; i++) {
		head = run.window.head;
		REQUIRE(rf_take(&run.window, &run.policy, time, cost) == RF_OVER);
		REQUIRE(rf_word_epoch(run.window.head) == epoch);
	}
	REQUIRE(rf_word_used(run.window.head) <= USED_MAX);
}

static void run_sound_step(const struct limiter_step *step)
{
	const uint32_t cost = cost_of(1ULL + (step->cost >> LIMITER_SHIFT(step->flags)));
	const uint64_t time = choose_time(step, cost);
	const int admissions = run.admissions;
	uint64_t used;

	see(time);
	check_readers(time, cost);
	start_quiet();
	used = rf_used(&run.window, &run.policy, time);
	start_disturbed(step);
	take_at(time, cost);
	if (!rf_counts_rejected(&run.policy) || run.turns || run.admissions > admissions ||
	    !before_a_lap())
		return;
	check_counted(used, time, cost);
	if (has_cells() && step->flags & LIMITER_FLOOD)
		flood(time, cost);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct limiter_input input;
	struct limiter_step step;

	if (length < sizeof(input))
		return 0;
	memcpy(&input, bytes, sizeof(input));
	memset(&run, 0, sizeof(run));
	run.sound = input.sound & 1;
	if (run.sound) {
		make_sound(&input.of);
	} else {
		run.policy = input.hostile.policy;
		run.window = input.hostile.window;
	}
	bytes += sizeof(input);
	length -= sizeof(input);
	for (int i = 0; i < LIMITER_STEPS_MAX && length >= sizeof(step); i++) {
		memcpy(&step, bytes, sizeof(step));
		if (run.sound)
			run_sound_step(&step);
		else
			run_hostile_step(&step);
		bytes += sizeof(step);
		length -= sizeof(step);
	}
	check_bound();
	return 0;
}
