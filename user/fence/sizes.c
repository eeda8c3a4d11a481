// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stddef.h>

#include "fence/sizes.h"

#include "base/units.h"
#include "ringfence/abi.h"

#define HASH_ELEMENT 48 /* struct htab_elem, beside each key and value */
#define HASH_BUCKET 16
#define TRIE_LENGTH 4	    /* of a key, kept apart from its address */
#define TRIE_NODE 24	    /* struct lpm_trie_node, beside each address and value */
#define TRIE_NODE_OLD 40    /* with a head for RCU, before the trie had its own allocator */
#define ALLOCATOR_LINK 8    /* of the kernel's bpf_mem_alloc */
#define ALLOCATOR_CHARGED 8 /* of each object, to whose memory it is charged */
#define PAGE_MAX 65536
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

/* The kernel's allocator has sizes of 96, of 192, and of powers of two. */
static uint64_t round_up_object(uint64_t size)
{
	uint64_t object = 16;

	while (object < size)
		object *= 2;
	if (size <= object / 4 * 3 && (object == 128 || object == 256))
		return object / 4 * 3;
	return object;
}

/* Kernels before 6.4 count the room of a trie, not what is in it. */
static bool counts_room(const struct rf_trie_size *size)
{
	const uint64_t room =
		round_up_8(size->key_size + size->value_size) * (uint64_t)size->max_entries;

	return size->counted >= room && size->counted < room + PAGE_MAX;
}

static uint64_t count_entries(const struct rf_trie_size *size)
{
	static const uint32_t heads[] = {TRIE_NODE, TRIE_NODE_OLD};

	if (counts_room(size))
		return size->max_entries > RF_TRIE_ROOM ? (size->max_entries - RF_TRIE_ROOM) / 2
							: 0;
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		const uint64_t node = heads[i] + size->key_size - TRIE_LENGTH + size->value_size;

		if (size->counted % node == 0)
			return size->counted / node;
	}
	return 0;
}

/* Each two branches of a trie meet in a node, so there is one less of these than of entries. */
uint64_t rf_trie_memory(const struct rf_trie_size *size)
{
	const uint64_t entries = count_entries(size);
	const uint64_t node = TRIE_NODE + size->key_size - TRIE_LENGTH + size->value_size;

	if (!entries)
		return size->counted;
	return (2 * entries - 1) * (round_up_object(node + ALLOCATOR_LINK) + ALLOCATOR_CHARGED);
}
