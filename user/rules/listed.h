/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An entry of the allow and deny lists: a prefix, the owners that claim it for a list, each until a
 * time, and the limits whose `from` names it. A prefix remains on a list until its last claim has
 * ended. Pure.
 */
#ifndef RINGFENCE_LISTED_H
#define RINGFENCE_LISTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/prefix.h"
#include "ringfence/abi.h"

enum rf_list {
	RF_ALLOW,
	RF_DENY,
	RF_LIST_COUNT,
};

/*
 * A prefix that a list or a limit's `from` names. An empty entry marks a /64 of which only a part
 * is named; rf_ruleset_compile() adds it, and it has no other use.
 */
struct rf_listed {
	struct rf_prefix prefix;
	struct rf_list_claim claim[RF_LIST_CLAIMS];
	uint32_t from; /* bit set of slots */
};

/* ---- owners ---- */

/* A set of owners, by their numbers. */
struct rf_owner_set {
	uint64_t bits[RF_OWNERS_MAX / 64];
};

static inline void rf_owner_set_add(struct rf_owner_set *set, unsigned int owner)
{
	set->bits[owner / 64] |= 1ULL << owner % 64;
}

static inline bool rf_owner_set_has(const struct rf_owner_set *set, unsigned int owner)
{
	return set->bits[owner / 64] >> owner % 64 & 1;
}

/* Every owner but the fleet, whose bans only the fleet ends. */
#define RF_OWNERS_LOCAL ((struct rf_owner_set){.bits = {~(1ULL << RF_OWNER_FLEET), ~0ULL}})

#define RF_OWNERS_ALL ((struct rf_owner_set){.bits = {~0ULL, ~0ULL}})

/* The name of an owner; "?" for a number without one. NULL: only of the fixed ones. */
const char *rf_owner_name(const struct rf_owners *owners, unsigned int owner);
#define RF_BY_TEXT_SIZE (RF_OWNER_SIZE + 4)

/* " by NAME", as commands take it; empty for the default of `add`. */
void rf_format_by(const struct rf_owners *owners, unsigned int owner, char text[RF_BY_TEXT_SIZE]);
/* The number of an owner; -1: the name is not known. */
int rf_owner_find(const struct rf_owners *owners, const char *name);
/* The same, and adds a name that is not known; an error where there is no room for it. */
int rf_owner_add(struct rf_owners *owners, const char *name, struct rf_error *error);
/*
 * Adds the names of `from`, and sets the number that each owner of `from` has in `owners`; an error
 * where there is no room for all.
 */
int rf_owners_join(struct rf_owners *owners, const struct rf_owners *from,
		   uint8_t number[RF_OWNERS_MAX], struct rf_error *error);

/* ---- claims ---- */

/* jiffies; 0: not on that list; RF_FOREVER. Of claims, the one that ends last counts. */
uint64_t rf_list_claims_until(const struct rf_list_claim claim[RF_LIST_CLAIMS], enum rf_list list);
uint64_t rf_listed_until(const struct rf_listed *listed, enum rf_list list);
uint64_t rf_listed_until_by(const struct rf_listed *listed, enum rf_list list, unsigned int owner);
/* Of the claims by this host, without the fleet's. */
uint64_t rf_listed_local_until(const struct rf_listed *listed, enum rf_list list);
/* How many owners of a set claim the prefix, and which. */
int rf_listed_owners(const struct rf_listed *listed, enum rf_list list,
		     const struct rf_owner_set *among, uint8_t owner[RF_LIST_CLAIMS]);

/* Sets until when an owner claims the prefix; 0: it no longer does. -ENOSPC: too many claims. */
int rf_listed_claim(struct rf_listed *listed, enum rf_list list, unsigned int owner,
		    uint64_t until);
/* Ends the claims of a set of owners. */
void rf_listed_release(struct rf_listed *listed, enum rf_list list,
		       const struct rf_owner_set *owners);
/* Ends the claims that have expired at `jiffies`. Were there any? */
bool rf_listed_expire(struct rf_listed *listed, uint64_t jiffies);
/* Is the entry on no list, and in no `from`? */
bool rf_listed_is_empty(const struct rf_listed *listed);

#endif /* RINGFENCE_LISTED_H */
