/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the parts of answers.c: the word that counts the responses to a prefix, and the packet
 * of each CPU.
 *
 *   answers.c         the search and the invariants
 *   answers_actors.c  the steps of a CPU, operation by operation
 */
#ifndef RINGFENCE_EXPLORER_ANSWERS_H
#define RINGFENCE_EXPLORER_ANSWERS_H

#include <stdbool.h>

#include <linux/types.h>

void yield(__u64 *word);
#define RF_ATOMIC_YIELD() yield((__u64 *)(word))
#include "ringfence/atomic.h"

/* For mutants. */
#define plain_store rf_store
#include "ringfence/answers.h"

#define CPUS_MAX 3

struct memory {
	__u64 word;
};

/* Of one packet. */
struct local {
	__u32 period; /* as it was read */
	bool lagged;  /* concurrently, another CPU had a packet of an earlier period */
	int answer;   /* the result */
};

#include "replay.h"

extern __u32 most; /* of the row */

#endif /* RINGFENCE_EXPLORER_ANSWERS_H */
