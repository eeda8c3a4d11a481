/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Known answers: who offers what when, and what passes. Run through the limiter itself and through
 * the loaded program, each with a clock of its own making. Times count from a moment at which every
 * cell of these limits begins.
 */
#ifndef RINGFENCE_TESTS_CASES_H
#define RINGFENCE_TESTS_CASES_H

/* Whoever includes this has included cmocka.h. */
#include <stdbool.h>
#include <stdint.h>

#include "ringfence/abi.h"

#define CASE_STEPS 8
#define CASE_FIRST 10
#define CASE_START_NS (6000ULL * 1000000000)

/* `count` packets, one every `every_ms` from `at_ms` on, of which `passed` pass. */
struct rf_case_step {
	uint32_t at_ms;
	uint32_t every_ms;
	uint32_t count;
	uint32_t passed;
};

struct rf_case {
	const char *name;
	struct rf_limit limit;
	struct rf_case_step step[CASE_STEPS]; /* until a count of 0 */
	uint32_t first_ms[CASE_FIRST];	      /* when the first ten pass; all 0: not said */
};

/* May one packet of the source pass at that time? */
typedef bool (*rf_case_ask)(void *context, uint64_t time_ns);

#define CASE_LIMIT(count, seconds, ...)                                                        \
	{                                                                                      \
		.name = "case", .rate = count, .window_ns = seconds##000000000ULL, .per4 = 32, \
		.per6 = 64, __VA_ARGS__                                                        \
	}
#define FIXED .algorithm = RF_FIXED, .cells = 1
#define STRICT .cells = RF_CELLS
#define COARSE(n) .edge = RF_EDGE_COARSE, .cells = n

static const struct rf_case rf_cases[] = {
	{.name = "two per two seconds, a hundred callers",
	 .limit = CASE_LIMIT(2, 2, FIXED),
	 .step = {{0, 1, 2000, 2},
		  {2000, 1, 2000, 2},
		  {4000, 1, 2000, 2},
		  {6000, 1, 2000, 2},
		  {8000, 1, 2000, 2}}},
	{.name = "minute edge, fixed",
	 .limit = CASE_LIMIT(10, 60, FIXED),
	 .step = {{59000, 0, 10, 10}, {61000, 0, 10, 10}}},
	{.name = "minute edge, sliding",
	 .limit = CASE_LIMIT(10, 60, STRICT),
	 .step = {{59000, 0, 10, 10}, {61000, 0, 10, 0}}},
	{.name = "ring array, every 300 ms",
	 .limit = CASE_LIMIT(5, 10, COARSE(10)),
	 .step = {{0, 300, 600, 90}},
	 .first_ms = {0, 300, 600, 900, 1200, 10200, 10500, 10800, 11100, 11400}},
	{.name = "ring array, every 500 ms",
	 .limit = CASE_LIMIT(5, 10, COARSE(10)),
	 .step = {{0, 500, 600, 150}},
	 .first_ms = {0, 500, 1000, 1500, 2000, 10000, 10500, 11000, 11500, 12000}},
	{.name = "same cell / same lap / a lap later / clock back",
	 .limit = CASE_LIMIT(5, 10, COARSE(10)),
	 .step = {{100, 0, 3, 3}, {4000, 0, 1, 1}, {14500, 0, 5, 5}, {13000, 0, 5, 0}}},
};

#define RF_CASE_COUNT (sizeof(rf_cases) / sizeof(rf_cases[0]))

/* Asserts each step's answer, and the times of the first that pass. */
static inline void rf_case_run(const struct rf_case *row, rf_case_ask ask, void *context)
{
	uint32_t total = 0;

	for (const struct rf_case_step *step = row->step; step->count; step++) {
		uint32_t passed = 0;

		for (uint32_t i = 0; i < step->count; i++) {
			uint32_t at_ms = step->at_ms + i * step->every_ms;

			if (!ask(context, CASE_START_NS + at_ms * 1000000ULL))
				continue;
			passed++;
			if (row->first_ms[1] && total < CASE_FIRST)
				assert_int_equal(at_ms, row->first_ms[total]);
			total++;
		}
		assert_int_equal(passed, step->passed);
	}
}

/* One test for each row, which is its initial state. */
static inline void rf_case_tests(struct CMUnitTest tests[RF_CASE_COUNT], CMUnitTestFunction test)
{
	for (size_t i = 0; i < RF_CASE_COUNT; i++)
		tests[i] = (struct CMUnitTest){.name = rf_cases[i].name,
					       .test_func = test,
					       .initial_state = (void *)&rf_cases[i]};
}

#endif /* RINGFENCE_TESTS_CASES_H */
