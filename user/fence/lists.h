/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes of the allow and deny lists. While rules are unconfirmed, the lists belong to both sides:
 * a change is made to the unconfirmed rules and to the rules they can be rolled back to.
 */
#ifndef RINGFENCE_LISTS_H
#define RINGFENCE_LISTS_H

#include "base/own_networks.h"
#include "fence/fence.h"
#include "rules/list_change.h"
#include "rules/lockout.h"

struct rf_lists_outcome {
	bool in_place;
	size_t writes;		      /* in place: entries of tries that were written or removed */
	size_t listed[RF_LIST_COUNT]; /* now on each list, active */
};

/*
 * Numbers the owners of changes as in the fence, which adds new ones. Names that only expired
 * entries use, or none, make room for them. Only with the lock held.
 */
int rf_fence_join_changes(struct rf_fence *fence, struct rf_list_changes *changes,
			  struct rf_error *error);
/*
 * Checks whether the fence accepts the changes, and changes nothing. An error of rf_list_fail(): a
 * change is refused, and `refused` has its reason. With the lock held.
 */
int rf_fence_check_lists(struct rf_fence *fence, struct rf_list_changes *changes,
			 struct rf_list_refused *refused, struct rf_error *error);
/*
 * Makes all changes or none. A few changes, each of a prefix that contains few others, are written
 * into the active tries: the data path sees each prefix in its old or its new state, and no lease
 * uses the old lists afterwards. Otherwise new tries are built, and activated atomically. Only with
 * the lock held, the clock measured and the leases made. Afterwards the owners of the changes are
 * numbered as in the fence. An error of rf_list_fail(): a change is refused.
 */
int rf_fence_change_lists(struct rf_fence *fence, struct rf_list_changes *changes,
			  const struct rf_progress *progress, struct rf_lists_outcome *outcome,
			  struct rf_error *error);

/* ---- own networks ---- */

/*
 * The host's own networks, as far as they are behind the fence: the SSH connection of this process,
 * and the subnets of its interfaces. `own` is empty before; free it, even after an error: it then
 * has the networks that could be read.
 */
int rf_fence_own_networks(const struct rf_fence *fence, struct rf_own_networks *own,
			  struct rf_error *error);
/* Adds the gateways of the interfaces, after those. A host can have a million routes. */
int rf_fence_own_gateways(const struct rf_fence *fence, struct rf_own_networks *own,
			  struct rf_error *error);
/*
 * Finds the changes that cut off one of `own`, by the rules at the time `now`, in jiffies. Free
 * `found`, even after an error; it refers to `own` and `changes`.
 */
int rf_fence_find_lockouts(struct rf_fence *fence, uint64_t now, const struct rf_own_networks *own,
			   struct rf_list_changes *changes, struct rf_lockout_lists *found,
			   struct rf_error *error);

#endif /* RINGFENCE_LISTS_H */
