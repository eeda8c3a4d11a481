/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters by interface. A fence has them from the moment it gets a second interface on; what it
 * counted before is in the totals alone.
 */
#ifndef RINGFENCE_BY_INTERFACE_H
#define RINGFENCE_BY_INTERFACE_H

#include "fence/fence.h"

struct rf_by_interface {
	bool is_counted; /* false: the fence never had several interfaces */
	struct rf_interface_counters place[RF_INTERFACE_PLACES];
};

/* Sums over all CPUs, since each interface got its place; a bond's have its members'. */
int rf_fence_by_interface(const struct rf_fence *fence, struct rf_by_interface *sums,
			  struct rf_error *error);
void rf_baseline_subtract_interfaces(const struct rf_baseline *baseline,
				     struct rf_by_interface *sums);

/* The counters of an interface of this network namespace. NULL: it is not counted apart. */
const struct rf_interface_counters *rf_by_interface_of(const struct rf_fence *fence,
						       const struct rf_by_interface *sums,
						       unsigned int index);
/*
 * What `totals`, read before `sums`, have beyond the fence's interfaces of this network namespace.
 */
struct rf_interface_counters rf_by_interface_rest(const struct rf_fence *fence,
						  const struct rf_by_interface *sums,
						  const struct rf_interface_counters *totals);

/* Do all present members of the interface have places? Until then, its counters lack packets. */
bool rf_by_interface_is_whole(const struct rf_fence *fence, unsigned int index);

/*
 * Begins to count all interfaces of the fence, and one that is about to join (0: none is), apart,
 * where the fence has places for them; and with each the members that run its program now. Only
 * with the lock held.
 */
int rf_fence_count_interfaces(struct rf_fence *fence, unsigned int joining, struct rf_error *error);

#endif /* RINGFENCE_BY_INTERFACE_H */
