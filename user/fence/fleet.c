// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "fence/private.h"

static int64_t left_of(const struct rf_fence *fence, uint64_t deadline, uint64_t jiffies)
{
	if (!deadline)
		return INT64_MIN;
	return ((int64_t)deadline - (int64_t)jiffies) * fence->config->tick_ns;
}

struct rf_fleet_standing rf_fence_fleet(const struct rf_fence *fence)
{
	const struct rf_fleet *fleet = &fence->config->fleet;
	struct rf_fleet_standing standing = {.left_ns = INT64_MAX};
	uint64_t jiffies;

	rf_map_refresh(fence, RF_MAP_CONFIG);
	jiffies = fence->config->tick_ns ? rf_fence_jiffies(fence) : 0;
	for (int i = 0; i < RF_BUCKETS; i++) {
		const int64_t left_ns = left_of(fence, fleet->bucket[i].deadline, jiffies);

		standing.alone += left_ns <= 0;
		if (left_ns < standing.left_ns)
			standing.left_ns = left_ns;
	}
	standing.asks = fleet->asks;
	standing.asks_lost = fleet->asks_lost;
	return standing;
}

uint64_t rf_fence_hearing(const struct rf_fence *fence, struct rf_hearing bucket[RF_BUCKETS])
{
	rf_map_refresh(fence, RF_MAP_CONFIG);
	memcpy(bucket, fence->config->fleet.bucket, sizeof(fence->config->fleet.bucket));
	return rf_fence_jiffies(fence);
}
