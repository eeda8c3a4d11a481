/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every unit test needs: cmocka with the headers that it requires, tests named by behaviour,
 * and random numbers that can be repeated after a failure. There is no clock: time is always an
 * argument.
 */
#ifndef RINGFENCE_UNIT_H
#define RINGFENCE_UNIT_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define UNIT_ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define UNIT_SEED_DEFAULT 20240229

/* Nanoseconds: units of time, and the kernel's tick at a frequency. */
#define MS 1000000ULL
#define SECOND 1000000000ULL
#define HZ100 10000000U
#define HZ250 4000000U
#define HZ300 3333333U
#define HZ1000 1000000U

/* A row of a table of tests: the function receives `state` as *state. */
#define UNIT_ROW(title, function)                    \
	{                                            \
		.name = title, .test_func = function \
	}
#define UNIT_ROW_OF(title, function, state)                                            \
	{                                                                              \
		.name = title, .test_func = function, .initial_state = (void *)(state) \
	}

/* RF_TEST_SEED in the environment repeats a run, or selects a different one. */
static inline __attribute__((unused)) uint64_t unit_seed(void)
{
	const char *seed = getenv("RF_TEST_SEED");

	return seed ? strtoull(seed, NULL, 0) : UNIT_SEED_DEFAULT;
}

/* splitmix64, Steele and others 2014: every state, 0 too, is a good seed. */
static inline __attribute__((unused)) uint64_t unit_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* 0 to `bound` - 1. */
static inline __attribute__((unused)) uint64_t unit_below(uint64_t *state, uint64_t bound)
{
	return unit_random(state) % bound;
}

static inline __attribute__((unused)) const char *unit_pick(uint64_t *state,
							    const char *const *from, size_t count)
{
	return from[unit_below(state, count)];
}

/* One of some strings. */
#define UNIT_PICK(state, ...)                                         \
	({                                                            \
		static const char *const list[] = {__VA_ARGS__};      \
		unit_pick(state, list, sizeof(list) / sizeof(*list)); \
	})

#endif /* RINGFENCE_UNIT_H */
