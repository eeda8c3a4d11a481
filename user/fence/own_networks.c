// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>

#include "fence/own_networks.h"

int rf_fence_own_networks(const struct rf_fence *fence, struct rf_own_networks *own,
			  struct rf_error *error)
{
	unsigned int *index = calloc(fence->interfaces + 1, sizeof(*index));
	int err;

	if (!index)
		return rf_error_failed(error, -ENOMEM, "out of memory for the interfaces");
	for (int i = 0; i < fence->interfaces; i++)
		index[i] = fence->interface[i].index;
	err = rf_own_networks_add_peer(own, error);
	if (!err)
		err = rf_own_networks_read(own, index, fence->interfaces, error);
	free(index);
	return err;
}
