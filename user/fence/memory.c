// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel memory that the maps of a fence take, in bytes. The kernel reports it as `memlock` in
 * the descriptor's fdinfo. Kernels before 6.4 count only keys and values, without a hash's elements
 * and buckets. So a hash counts for at least the size that its elements and buckets are known to
 * have. Of a trie every kernel counts less than it takes, on Linux 6.18 a third; its size is
 * computed.
 */
#include <bpf/bpf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/units.h"
#include "fence/memory.h"
#include "fence/tries.h"
#include "kernel/info.h"
#include "ringfence/abi.h"

/* ---- sizes ---- */

#define HASH_ELEMENT 48 /* struct htab_elem, in addition to each key and value */
#define HASH_BUCKET 16
#define TRIE_LENGTH 4	    /* of a key, stored separately from its address */
#define TRIE_NODE 24	    /* struct lpm_trie_node, in addition to each address and value */
#define TRIE_NODE_OLD 40    /* with a head for RCU, before the trie had its own allocator */
#define ALLOCATOR_LINK 8    /* of the kernel's bpf_mem_alloc */
#define ALLOCATOR_CHARGED 8 /* of each object, to whose memory it is charged */
#define PAGE_MAX 65536
/* With fewer, a CPU's share of newcomers finds no slot. */
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

uint32_t rf_leases_default(uint32_t sources, int cpus)
{
	const uint64_t each = cpus > 1 ? cpus : 1;

	return ((uint64_t)sources * RF_LEASES_PER_SOURCE + each - 1) / each;
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

/* Kernels before 6.4 count the capacity of a trie, not its entries. */
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

/* ---- memory ---- */

static uint64_t read_memlock(int fd)
{
	char path[48], line[128];
	uint64_t bytes = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "memlock:%" SCNu64, &bytes) == 1)
			break;
	if (file)
		fclose(file);
	return bytes;
}

static uint64_t map_memory(int fd)
{
	struct bpf_map_info info = {};
	uint64_t bytes = read_memlock(fd), least = 0;

	if (rf_map_info(fd, &info))
		return bytes;
	if (info.type == BPF_MAP_TYPE_LRU_HASH ||
	    (info.type == BPF_MAP_TYPE_HASH && !(info.map_flags & BPF_F_NO_PREALLOC)))
		least = rf_hash_memory(info.max_entries, info.key_size, info.value_size);
	if (info.type == BPF_MAP_TYPE_LPM_TRIE)
		least = rf_trie_memory(&(struct rf_trie_size){bytes, info.key_size, info.value_size,
							      info.max_entries});
	return bytes > least ? bytes : least;
}

void rf_memory_of(const int map_fd[RF_MAP_COUNT], struct rf_memory *memory)
{
	*memory = (struct rf_memory){};
	for (int i = 0; i < RF_MAP_COUNT; i++) {
		memory->map[i] = map_memory(map_fd[i]);
		memory->bytes += memory->map[i];
	}
}

/*
 * Adds the tries of a bank. Tries that are activated concurrently, or are unreadable, are missing.
 */
static void add_tries(const struct rf_fence *fence, int bank, struct rf_memory *memory)
{
	static const enum rf_map maps[RF_FAMILIES] = {RF_MAP_PREFIXES4, RF_MAP_PREFIXES6};
	struct rf_tries tries = RF_TRIES_NONE;
	struct rf_error ignored;

	if (!rf_tries_open(fence, bank, &tries, &ignored)) {
		for (int family = 0; family < RF_FAMILIES; family++) {
			uint64_t bytes = tries.fd[family] < 0 ? 0 : map_memory(tries.fd[family]);

			memory->map[maps[family]] += bytes;
			memory->bytes += bytes;
		}
	}
	rf_tries_close(&tries);
}

void rf_fence_memory(const struct rf_fence *fence, struct rf_memory *memory)
{
	rf_memory_of(fence->map_fd, memory);
	for (int bank = 0; bank < 2; bank++)
		add_tries(fence, bank, memory);
}
