/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the parts of loans.c: the windows that the CPUs share, and the call of each CPU.
 *
 *   loans.c         the search and the invariants
 *   loans_rows.c    the rows
 *   loans_actors.c  the steps of a CPU, operation by operation
 */
#ifndef RINGFENCE_EXPLORER_LOANS_H
#define RINGFENCE_EXPLORER_LOANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ringfence/abi.h"

#define RING 2 /* words of a window */
#undef RF_CELLS
#define RF_CELLS RING

void yield(__u64 *word);
#define RF_ATOMIC_YIELD() yield((__u64 *)(word))
#include "ringfence/atomic.h"

/* For mutants. */
#define plain_store rf_store

/* The row's: limits are so small that the shares of loan.h would be 0. */
extern __u32 loan_share, loan_room;
#define RF_LOAN_SHARE loan_share
#define RF_LOAN_ROOM loan_room
#define RF_LOAN_BY_USE 4
#define RF_JIFFIES_LAG 0

/* Small numbers are to take credits. */
#define RF_CREDITS_PER_SPENT 2
#define RF_CREDITS_PER_SPENT_OF_SEVERAL 2
#define RF_CREDITS_PER_ROOM 1
#include "ringfence/lease.h"
#include "tests/peek.h"

#define CPUS_MAX 3
#define LIMITS 2
#define TIMES_MAX 12
#define ORIGIN 64 /* a whole number of all cells and periods */

enum stage {
	TAKES,
	LENDS, /* has passed, and gets a loan or credits */
};

struct memory {
	struct rf_window window[LIMITS]; /* the second also: created after the first was evicted */
};

/* Of one packet. */
struct local {
	int time;  /* the reading of the clock */
	int first; /* its window */
	int limit; /* L that it found, of each limit */
	enum stage stage;
	bool charged[LIMITS];
	struct rf_lease lease;
};

#include "replay.h"

struct row {
	const char *title;
	int limits;
	int limit_from, limit_to;
	int other_limit;	   /* that a packet may find instead; 0: none */
	int cells;		   /* that count; 0: a fixed window */
	int ticks[LIMITS];	   /* in a cell; 0: one, of a fixed window two */
	int frame[LIMITS], period; /* log2 of ticks */
	int share, room;	   /* RF_LOAN_SHARE, RF_LOAN_ROOM */
	int packets[CPUS_MAX];
	int from[CPUS_MAX];	/* the time of its first packet, at least */
	int borrowers;		/* the other CPUs find no place for a lease; 0: all borrow */
	bool credits, refusals; /* leases also hold credits, and refuse */
	bool evicts;		/* the window is evicted, and created again */
	int times[TIMES_MAX];	/* of the clock, up to -1 */
};

extern const struct row loans_rows[];
extern const int loans_rows_count;
extern const struct row *row;
extern struct rf_policy policy[LIMITS];

void set_limits(int limit);

/* As the data path does. If true, the lease has passed or refused the packet. */
bool lease_answers(struct rf_lease *lease, __u64 jiffies);

/* Creates the window again, when loans of the evicted one can be in force. */
void create_again(struct rf_window *window, __u64 jiffies);

#endif /* RINGFENCE_EXPLORER_LOANS_H */
