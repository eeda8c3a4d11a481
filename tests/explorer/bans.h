/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of bans.c know of each other: the bans that the CPUs share, and what each CPU has
 * to do there.
 *
 *   bans.c         the search, and what must hold
 *   bans_actors.c  what a CPU does, operation by operation
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
	__u64 answer; /* of BANS and ASKS */
	/* When it began: */
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
