/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters by interface. A fence has them from the time it gets a second interface; earlier counts
 * are only in the totals.
 */
#ifndef RINGFENCE_BY_INTERFACE_H
#define RINGFENCE_BY_INTERFACE_H

#include <stdbool.h>

#include "base/netlink.h"
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

/* The counters of an interface of this network namespace. NULL: it is not counted separately. */
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
 * Starts counting all interfaces of the fence separately, and one that is about to join (0: none),
 * as far as the fence has places for them; and with each the members that run its program now. Only
 * with the lock held.
 */
int rf_fence_count_interfaces(struct rf_fence *fence, unsigned int joining, struct rf_error *error);

/* ---- members ---- */

/*
 * Interfaces that run the program of their master. A bond hands its program to its members, and
 * hv_netvsc to its virtual function; the program then gets the member's index.
 */

struct rf_link {
	unsigned int index;
	unsigned int master; /* 0: none */
	bool is_attached;    /* the fence is on it; else a member of one that has the fence */
	char kind[RF_LINK_KIND_SIZE];
};

struct rf_links {
	struct rf_link *link;
	int count;
	size_t size;
};

/*
 * Pure. The attached interface whose packets the link's packets are: itself, its master, or its
 * master's master. 0: none.
 */
unsigned int rf_link_counts_for(const struct rf_links *links, const struct rf_link *link);

/* NULL: it is not in the list. */
const struct rf_link *rf_links_find(const struct rf_links *links, unsigned int index);
/* Adds a link, unless the list has its index. Returns 0 or -ENOMEM. */
int rf_links_add(struct rf_links *links, const struct rf_link *link);
void rf_links_free(struct rf_links *links);

#endif /* RINGFENCE_BY_INTERFACE_H */
