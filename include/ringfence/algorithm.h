/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the algorithms of the limiter: which one a policy selects, and their verdicts. */
#ifndef RINGFENCE_ALGORITHM_H
#define RINGFENCE_ALGORITHM_H

#include "abi.h"
#include "atomic.h"

#ifndef RF_RETRIES
#define RF_RETRIES 8 /* lost races before a caller gives up */
#endif

#ifndef RF_JIFFIES_LAG
#define RF_JIFFIES_LAG 5 /* MAX_STALLED_JIFFIES of the kernel's tick */
#endif

/* The longest time that a CPU may stall within a packet: over two hours. */
#define RF_STALL_BITS 43
#define RF_STALL_TICKS_BITS 23 /* also in cells */
#define RF_STALL_NS (1ULL << RF_STALL_BITS)
#define RF_STALL_TICKS (1ULL << RF_STALL_TICKS_BITS)

enum rf_verdict {
	RF_UNDER,
	RF_OVER,
	/*
	 * The caller drops under a dedicated reason. The window was not charged, except for the
	 * cost that rf_added() left in the head of a limit that bans by a sum: this is final, and
	 * not retried.
	 */
	RF_LOST_RACES,
	RF_LATER,     /* only by rf_take_at_once() */
	RF_LOST_RACE, /* of one attempt: no charge was made, and a retry can follow */
};

RF_INLINE int rf_is_log(const struct rf_policy *policy)
{
	return policy->algorithm == RF_LOG;
}

RF_INLINE int rf_is_bucket(const struct rf_policy *policy)
{
	return policy->algorithm == RF_TOKEN || policy->algorithm == RF_LEAKY;
}

RF_INLINE int rf_is_weighted(const struct rf_policy *policy)
{
	return policy->algorithm == RF_SLIDING && policy->edge == RF_EDGE_WEIGHTED;
}

/* RF_SLIDING, strict or coarse, or RF_FIXED. */
RF_INLINE int rf_is_ring(const struct rf_policy *policy)
{
	return !rf_is_log(policy) && !rf_is_bucket(policy) && !rf_is_weighted(policy);
}

/* `count rejected`: are refused packets charged, too? */
RF_INLINE int rf_counts_rejected(const struct rf_policy *policy)
{
	return policy->flags & RF_COUNT_REJECTED;
}

/*
 * a < b as 1 or 0, without a branch: branches on the words of a ring are mispredicted, and 32 in a
 * row are too many paths for the verifier.
 */
RF_INLINE __u64 rf_less(__u64 a, __u64 b)
{
	__u64 less = ((~a & b) | ((~a | b) & (a - b))) >> 63;

	RF_OPAQUE(less);
	return less;
}

/* `chosen` is 1 or 0: one of both values, without a branch. */
RF_INLINE __u32 rf_choose(__u32 chosen, __u32 value, __u32 otherwise)
{
	return otherwise ^ ((value ^ otherwise) & -chosen);
}

RF_INLINE __u64 rf_least(__u64 a, __u64 b)
{
	return b ^ ((a ^ b) & -rf_less(a, b));
}

RF_INLINE __u64 rf_most(__u64 a, __u64 b)
{
	return a ^ ((a ^ b) & -rf_less(a, b));
}

#endif /* RINGFENCE_ALGORITHM_H */
