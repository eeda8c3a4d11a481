// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzer of the limiter core, in two kinds of run.
 *
 * Hostile: any bits for policy and window, any time and cost, and another writer that stores to the
 * window between the atomic operations. Nothing may crash, divide by zero or go on for ever; a
 * refusal charges nothing; readers write nothing.
 *
 * Sound: a policy in range and a window that the limiter opened, clocks that step forward, far
 * forward and back, and a second CPU that takes between the first one's operations. No `cells`
 * consecutive epochs admit more than L, and readers tell when a cost passes again, to the unit of
 * the clock.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void between_operations(void);
#define RF_ATOMIC_YIELD() between_operations()

#include "ringfence/limiter.h"

#include "tests/fuzz/limiter_input.h"
#include "tests/fuzz/require.h"

/* Far more than any call needs and few enough to be no loop. */
#define OPERATIONS_MAX 4096

#define WINDOW_WORDS (sizeof(struct rf_window) / sizeof(uint64_t))
#define OTHER_TURNS_MAX 4 /* of a second CPU in one step, so that the clocks stay together */
#define COST_MAX 65536	  /* sound: what a frame can cost in bytes */

struct admission {
	uint64_t epoch;
	uint32_t cost;
};

static struct {
	struct rf_policy policy;
	struct rf_window window;
	const struct limiter_step
		*step; /* in force between operations; NULL: nobody else is there */
	bool sound;
	unsigned int operations;
	unsigned int turns;
	struct rf_window seen; /* before the latest operation */
	bool charged;	       /* this caller's own operations changed the head */
	uint64_t own_head;     /* the head as this caller's own operations left it */

	uint64_t newest; /* sound: the newest epoch that any CPU has had, not modulo 2^32 */
	uint64_t first;	 /* the first one */
	struct admission admission[LIMITER_STEPS_MAX * (1 + OTHER_TURNS_MAX)];
	int admissions;
} run;

/* ---- admissions of a sound run ---- */

/* Looks at what this caller's latest operation has done, before anyone else does something. */
static void watch_operation(void)
{
	if (run.window.head != run.seen.head) {
		run.own_head = run.window.head;
		run.charged = true;
	}
}

/* An admission counts in the later of the head's epoch and the caller's own. */
static void admit(uint64_t epoch, uint32_t cost)
{
	uint32_t ahead = rf_word_epoch(run.own_head) - (uint32_t)epoch;

	REQUIRE(ahead < RF_EPOCH_AHEAD);
	run.admission[run.admissions++] = (struct admission){epoch + ahead, cost};
}

/* What was admitted in the `cells` epochs of which `last` is the last. */
static uint64_t admitted_until(uint64_t last)
{
	uint64_t sum = 0;

	for (int i = 0; i < run.admissions; i++)
		if (last - run.admission[i].epoch < run.policy.cells)
			sum += run.admission[i].cost;
	return sum;
}

static void check_bound(void)
{
	for (int i = 0; i < run.admissions; i++)
		REQUIRE(admitted_until(run.admission[i].epoch) <= run.policy.limit);
}

static uint64_t time_in(uint64_t epoch, uint64_t within)
{
	return epoch * run.policy.cell + within % run.policy.cell;
}

static void take_in(uint64_t epoch, uint64_t time, uint32_t cost)
{
	enum rf_verdict verdict;

	if (epoch > run.newest)
		run.newest = epoch;
	verdict = rf_take(&run.window, &run.policy, time, cost);
	watch_operation();
	REQUIRE(verdict == RF_UNDER || verdict == RF_OVER || verdict == RF_LOST_RACES);
	if (verdict == RF_UNDER)
		admit(epoch, cost);
}

/* ---- what comes between two operations ---- */

static void store_hostile_word(const struct limiter_step *step)
{
	uint64_t *word = (uint64_t *)&run.window + step->at % WINDOW_WORDS;

	*word = step->word + run.operations; /* another one each time, for compare-and-swap */
}

static void take_on_other_cpu(const struct limiter_step *step)
{
	const uint64_t own_head = run.own_head;
	uint64_t epoch = run.newest;

	if (run.turns == OTHER_TURNS_MAX)
		return;
	run.turns++;
	run.step = NULL; /* it runs through */
	if (!(step->flags & LIMITER_OTHER_BACK))
		epoch += step->other;
	else if (epoch - run.first >= step->other)
		epoch -= step->other;
	take_in(epoch, time_in(epoch, step->word >> 32), 1 + step->other % 3);
	run.step = step;
	run.own_head = own_head;
}

static void between_operations(void)
{
	const struct limiter_step *step = run.step;

	REQUIRE(++run.operations < OPERATIONS_MAX);
	watch_operation();
	if (step && step->every && run.operations % step->every == 0) {
		if (run.sound)
			take_on_other_cpu(step);
		else
			store_hostile_word(step);
	}
	run.seen = run.window;
}

/* What another does between the operations of what follows; NULL: nothing. */
static void start_operations(const struct limiter_step *step)
{
	run.step = step;
	run.operations = 0;
	run.turns = 0;
	run.charged = false;
	run.seen = run.window;
}

/* ---- readers ---- */

static void read_all(uint64_t time, uint32_t cost)
{
	const struct rf_window before = run.window;
	uint32_t now;

	start_operations(NULL);
	now = rf_epoch(&run.policy, time);
	(void)rf_window_sum(&run.window, now, run.policy.cells);
	(void)rf_head_own(&run.window, &run.policy, run.window.head);
	(void)rf_window_used(&run.window, &run.policy, now);
	for (uint32_t i = 0; i <= RF_CELLS; i++)
		(void)rf_window_cell(&run.window, &run.policy, now - i);
	start_operations(NULL);
	(void)rf_window_passes_again(&run.window, &run.policy, time, cost);
	REQUIRE(memcmp(&before, &run.window, sizeof(before)) == 0);
}

static enum rf_verdict would_take(uint64_t time, uint32_t cost)
{
	struct rf_window copy = run.window;

	start_operations(NULL);
	return rf_take(&copy, &run.policy, time, cost);
}

static void check_passes_again(uint64_t time, uint32_t cost)
{
	uint64_t wait;

	start_operations(NULL);
	wait = rf_window_passes_again(&run.window, &run.policy, time, cost);
	if (wait == ~0ULL) {
		REQUIRE(cost > run.policy.limit);
		return;
	}
	REQUIRE(would_take(time + wait, cost) == RF_UNDER);
	if (wait)
		REQUIRE(would_take(time + wait - 1, cost) == RF_OVER);
}

/* ---- hostile runs ---- */

/* Whatever was asked for, a refusal leaves the same behind, and asking again changes nothing. */
static void check_refusal(const struct rf_window *before, uint64_t time, uint32_t cost)
{
	struct rf_window other = *before, again = run.window;

	start_operations(NULL);
	if (rf_take(&other, &run.policy, time, UINT32_MAX) == RF_OVER)
		REQUIRE(memcmp(&other, &run.window, sizeof(other)) == 0);
	start_operations(NULL);
	REQUIRE(rf_take(&again, &run.policy, time, cost) == RF_OVER);
	REQUIRE(memcmp(&again, &run.window, sizeof(again)) == 0);
}

static void run_hostile_step(const struct limiter_step *step)
{
	const uint32_t cost = step->cost ? step->cost : 1;
	const struct rf_window before = run.window;
	enum rf_verdict verdict;

	start_operations(step);
	verdict = rf_take(&run.window, &run.policy, step->time, cost);
	watch_operation();
	REQUIRE(verdict == RF_UNDER || verdict == RF_OVER || verdict == RF_LOST_RACES);
	if (verdict == RF_UNDER)
		REQUIRE(cost <= run.policy.limit);
	if (verdict == RF_LOST_RACES)
		REQUIRE(!run.charged && step->every); /* nobody loses a race alone */
	if (verdict == RF_OVER && !step->every)
		check_refusal(&before, step->time, cost);
	read_all(step->time, cost);
}

/* ---- sound runs ---- */

static void make_sound(uint64_t start)
{
	const struct rf_policy raw = run.policy;

	run.policy = (struct rf_policy){
		.id = 1,
		.limit = raw.limit & 1 ? raw.limit % RF_LIMIT_MAX + 1 : raw.limit / 2 % 24 + 1,
		.cell = raw.cell % 1000 + 1,
		.algorithm = raw.cells % RF_CELLS ? RF_SLIDING : RF_FIXED,
		.cells = raw.cells % RF_CELLS + 1,
	};
	run.policy.clip = run.policy.limit;
	run.first = run.newest = start >> 16; /* so that time does not overflow */
	start_operations(NULL);
	rf_window_open(&run.window, rf_epoch(&run.policy, time_in(run.first, 0)));
}

static uint64_t choose_epoch(const struct limiter_step *step)
{
	uint64_t cells = step->time % 64;

	if (step->flags & LIMITER_BACK)
		return run.newest - run.first >= cells ? run.newest - cells : run.first;
	return run.newest + (step->flags & LIMITER_FAR ? step->time % (1ULL << 34) : cells);
}

static void run_sound_step(const struct limiter_step *step)
{
	const uint32_t cost = step->flags >> 4 ? step->flags >> 4 : step->cost % COST_MAX + 1;
	const uint64_t epoch = choose_epoch(step);
	const uint64_t time = time_in(epoch, step->word);

	start_operations(step);
	take_in(epoch, time, cost);
	/* After a lap of all epochs a stale cell may read as present: too strict, never too lax. */
	if (run.newest - run.first < 1ULL << 31)
		check_passes_again(time, cost);
	read_all(time, cost);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct limiter_input input;
	struct limiter_step step;

	if (length < sizeof(input))
		return 0;
	memcpy(&input, bytes, sizeof(input));
	memset(&run, 0, sizeof(run));
	run.policy = input.policy;
	run.window = input.window;
	run.sound = input.sound & 1;
	if (run.sound)
		make_sound(input.start);
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
