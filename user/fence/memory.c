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
#include <stdio.h>

#include "fence/sizes.h"
#include "fence/tries.h"
#include "kernel/info.h"

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
 * Adds the tries of a bank. Tries that are put in force meanwhile, or may not be read, are missing.
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
