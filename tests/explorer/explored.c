// SPDX-License-Identifier: GPL-2.0
/* The calls into the explored code: only this file is recompiled for a mutant. */
#include "explored.h"

static enum rf_verdict attempt(struct rf_window *window, const struct rf_policy *policy,
			       const struct rf_ask *ask)
{
	begin_attempt();
	return rf_take_once(window, policy, ask->time, ask->cost);
}

/* As rf_take(). */
enum rf_verdict explored_take(struct rf_window *window, const struct rf_policy *policy,
			      const struct rf_ask *ask)
{
	RF_TAKE_BY(attempt(window, policy, ask));
}

__u64 explored_bucket_flow(const struct rf_policy *policy, __u32 units)
{
	return rf_bucket_flow(policy, units);
}

__u64 explored_used(const struct rf_window *window, const struct rf_policy *policy, __u64 time)
{
	return rf_used(window, policy, time);
}

bool explored_would_pass(const struct rf_window *window, const struct rf_policy *policy, __u64 time,
			 __u32 cost)
{
	return rf_would_pass(window, policy, time, cost);
}

void explored_renew(struct rf_lease *lease, struct rf_window *window,
		    const struct rf_policy *policy, const struct rf_ask *ask,
		    enum rf_verdict verdict)
{
	rf_lease_renew(lease, window, policy, ask, verdict, 0);
}

bool explored_is_for(const struct rf_lease *lease, const struct rf_who *who)
{
	return rf_lease_is_for(lease, who);
}

bool explored_answers(struct rf_lease *lease, __u32 cost, __u32 bytes)
{
	return rf_lease_answers(lease, cost, bytes);
}
