/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_FENCE_OWN_NETWORKS_H
#define RINGFENCE_FENCE_OWN_NETWORKS_H

#include "base/own_networks.h"
#include "fence/fence.h"
#include "rules/lockout.h"

/*
 * The own networks of the host, as far as they lie behind the fence: the SSH connection of this
 * process, and the subnets of its interfaces. `own` is empty before; free it, even after an error:
 * it then has those that could be read.
 */
int rf_fence_own_networks(const struct rf_fence *fence, struct rf_own_networks *own,
			  struct rf_error *error);
/* Adds the gateways of the interfaces, after those. A host may have a million routes. */
int rf_fence_own_gateways(const struct rf_fence *fence, struct rf_own_networks *own,
			  struct rf_error *error);
/*
 * Finds the changes that cut off one of `own`, by the rules at the time `now`, in jiffies. Free
 * `found`, even after an error; it refers to `own` and `changes`.
 */
int rf_fence_find_lockouts(struct rf_fence *fence, uint64_t now, const struct rf_own_networks *own,
			   struct rf_list_changes *changes, struct rf_lockout_lists *found,
			   struct rf_error *error);

#endif /* RINGFENCE_FENCE_OWN_NETWORKS_H */
