/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the lease of a running CPU: the lease can change its source concurrently. */
#ifndef RINGFENCE_LEASE_READ_H
#define RINGFENCE_LEASE_READ_H

#include "lease.h"

#define RF_LEASE_READS_MAX 4 /* attempts to read a lease whose source changes concurrently */

/* Orders loads. */
#ifdef __bpf__
#define RF_LOADS_IN_TURN() asm volatile("" ::: "memory")
#else
#define RF_LOADS_IN_TURN() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#endif

RF_INLINE void rf_lease_copy(struct rf_lease *lease, const struct rf_lease *shared)
{
	*lease = *shared;
	RF_LOADS_IN_TURN();
}

/* Do both count for the same source and limits? */
RF_INLINE int rf_lease_is_same(const struct rf_lease *one, const struct rf_lease *other)
{
	return one->source == other->source && one->rules == other->rules &&
	       one->reason == other->reason && one->over == other->over &&
	       one->slot0 == other->slot0 && one->slot1 == other->slot1 &&
	       one->slot2 == other->slot2 && one->slot3 == other->slot3;
}

/* Does the lease hold packets? A quick check: if there are many leases, most hold none. */
RF_INLINE int rf_lease_may_hold(const struct rf_lease *shared)
{
	const struct rf_lease glance = {.packets_word =
						*(const volatile __u32 *)&shared->packets_word};

	return glance.packets != 0;
}

/* Reads the pending counts of the lease; 0: none. */
RF_INLINE int rf_lease_read(struct rf_lease *lease, const struct rf_lease *shared)
{
	struct rf_lease before, after;

	if (!rf_lease_may_hold(shared))
		return 0;
	RF_UNROLL
	for (int i = 0; i < RF_LEASE_READS_MAX; i++) {
		rf_lease_copy(&before, shared);
		rf_lease_copy(lease, shared);
		rf_lease_copy(&after, shared);
		if (rf_lease_is_same(&before, lease) && rf_lease_is_same(lease, &after))
			return lease->packets && lease->reason < RF_REASON_COUNT;
	}
	return 0;
}

#endif /* RINGFENCE_LEASE_READ_H */
