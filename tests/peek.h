/* SPDX-License-Identifier: GPL-2.0 */
/* One name for every algorithm's peek; the program has its own dispatch, in bpf/take.h. */
#ifndef RINGFENCE_TESTS_PEEK_H
#define RINGFENCE_TESTS_PEEK_H

#include "ringfence/limiter.h"

/* Does the window have room for `cost` at `time`? Nothing is charged. */
RF_INLINE int rf_peek(const struct rf_window *window, const struct rf_policy *policy, __u64 time,
		      __u32 cost)
{
	if (rf_is_log(policy))
		return rf_log_read(window, policy, time).used < policy->limit;
	if (rf_is_bucket(policy))
		return rf_peek_bucket(window, policy, time, cost);
	if (rf_is_weighted(policy))
		return rf_peek_weighted(window, policy, time, cost);
	cost += rf_lent(window, policy, time);
	if (rf_has_room_at_once(window, policy, cost))
		return 1;
	return rf_peek_sliding(window, policy, time, cost);
}

#endif /* RINGFENCE_TESTS_PEEK_H */
