/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the parts of shares.c: the window that the CPUs share, and the steps of each CPU and of
 * the fleet's agent.
 *
 *   shares.c         the search and the invariants
 *   shares_rows.c    the initial states
 *   shares_actors.c  the steps of a CPU and of the agent, operation by operation
 */
#ifndef RINGFENCE_EXPLORER_SHARES_H
#define RINGFENCE_EXPLORER_SHARES_H

#define RF_WITH_SHARES

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RF_BAN_WAYS 2
#include "ringfence/abi.h"

#define RING 2 /* words of the ring */
#undef RF_CELLS
#define RF_CELLS RING

void yield(__u64 *word);
#define RF_ATOMIC_YIELD() yield((__u64 *)(word))
#include "ringfence/atomic.h"
#include "ringfence/limiter.h"
#include "ringfence/share_ban.h"
#include "ringfence/share_write.h"

/* For mutants. */
#define plain_store rf_store
#include "ringfence/ban_table.h"

/* Small numbers are to take credits. */
#define RF_CREDITS_PER_SPENT 1
#define RF_CREDITS_PER_SPENT_OF_SEVERAL 1
#define RF_CREDITS_PER_ROOM 1
#include "ringfence/lease.h"

#define TAKERS 2
#define AGENT TAKERS /* the last actor */
#define CPUS_MAX (TAKERS + 1)
#define DEFINITIONS 2
#define ACTIONS_MAX 4
#define TIMES_MAX 5
#define ORIGIN 600
#define INCARNATION 16 /* bucket 0 */
#define BAN_TAG 7
#define BAN_LASTS 100 /* beyond all times */

enum kind {
	TAKES, /* of a CPU; all others are the agent's */
	WRITES,
	READS, /* the usage, after all programs that ran at the last write have completed */
	SWITCHES,
	HEARS,
	SUMS, /* the received units; together with other hosts', they can exceed the limit */
};

struct memory {
	struct rf_window window;
	struct rf_hearing hearing;
	__u64 definition; /* the definition that is enforced */
	__u64 clock;	  /* the latest time of a packet */
	__u64 received;	  /* of a row with `sums` */
	struct rf_ban_set bans;
};

/* Of one packet, or of one action of the agent. */
struct local {
	enum kind kind;
	int time;
	int tag, share; /* of WRITES; HEARS: `share` is the deadline */
	/* The result. */
	int definition; /* that the packet found */
	bool has_begun, charged, bans;
	bool is_banned; /* it found a ban */
	bool is_over;	/* of SUMS: and it bans, unless another actor already has */
	int result, used;
	struct rf_lease lease;
};

#include "replay.h"

/* The state of the actor that advances, and its clock. */
extern struct memory *current;
extern __u64 current_time;
extern bool reads_clock; /* while CPUs continue */

RF_INLINE struct rf_hearing *rf_hearing_of(__u32 incarnation)
{
	(void)incarnation;
	return &current->hearing;
}

RF_INLINE __u64 rf_hearing_now(void)
{
	return reads_clock ? rf_load(&current->clock) : current_time;
}

struct action {
	enum kind kind;
	int tag, share;
};

struct row {
	const char *title;
	int cells;
	int limit, first[DEFINITIONS];
	int share; /* at the start, under the first definition; and the usage */
	int used;
	int deadline;
	int packets[TAKERS];
	bool leases;
	struct action action[ACTIONS_MAX];
	int actions;
	int times[TIMES_MAX]; /* up to -1 */
	bool reads_clock;     /* packets do, for their limit, while others continue */
	bool adds;	      /* they do, as where several limits have room */
	bool bans;	      /* the limit bans, see share_ban.h */
	bool sums;	      /* as does the agent, by the sum over all hosts, */
	int elsewhere;	      /* of which other hosts have received this much */
};

extern const struct row share_rows[];
extern const int share_rows_count;
extern const struct row *row;
extern struct rf_policy policy[DEFINITIONS];

/* Must the agent wait for programs before it reads? */
bool waits_before_reading(void);

#endif /* RINGFENCE_EXPLORER_SHARES_H */
