/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The common part of the tests of leases: one packet of one CPU under one limit, with the same
 * calls as in the data path.
 */
#ifndef RINGFENCE_UNIT_LEASE_H
#define RINGFENCE_UNIT_LEASE_H

#include "traffic.h"

#include "ringfence/lease.h"
#include "ringfence/lease_place.h"

#define GENERATION 7

static inline struct rf_who who_of(uint32_t generation)
{
	return (struct rf_who){.source = {1}, .rules = rf_who_rules(generation, 0, 0)};
}

static inline bool lease_answers(struct rf_lease *lease, const struct rf_who *who,
				 const struct rf_ask *ask)
{
	return rf_lease_is_for(lease, who) && rf_lease_is_live(lease, ask->jiffies, 0) &&
	       rf_lease_answers(lease, ask->cost, 0);
}

static __u32 lease_span; /* if a lease that passes packets expires soon, see lease.h */

/* Takes from the window, then renews the lease. */
static inline enum rf_verdict ask_window(struct rf_lease *lease, const struct rf_who *who,
					 struct rf_window *window, const struct rf_policy *policy,
					 const struct rf_ask *ask)
{
	enum rf_verdict verdict = rf_take(window, policy, ask->time, ask->cost);

	if (!rf_lease_may_follow(policy, verdict))
		return verdict;
	if (!rf_lease_is_for(lease, who))
		*lease =
			(struct rf_lease){.source = who->source[0], .rules = who->rules, .ends = 1};
	rf_lease_renew(lease, window, policy, ask, verdict, lease_span);
	return verdict;
}

#endif /* RINGFENCE_UNIT_LEASE_H */
