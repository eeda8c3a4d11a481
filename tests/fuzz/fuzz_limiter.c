// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzer of the limiter core, of every algorithm, in two kinds of run.
 *
 * Hostile: any bits for policy and window, any time, and another writer that stores to the window
 * between the atomic operations. Nothing may crash, divide by zero or go on for ever; a refusal
 * charges nothing unless the policy says so; readers write nothing.
 *
 * Sound: the policy of a limit in range and a window that nobody has used, clocks that step
 * forward, far forward and back, and a second CPU that takes between the first one's operations.
 * Each algorithm keeps the bound that limiter.h states, no word spills into another, and readers
 * tell when a cost passes again, to the unit of the clock. While the first CPU is alone, nothing is
 * refused that would keep to the bound.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void between_operations(void);
#define RF_ATOMIC_YIELD() between_operations()

#include "ringfence/limiter.h"
#include "ringfence/window_read.h"

#include "grammar.h"
#include "rules.h"
#include "tests/fuzz/limiter_input.h"
#include "tests/fuzz/require.h"

/* Far more than any call needs (a reader asks about 120 times), and few enough to be no loop. */
#define OPERATIONS_MAX 65536

/* The words of a window. */
enum {
	HEAD = offsetof(struct rf_window, head) / sizeof(uint64_t),
	NEWEST = offsetof(struct rf_window, newest) / sizeof(uint64_t),
	FIRST_CELL = offsetof(struct rf_window, cell) / sizeof(uint64_t),
	WINDOW_WORDS = sizeof(struct rf_window) / sizeof(uint64_t),
};

#define OTHER_TURNS_MAX 10 /* of a second CPU in one step: enough to lose all races against it */
#define FLOOD_PACKETS 4096 /* the largest of them fill a word */
#define FLOODS_MAX 4
/* Of `lapped` runs, where no CPU may stall for RF_CELLS_AHEAD cells in a packet: cells. */
#define OTHER_LAPPED_MAX 5
#define BACK_LAPPED_MAX 8
#define TIME_MAX (1ULL << 57)
#define TICK_MIN_NS 1000000U
#define TICK_MAX_NS 10000000U
#define EPOCHS (1ULL << 32) /* an epoch wraps here */
/* RF_USED_MAX, and what CPUs add that looked before any of them did. */
#define USED_MAX (RF_USED_MAX + (1 + OTHER_TURNS_MAX) * RF_COST_MAX)

typedef __int128 wide; /* holds any product of two words here */

/* Of RF_LOG: the time it is noted with; of a bucket: the caller's, as the bucket's; else epoch. */
struct admission {
	uint64_t when;
	uint32_t cost;
};

/* The CPU whose operations are watched, since the start of its packet. */
struct self {
	uint64_t time;
	uint64_t written; /* the latest word that it changed */
	bool wrote;
	bool charged; /* it changed what only a charge, or a move to another cell, may */
};

static struct {
	struct rf_policy policy;
	struct rf_window window;
	struct rf_limit limit;		 /* sound: what the policy was made of */
	const struct limiter_step *step; /* in force; NULL: nobody else is there */
	bool sound;
	bool watching; /* operations are on `window`, and not on a reader's copy */
	unsigned int operations;
	unsigned int turns;
	struct rf_window seen; /* before the latest operation */
	struct self self;

	/* Sound: times are in the policy's clock. */
	uint64_t began;	 /* the newest time when the step began */
	uint64_t cell;	 /* of the policy, or what stands for it */
	uint64_t newest; /* that any CPU has had */
	uint64_t oldest;
	bool lapped;	     /* the head stood still for nearly a lap of all epochs, or longer */
	uint64_t head_epoch; /* of the head, not modulo 2^32 */
	bool alone;	     /* there was no other CPU yet */
	int floods;
	struct admission admission[LIMITER_STEPS_MAX * (1 + OTHER_TURNS_MAX)];
	int admissions;
} run;

static bool has_cells(void)
{
	return !rf_is_log(&run.policy) && !rf_is_bucket(&run.policy);
}

/* ---- what the algorithms have to keep to ---- */

/* What was admitted from `span` before `last` up to it, both included. */
static uint64_t admitted_within(uint64_t span, uint64_t last)
{
	uint64_t sum = 0;

	for (int i = 0; i < run.admissions; i++)
		if (last - run.admission[i].when <= span)
			sum += run.admission[i].cost;
	return sum;
}

/* Weighted: what counts at `time` in `epoch`, times the length of a cell, and not rounded. */
static wide estimate(uint64_t epoch, uint64_t time)
{
	const uint64_t cell = run.policy.cell;
	const uint64_t full = admitted_within(run.policy.cells - 1, epoch);
	const uint64_t edge = admitted_within(run.policy.cells, epoch) - full;
	const uint64_t gone = epoch == time / cell ? time % cell : 0;

	return (wide)full * cell + (wide)edge * (cell - gone);
}

/* By how much at most the limiter may estimate more than that. */
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
 * From any admission to any later one a bucket gives its burst and what flows meanwhile. Told in
 * the limit's own terms, it may be what flows in 1/16 ns more: bytes take no whole number of these,
 * and a burst that was rounded down would never pass as one packet.
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

/* When a bucket was empty, by all that it admitted; in 1/16 ns as all times of a bucket. */
static wide bucket_empty(void)
{
	wide empty = 0;

	for (int i = 0; i < run.admissions; i++) {
		wide back = (wide)run.admission[i].when - run.policy.depth;

		empty = (empty > back ? empty : back) + flow_of(run.admission[i].cost);
	}
	return empty;
}

static void check_bound(void)
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

/* ---- what one packet of a sound run does ---- */

/* An admission counts in the later of the head's epoch and the caller's own. */
static uint64_t present_epoch(uint64_t time)
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
		when = present_epoch(time);
		/* A head that moves by whole laps may become the word that it was. */
		if (!run.self.charged && when != run.head_epoch) {
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

/* One CPU alone refuses only what would go over. */
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

/* A CPU has read its clock. */
static void see(uint64_t time)
{
	if (run.newest < time)
		run.newest = time;
	if (run.oldest > time)
		run.oldest = time;
	if (has_cells() && run.newest / run.cell - run.head_epoch >= EPOCHS - 2 * RF_CELLS_AHEAD)
		run.lapped = true;
}

/* Within half a lap of all epochs no tag reads as another: beyond, too strict, never too lax. */
static bool before_a_lap(void)
{
	return !has_cells() || (run.newest - run.oldest) / run.cell < EPOCHS / 2 - 1;
}

/* Looks at what this CPU's latest operation has done, before anyone else does something. */
static void watch_operation(void);

static void take_at(uint64_t time, uint32_t cost)
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
		REQUIRE(!run.self.charged && run.turns); /* nobody loses a race alone */
	if (verdict == RF_OVER && !has_cells() && !counts)
		REQUIRE(!run.self.charged);
	if (verdict == RF_OVER && run.alone && !counts && before_a_lap())
		REQUIRE(refusal_is_due(time, cost));
}

/* ---- between two operations ---- */

static void check_cell_write(size_t word, uint64_t before, uint64_t after)
{
	const uint64_t epoch = rf_epoch(&run.policy, run.self.time);

	if (word == NEWEST) {
		REQUIRE(before < after && after == epoch);
		return;
	}
	REQUIRE(rf_word_used(after) <= USED_MAX);
	if (word == HEAD && rf_word_epoch(after) == (uint32_t)epoch && epoch > run.head_epoch)
		run.head_epoch = epoch;
	else if (rf_word_epoch(after) == rf_word_epoch(before))
		REQUIRE(rf_word_used(after) > rf_word_used(before));
	else
		REQUIRE(word >= FIRST_CELL && rf_word_epoch(after) % RF_CELLS == word - FIRST_CELL);
}

/* No word of a sound run goes back, or takes what belongs to another. */
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

/* Is a late write written over, which charges nothing? */
static bool is_mend(uint64_t before, uint64_t after)
{
	const uint64_t now = rf_bucket_time(run.self.time);

	if (rf_is_log(&run.policy))
		return !after && !rf_log_when(before, run.self.time);
	return rf_is_bucket(&run.policy) && after == now &&
	       rf_bucket_is_alien(&run.policy, before, now);
}

static void watch_operation(void)
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
	}
}

static void store_hostile_word(const struct limiter_step *step)
{
	uint64_t *word = (uint64_t *)&run.window + step->at % WINDOW_WORDS;

	*word = step->word + run.operations; /* another one each time, for compare-and-swap */
}

static uint64_t apart(uint64_t cells, uint64_t max)
{
	return run.lapped ? cells % max : cells;
}

/* Half of what a CPU may stall, by limiter.h: one half for it, and one for those ahead of it. */
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

/* With no cells it may be earlier in the present one. */
static uint64_t forward(uint64_t cells, uint64_t within)
{
	const uint64_t cell = run.newest / run.cell;

	if (cells > TIME_MAX / run.cell || cell + cells >= TIME_MAX / run.cell)
		return run.newest;
	return at_least((cell + cells) * run.cell + within % run.cell, run.newest, half_a_stall());
}

static uint64_t back(uint64_t cells, uint64_t within)
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
	/* As far as the one that waits may be behind. */
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

static void between_operations(void)
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

/* Another one is there between the operations of what follows, as the step says. */
static void start_disturbed(const struct limiter_step *step)
{
	run.step = step;
	run.watching = true;
	run.operations = 0;
	run.turns = 0;
	run.began = run.newest;
	run.self = (struct self){};
	run.seen = run.window;
}

/* Nobody is, or it is a copy that what follows works on. */
static void start_quiet(void)
{
	run.step = NULL;
	run.watching = false;
	run.operations = 0;
}

/* ---- readers ---- */

static void read_window(uint64_t time)
{
	uint64_t now = rf_epoch(&run.policy, time);

	(void)rf_window_sum(&run.window, now, run.policy.cells);
	(void)rf_head_own(&run.window, &run.policy, run.window.head);
	(void)rf_edge_part(&run.window, &run.policy, now, time);
	(void)rf_window_used(&run.window, &run.policy, now);
	(void)rf_used(&run.window, &run.policy, time);
	(void)rf_peek(&run.window, &run.policy, time, 1);
	for (uint32_t i = 0; i <= RF_CELLS; i++)
		(void)rf_window_cell(&run.window, &run.policy, now - i);
}

/* All of them end and write nothing. Returns when the cost passes again. */
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

/* The cost of a frame: its length in units, rounded up, and none is free. */
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

/* What counts against L tells what passes; of a bucket it is rounded up. */
static void check_used(uint64_t time, uint32_t cost)
{
	bool passes = would_take(time, cost) == RF_UNDER, has_room;

	start_quiet();
	has_room = rf_used(&run.window, &run.policy, time) + cost <= run.policy.limit;
	REQUIRE(passes == has_room || (passes && rf_is_bucket(&run.policy)));
	REQUIRE(rf_peek(&run.window, &run.policy, time, cost) == passes);
}

/* One CPU alone: a cell is known to have what was admitted in it. */
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

/* Whatever was asked for, a refusal leaves the same behind, and asking again changes nothing. */
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

/* Of a packet that nobody disturbed. */
static void check_undisturbed(const struct rf_window *before, enum rf_verdict verdict,
			      uint64_t time, uint32_t cost)
{
	const uint32_t epoch = rf_word_epoch(run.window.head);

	if (has_cells() && epoch != rf_word_epoch(before->head))
		REQUIRE(epoch == (uint32_t)rf_epoch(&run.policy, time));
	/* Nobody loses a race alone; but no clock is as far as 2^60, and such a word stays. */
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

/* Windows that are shorter than a user may ask for are rounded most, so they are among them. */
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
		limit->cells = within(raw->cells, 2, RF_CELLS);
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
 * In the last cells before a lap is over, the old head reads as a little ahead. Of two CPUs that
 * are there, the one whose clock is behind may find it in the past, and move it back.
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

/* Counted in full, or up to where nothing passes any more; a time is not more than it was. */
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
