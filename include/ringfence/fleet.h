/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The figures of a limit that many hosts share: L in W, over at most N hosts. docs/fleet-proof.md
 * has the proof.
 *
 *   first  f = max(1, L / (64 N))        each host passes this without a share, unless configured
 *   pool   P = L - min(N f, L / 64)      the ledger grants this as claims
 *   bound  P + N f                       maximum of all hosts together in any W
 *
 * L, f, P and the bound are in the units of the limit, packets or bytes.
 */
#ifndef RINGFENCE_FLEET_H
#define RINGFENCE_FLEET_H

#include "atomic.h"

#define RF_FLEET_HOSTS_MAX 1024 /* N at most */

/* A share ends before its claim by this part of G, because clocks of hosts and server drift. */
#define RF_FLEET_DRIFT 128

/* Bans that hosts take from each other. */
#define RF_FLEET_BAN_MOST_MS 3600000
#define RF_FLEET_BAN_LEAST4 24 /* the shortest prefix */
#define RF_FLEET_BAN_LEAST6 48
#define RF_FLEET_BANS_MAX 1024	  /* of all hosts together */
#define RF_FLEET_BANS_OF_HOST 128 /* of each */
#define RF_FLEET_UNASKED 64	  /* a 64th of L, over all hosts, passes without a share */

/* f if the limit does not set it. `hosts` is at least 1. */
RF_INLINE __u64 rf_fleet_first(__u64 limit, __u32 hosts)
{
	const __u64 first = limit / RF_FLEET_UNASKED / hosts;

	return first ? first : 1;
}

/* P: the maximum sum of claims. */
RF_INLINE __u64 rf_fleet_pool(__u64 limit, __u32 hosts, __u64 first)
{
	const __u64 unasked = first * hosts, most = limit / RF_FLEET_UNASKED;

	return limit - (unasked < most ? unasked : most);
}

/* The total that all hosts pass in any W while they are online. */
RF_INLINE __u64 rf_fleet_bound(__u64 limit, __u32 hosts, __u64 first)
{
	return rf_fleet_pool(limit, hosts, first) + first * hosts;
}

/* Does that exceed 1.1 L? Then a limit must set its `first`. */
RF_INLINE int rf_fleet_is_loose(__u64 limit, __u32 hosts, __u64 first)
{
	return rf_fleet_bound(limit, hosts, first) * 10 > limit * 11;
}

/* L on one host while it is online. */
RF_INLINE __u64 rf_fleet_room(__u64 limit, __u64 first, __u64 share)
{
	return first + share < limit ? first + share : limit;
}

#endif /* RINGFENCE_FLEET_H */
