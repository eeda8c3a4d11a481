/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the parts of bans.c: the bans that the CPUs share, and the errand of each CPU.
 *
 *   bans.c         the search and the invariants
 *   bans_actors.c  the steps of a CPU, operation by operation
 */
#ifndef RINGFENCE_EXPLORER_BANS_H
#define RINGFENCE_EXPLORER_BANS_H

#include <stdbool.h>

#include <linux/types.h>

void yield(__u64 *word);
#define RF_ATOMIC_YIELD() yield((__u64 *)(word))
#define RF_BAN_WAYS 2
#include "ringfence/atomic.h"

/* For mutants. */
#define plain_store rf_store
#include "ringfence/ban_table.h"

#define CPUS_MAX 3
#define SOURCES 3
#define START 100 /* the clock */
#define LASTS 2	  /* a ban */
#define TAG 7

enum errand { BANS, ASKS, LIFTS, ERRANDS };

struct memory {
	struct rf_ban_set set;
};

/* Of one errand. */
struct local {
	enum errand errand;
	int source;
	__u64 now;    /* as it was read */
	__u64 answer; /* result of BANS and ASKS */
	/* At its start: */
	__u32 made, lifted; /* of its source, see below */
	__u32 begun;
	__u32 places; /* bit set: places that were free since then */
	bool alone;   /* no other CPU was about to ban it */
};

#include "replay.h"

struct rf_ban ban_of(int source, __u64 since);

extern bool tags_differ; /* else all sources have the same */
__u32 tag_of(int source);

#endif /* RINGFENCE_EXPLORER_BANS_H */
