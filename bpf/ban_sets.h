/* SPDX-License-Identifier: GPL-2.0 */
/* Locating and starting bans: see ringfence/ban_table.h. */
#ifndef RINGFENCE_BPF_BAN_SETS_H
#define RINGFENCE_BPF_BAN_SETS_H

#include "ringfence/ban_table.h"
#include "windows.h"

/* The set and the tag of a ban of `whom`. */
static __always_inline struct rf_ban_set *find_set(const struct rf_ban *whom, __u32 *tag)
{
	const __u64 hash = rf_ban_hash(whom, config.lease_key);
	__u32 place = rf_ban_place(hash);

	*tag = rf_ban_tag(hash);
	return bpf_map_lookup_elem(&bans, &place);
}

/*
 * Bans a source for that many jiffies, and records the ban in its window. Returns when the ban
 * expires; 0: no ban, because another CPU won a race or because the set is full, which is counted.
 */
static __always_inline __u64 ban_in_set(const struct rf_ban *whom, __u64 jiffies,
					struct rf_source *source)
{
	__u64 until = whom->since + jiffies;
	struct rf_counters *sums;
	struct rf_ban_set *set;
	__u32 tag, first = 0;

	set = find_set(whom, &tag);
	sums = bpf_map_lookup_elem(&counters, &first);
	if (!set || !sums)
		return 0; /* cannot happen; for the verifier */
	until = rf_ban_start(set, whom, tag, until < RF_BAN_UNTIL_MAX ? until : RF_BAN_UNTIL_MAX);
	/* Atomically: a packet can interrupt an agent's call between the load and the store. */
	if (until == RF_BAN_FULL)
		__sync_fetch_and_add(&sums->bans_refused, 1);
	if (until <= RF_BAN_LOST_RACE)
		return 0;
	source->banned_until = until;
	return until;
}

#endif /* RINGFENCE_BPF_BAN_SETS_H */
