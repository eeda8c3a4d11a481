/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state through which the search of explorer.c moves, and how a CPU advances it by one atomic
 * operation.
 *
 * There are no coroutines: a CPU's next step depends only on the results of its operations. To
 * advance it by one operation, its packet is taken again from the start in a private window, with
 * the recorded results as input, and stopped one operation later.
 */
#ifndef RINGFENCE_EXPLORER_MACHINE_H
#define RINGFENCE_EXPLORER_MACHINE_H

#include "explored.h"
#include "row.h"

#define STEPS_MAX 4096

/* The call of a CPU, from its first operation to its last. */
enum call {
	TAKES,
	RENEWS, /* the lease of the packet that was just evaluated */
	CALLS
};

struct cpu {
	int taken;	 /* packets done */
	int operations;	 /* of the packet in hand; 0: none is */
	int time, limit; /* of the packet in hand: when it came, and the L that it found */
	bool charged;	 /* by the packet in hand */
	bool was_full;	 /* at some instant since its first operation there was no room for it */
	__u64 history;	 /* hash of what its operations returned */

	/* Of a row with leases. */
	enum call call;	       /* in hand */
	enum rf_verdict given; /* to the packet that RENEWS the lease */
	struct rf_lease lease; /* as it was before the call in hand */
	int credits;	       /* that were charged and not spent, derived from the head */
	int credits_epoch;
};

/* A textbook token bucket, in 1/16 ns: its level when it was last taken from. */
struct tokens {
	int level, last;
};

struct state {
	struct rf_window window;
	/* Units by epoch; by time for log, token and leaky. What refused packets cost: see below */
	__u8 admitted[LEDGER_SIZE];
	/* The same plus counted refusals; with leases, also unspent credits */
	__u8 offered[LEDGER_SIZE];
	struct tokens tokens;
	int displaced; /* leases */
	struct cpu cpu[CPUS_MAX];
};

struct step {
	int cpu, time, limit;
	long word; /* index in struct rf_window */
	__u64 before, after;
	int verdict; /* enum rf_verdict; -1: not yet */
	enum call call;
	bool leased; /* the lease answered, and there was no operation */
};

extern struct state state;
extern struct step path[STEPS_MAX];
extern int path_length;

extern const struct row *row;
extern int span; /* later than all packets of the row */
extern struct rf_policy policy;
extern int operations_bound; /* of one packet */

extern bool bound_only;	    /* too little that is admitted is no failure */
extern const char *failure; /* NULL: none yet */

int at_least(int number, int least);
void fail(const char *what);

/* ---- parameters of the row ---- */

int cost_of(int taken);
__u64 clock_at(int time);  /* the clock's reading at `time` of the row */
__u32 row_tick(void);	   /* the length of a jiffy, in units of the policy's clock */
void set_limit(int limit); /* sets L, and with it the burst; the rate of a bucket is unchanged */

/* ---- one operation of one CPU ---- */

/* The lease after the call in hand. */
extern struct rf_lease scratch_lease;

/* Is the call in hand over before any operation? */
bool ends_at_once(const struct cpu *cpu);

/* Moves a CPU by one operation; returns the verdict if that was the packet's last one, or -1. */
int operate(int index);

#endif /* RINGFENCE_EXPLORER_MACHINE_H */
