// SPDX-License-Identifier: GPL-2.0
/*
 * The steps of a CPU and the agent in shares.c. Mutants change the limiter and shares, called here.
 */
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

/* As bpf/take.h: if the tag is sufficient to show a present head, by the packet's own time. */
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
	return verdict == RF_LATER ? rf_take_present(window, in_force, head, now, 1, 0) : verdict;
}

static struct rf_ban whom_at_present(void)
{
	return (struct rf_ban){
		.source = {1, 2}, .whose = rf_ban_whose(5, 0), .since = current_time};
}

static bool start_ban(struct memory *memory)
{
	const struct rf_ban whom = whom_at_present();

	return rf_ban_start(&memory->bans, &whom, BAN_TAG, current_time + BAN_LASTS) >
	       RF_BAN_LOST_RACE;
}

static bool is_banned(struct memory *memory)
{
	const struct rf_ban whom = whom_at_present();

	return row->sums && rf_ban_find(&memory->bans, &whom, BAN_TAG, current_time);
}

/* As an agent, and the ledger, which knows what others received. */
static void add_up(struct memory *memory, struct local *local)
{
	local->used = rf_load(&memory->received);
	local->is_over = local->used + row->elsewhere > row->limit;
	if (local->is_over)
		local->bans = start_ban(memory);
}

static void take(struct memory *memory, struct local *local)
{
	struct rf_charged charged = {.window = {&memory->window}};
	const struct rf_policy *in_force;

	local->definition = rf_load(&memory->definition);
	local->is_banned = is_banned(memory);
	local->result = RF_LATER;
	if (local->is_banned)
		return;
	local->has_begun = true;
	in_force = &policy[local->definition];
	charged.policy[0] = in_force;
	local->result = take_at_once(&memory->window, in_force);
	if (row->bans && local->result == RF_OVER)
		local->bans = rf_share_is_over(&memory->window, in_force, current_time, 1);
	if (row->sums && local->bans)
		start_ban(memory);
	if (row->sums)
		rf_received_count(&memory->received, 1);
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
	case SUMS:
		add_up(memory, local);
		break;
	case HEARS:
		rf_hear(&memory->hearing, ORIGIN + local->share, rf_share_span(&policy[0]));
		break;
	}
}
