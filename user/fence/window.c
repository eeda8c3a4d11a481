// SPDX-License-Identifier: GPL-2.0
#include <bpf/bpf.h>
#include <errno.h>

#include "fence/private.h"

int rf_fence_look_up(const struct rf_fence *fence, enum rf_map map, const void *key,
		     struct rf_source *state)
{
	union {
		struct rf_source state;
		unsigned char whole[RF_SHARED_SOURCE_SIZE];
	} window;

	if (bpf_map_lookup_elem(fence->map_fd[map], key, &window))
		return -errno;
	*state = window.state;
	return 0;
}
