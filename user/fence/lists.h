/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes of the allow and deny lists. While rules are unconfirmed, the lists belong to both sides: a
 * change goes to the unconfirmed rules and to those that they are reverted to.
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
	size_t listed[RF_LIST_COUNT]; /* now on each list, in force */
};

/*
 * Numbers the owners of changes as the fence does, which learns those that are new. Names that only
 * expired entries use, or none, make room for them. Only with the lock held.
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
 * Makes all changes or none. Few changes, each of a prefix that contains few others, are written
 * into the tries in force: the data path sees each prefix as it was or as it is, and no lease
 * answers by the old lists afterwards. Otherwise the tries are made anew, and put in force at once.
 * Only with the lock held, the clock measured and the leases made. Afterwards the owners of the
 * changes are numbered as the fence does. An error of rf_list_fail(): a change is refused.
 */
int rf_fence_change_lists(struct rf_fence *fence, struct rf_list_changes *changes,
			  const struct rf_progress *progress, struct rf_lists_outcome *outcome,
			  struct rf_error *error);

/* ---- own networks ---- */

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

#endif /* RINGFENCE_LISTS_H */
