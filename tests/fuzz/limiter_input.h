/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The input of the limiter's fuzzer: one `limiter_input`, then `limiter_step`s up to the end. Both
 * contain raw structs of the ABI, so new fields are fuzzed without a change here.
 * tests/fuzz/seeds.c rewrites the seeds when the structs have changed.
 */
#ifndef RINGFENCE_TESTS_LIMITER_INPUT_H
#define RINGFENCE_TESTS_LIMITER_INPUT_H

#include <stdint.h>

#include "ringfence/abi.h"

#define LIMITER_STEPS_MAX 64

/* Raw, with any contents. */
struct limiter_hostile {
	struct rf_policy policy;
	struct rf_window window;
};

/* A limit, brought into range if necessary; its policy and an unused window. */
struct limiter_sound {
	struct rf_limit limit;
	uint64_t start; /* in cells, or the unit that replaces them */
	uint64_t tick_ns;
};

struct limiter_input {
	uint64_t sound; /* lowest bit */
	union {
		struct limiter_hostile hostile;
		struct limiter_sound of;
	};
};

struct limiter_step {
	uint64_t time; /* hostile: raw; sound: cells forward, or back if `flags` selects it */
	uint64_t word; /* hostile: what another writer stores; sound: where in its cell, for each */
	uint32_t cost; /* sound: the frame's length, shifted down according to `flags` */
	uint8_t at;    /* hostile: which word it stores to; sound: length of the other's frame */
	uint8_t every; /* a second writer or CPU intervenes every this many operations; 0: never */
	uint8_t flags; /* LIMITER_… */
	uint8_t other; /* sound: how many cells the other CPU is ahead of, or behind, this one */
};

#define LIMITER_BACK (1U << 0)	     /* this CPU's clock is behind */
#define LIMITER_OTHER_BACK (1U << 1) /* the other CPU's is */
#define LIMITER_FAR (1U << 2)	     /* up to four laps of all epochs, not less than 64 cells */
#define LIMITER_PASSES (1U << 3)     /* when it would just pass, or if `word` is odd, just not */
#define LIMITER_FLOOD (1U << 4)	     /* refused and counted, it comes again and again */
#define LIMITER_SHIFT(flags) ((flags) >> 5 << 2)

#endif /* RINGFENCE_TESTS_LIMITER_INPUT_H */
