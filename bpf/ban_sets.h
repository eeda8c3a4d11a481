/* SPDX-License-Identifier: GPL-2.0 */
/* Where bans are: see ringfence/ban_table.h. */
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

#endif /* RINGFENCE_BPF_BAN_SETS_H */
