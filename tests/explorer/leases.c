// SPDX-License-Identifier: GPL-2.0
#include "leases.h"

/* ---- the call of a CPU ---- */

bool is_busy(const struct cpu *cpu)
{
	return cpu->operations || cpu->call != TAKES;
}

void end_packet(struct cpu *cpu)
{
	*cpu = (struct cpu){
		.taken = cpu->taken + 1,
		.lease = cpu->lease,
		.credits = cpu->credits,
		.credits_epoch = cpu->credits_epoch,
	};
}

/* Another L is another generation, to which no lease of the old one belongs. */
static struct rf_who who_of(const struct cpu *cpu)
{
	return (struct rf_who){.source = {1}, .rules = rf_who_rules(cpu->limit, 0, 0)};
}

static void commit_lease(struct cpu *cpu)
{
	cpu->lease = scratch_lease;
	cpu->lease.packets = 0; /* pending counts are no part of the state */
	cpu->lease.bytes = 0;
}

/* The lease follows, as the data path renews it. False: it does not, or without an operation. */
static bool start_renewal(struct cpu *cpu, enum rf_verdict verdict)
{
	const struct rf_who who = who_of(cpu);

	if (!row->leases || !rf_lease_may_follow(&policy, verdict))
		return false;
	if (!explored_is_for(&cpu->lease, &who))
		cpu->lease = (struct rf_lease){.source = who.source[0], .rules = who.rules};
	cpu->call = RENEWS;
	cpu->given = verdict;
	cpu->operations = 0;
	cpu->history = 0;
	cpu->charged = false;
	cpu->was_full = true; /* it was evaluated */
	return !ends_at_once(cpu);
}

void end_call(struct cpu *cpu, enum rf_verdict verdict)
{
	if (cpu->call == TAKES && start_renewal(cpu, verdict))
		return;
	if (cpu->call == RENEWS)
		commit_lease(cpu);
	end_packet(cpu);
}

/* ---- credits ---- */

void note_credits(struct cpu *cpu, __u64 head)
{
	const int credits = (int)(rf_word_used(state.window.head) - rf_word_used(head));
	const int epoch = head_epoch();

	if (rf_word_epoch(state.window.head) != rf_word_epoch(head))
		fail("a lease moved the head");
	if (!credits || epoch < 0 || epoch >= LEDGER_SIZE)
		return;
	if (cpu->credits_epoch != epoch)
		cpu->credits = 0;
	cpu->credits_epoch = epoch;
	cpu->credits = at_least(cpu->credits + credits, 0);
	state.offered[epoch] = at_least(state.offered[epoch] + credits, 0);
	if (credits > 0 && is_overcharged(epoch, cpu->time))
		fail("more than L charged, with its part of the edge");
}

static void judge_credit(struct cpu *cpu, int cost)
{
	cells_admit(at_least(cpu->credits_epoch, epoch_of(cpu->time)), cost);
	if (cpu->credits < cost)
		fail("more than was charged is admitted by credits");
	if (epoch_of(cpu->time) > cpu->credits_epoch)
		fail("more than its cell: a credit is spent after that has ended");
	cpu->credits -= cost;
}

/* ---- refusals ---- */

/*
 * Is the window's cell, or its last admission, later than the caller's clock? Then the caller
 * stalled after reading its clock, and the window no longer shows its state at that time.
 */
static bool window_is_ahead(int time)
{
	if (rf_is_bucket(&policy))
		return false;
	if (rf_is_log(&policy))
		return log_now(time) > at_least(time, 1);
	return head_epoch() > epoch_of(time);
}

static void judge_refusal(const struct cpu *cpu, int cost)
{
	if (!bound_only && !window_is_ahead(cpu->time) &&
	    explored_would_pass(&state.window, &policy, clock_at(cpu->time), cost))
		fail("refused, and there was room: by a lease");
}

/* ---- verdicts ---- */

enum rf_verdict lease_verdict(const struct rf_lease *lease)
{
	return lease->has_credits ? RF_UNDER : RF_OVER;
}

bool lease_answers(struct cpu *cpu)
{
	const struct rf_who who = who_of(cpu);

	scratch_lease = cpu->lease;
	if (!explored_is_for(&scratch_lease, &who) ||
	    !rf_lease_is_live(&scratch_lease, clock_at(cpu->time) / row_tick(),
			      scratch_lease.ends - 1U) || /* not for the slots' sake */
	    !explored_answers(&scratch_lease, cost_of(cpu->taken), 1))
		return false;
	commit_lease(cpu);
	return true;
}

void judge_answer(struct cpu *cpu)
{
	const int cost = cost_of(cpu->taken);

	/* Charges under one L remain, even after admissions under a larger one. */
	set_limit(lease_verdict(&cpu->lease) == RF_UNDER ? limit_most : cpu->limit);
	if (lease_verdict(&cpu->lease) == RF_UNDER)
		judge_credit(cpu, cost);
	else
		judge_refusal(cpu, cost);
}
