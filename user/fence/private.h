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
/* How long a pause still lasts; 0: there is none. */
uint64_t rf_paused_ns(const struct rf_fence *fence);

/* A fence without a name of its own has that of an interface, which may be NULL. */
void rf_fence_take_name(char name[RF_NAME_SIZE], const char written[RF_NAME_SIZE],
			const char interface[IF_NAMESIZE]);

/*
 * Check the kind and the sizes of the maps, and then the values by which places and times in them
 * are computed.
 */
int rf_fence_check_maps(struct rf_fence *fence, struct rf_error *error);
int rf_fence_check_config(struct rf_fence *fence, struct rf_error *error);

/*
 * Reads back the rules of a bank that may be in force. Only with the lock held. `ruleset` is
 * RF_RULESET_NONE before the call. Free it even after an error.
 */
int rf_fence_ruleset_of(const struct rf_fence *fence, int bank, struct rf_ruleset *ruleset,
			struct rf_error *error);

/* Makes empty bit sets of ports for the limits that have ports. */
int rf_ports_make(struct rf_ruleset *ruleset);
/* Adds a port to the sets of these limits, where they have one; `limits` is a bit set of slots. */
void rf_ports_note(uint64_t *ports[RF_LIMITS_MAX], uint32_t port, uint32_t limits);

/* ---- pinned iterators (iterators.c) ---- */

/* A result that is not 0 ends the visit. The record is aligned as its size and a word allow. */
typedef int (*rf_record_visit)(const void *record, void *context);
/*
 * Visits what the iterator prints, records of `size` bytes. -ENOENT: the fence has none, or it
 * cannot be opened.
 */
int rf_iterator_each(const struct rf_fence *fence, enum rf_iterator iterator, size_t size,
		     rf_record_visit visit, void *context);

/* ---- counters ---- */

/* Adds up the values of all CPUs. A per-CPU value consists of 64-bit counters only. */
int rf_fence_sum_cpus(const struct rf_fence *fence, enum rf_map map, uint32_t key, size_t size,
		      void *result, struct rf_error *error);
/* The error of a map that cannot be read. */
int rf_fence_fail_map(struct rf_error *error, enum rf_map map, int negative_errno);

/* ---- bans ---- */

/* Sets in `bank` how long a CPU may answer as before when a ban begins or ends. */
void rf_bans_prepare(const struct rf_fence *fence, struct rf_bank *bank);
/*
 * Makes room: ends bans of limits that are gone or no longer ban, unless old rules may come back.
 */
void rf_bans_reclaim(const struct rf_fence *fence);

/* ---- names ---- */

/* Sets the fence's name from its configuration; without one, it has the name of an interface. */
void rf_fence_read_name(struct rf_fence *fence);

/* Reads a window by its key, without the share that it may have. -ENOENT: there is none. */
int rf_fence_look_up(const struct rf_fence *fence, enum rf_map map, const void *key,
		     struct rf_source *state);

/*
 * Numbers the owners of rules as the fence does, which learns those that are new. Names that only
 * expired entries use, or none, make room for them. Only with the lock held.
 */
int rf_fence_join_owners(struct rf_fence *fence, struct rf_ruleset *ruleset,
			 struct rf_error *error);

#endif /* RINGFENCE_FENCE_PRIVATE_H */
