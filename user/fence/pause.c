// SPDX-License-Identifier: GPL-2.0
/* Nothing is dropped for a while. */
#include "fence/private.h"
#include "ringfence/atomic.h"

void rf_fence_pause(const struct rf_fence *fence, uint64_t time_ns)
{
	const uint64_t ticks = time_ns / rf_tick_or_kernels(fence) + 1;
	const uint64_t until = time_ns ? rf_fence_jiffies(fence) + ticks : 0;

	__atomic_store_n(&fence->config->paused_until, until, __ATOMIC_RELEASE);
}

uint64_t rf_paused_ns(const struct rf_fence *fence)
{
	const uint64_t until = rf_load(&fence->config->paused_until);
	const uint64_t now = until ? rf_fence_jiffies(fence) : 0;

	return until > now ? (until - now) * rf_tick_or_kernels(fence) : 0;
}
