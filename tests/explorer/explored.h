/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The explored code as explorer.c uses it: limiter.h and lease.h with a short ring and few retries,
 * each of their atomic operations a scheduling point. Everything that a mutant can change is called
 * through the functions below, so only explored.c is compiled for each mutant.
 */
#ifndef RINGFENCE_EXPLORER_EXPLORED_H
#define RINGFENCE_EXPLORER_EXPLORED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ringfence/abi.h"

/* The size of the ring and the number of retries are the row's: small ones show more. */
extern int ring_cells, ring_retries;
#undef RF_CELLS
#define RF_CELLS ring_cells
#define RF_RETRIES ring_retries

/* Each atomic operation calls its argument `word`. */
void yield(__u64 *word);
#define RF_ATOMIC_YIELD() yield((__u64 *)(word))
#include "ringfence/atomic.h"

/* Called when the limiter starts an attempt, which does not depend on earlier attempts. */
void begin_attempt(void);

/* For mutants of the limiter only: the limiter stores nothing plainly. */
RF_INLINE void plain_store(__u64 *word, __u64 value)
{
	RF_ATOMIC_YIELD();
	*(volatile __u64 *)word = value;
}

#include "ringfence/limiter.h"
#include "ringfence/window_read.h"

/* Small numbers are to take credits. */
#define RF_CREDITS_PER_SPENT 1
#define RF_CREDITS_PER_SPENT_OF_SEVERAL 1
#define RF_JIFFIES_LAG 0
#define RF_CREDITS_PER_ROOM 1
#include "ringfence/lease.h"

enum rf_verdict explored_take(struct rf_window *window, const struct rf_policy *policy,
			      const struct rf_ask *ask);
__u64 explored_bucket_flow(const struct rf_policy *policy, __u32 units);

/* Readers. */
__u64 explored_used(const struct rf_window *window, const struct rf_policy *policy, __u64 time);
bool explored_would_pass(const struct rf_window *window, const struct rf_policy *policy, __u64 time,
			 __u32 cost);

/* Leases. */
void explored_renew(struct rf_lease *lease, struct rf_window *window,
		    const struct rf_policy *policy, const struct rf_ask *ask,
		    enum rf_verdict verdict);
bool explored_is_for(const struct rf_lease *lease, const struct rf_who *who);
bool explored_answers(struct rf_lease *lease, __u32 cost, __u32 bytes);

#endif /* RINGFENCE_EXPLORER_EXPLORED_H */
