/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The figures of a limit that many hosts hold together: L in W, over at most N hosts.
 * docs/fleet-proof.md has the proof.
 *
 *   first  f = max(1, L / (64 N))        what each host passes unasked, unless the limit says it
 *   pool   P = L - min(N f, L / 64)      what the ledger gives away as claims
 *   bound  P + N f                       what all hosts together pass in any W
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
#define RF_FLEET_UNASKED 64	  /* a 64th of L, over all hosts, is passed unasked */

/* f where the limit does not say its own. `hosts` is at least 1. */
RF_INLINE __u64 rf_fleet_first(__u64 limit, __u32 hosts)
{
	const __u64 first = limit / RF_FLEET_UNASKED / hosts;

	return first ? first : 1;
}

/* P: so much is in claims at most. */
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

/* Is that over 1.1 L? Then a limit has to say its `first` itself. */
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
