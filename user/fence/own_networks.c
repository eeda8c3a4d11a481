// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>

#include "fence/lists.h"
#include "fence/own_networks.h"

/* What adds the networks of interfaces. */
typedef int (*reader)(struct rf_own_networks *own, const unsigned int *index, size_t count,
		      struct rf_error *error);

static int read_interfaces(const struct rf_fence *fence, reader read, struct rf_own_networks *own,
			   struct rf_error *error)
{
	unsigned int *index = calloc(fence->interfaces + 1, sizeof(*index));
	int err;

	if (!index)
		return rf_error_failed(error, -ENOMEM, "out of memory for the interfaces");
	for (int i = 0; i < fence->interfaces; i++)
		index[i] = fence->interface[i].index;
	err = read(own, index, fence->interfaces, error);
	free(index);
	return err;
}

int rf_fence_own_networks(const struct rf_fence *fence, struct rf_own_networks *own,
			  struct rf_error *error)
{
	int err = rf_own_networks_add_peer(own, error);

	return err ? err : read_interfaces(fence, rf_own_networks_read, own, error);
}

int rf_fence_own_gateways(const struct rf_fence *fence, struct rf_own_networks *own,
			  struct rf_error *error)
{
	return read_interfaces(fence, rf_own_networks_read_gateways, own, error);
}

int rf_fence_find_lockouts(struct rf_fence *fence, uint64_t now, const struct rf_own_networks *own,
			   struct rf_list_changes *changes, struct rf_lockout_lists *found,
			   struct rf_error *error)
{
	struct rf_ruleset rules = RF_RULESET_NONE;
	int err = rf_fence_ruleset(fence, &rules, error);

	rf_ruleset_expire(&rules, now);
	if (!err)
		err = rf_fence_join_changes(fence, changes, error);
	if (!err)
		err = rf_lockout_find(own, changes, &rules, found, error);
	rf_ruleset_free(&rules);
	return err;
}
