// SPDX-License-Identifier: GPL-2.0
/* The owners of entries of the lists, as the configuration of a fence numbers them. */
#include <errno.h>
#include <string.h>

#include "fence/lists.h"
#include "fence/private.h"

/* Adds the owners of a bank's entries, but for those that have expired: every reader skips them. */
static int add_used(const struct rf_fence *fence, int bank, struct rf_owner_set *used,
		    struct rf_error *error)
{
	struct rf_ruleset ruleset = RF_RULESET_NONE;
	const int err = rf_fence_ruleset_of(fence, bank, &ruleset, error);

	if (!err)
		rf_ruleset_expire(&ruleset, rf_fence_jiffies(fence));
	for (size_t i = 0; i < ruleset.listed_count && !err; i++)
		for (int j = 0; j < RF_LIST_CLAIMS; j++)
			if (ruleset.listed[i].claim[j].until)
				rf_owner_set_add(used, ruleset.listed[i].claim[j].owner);
	rf_ruleset_free(&ruleset);
	return err;
}

/* Frees the names of owners without an entry in the rules in force or in those on trial. */
static int sweep(struct rf_fence *fence, struct rf_error *error)
{
	const struct rf_standing standing = rf_fence_standing(fence);
	const int in_force = standing.in_force & 1;
	struct rf_owner_set used = {};
	int err = add_used(fence, in_force, &used, error);

	if (!err && standing.state == RF_ON_TRIAL)
		err = add_used(fence, !in_force, &used, error);
	for (int owner = RF_OWNERS_FIXED; owner < RF_OWNERS_MAX && !err; owner++)
		if (!rf_owner_set_has(&used, owner))
			memset(fence->config->owners.name[owner - RF_OWNERS_FIXED], 0,
			       RF_OWNER_SIZE);
	return err;
}

int rf_fence_join_owners(struct rf_fence *fence, struct rf_ruleset *ruleset, struct rf_error *error)
{
	int err = rf_ruleset_join_owners(ruleset, &fence->config->owners, error);

	if (err == -ENOSPC && !sweep(fence, error))
		err = rf_ruleset_join_owners(ruleset, &fence->config->owners, error);
	return err;
}

int rf_fence_join_changes(struct rf_fence *fence, struct rf_list_changes *changes,
			  struct rf_error *error)
{
	int err = rf_list_changes_join(changes, &fence->config->owners, error);

	if (err == -ENOSPC && !sweep(fence, error))
		err = rf_list_changes_join(changes, &fence->config->owners, error);
	return err;
}
