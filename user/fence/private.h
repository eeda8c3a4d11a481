/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files that make up a fence. Nobody else includes it. */
#ifndef RINGFENCE_FENCE_PRIVATE_H
#define RINGFENCE_FENCE_PRIVATE_H

#include "fence/fence.h"

/*
 * Brings the copy up to date that stands for shared memory where a fence may only be read. One that
 * is made while its map changes is as good as any: rules are read again where they were switched,
 * and what is pending in a lease may be missed, or told of the one before.
 */
void rf_map_refresh(const struct rf_fence *fence, enum rf_map map);

/* Are the maps of the kind and the sizes, and then what says where things are within them? */
int rf_fence_check_maps(struct rf_fence *fence, struct rf_error *error);
int rf_fence_check_config(struct rf_fence *fence, struct rf_error *error);

/* ---- bans ---- */

/* How long a CPU may go on as before when a ban begins or ends, by `bank`. */
void rf_bans_prepare(const struct rf_fence *fence, struct rf_bank *bank);
/* Makes room where bans are of limits that are no more, unless rules before may come back. */
void rf_bans_reclaim(const struct rf_fence *fence);

#endif /* RINGFENCE_FENCE_PRIVATE_H */
