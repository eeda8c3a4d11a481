/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interfaces that run the program of their master. A bond hands its program to its members, and
 * hv_netvsc to its virtual function; the program then gets the member's index.
 */
#ifndef RINGFENCE_MEMBERS_H
#define RINGFENCE_MEMBERS_H

#include <stdbool.h>

#include "base/netlink.h"

struct rf_link {
	unsigned int index;
	unsigned int master; /* 0: none */
	bool is_attached;    /* the fence is on it; else a member of one that the fence is on */
	char kind[RF_LINK_KIND_SIZE];
};

struct rf_links {
	struct rf_link *link;
	int count, size;
};

/* Can interfaces of this kind hand their program to members? A bridge, for one, does not. */
bool rf_kind_has_members(const char *kind);
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

#endif /* RINGFENCE_MEMBERS_H */
