/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state that the search of explorer.c moves through, and how a CPU moves it by one atomic
 * operation.
 *
 * No coroutine: what a CPU does next depends on nothing but what its operations returned. To move
 * it by one operation, its packet is taken again from the start in a window of its own, fed the
 * values of the past, and stopped one operation later.
 */
#ifndef RINGFENCE_EXPLORER_MACHINE_H
#define RINGFENCE_EXPLORER_MACHINE_H

#include "explored.h"
#include "row.h"

#define STEPS_MAX 4096

/* What a CPU has in hand, each from its first operation to its last. */
enum call {
	TAKES,
	RENEWS, /* the lease of the packet that was judged just now */
	CALLS
};

struct cpu {
	int taken;	 /* packets done */
	int operations;	 /* of the packet in hand; 0: none is */
	int time, limit; /* of the packet in hand: when it came, and the L that it found */
	bool charged;	 /* by the packet in hand */
	bool was_full;	 /* since its first operation there was a moment without room for it */
	__u64 history;	 /* hash of what its operations returned */

	/* Of a row with leases. */
	enum call call;	       /* in hand */
	enum rf_verdict given; /* to the packet that RENEWS the lease */
	struct rf_lease lease; /* as it was before the call in hand */
	int credits;	       /* that were charged and are not spent, by the head alone */
	int credits_epoch;
};

/* A token bucket as textbooks have it, in 1/16 ns: what was in it when it was last taken from. */
struct tokens {
	int level, last;
};

struct state {
	struct rf_window window;
	/* Units by epoch; by time for log, token and leaky. What refused packets cost: see below */
	__u8 admitted[LEDGER_SIZE];
	/* That and what was refused, where it counts; with leases, and the credits not spent */
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

/* ---- what the row says ---- */

int cost_of(int taken);
__u64 clock_at(int time);  /* the clock's reading at `time` of the row */
__u32 row_tick(void);	   /* the length of a jiffy, in units of the policy's clock */
void set_limit(int limit); /* another L, and with it another burst; the rate of a bucket stays */

/* ---- one operation of one CPU ---- */

/* The lease after the call in hand. */
extern struct rf_lease scratch_lease;

/* Is the call in hand over before any operation? */
bool ends_at_once(const struct cpu *cpu);

/* Moves a CPU by one operation; returns the verdict if that was the packet's last one, or -1. */
int operate(int index);

#endif /* RINGFENCE_EXPLORER_MACHINE_H */
