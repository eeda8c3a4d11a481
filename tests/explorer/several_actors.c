// SPDX-License-Identifier: GPL-2.0
/*
 * The steps of a CPU of several.c. Mutants change the limiter and the leases, which are called
 * here.
 */
#include "several.h"

static const struct memory *running; /* the memory of the call */

bool is_of_loans(const __u64 *word)
{
	return running && (word == &running->window[0].loans || word == &running->window[1].loans);
}

/* As bpf/limits_known.h: from all heads, read once, it follows that nothing needs a peek. */
static bool all_have_room(const struct memory *memory, __u64 time, __u32 enough[LIMITS])
{
	bool has_room = true;

	for (int i = 0; i < LIMITS; i++)
		has_room &=
			rf_may_add(&memory->window[i], &policy[i], rf_load(&memory->window[i].head),
				   rf_epoch(&policy[i], time), 1, time, &enough[i]);
	return has_room;
}

void run_call(struct memory *memory, struct local *local, int index)
{
	struct rf_charged charged = {0};
	const __u64 time = ORIGIN + local->time;
	__u32 enough[LIMITS];
	bool at_once;

	(void)index;
	running = memory;
	at_once = all_have_room(memory, time, enough);
	for (int i = 0; !at_once && i < LIMITS; i++) {
		local->refused = i;
		if (!rf_peek(&memory->window[i], &policy[i], time, 1))
			return;
	}
	local->stage = CHARGES;
	for (int i = 0; i < LIMITS; i++) {
		local->refused = i;
		if ((at_once ? rf_add(&memory->window[i], &policy[i], rf_epoch(&policy[i], time), 1,
				      time, enough[i])
			     : rf_take(&memory->window[i], &policy[i], time, 1)) != RF_UNDER)
			return;
		local->charged[i] = true;
		charged.window[i] = &memory->window[i];
		charged.policy[i] = &policy[i];
	}
	local->refused = LIMITS;
	local->stage = RENEWS;
	if (row->leases)
		rf_lease_take_credits(&local->lease, &charged, time, 1, RF_FOREVER, 0);
}
