/* SPDX-License-Identifier: GPL-2.0 */
/* The log: the times of the last admissions, one in each slot of the ring, in ns; 0: none. */
#ifndef RINGFENCE_LOG_H
#define RINGFENCE_LOG_H

#include "algorithm.h"

/* The time in a slot; 0 if it is further ahead than a CPU can stall: that was a late write. */
RF_INLINE __u64 rf_log_when(__u64 word, __u64 time)
{
	const __u64 left = time + RF_STALL_NS - word; /* both have 62 bits, but for a late write */

	return word & ~((__s64)(word | left) >> 63);
}

struct rf_log {
	__u64 oldest; /* {time:60 | slot:4}: of equal times the first slot's, for every CPU */
	__u64 now;    /* the caller's time, or the time of the last admission if later */
	__u32 used;   /* admissions in [now - W, now] */
};

RF_INLINE struct rf_log rf_log_read(const struct rf_window *window, const struct rf_policy *policy,
				    __u64 time)
{
	/* 0 is a time, too, at boot, and must not read as an empty slot. */
	struct rf_log log = {.oldest = ~0ULL, .now = time ? time : 1};

	for (int i = 0; i < RF_CELLS; i++) {
		__u64 when = rf_log_when(rf_load(&window->cell[i]), time);

		log.oldest = rf_least(log.oldest, when << 4 | i);
		log.now = ~rf_least(~log.now, ~when);
	}
	/* Read again instead of stored: the stack of a BPF program is small. */
	for (int i = 0; i < RF_CELLS; i++) {
		__u64 when = rf_log_when(rf_load(&window->cell[i]), time);

		log.used += rf_less(0, when) & ~rf_less(policy->cell, log.now - when);
	}
	return log;
}

/*
 * One attempt, see rf_take().
 *
 * Every writer replaces the oldest time by a later one. If a compare-and-swap still finds the
 * oldest time, no slot has changed since the count, and the count is right.
 */
RF_INLINE enum rf_verdict rf_take_log(struct rf_window *window, const struct rf_policy *policy,
				      __u64 time, __u32 cost)
{
	const struct rf_log log = rf_log_read(window, policy, time);
	const __u64 oldest = log.oldest >> 4;
	const int ok = log.used < policy->limit;
	__u64 *slot = &window->cell[log.oldest % 16 % RF_CELLS], found;

	(void)cost; /* a packet is one time, for any cost */
	if (!ok && !rf_counts_rejected(policy))
		return RF_OVER;
	found = rf_cas(slot, oldest, log.now);
	if (found == oldest)
		return ok ? RF_UNDER : RF_OVER;
	if (!rf_log_when(found, time))
		rf_cas(slot, found, 0); /* a late write, which was not counted */
	return RF_LOST_RACE;
}

#endif /* RINGFENCE_LOG_H */
