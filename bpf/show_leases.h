/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Leases that hold packets, for readers who do not share their memory and would have to copy all of
 * them. A set without tags never had a lease: its lines are not read.
 */
#ifndef RINGFENCE_SHOW_LEASES_H
#define RINGFENCE_SHOW_LEASES_H

#include "ringfence/lease_read.h"
#include "show_windows.h"

struct show_sets {
	struct seq_file *seq;
	__u32 first; /* set */
	__u32 reserved;
};

/* Global: the verifier checks it once for all leases of a set. */
__noinline int read_pending(struct rf_lease *lease, const struct rf_lease *shared)
{
	return lease && shared && rf_lease_read(lease, shared);
}

static long show_set(__u32 number, void *context)
{
	const struct show_sets *part = context;
	const __u32 index = part->first + number;
	const __u64 *tags = bpf_map_lookup_elem(&lease_tags, &index);
	const struct rf_lease_set *set;

	if (!tags || !*tags)
		return 0;
	set = bpf_map_lookup_elem(&leases, &index);
	for (int i = 0; set && i < RF_LEASE_WAYS; i++) {
		struct rf_lease lease = {};

		if (rf_lease_may_hold(&set->way[i]) && read_pending(&lease, &set->way[i]))
			bpf_seq_write(part->seq, &lease, sizeof(lease));
	}
	return 0;
}

/* Iterates over parts of the sets. */
static __always_inline int show_leases(struct bpf_iter__bpf_map_elem *ctx)
{
	struct show_sets part = {.seq = ctx->meta->seq};
	const __u32 *number = ctx->key;

	if (!number)
		return 0;
	part.first = *number * RF_PART_SETS;
	bpf_loop(RF_PART_SETS, show_set, &part, 0);
	return 0;
}

#endif /* RINGFENCE_SHOW_LEASES_H */
