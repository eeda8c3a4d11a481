/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Invariants of the rows of explorer.c, checked with ledgers of packets, independently of the
 * limiter's code.
 *
 * For every algorithm: the bound on admissions; an admission has room at its last operation, and a
 * refusal had none at some instant of its call; at rest a reader sees the contents of the ledger.
 */
#ifndef RINGFENCE_EXPLORER_BOUNDS_H
#define RINGFENCE_EXPLORER_BOUNDS_H

#include "machine.h"

#define SIXTEENTHS (1 << RF_BUCKET_SHIFT)
#define TOKENS_MOST (1 << 20)

extern int limit_least, limit_most; /* the L that packets find */
extern bool exact;		    /* also check for excess refusals and counts */

/* ---- where packets count ---- */

int epoch_of(int time);

/* Where in the ledger the head's cell is; far from all packets' if it is older than the row. */
int head_epoch(void);

/* When an admission of a log counts: at the caller's time, or at the last admission's if later. */
int log_now(int time);

/* Are more than L charged in the window of `epoch`, with its part of the edge at `time`? */
bool is_overcharged(int epoch, int time);

/* Visits the charges in `epoch`. */
void cells_admit(int epoch, int cost);

/* ---- what must hold ---- */

/* Before each operation, whichever CPU's: is there a packet in hand without room? */
void note_full(void);

/* A packet's last operation has been done. */
void judge(const struct cpu *cpu, int verdict);

/* No CPU has a packet in hand: a reader must see the contents of the ledger. */
void check_rest(void);

#endif /* RINGFENCE_EXPLORER_BOUNDS_H */
