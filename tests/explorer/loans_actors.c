// SPDX-License-Identifier: GPL-2.0
/*
 * The steps of a CPU of loans.c, in the order of bpf/limits.h and bpf/lease_table.h. Mutants change
 * the limiter, the loans and the leases, which are called here.
 */
#include "loans.h"

__u32 loan_share, loan_room;
struct rf_policy policy[LIMITS];

void set_limits(int limit)
{
	for (int i = 0; i < LIMITS; i++)
		policy[i].limit = limit;
}

bool lease_answers(struct rf_lease *lease, __u64 jiffies)
{
	const __u32 tick = lease->ends - 1U; /* not for the slots' sake */

	if (!rf_lease_is_live(lease, jiffies, tick) &&
	    !(rf_lease_next_frame(lease, jiffies) && rf_lease_is_live(lease, jiffies, tick)))
		return false;
	return rf_lease_answers(lease, 1, 1);
}

void create_again(struct rf_window *window, __u64 jiffies)
{
	rf_window_start(window, &policy[0], jiffies);
	window->loans = rf_loans_all(&policy[0], jiffies);
}

/* As bpf/limits_known.h: from all heads, read once, it follows that nothing needs a peek. */
static bool all_have_room(struct rf_window *const window[LIMITS], __u64 time, __u32 enough[LIMITS])
{
	bool has_room = true;

	for (int i = 0; i < LIMITS; i++)
		has_room &= rf_may_add(window[i], &policy[i], rf_load(&window[i]->head),
				       rf_epoch(&policy[i], time), 1, time, &enough[i]);
	return has_room;
}

static bool charge_both(struct rf_window *const window[LIMITS], struct local *local, __u64 time)
{
	__u32 enough[LIMITS];
	const bool at_once = all_have_room(window, time, enough);

	for (int i = 0; !at_once && i < LIMITS; i++)
		if (!rf_peek(window[i], &policy[i], time, 1))
			return false;
	for (int i = 0; i < LIMITS; i++) {
		const enum rf_verdict verdict =
			at_once ? rf_add(window[i], &policy[i], rf_epoch(&policy[i], time), 1, time,
					 enough[i])
				: rf_take(window[i], &policy[i], time, 1);

		if (verdict != RF_UNDER)
			return false;
		local->charged[i] = true;
	}
	return true;
}

static bool lend_by_all(struct rf_window *const window[LIMITS], __u64 time, __u32 units)
{
	for (int i = 0; i < row->limits; i++)
		if (!rf_lend(window[i], &policy[i], time, units))
			return false;
	return true;
}

/* The packet has passed. False: the lease has no loan, and can get credits. */
static bool borrow(struct rf_window *const window[LIMITS], struct rf_lease *lease, __u64 time)
{
	struct rf_loan_terms terms = {.room = RF_LOAN_MAX, .period = 31, .is_busy = row->credits};
	__u32 units;

	for (int i = 0; i < row->limits; i++)
		terms = rf_loan_terms_join(terms, rf_loan_terms(window[i], &policy[i], time, 1));
	if (terms.is_busy)
		return false;
	units = rf_lease_wants_loan(lease, terms, time, 1);
	if (!units)
		return rf_lease_has_loan(lease, time);
	if (!lend_by_all(window, time, units))
		return false;
	rf_lease_set_loan(lease, terms, time, 1);
	return true;
}

void run_call(struct memory *memory, struct local *local, int index)
{
	struct rf_window *const window[LIMITS] = {&memory->window[local->first],
						  &memory->window[1]};
	const __u64 time = ORIGIN + local->time;
	const struct rf_ask ask = {.time = time, .jiffies = time, .tick_ns = 1, .cost = 1};

	set_limits(local->limit);
	if (row->limits == 1)
		local->charged[0] = rf_take(window[0], &policy[0], time, 1) == RF_UNDER;
	if (row->limits == 1 ? !local->charged[0] : !charge_both(window, local, time)) {
		if (row->refusals)
			rf_lease_renew(&local->lease, window[0], &policy[0], &ask, RF_OVER, 0);
		else
			rf_lease_end(&local->lease);
		return;
	}
	if (row->borrowers && index >= row->borrowers)
		return;
	local->stage = LENDS;
	if (borrow(window, &local->lease, time))
		return;
	if (row->credits)
		rf_lease_renew(&local->lease, window[0], &policy[0], &ask, RF_UNDER, 0);
	else
		rf_lease_end(&local->lease);
}
