/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rows of explorer.c with leases: how a packet asks its CPU's lease, and what must hold of its
 * answers.
 *
 * The credits that a CPU may spend are told from what its calls did to the head, not from its
 * lease: an admission by a credit counts in the cell in which the credit was charged, or in the
 * caller's own if that is later. A refusal is right if the window, asked in its place, would refuse
 * as well.
 */
#ifndef RINGFENCE_EXPLORER_LEASES_H
#define RINGFENCE_EXPLORER_LEASES_H

#include "bounds.h"

/* ---- what a CPU has in hand ---- */

bool is_busy(const struct cpu *cpu);

/* Without a packet in hand; what it remembers stays. */
void end_packet(struct cpu *cpu);

/* The last operation of a call was done. */
void end_call(struct cpu *cpu, enum rf_verdict verdict);

/* After an operation of a renewal, before which the head was that: what it charged, if anything. */
void note_credits(struct cpu *cpu, __u64 head);

/* ---- answers ---- */

enum rf_verdict lease_verdict(const struct rf_lease *lease);

/* As the data path asks. Then it has answered, and without an operation. */
bool lease_answers(struct cpu *cpu);
void judge_answer(struct cpu *cpu);

#endif /* RINGFENCE_EXPLORER_LEASES_H */
