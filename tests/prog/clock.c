// SPDX-License-Identifier: GPL-2.0
/*
 * Gives the command line the injected clock, if the program has one: the linker wraps the functions
 * of the command line's clock with these.
 */
#include "program.h"

uint64_t __real_rf_fence_jiffies(const struct rf_fence *fence);
uint64_t __wrap_rf_fence_jiffies(const struct rf_fence *fence);
uint64_t __real_rf_fence_time(const struct rf_fence *fence, const struct rf_policy *policy);
uint64_t __wrap_rf_fence_time(const struct rf_fence *fence, const struct rf_policy *policy);

uint64_t __wrap_rf_fence_jiffies(const struct rf_fence *fence)
{
	const struct rf_config *config = fence->config;

	if (!config->injected_ns)
		return __real_rf_fence_jiffies(fence);
	return config->injected_ns / config->tick_ns;
}

uint64_t __wrap_rf_fence_time(const struct rf_fence *fence, const struct rf_policy *policy)
{
	const struct rf_config *config = fence->config;

	if (!config->injected_ns)
		return __real_rf_fence_time(fence, policy);
	return policy->clock == RF_KTIME ? config->injected_ns
					 : config->injected_ns / config->tick_ns;
}
