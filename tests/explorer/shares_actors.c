// SPDX-License-Identifier: GPL-2.0
/* What a CPU and the agent do in shares.c. Mutants change the limiter and shares, called here. */
#include "shares.h"

struct memory *current;
__u64 current_time;
bool reads_clock;

/* For mutants. */
static bool waits(void)
{
	return true;
}

bool waits_before_reading(void)
{
	return waits();
}

/* As bpf/take.h: where the tag alone shows a present head, by the packet's own time. */
static enum rf_verdict take_at_once(struct rf_window *window, const struct rf_policy *in_force)
{
	const __u64 now = rf_epoch(in_force, current_time), head = rf_load(&window->head);
	enum rf_verdict verdict;
	__u32 enough;

	if (row->adds && rf_may_add(window, in_force, head, now, 1, current_time, &enough))
		return rf_add(window, in_force, now, 1, current_time, enough);
	if (!rf_is_present_at_once(in_force, head, now))
		return rf_take(window, in_force, current_time, 1);
	verdict = rf_take_at_once(window, in_force, now, (__u64)rf_word_used(head) + 1, 1,
				  current_time);
	return verdict == RF_LATER ? rf_take_present(window, in_force, head, now, 1) : verdict;
}

static void take(struct memory *memory, struct local *local)
{
	struct rf_charged charged = {.window = {&memory->window}};
	const struct rf_policy *in_force;

	local->definition = rf_load(&memory->definition);
	local->has_begun = true;
	in_force = &policy[local->definition];
	charged.policy[0] = in_force;
	local->result = take_at_once(&memory->window, in_force);
	if (row->bans && local->result == RF_OVER)
		local->bans = rf_share_is_over(&memory->window, in_force, current_time, 1);
	if (local->result != RF_UNDER)
		return;
	local->charged = true;
	if (row->leases)
		rf_lease_take_credits(&local->lease, &charged, current_time, 1, RF_FOREVER, 0);
}

void run_call(struct memory *memory, struct local *local, int index)
{
	(void)index;
	current = memory;
	current_time = ORIGIN + local->time;
	reads_clock = local->kind == HEARS || (local->kind == TAKES && row->reads_clock);
	switch (local->kind) {
	case TAKES:
		take(memory, local);
		break;
	case WRITES:
		local->result = rf_share_write(&memory->window, &policy[memory->definition],
					       INCARNATION, local->tag, local->share, current_time);
		break;
	case READS:
		local->used =
			rf_share_used(&memory->window, &policy[memory->definition], current_time);
		break;
	case SWITCHES:
		rf_store(&memory->definition, 1);
		break;
	case HEARS:
		rf_hear(&memory->hearing, ORIGIN + local->share, rf_share_span(&policy[0]));
		break;
	}
}
