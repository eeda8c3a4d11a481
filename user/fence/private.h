/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of this folder. No other file includes it. */
#ifndef RINGFENCE_FENCE_PRIVATE_H
#define RINGFENCE_FENCE_PRIVATE_H

#include "fence/fence.h"
#include "rules/list_change.h"

/*
 * For a read-only fence, a copy replaces the shared memory of a map. This function updates the
 * copy. The map can change concurrently, which is harmless: rules that were switched are read
 * again, and the pending packets of a lease can be missing, or belong to the lease before.
 */
void rf_map_refresh(const struct rf_fence *fence, enum rf_map map);

/*
 * The length of a tick. A fence that never had a limit does not know it, and needs the lock to
 * learn it: then the kernel's.
 */
uint32_t rf_tick_or_kernels(const struct rf_fence *fence);

/* A fence without a name is called after an interface, which can be NULL. */
void rf_fence_take_name(char name[RF_NAME_SIZE], const char written[RF_NAME_SIZE],
			const char interface[IF_NAMESIZE]);

/*
 * Reads back the rules of a bank that can be active. Only with the lock held. `ruleset` is
 * RF_RULESET_NONE before the call. Free it even after an error.
 */
int rf_fence_ruleset_of(const struct rf_fence *fence, int bank, struct rf_ruleset *ruleset,
			struct rf_error *error);

/* The error of a map that cannot be read. */
int rf_fence_fail_map(struct rf_error *error, enum rf_map map, int negative_errno);

/* ---- examined packets, and responses (examine.c) ---- */

/*
 * Makes the data path examine newcomers and truncate if one of these banks, which can be NULL,
 * does; else it does not. Before a bank is active, and after the banks that no longer are.
 */
void rf_examine(const struct rf_fence *fence, const struct rf_bank *bank,
		const struct rf_bank *other);
/* Stores the Ethernet addresses of this network namespace, if the fence is on interfaces of it. */
int rf_examine_note_macs(const struct rf_fence *fence, struct rf_error *error);

/* ---- bans ---- */

/* Sets in `bank` how long a CPU can use old verdicts after a ban starts or expires. */
void rf_bans_prepare(const struct rf_fence *fence, struct rf_bank *bank);
/*
 * Makes room: lifts bans of limits that were removed or no longer ban, unless old rules can be
 * restored.
 */
void rf_bans_reclaim(const struct rf_fence *fence);

#endif /* RINGFENCE_FENCE_PRIVATE_H */
