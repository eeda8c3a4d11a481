/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The calls of a program's CPUs, and the memory they share, advanced one operation at a time, for
 * any code that accesses a struct memory by the operations of atomic.h. The including header
 * defines struct memory, CPUS_MAX, and struct local: the local variables of the code, without
 * pointers.
 */
#ifndef RINGFENCE_EXPLORER_REPLAY_H
#define RINGFENCE_EXPLORER_REPLAY_H

#include <stdbool.h>

/* The call of a CPU. */
struct hand {
	int packet;		   /* its number */
	int operations;		   /* so far; 0: no call, or not started */
	__u64 history;		   /* hash of their results */
	struct local begun, local; /* at its start, and so far */
};

extern struct memory shared;
extern struct hand hands[CPUS_MAX];

/* At each operation, before it is done. */
void yield(__u64 *word);

/* The code that a CPU runs, which a program defines. */
void run_call(struct memory *memory, struct local *local, int index);

void pick_up(int index, const struct local *begun);

/* Moves a CPU by one operation; true when that was the last one of its call. */
bool operate(int index);

/* The packet in hand is complete. */
void put_down(int index);

#endif /* RINGFENCE_EXPLORER_REPLAY_H */
