// SPDX-License-Identifier: GPL-2.0
#include "sizes.h"

#include "ringfence/abi.h"

#define SOURCES_PER_CPU (4 * 128) /* each CPU parks 128 free windows; fewer evict early */

uint32_t rf_sources_least(int cpus)
{
	return (cpus > 1 ? cpus : 1) * SOURCES_PER_CPU;
}

uint32_t rf_sources_wanted(uint32_t given, int cpus)
{
	const uint32_t least = rf_sources_least(cpus);

	if (given)
		return given;
	return least > RF_SOURCES_DEFAULT ? least : RF_SOURCES_DEFAULT;
}
