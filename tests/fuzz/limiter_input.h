/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the limiter's fuzzer reads its input: one `limiter_input`, then `limiter_step`s up to the
 * end. Raw structs of the ABI, so that fields yet to come are fuzzed without a word said here;
 * tests/fuzz/seeds.c writes the seeds anew when they have moved.
 */
#ifndef RINGFENCE_TESTS_LIMITER_INPUT_H
#define RINGFENCE_TESTS_LIMITER_INPUT_H

#include <stdint.h>

#include "ringfence/abi.h"

#define LIMITER_STEPS_MAX 64

struct limiter_input {
	struct rf_policy policy;
	struct rf_window window;
	uint64_t start; /* in sound runs: the first epoch */
	uint64_t sound; /* lowest bit: a window that the limiter opened, and a policy in range */
};

struct limiter_step {
	uint64_t time; /* hostile: as it is; sound: cells forward, or back if `flags` says so */
	uint64_t word; /* hostile: what another writer stores */
	uint32_t cost;
	uint8_t at;    /* hostile: which word it stores to */
	uint8_t every; /* another writer or CPU comes between, each so many operations; 0: never */
	uint8_t flags; /* LIMITER_… */
	uint8_t other; /* sound: how many cells the other CPU is ahead of, or behind, this one */
};

#define LIMITER_BACK (1U << 0)	     /* this CPU's clock is behind */
#define LIMITER_OTHER_BACK (1U << 1) /* the other CPU's is */
#define LIMITER_FAR (1U << 2)	     /* forward by `time` as it is, not by less than 64 cells */

#endif /* RINGFENCE_TESTS_LIMITER_INPUT_H */
