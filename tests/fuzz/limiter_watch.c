// SPDX-License-Identifier: GPL-2.0
/*
 * The limiter's permitted effects in the fuzzer: the bound of each algorithm, the effect of a
 * packet in a sound run, and each write between two operations, where the other CPUs take their
 * turns.
 */
#include "tests/fuzz/limiter_run.h"

struct run run;

/* ---- the bound of each algorithm ---- */

uint64_t admitted_within(uint64_t span, uint64_t last)
{
	uint64_t sum = 0;

	for (int i = 0; i < run.admissions; i++)
		if (last - run.admission[i].when <= span)
			sum += run.admission[i].cost;
	return sum;
}

/*
 * Weighted: the amount that counts at `time` in `epoch`, times the length of a cell, not rounded.
 */
static wide estimate(uint64_t epoch, uint64_t time)
{
	const uint64_t cell = run.policy.cell;
	const uint64_t full = admitted_within(run.policy.cells - 1, epoch);
	const uint64_t edge = admitted_within(run.policy.cells, epoch) - full;
	const uint64_t gone = epoch == time / cell ? time % cell : 0;

	return (wide)full * cell + (wide)edge * (cell - gone);
}

/* By how much at most the limiter may overestimate that amount. */
static wide estimate_slack(void)
{
	return (wide)run.policy.cell * (run.policy.scale ? 8 : 1);
}

/* How long a cost takes to flow, in 1/16 ns. */
static wide flow_of(uint32_t cost)
{
	const wide product = (wide)cost * run.policy.cell, one = (wide)1 << run.policy.scale;

	return (product + one - 1) / one;
}

/*
 * From any admission to any later one, a bucket admits at most its burst and the flow in between.
 * Counted in bytes, it can admit the flow of 1/16 ns more: a byte does not take a whole number of
 * these, and if the burst were rounded down, a packet as large as the burst would never pass.
 */
static void check_bucket(int first)
{
	const wide length = (wide)run.limit.window_ns << RF_BUCKET_SHIFT;
	const wide more = run.limit.unit == RF_BYTES;
	wide flow = 0, sum = 0;

	for (int i = first; i < run.admissions; i++) {
		wide meanwhile = (wide)run.admission[i].when - run.admission[first].when;

		flow += flow_of(run.admission[i].cost);
		sum += run.admission[i].cost;
		REQUIRE(flow <= run.policy.depth + meanwhile);
		if (meanwhile >= 0)
			REQUIRE((sum - run.limit.burst) * length <=
				(meanwhile + more) * run.limit.rate);
	}
}

/*
 * The time at which the bucket is empty, computed from all that it admitted; in 1/16 ns, like all
 * times of a bucket.
 */
static wide bucket_empty(void)
{
	wide empty = 0;

	for (int i = 0; i < run.admissions; i++) {
		wide back = (wide)run.admission[i].when - run.policy.depth;

		empty = (empty > back ? empty : back) + flow_of(run.admission[i].cost);
	}
	return empty;
}

void check_bound(void)
{
	for (int i = 0; i < run.admissions; i++) {
		const uint64_t last = run.admission[i].when, limit = run.policy.limit;

		if (rf_is_bucket(&run.policy))
			check_bucket(i);
		else if (rf_is_log(&run.policy))
			REQUIRE(admitted_within(run.policy.cell, last) <= limit);
		else
			REQUIRE(admitted_within(run.policy.cells - 1, last) <= limit);
		if (rf_is_weighted(&run.policy))
			REQUIRE(admitted_within(run.policy.cells, last) < 2 * limit);
	}
}

/* ---- one packet of a sound run ---- */

uint64_t present_epoch(uint64_t time)
{
	const uint64_t epoch = time / run.policy.cell;

	return epoch > run.head_epoch ? epoch : run.head_epoch;
}

static void admit(uint64_t time, uint32_t cost)
{
	uint64_t when = run.self.written;

	if (rf_is_bucket(&run.policy)) {
		when = rf_bucket_time(time);
	} else if (has_cells()) {
		when = run.self.epoch;
		/* A head that moves by whole laps may become the word that it was. */
		if (!run.self.charged && present_epoch(time) != run.head_epoch) {
			when = present_epoch(time);
			REQUIRE((uint32_t)when == (uint32_t)run.head_epoch);
			run.self.charged = true;
			run.head_epoch = when;
		}
	}
	REQUIRE(run.self.charged);
	run.admission[run.admissions++] = (struct admission){when, cost};
	if (rf_is_weighted(&run.policy))
		REQUIRE(estimate(when, time) <= (wide)run.policy.limit * run.policy.cell);
}

static bool log_is_full(uint64_t time)
{
	uint64_t now = time ? time : 1;

	for (int i = 0; i < run.admissions; i++)
		if (now < run.admission[i].when)
			now = run.admission[i].when;
	return admitted_within(run.policy.cell, now) >= run.policy.limit;
}

/* A single CPU refuses only packets that would exceed the limit. */
static bool refusal_is_due(uint64_t time, uint32_t cost)
{
	const uint64_t limit = run.policy.limit;
	uint64_t epoch, now;

	if (rf_is_log(&run.policy))
		return log_is_full(time);
	if (rf_is_bucket(&run.policy)) {
		now = rf_bucket_time(time);
		return cost > limit || flow_of(cost) > run.policy.depth ||
		       bucket_empty() + flow_of(cost) > now;
	}
	epoch = present_epoch(time);
	if (!rf_is_weighted(&run.policy))
		return admitted_within(run.policy.cells - 1, epoch) + cost > limit;
	return estimate(epoch, time) + (wide)cost * run.policy.cell + estimate_slack() >
	       (wide)limit * run.policy.cell;
}

void see(uint64_t time)
{
	if (run.newest < time)
		run.newest = time;
	if (run.oldest > time)
		run.oldest = time;
	if (has_cells() && run.newest / run.cell - run.head_epoch >= EPOCHS - 2 * RF_CELLS_AHEAD)
		run.lapped = true;
}

bool before_a_lap(void)
{
	return !has_cells() || (run.newest - run.oldest) / run.cell < EPOCHS / 2 - 1;
}

void take_at(uint64_t time, uint32_t cost)
{
	const bool counts = rf_counts_rejected(&run.policy);
	enum rf_verdict verdict;

	see(time);
	run.self = (struct self){.time = time};
	verdict = rf_take(&run.window, &run.policy, time, cost);
	watch_operation();
	REQUIRE(verdict == RF_UNDER || verdict == RF_OVER || verdict == RF_LOST_RACES);
	if (verdict == RF_UNDER)
		admit(time, cost);
	if (verdict == RF_LOST_RACES)
		REQUIRE(!run.self.charged && run.turns); /* a single CPU never loses a race */
	if (verdict == RF_OVER && !has_cells() && !counts)
		REQUIRE(!run.self.charged);
	if (verdict == RF_OVER && run.alone && !counts && before_a_lap())
		REQUIRE(refusal_is_due(time, cost));
}

/* ---- between two operations ---- */

/* One of the two cells grows, or the word is another pair's. */
static void check_ring_write(size_t index, uint64_t before, uint64_t after)
{
	REQUIRE(rf_ring_index(rf_word_epoch(after)) == index);
	if (rf_word_epoch(after) != rf_word_epoch(before))
		return;
	REQUIRE(after != before);
	REQUIRE(rf_half(after, 0) >= rf_half(before, 0) && rf_half(after, 1) >= rf_half(before, 1));
}

static void check_cell_write(size_t word, uint64_t before, uint64_t after)
{
	const uint64_t epoch = rf_epoch(&run.policy, run.self.time);

	if (word == NEWEST) {
		REQUIRE(before < after && after == epoch);
		return;
	}
	if (word >= FIRST_CELL) {
		check_ring_write(word - FIRST_CELL, before, after);
		return;
	}
	REQUIRE(rf_word_used(after) <= USED_MAX);
	if (rf_word_epoch(after) == (uint32_t)epoch && epoch > run.head_epoch)
		run.head_epoch = epoch;
	else
		REQUIRE(rf_word_epoch(after) == rf_word_epoch(before) &&
			rf_word_used(after) > rf_word_used(before));
}

/* No word of a sound run goes back, or overflows into another. */
static void check_write(size_t word, uint64_t before, uint64_t after)
{
	const uint64_t time = run.self.time;

	if (rf_is_bucket(&run.policy))
		REQUIRE(word == HEAD && before < after && after <= rf_bucket_time(time));
	else if (rf_is_log(&run.policy))
		REQUIRE(word >= FIRST_CELL && before < after && after >= time);
	else
		check_cell_write(word, before, after);
}

/* Does the write replace a late write, without charging anything? */
static bool is_mend(uint64_t before, uint64_t after)
{
	const uint64_t now = rf_bucket_time(run.self.time);

	if (rf_is_log(&run.policy))
		return !after && !rf_log_when(before, run.self.time);
	return rf_is_bucket(&run.policy) && after == now &&
	       rf_bucket_is_alien(&run.policy, before, now);
}

void watch_operation(void)
{
	const uint64_t *before = (const uint64_t *)&run.seen;
	const uint64_t *after = (const uint64_t *)&run.window;

	for (size_t word = 0; word < WINDOW_WORDS; word++) {
		if (before[word] == after[word])
			continue;
		run.self.written = after[word];
		run.self.wrote = true;
		run.self.charged |= (word == HEAD || rf_is_log(&run.policy)) &&
				    !is_mend(before[word], after[word]);
		if (run.sound)
			check_write(word, before[word], after[word]);
		if (word == HEAD)
			run.self.epoch = run.head_epoch;
	}
}

static void store_hostile_word(const struct limiter_step *step)
{
	uint64_t *word = (uint64_t *)&run.window + step->at % WINDOW_WORDS;

	*word = step->word + run.operations; /* a different one each time, for compare-and-swap */
}

uint64_t apart(uint64_t cells, uint64_t max)
{
	return run.lapped ? cells % max : cells;
}

/*
 * Half of the permitted stall of a CPU, by limiter.h: one half for it, and one for CPUs ahead of
 * it.
 */
static uint64_t half_a_stall(void)
{
	wide stall = run.policy.clock == RF_JIFFIES ? RF_STALL_TICKS : RF_STALL_NS;
	const wide cells = (wide)run.policy.cell << RF_STALL_TICKS_BITS;
	const wide least = (wide)run.policy.cell * RF_CELLS_AHEAD;

	if (has_cells() && stall > cells)
		stall = cells;
	if (has_cells() && stall < least)
		stall = least;
	return stall / 2 < TIME_MAX ? stall / 2 : TIME_MAX;
}

/* No earlier than `most` before `newest`. */
static uint64_t at_least(uint64_t time, uint64_t newest, uint64_t most)
{
	return newest > most && time < newest - most ? newest - most : time;
}

uint64_t forward(uint64_t cells, uint64_t within)
{
	const uint64_t cell = run.newest / run.cell;

	if (cells > TIME_MAX / run.cell || cell + cells >= TIME_MAX / run.cell)
		return run.newest;
	return at_least((cell + cells) * run.cell + within % run.cell, run.newest, half_a_stall());
}

uint64_t back(uint64_t cells, uint64_t within)
{
	const uint64_t newest = run.newest / run.cell;
	uint64_t cell = newest > cells ? newest - cells : 0;

	/* Whole laps behind the head, the weight of the edge is taken for the caller's own. */
	if (rf_is_weighted(&run.policy) && cell < run.head_epoch &&
	    (uint32_t)cell == (uint32_t)run.head_epoch)
		cell++;
	return at_least(cell * run.cell + within % run.cell, run.newest, half_a_stall());
}

static void take_on_other_cpu(const struct limiter_step *step)
{
	const struct self self = run.self;
	const uint64_t within = step->word >> 32;
	const bool is_back = step->flags & LIMITER_OTHER_BACK;
	const uint64_t cells = apart(step->other, OTHER_LAPPED_MAX);
	const uint64_t length =
		step->at ? step->at : 1ULL + (step->cost >> LIMITER_SHIFT(step->flags));
	/* As far as the waiting CPU can be behind. */
	const uint64_t ahead = (self.time > run.began ? self.time : run.began) + half_a_stall();
	uint64_t time;

	if (run.turns == OTHER_TURNS_MAX)
		return;
	run.turns++;
	run.alone = false;
	run.step = NULL; /* it runs through */
	run.seen = run.window;
	time = is_back ? back(cells, within) : forward(cells, within);
	if (time > ahead)
		time = ahead;
	take_at(time, rf_cost(&run.policy, length));
	run.step = step;
	run.self = self;
}

void between_operations(void)
{
	const struct limiter_step *step = run.step;

	REQUIRE(++run.operations < OPERATIONS_MAX);
	if (!run.watching)
		return;
	watch_operation();
	if (step && step->every && run.operations % step->every == 0) {
		if (run.sound)
			take_on_other_cpu(step);
		else
			store_hostile_word(step);
	}
	run.seen = run.window;
}

void start_disturbed(const struct limiter_step *step)
{
	run.step = step;
	run.watching = true;
	run.operations = 0;
	run.turns = 0;
	run.began = run.newest;
	run.self = (struct self){};
	run.seen = run.window;
}

void start_quiet(void)
{
	run.step = NULL;
	run.watching = false;
	run.operations = 0;
}
