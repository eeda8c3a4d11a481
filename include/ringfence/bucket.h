/* SPDX-License-Identifier: GPL-2.0 */
/* Token and leaky: a bucket, represented by the time at which it was empty (GCRA). */
#ifndef RINGFENCE_BUCKET_H
#define RINGFENCE_BUCKET_H

#include "algorithm.h"

/* Buckets store times in 1/16 ns, from an offset that is larger than the depth of any bucket. */
#define RF_BUCKET_SHIFT 4
#define RF_BUCKET_ZERO (1ULL << 62)

RF_INLINE __u64 rf_bucket_time(__u64 time)
{
	return (time << RF_BUCKET_SHIFT) + RF_BUCKET_ZERO;
}

/* How long `cost` takes to flow, in 1/16 ns, rounded up. */
RF_INLINE __u64 rf_bucket_flow(const struct rf_policy *policy, __u32 cost)
{
	const __u32 scale = policy->scale & 63;

	return (cost * policy->cell + (1ULL << scale) - 1) >> scale;
}

/*
 * Is the word a late write, and not a time of this bucket? It is if it is ahead of `now` by more
 * than the longest stall of a CPU plus the depth. A CPU that stalls for less than the bucket takes
 * to fill therefore never opens it.
 */
RF_INLINE int rf_bucket_is_alien(const struct rf_policy *policy, __u64 empty, __u64 now)
{
	return empty > now && empty - now > policy->depth + (RF_STALL_NS << RF_BUCKET_SHIFT);
}

/* The contents of the bucket at `now`, as the time to drain them. */
RF_INLINE __u64 rf_bucket_level(const struct rf_policy *policy, __u64 empty, __u64 now)
{
	__u64 level = now > empty ? now - empty : 0;

	return level < policy->depth ? level : policy->depth;
}

/* How many units flow in that time, rounded up. */
RF_INLINE __u64 rf_bucket_units(const struct rf_policy *policy, __u64 flow)
{
	return policy->cell ? ((flow << (policy->scale & 63)) + policy->cell - 1) / policy->cell
			    : 0;
}

/*
 * One attempt, see rf_take().
 *
 * Virtual scheduling of ITU-T I.371, but by the time at which the bucket was empty, not the time at
 * which it will be full: a change of rate or burst therefore loses no charge, and shuts no source
 * out.
 */
RF_INLINE enum rf_verdict rf_take_bucket(struct rf_window *window, const struct rf_policy *policy,
					 __u64 time, __u32 cost)
{
	const __u64 now = rf_bucket_time(time), flow = rf_bucket_flow(policy, cost);
	const __u64 empty = rf_load(&window->head), level = rf_bucket_level(policy, empty, now);
	const int ok = flow <= level && cost <= policy->limit;
	/* Then the bucket counts as empty. */
	const int alien = rf_bucket_is_alien(policy, empty, now);

	if (!ok && !(rf_counts_rejected(policy) && level) && !alien)
		return RF_OVER;
	if (rf_cas(&window->head, empty, ok ? now - (level - flow) : now) == empty)
		return ok ? RF_UNDER : RF_OVER;
	return RF_LOST_RACE;
}

RF_INLINE int rf_peek_bucket(const struct rf_window *window, const struct rf_policy *policy,
			     __u64 time, __u32 cost)
{
	const __u64 empty = rf_load(&window->head), now = rf_bucket_time(time);
	const __u64 level = rf_bucket_level(policy, empty, now);

	if (rf_bucket_is_alien(policy, empty, now))
		return 1; /* the take decides, and writes over it */
	return rf_bucket_flow(policy, cost) <= level && cost <= policy->limit;
}

#endif /* RINGFENCE_BUCKET_H */
