// SPDX-License-Identifier: GPL-2.0
/* The owners of entries of the lists, as the configuration of a fence numbers them. */
#include <errno.h>
#include <string.h>

#include "fence/private.h"

/* Frees the names of owners that have no entry in either bank. */
static int sweep(struct rf_fence *fence, struct rf_error *error)
{
	struct rf_owner_set used = {};
	int err = 0;

	for (int bank = 0; bank < 2 && !err; bank++) {
		struct rf_ruleset ruleset = RF_RULESET_NONE;

		err = rf_fence_ruleset_of(fence, bank, &ruleset, error);
		for (size_t i = 0; i < ruleset.listed_count && !err; i++)
			for (int j = 0; j < RF_LIST_CLAIMS; j++)
				rf_owner_set_add(&used, ruleset.listed[i].claim[j].owner);
		rf_ruleset_free(&ruleset);
	}
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
