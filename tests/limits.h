/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Limits for tables of tests, close to how rules are written: LIMIT(10, 60 * SECOND, STRICT(16)) is
 * `rate 10/60s cells 16`. One algorithm and any of the options follow the window.
 */
#ifndef RINGFENCE_TESTS_LIMITS_H
#define RINGFENCE_TESTS_LIMITS_H

#include "ringfence/abi.h"

#define LIMIT(count, window, ...)                                                          \
	{                                                                                  \
		.name = "any", .rate = count, .window_ns = window, .per4 = 32, .per6 = 64, \
		__VA_ARGS__                                                                \
	}

#define STRICT(n) .cells = n
#define COARSE(n) .edge = RF_EDGE_COARSE, .cells = n
#define WEIGHTED(n) .edge = RF_EDGE_WEIGHTED, .cells = n
#define FIXED .algorithm = RF_FIXED, .cells = 1
#define LOG .algorithm = RF_LOG, .cells = 1
#define TOKEN(depth) .algorithm = RF_TOKEN, .cells = 1, .burst = depth
#define LEAKY(depth) .algorithm = RF_LEAKY, .cells = 1, .burst = depth

#define BYTES .unit = RF_BYTES
#define COUNT_REJECTED .flags = RF_COUNT_REJECTED
#define EXACT .flags = RF_EXACT

#endif /* RINGFENCE_TESTS_LIMITS_H */
