// SPDX-License-Identifier: GPL-2.0
#include "fence/sizes.h"

#include "ringfence/abi.h"

#define HASH_ELEMENT 48 /* struct htab_elem, beside each key and value */
#define HASH_BUCKET 16
/* With fewer, a CPU's share of newcomers finds no slot of its own. */
#define SOURCES_PER_CPU (4 * 128)

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

static uint64_t round_up_8(uint64_t size)
{
	return (size + 7) & ~7ULL;
}

uint64_t rf_hash_memory(uint32_t entries, uint32_t key_size, uint32_t value_size)
{
	const uint64_t element = HASH_ELEMENT + round_up_8(key_size) + round_up_8(value_size);
	uint64_t buckets = 1;

	while (buckets < entries)
		buckets *= 2;
	return buckets * HASH_BUCKET + entries * element;
}
