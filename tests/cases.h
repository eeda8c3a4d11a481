/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Known answers: which packets are offered at which time, and which of them pass. The cases run
 * through the limiter itself and through the loaded program, each with its own injected clock.
 * Times count from a moment at which every aligned cell of these limits begins.
 */
#ifndef RINGFENCE_TESTS_CASES_H
#define RINGFENCE_TESTS_CASES_H

#include <pthread.h>

#include "tests/limits.h"
#include "tests/unit/unit.h"

#define CASE_STEPS 8
#define CASE_FIRST 10
#define CASE_START_NS (6000 * SECOND)
#define CASE_HISTORY 2048 /* over every L of the rows */
#define CROWD_MAX 100

/* What the rows are run through, for one source. */
struct rf_tested {
	void *context;
	/* As `limit set` would: windows stay where it keeps them. */
	void (*set_limit)(void *context, const struct rf_limit *limit, uint32_t tick_ns);
	/* These two from many threads at once. */
	void (*set_time)(void *context, uint64_t time_ns);
	int (*send)(void *context); /* one packet; 1: it passed, 0: not, below: an error */
};

/* ---- one caller ---- */

/* `count` packets of which `passed` pass: evenly over `over_ms`, of which the end is left out. */
struct rf_case_step {
	uint32_t at_ms;
	uint32_t over_ms; /* 0: all at once */
	uint32_t count;
	uint32_t passed;
	uint32_t rate; /* of the limit from here on; 0: as before */
};

struct rf_case {
	const char *name;
	struct rf_limit limit;
	uint32_t tick_ns;		      /* 0: any that divides a second */
	struct rf_case_step step[CASE_STEPS]; /* until a count of 0 */
	uint32_t first_ms[CASE_FIRST];	      /* when the first ten pass; all 0: not said */
	uint32_t random;		      /* packets at any times, instead of steps */
};

#define EVENLY(at, over, number, passes, ...)                                                \
	{                                                                                    \
		.at_ms = at, .over_ms = over, .count = number, .passed = passes, __VA_ARGS__ \
	}
#define AT(at, number, passes, ...) EVENLY(at, 0, number, passes, __VA_ARGS__)
#define EVERY(at, distance, number, passes) EVENLY(at, (distance) * (number), number, passes)

static const struct rf_case rf_cases[] = {
	{.name = "fixed window: 2 per 2 s, callers one after the other",
	 .limit = LIMIT(2, 2 * SECOND, FIXED),
	 .step = {EVERY(0, 1, 2000, 2), EVERY(2000, 1, 2000, 2), EVERY(4000, 1, 2000, 2),
		  EVERY(6000, 1, 2000, 2), EVERY(8000, 1, 2000, 2)}},
	{.name = "exact log: 2 per 2 s, callers one after the other",
	 .limit = LIMIT(2, 2 * SECOND, LOG),
	 .step = {EVERY(0, 1, 10000, 10)},
	 .first_ms = {0, 1, 2001, 2002, 4002, 4003, 6003, 6004, 8004, 8005}},
	{.name = "fixed window: bursts on both sides of a minute's edge pass",
	 .limit = LIMIT(10, 60 * SECOND, FIXED),
	 .step = {AT(59000, 10, 10), AT(61000, 10, 10)}},
	{.name = "sliding window: of bursts on both sides of a minute's edge one passes",
	 .limit = LIMIT(10, 60 * SECOND, STRICT(16)),
	 .step = {AT(59000, 10, 10), AT(61000, 10, 0)}},
	/* The state comes about under a larger limit: 9 before the minute, 5 at its start. */
	{.name = "weighted window: an estimate over L refuses a packet",
	 .limit = LIMIT(14, 60 * SECOND, WEIGHTED(2)),
	 .step = {EVENLY(0, 60000, 9, 9), AT(60000, 5, 5), AT(75000, 1, 0, .rate = 10)}},
	{.name = "weighted window: the least L with room above an estimate",
	 .limit = LIMIT(14, 60 * SECOND, WEIGHTED(2)),
	 .step = {EVENLY(0, 60000, 9, 9), AT(60000, 5, 5), AT(75000, 1, 0, .rate = 12),
		  AT(75000, 2, 1, .rate = 13)}},
	{.name = "weighted window: an estimate from arrivals",
	 .limit = LIMIT(10, 60 * SECOND, WEIGHTED(2)),
	 .step = {EVENLY(0, 60000, 9, 9), AT(60000, 5, 1), AT(75000, 5, 2)}},
	{.name = "weighted window: L pass after two idle windows",
	 .limit = LIMIT(10, 60 * SECOND, WEIGHTED(2)),
	 .step = {EVENLY(0, 60000, 9, 9), AT(200000, 10, 10)}},
	{.name = "coarse window: a packet every 300 ms",
	 .limit = LIMIT(5, 10 * SECOND, COARSE(10)),
	 .step = {EVERY(0, 300, 600, 90)},
	 .first_ms = {0, 300, 600, 900, 1200, 10200, 10500, 10800, 11100, 11400}},
	{.name = "coarse window: a packet every 500 ms",
	 .limit = LIMIT(5, 10 * SECOND, COARSE(10)),
	 .step = {EVERY(0, 500, 600, 150)},
	 .first_ms = {0, 500, 1000, 1500, 2000, 10000, 10500, 11000, 11500, 12000}},
	{.name = "coarse window: same cell, same lap, a lap later, clock back",
	 .limit = LIMIT(5, 10 * SECOND, COARSE(10)),
	 .step = {AT(100, 3, 3), AT(4000, 1, 1), AT(14500, 5, 5), AT(13000, 5, 0)}},
	{.name = "strict window: at most L in any W, at random times",
	 .limit = LIMIT(5, SECOND, STRICT(16)),
	 .random = 20000},
	{.name = "exact log: at most L in any W, at random times",
	 .limit = LIMIT(5, SECOND, LOG),
	 .random = 20000},
	{.name = "strict window: an even sender below L loses nothing",
	 .limit = LIMIT(1600, SECOND, STRICT(16)),
	 .tick_ns = HZ100, /* too long for these cells: they are timed in ns */
	 .step = {EVENLY(0, 10000, 14990, 14990)}},
	{.name = "token bucket: a burst, then a packet each 100 ms",
	 .limit = LIMIT(10, SECOND, TOKEN(5)),
	 .step = {AT(0, 20, 5), AT(100, 1, 1), AT(200, 1, 1), AT(300, 1, 1),
		  EVERY(400, 100, 20, 20)}},
	{.name = "leaky bucket: a packet each 100 ms",
	 .limit = LIMIT(10, SECOND, LEAKY(1)),
	 .step = {AT(0, 20, 1), EVERY(50, 50, 200, 100)},
	 .first_ms = {0, 100, 200, 300, 400, 500, 600, 700, 800, 900}},
};

#define RF_CASE_COUNT (sizeof(rf_cases) / sizeof(rf_cases[0]))

/* A row that runs. */
struct rf_case_run {
	const struct rf_case *row;
	const struct rf_tested *tested;
	uint64_t latest_ns; /* of the packets that passed; a clock that goes back stands still */
	uint32_t total;	    /* packets that passed */
	uint64_t passed_ns[CASE_HISTORY];
};

static inline uint64_t rf_case_passed_ns(const struct rf_case_run *run, uint32_t ago)
{
	return run->passed_ns[(run->total - ago) % CASE_HISTORY];
}

/* At most L passes in every interval of length W, both ends included. */
static inline void rf_case_check_interval(const struct rf_case_run *run)
{
	const struct rf_limit *limit = &run->row->limit;
	bool strong = limit->algorithm == RF_LOG ||
		      (limit->algorithm == RF_SLIDING && limit->edge == RF_EDGE_STRICT);

	if (strong && run->total > limit->rate &&
	    rf_case_passed_ns(run, 1) - rf_case_passed_ns(run, limit->rate + 1) <= limit->window_ns)
		fail_msg("more than L in W before %" PRIu64 " ns", run->latest_ns);
}

static inline bool rf_case_send(struct rf_case_run *run, uint64_t time_ns)
{
	uint64_t after_ms = (time_ns - CASE_START_NS) / MS;
	int passed;

	run->tested->set_time(run->tested->context, time_ns);
	passed = run->tested->send(run->tested->context);
	assert_in_range(passed, 0, 1);
	if (!passed)
		return false;
	if (run->latest_ns < time_ns)
		run->latest_ns = time_ns;
	if (run->row->first_ms[1] && run->total < CASE_FIRST)
		assert_int_equal(after_ms, run->row->first_ms[run->total]);
	run->passed_ns[run->total++ % CASE_HISTORY] = run->latest_ns;
	rf_case_check_interval(run);
	return true;
}

static inline void rf_case_run_step(struct rf_case_run *run, const struct rf_case_step *step)
{
	uint32_t passed = 0;

	for (uint32_t i = 0; i < step->count; i++)
		passed += rf_case_send(run, CASE_START_NS + step->at_ms * MS +
						    i * (step->over_ms * MS) / step->count);
	if (passed != step->passed)
		fail_msg("at %u ms: %u of %u passed, not %u", step->at_ms, passed, step->count,
			 step->passed);
}

/* Bursts and steps on and back; often to where W after an earlier packet ends, to the ns. */
static inline void rf_case_run_random(struct rf_case_run *run)
{
	const struct rf_limit *limit = &run->row->limit;
	uint64_t random = unit_seed(), time_ns = CASE_START_NS;

	for (uint32_t i = 0; i < run->row->random; i++) {
		uint32_t ago = 1 + unit_below(&random, limit->rate);
		uint64_t roll = unit_below(&random, 16), end_ns = 0;

		if (ago <= run->total)
			end_ns = rf_case_passed_ns(run, ago) + limit->window_ns + roll % 2;
		if (roll < 2 && end_ns > time_ns)
			time_ns = end_ns;
		else if (roll < 5)
			time_ns += unit_below(&random, limit->window_ns / limit->rate);
		else if (roll == 5)
			time_ns -= unit_below(&random, limit->window_ns / 8);
		rf_case_send(run, time_ns);
	}
	/* Else it shows little. */
	assert_in_range(run->total, run->row->random / 10, run->row->random / 10 * 9);
}

/* `tick_ns` is that of a row that goes with any. */
static inline void rf_case_run(const struct rf_case *row, uint32_t tick_ns,
			       const struct rf_tested *tested)
{
	struct rf_case_run run = {.row = row, .tested = tested};
	struct rf_limit limit = row->limit;

	if (row->tick_ns)
		tick_ns = row->tick_ns;
	tested->set_limit(tested->context, &limit, tick_ns);
	for (const struct rf_case_step *step = row->step; step->count; step++) {
		if (step->rate) {
			limit.rate = step->rate;
			tested->set_limit(tested->context, &limit, tick_ns);
		}
		rf_case_run_step(&run, step);
	}
	if (row->random)
		rf_case_run_random(&run);
}

/* ---- many callers in parallel ---- */

/*
 * Everybody sends at the start of each period, or while each one's clock sweeps on from there, for
 * as long as no more than `passed` may pass. Then once more at the end of that time: none. They are
 * waited for before the next period, so that the answer is exact at any speed.
 */
struct rf_crowd {
	const char *name;
	struct rf_limit limit;
	uint32_t callers, packets; /* of each, each time */
	uint32_t passed;
	uint32_t stranded; /* at most so many of them do not pass, since a lease has them */
	uint64_t shut_ns;  /* from the start of a period on, both ends included */
	bool sweeps;
	uint64_t period_ns;
	uint32_t periods;
};

#define MANY(title, passes, shut, sweep, period, ...)                           \
	{                                                                       \
		title, __VA_ARGS__, 100, 200, passes, 0, shut, sweep, period, 5 \
	}
#define TWO(title, passes, stranded, shut, ...)                                                 \
	{                                                                                       \
		title " under threads keeps its bound", __VA_ARGS__, 2, 3000, passes, stranded, \
			shut, true, 3 * SECOND, 30                                              \
	}

/* The most of 1000 that credits and loans can leave unused, see lease.h and loan.h. */
#define LOST (1000 / 32 + 1000 / 8)

static const struct rf_crowd rf_crowds[] = {
	MANY("fixed window: 2 per 2 s, a hundred callers at once", 2, 2 * SECOND - 1, true,
	     2 * SECOND, LIMIT(2, 2 * SECOND, FIXED)),
	/* Both ends of W are included: 1 ns later is the first time for the next two. */
	MANY("exact log: 2 per 2 s, a hundred callers at once", 2, 2 * SECOND, false,
	     2 * SECOND + 1, LIMIT(2, 2 * SECOND, LOG)),
	MANY("leaky bucket: 1 per 2 s, a hundred callers at once", 1, 2 * SECOND - 1, false,
	     2 * SECOND, LIMIT(1, 2 * SECOND, LEAKY(1))),
	{"fixed window under threads keeps its bound", LIMIT(1000, SECOND, FIXED, EXACT), 2, 3000,
	 1000, 0, SECOND - 1, true, SECOND, 60},
	TWO("fixed window with credits", 1000, LOST, SECOND - 1, LIMIT(1000, SECOND, FIXED)),
	TWO("strict window", 1000, 0, SECOND, LIMIT(1000, SECOND, STRICT(4), EXACT)),
	TWO("coarse window", 1000, 0, SECOND / 4 * 3, LIMIT(1000, SECOND, COARSE(4), EXACT)),
	TWO("weighted window", 1000, 0, SECOND / 3 * 2, LIMIT(1000, SECOND, WEIGHTED(4), EXACT)),
	TWO("strict window with credits", 1000, LOST, SECOND, LIMIT(1000, SECOND, STRICT(4))),
	TWO("coarse window with credits", 1000, LOST, SECOND / 4 * 3,
	    LIMIT(1000, SECOND, COARSE(4))),
	TWO("weighted window with credits", 1000, 1000 / 32, SECOND / 3 * 2,
	    LIMIT(1000, SECOND, WEIGHTED(4))),
	TWO("exact log", 16, 0, SECOND, LIMIT(16, SECOND, LOG)),
	TWO("token bucket", 250, 0, 4 * MS - 1, LIMIT(250, SECOND, TOKEN(250))),
	TWO("leaky bucket", 1, 0, SECOND - 1, LIMIT(1, SECOND, LEAKY(1))),
};

#define RF_CROWD_COUNT (sizeof(rf_crowds) / sizeof(rf_crowds[0]))

struct rf_caller {
	const struct rf_crowd *crowd;
	const struct rf_tested *tested;
	pthread_barrier_t *barrier;
	uint64_t start_ns, sweep_ns;
	uint32_t passed;
	int err;
};

static inline void *rf_caller_run(void *context)
{
	struct rf_caller *caller = context;
	const struct rf_tested *tested = caller->tested;
	const uint64_t step_ns = caller->sweep_ns / caller->crowd->packets;

	pthread_barrier_wait(caller->barrier);
	for (uint32_t i = 0; i < caller->crowd->packets; i++) {
		int passed;

		tested->set_time(tested->context, caller->start_ns + i * step_ns);
		passed = tested->send(tested->context);
		if (passed < 0)
			caller->err = passed;
		else
			caller->passed += passed;
	}
	return NULL;
}

/* How many packets of all callers pass. */
static inline uint32_t rf_crowd_send(const struct rf_crowd *crowd, const struct rf_tested *tested,
				     uint64_t start_ns, uint64_t sweep_ns)
{
	struct rf_caller caller[CROWD_MAX];
	pthread_t thread[CROWD_MAX];
	pthread_barrier_t barrier;
	uint32_t passed = 0;

	tested->set_time(tested->context, start_ns);
	assert_int_equal(pthread_barrier_init(&barrier, NULL, crowd->callers), 0);
	for (uint32_t i = 0; i < crowd->callers; i++) {
		caller[i] = (struct rf_caller){crowd, tested, &barrier, start_ns, sweep_ns, 0, 0};
		assert_int_equal(pthread_create(&thread[i], NULL, rf_caller_run, &caller[i]), 0);
	}
	for (uint32_t i = 0; i < crowd->callers; i++) {
		assert_int_equal(pthread_join(thread[i], NULL), 0);
		assert_int_equal(caller[i].err, 0);
		passed += caller[i].passed;
	}
	pthread_barrier_destroy(&barrier);
	return passed;
}

static inline void rf_crowd_run(const struct rf_crowd *crowd, uint32_t tick_ns,
				const struct rf_tested *tested)
{
	tested->set_limit(tested->context, &crowd->limit, tick_ns);
	for (uint32_t i = 0; i < crowd->periods; i++) {
		uint64_t start_ns = CASE_START_NS + i * crowd->period_ns;
		uint64_t sweep_ns = crowd->sweeps ? crowd->shut_ns : 0;

		uint32_t passed = rf_crowd_send(crowd, tested, start_ns, sweep_ns);
		uint32_t late = rf_crowd_send(crowd, tested, start_ns + crowd->shut_ns, 0);

		assert_in_range(passed, crowd->passed - crowd->stranded, crowd->passed);
		assert_in_range(late, 0, crowd->passed - passed);
	}
}

/* ---- one test for each row, which is its initial state ---- */

#define RF_CASE_TESTS (RF_CASE_COUNT + RF_CROWD_COUNT)

static inline void rf_case_tests(struct CMUnitTest tests[RF_CASE_TESTS],
				 CMUnitTestFunction test_case, CMUnitTestFunction test_crowd)
{
	for (size_t i = 0; i < RF_CASE_COUNT; i++)
		tests[i] =
			(struct CMUnitTest)UNIT_ROW_OF(rf_cases[i].name, test_case, &rf_cases[i]);
	for (size_t i = 0; i < RF_CROWD_COUNT; i++)
		tests[RF_CASE_COUNT + i] = (struct CMUnitTest)UNIT_ROW_OF(
			rf_crowds[i].name, test_crowd, &rf_crowds[i]);
}

#endif /* RINGFENCE_TESTS_CASES_H */
