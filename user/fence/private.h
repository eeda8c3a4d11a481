/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of this folder. No other file includes it. */
#ifndef RINGFENCE_FENCE_PRIVATE_H
#define RINGFENCE_FENCE_PRIVATE_H

#include "fence/fence.h"
#include "rules/list_change.h"

/*
 * If a fence may only be read, a copy stands for the shared memory of a map. This function updates
 * the copy. The map may change meanwhile, which does no harm: rules that were switched are read
 * again, and the pending packets of a lease may be missing, or be those of the lease before.
 */
void rf_map_refresh(const struct rf_fence *fence, enum rf_map map);

/*
 * The length of a tick. A fence that never had a limit does not know it, and needs the lock to
 * learn it: then the kernel's.
 */
uint32_t rf_tick_or_kernels(const struct rf_fence *fence);

/* A fence without a name of its own has that of an interface, which may be NULL. */
void rf_fence_take_name(char name[RF_NAME_SIZE], const char written[RF_NAME_SIZE],
			const char interface[IF_NAMESIZE]);

/*
 * Reads back the rules of a bank that may be in force. Only with the lock held. `ruleset` is
 * RF_RULESET_NONE before the call. Free it even after an error.
 */
int rf_fence_ruleset_of(const struct rf_fence *fence, int bank, struct rf_ruleset *ruleset,
			struct rf_error *error);

/* The error of a map that cannot be read. */
int rf_fence_fail_map(struct rf_error *error, enum rf_map map, int negative_errno);

/* ---- bans ---- */

/* Sets in `bank` how long a CPU may answer as before when a ban begins or ends. */
void rf_bans_prepare(const struct rf_fence *fence, struct rf_bank *bank);
/*
 * Makes room: ends bans of limits that are gone or no longer ban, unless old rules may come back.
 */
void rf_bans_reclaim(const struct rf_fence *fence);

#endif /* RINGFENCE_FENCE_PRIVATE_H */
