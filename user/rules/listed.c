// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rules/listed.h"

/* ---- owners ---- */

static const char *const fixed_names[RF_OWNERS_FIXED] = {
	[RF_OWNER_MANUAL] = "manual",
	[RF_OWNER_FLEET] = "fleet",
	[RF_OWNER_LOAD] = "load",
};

const char *rf_owner_name(const struct rf_owners *owners, unsigned int owner)
{
	const char *name = owner < RF_OWNERS_FIXED ? fixed_names[owner]
						   : owners->name[owner - RF_OWNERS_FIXED];

	return *name ? name : "?";
}

void rf_format_by(const struct rf_owners *owners, unsigned int owner, char text[RF_BY_TEXT_SIZE])
{
	*text = '\0';
	if (owner != RF_OWNER_MANUAL)
		snprintf(text, RF_BY_TEXT_SIZE, " by %s", rf_owner_name(owners, owner));
}

int rf_owner_find(const struct rf_owners *owners, const char *name)
{
	for (int owner = 0; owner < RF_OWNERS_MAX; owner++)
		if (strcmp(rf_owner_name(owners, owner), name) == 0)
			return owner;
	return -1;
}

int rf_owner_add(struct rf_owners *owners, const char *name, struct rf_error *error)
{
	const int owner = rf_owner_find(owners, name);

	if (owner >= 0)
		return owner;
	for (int i = 0; i < RF_OWNERS_MAX - RF_OWNERS_FIXED; i++) {
		if (*owners->name[i])
			continue;
		strncpy(owners->name[i], name, RF_OWNER_SIZE - 1);
		return i + RF_OWNERS_FIXED;
	}
	return rf_error_failed(error, -ENOSPC,
			       "'by %s': the lists have %d owners already, the most there can be; "
			       "'deny flush by NAME' removes one",
			       name, RF_OWNERS_MAX);
}

int rf_owners_join(struct rf_owners *owners, const struct rf_owners *from,
		   uint8_t number[RF_OWNERS_MAX], struct rf_error *error)
{
	for (int i = 0; i < RF_OWNERS_MAX; i++) {
		const char *name = i < RF_OWNERS_FIXED ? "" : from->name[i - RF_OWNERS_FIXED];
		const int owner = *name ? rf_owner_add(owners, name, error) : i;

		if (owner < 0)
			return owner;
		number[i] = owner;
	}
	return 0;
}

/* ---- claims ---- */

static bool is_of(const struct rf_list_claim *claim, enum rf_list list)
{
	return claim->until && claim->is_deny == (list == RF_DENY);
}

static uint64_t until_of(const struct rf_list_claim *claim)
{
	return claim->until == RF_LIST_CLAIM_FOREVER ? RF_FOREVER : claim->until;
}

static uint64_t until_among(const struct rf_list_claim claim[RF_LIST_CLAIMS], enum rf_list list,
			    const struct rf_owner_set *owners)
{
	uint64_t until = 0;

	for (int i = 0; i < RF_LIST_CLAIMS; i++)
		if (is_of(&claim[i], list) && rf_owner_set_has(owners, claim[i].owner) &&
		    until_of(&claim[i]) > until)
			until = until_of(&claim[i]);
	return until;
}

uint64_t rf_list_claims_until(const struct rf_list_claim claim[RF_LIST_CLAIMS], enum rf_list list)
{
	return until_among(claim, list, &RF_OWNERS_ALL);
}

uint64_t rf_listed_until(const struct rf_listed *listed, enum rf_list list)
{
	return rf_list_claims_until(listed->claim, list);
}

uint64_t rf_listed_until_by(const struct rf_listed *listed, enum rf_list list, unsigned int owner)
{
	struct rf_owner_set one = {};

	rf_owner_set_add(&one, owner);
	return until_among(listed->claim, list, &one);
}

uint64_t rf_listed_local_until(const struct rf_listed *listed, enum rf_list list)
{
	return until_among(listed->claim, list, &RF_OWNERS_LOCAL);
}

int rf_listed_owners(const struct rf_listed *listed, enum rf_list list,
		     const struct rf_owner_set *among, uint8_t owner[RF_LIST_CLAIMS])
{
	int count = 0;

	for (int i = 0; i < RF_LIST_CLAIMS; i++)
		if (is_of(&listed->claim[i], list) &&
		    rf_owner_set_has(among, listed->claim[i].owner))
			owner[count++] = listed->claim[i].owner;
	return count;
}

/* The first claims are in use, so that equal entries are equal in memory. */
static void remove_claim(struct rf_list_claim *claim, int at)
{
	memmove(claim + at, claim + at + 1, (RF_LIST_CLAIMS - 1 - at) * sizeof(*claim));
	claim[RF_LIST_CLAIMS - 1] = (struct rf_list_claim){};
}

int rf_listed_claim(struct rf_listed *listed, enum rf_list list, unsigned int owner, uint64_t until)
{
	struct rf_list_claim *claim = listed->claim;
	int at = 0;

	while (at < RF_LIST_CLAIMS && claim[at].until &&
	       !(is_of(&claim[at], list) && claim[at].owner == owner))
		at++;
	if (!until) {
		if (at < RF_LIST_CLAIMS)
			remove_claim(claim, at);
		return 0;
	}
	if (at == RF_LIST_CLAIMS)
		return -ENOSPC;
	claim[at] = (struct rf_list_claim){
		.until = until >= RF_LIST_CLAIM_FOREVER ? RF_LIST_CLAIM_FOREVER : until,
		.owner = owner,
		.is_deny = list == RF_DENY,
	};
	return 0;
}

void rf_listed_release(struct rf_listed *listed, enum rf_list list,
		       const struct rf_owner_set *owners)
{
	for (int i = RF_LIST_CLAIMS - 1; i >= 0; i--)
		if (is_of(&listed->claim[i], list) &&
		    rf_owner_set_has(owners, listed->claim[i].owner))
			remove_claim(listed->claim, i);
}

bool rf_listed_expire(struct rf_listed *listed, uint64_t jiffies)
{
	bool had_expired = false;

	for (int i = RF_LIST_CLAIMS - 1; i >= 0; i--)
		if (listed->claim[i].until && until_of(&listed->claim[i]) <= jiffies) {
			remove_claim(listed->claim, i);
			had_expired = true;
		}
	return had_expired;
}

bool rf_listed_is_empty(const struct rf_listed *listed)
{
	return !listed->claim[0].until && !listed->from;
}
