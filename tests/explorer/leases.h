/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rows of explorer.c with leases: how a packet uses its CPU's lease, and the invariants of the
 * lease's verdicts.
 *
 * A CPU's spendable credits are derived from the effects of its calls on the head, not from its
 * lease: an admission by a credit counts in the cell in which the credit was charged, or in the
 * caller's own cell if later. A refusal is right if the window would also refuse.
 */
#ifndef RINGFENCE_EXPLORER_LEASES_H
#define RINGFENCE_EXPLORER_LEASES_H

#include "bounds.h"

/* ---- the call of a CPU ---- */

bool is_busy(const struct cpu *cpu);

/* Without a packet in hand; its memory is retained. */
void end_packet(struct cpu *cpu);

/* The last operation of a call was done. */
void end_call(struct cpu *cpu, enum rf_verdict verdict);

/* After an operation of a renewal, with the head before it: the charge, if any. */
void note_credits(struct cpu *cpu, __u64 head);

/* ---- verdicts ---- */

enum rf_verdict lease_verdict(const struct rf_lease *lease);

/* As the data path does. If true, it has handled the packet without an atomic operation. */
bool lease_answers(struct cpu *cpu);
void judge_answer(struct cpu *cpu);

#endif /* RINGFENCE_EXPLORER_LEASES_H */
