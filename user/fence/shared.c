// SPDX-License-Identifier: GPL-2.0
/* The single values of a fence's shared memory that commands read, and the one that they write. */
#include "fence/fence.h"
#include "ringfence/atomic.h"

uint32_t rf_fence_tick_ns(const struct rf_fence *fence)
{
	return __atomic_load_n(&fence->config->tick_ns, __ATOMIC_RELAXED);
}

uint64_t rf_fence_residents(const struct rf_fence *fence, int family)
{
	return rf_load(&fence->config->room[family].residents);
}

uint64_t rf_fence_residents_max(const struct rf_fence *fence)
{
	return fence->config->times.residents_max;
}

void rf_fence_other_bank(const struct rf_fence *fence, uint64_t in_force, struct rf_bank *bank)
{
	*bank = fence->config->bank[~in_force & 1];
}

uint32_t rf_fence_next_limit_id(const struct rf_fence *fence)
{
	const uint32_t id = __atomic_load_n(&fence->config->next_limit_id, __ATOMIC_RELAXED);

	return id ? id : 1;
}

void rf_fence_keep_limit_id(struct rf_fence *fence, uint32_t next_id)
{
	__atomic_store_n(&fence->config->next_limit_id, next_id, __ATOMIC_RELAXED);
}
