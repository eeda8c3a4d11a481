/* SPDX-License-Identifier: GPL-2.0 */
/* The sizes of a new fence's maps, from the user's wishes and the number of possible CPUs. Pure. */
#ifndef RINGFENCE_FENCE_MEMORY_H
#define RINGFENCE_FENCE_MEMORY_H

#include <stdint.h>

/* A trie has room for as many prefixes again, plus this many: few changes need a new one. */
#define RF_TRIE_ROOM 16384

/* The smallest number of `sources` that is allowed. */
uint32_t rf_sources_least(int cpus);
/* The number of windows of each address family. `given` is the user's number; 0: none. */
uint32_t rf_sources_wanted(uint32_t given, int cpus);
/*
 * The number of leases of each CPU for that many windows of a family, if the user gives none. Each
 * source has its lease on the CPU that receives its packets, so the CPUs share the sources.
 */
uint32_t rf_leases_default(uint32_t sources, int cpus);
/*
 * The bytes of a hash whose elements are allocated in advance, as in every hash of a fence. Memory
 * that the kernel allocates once for a hash, or once for each CPU, is not included.
 */
uint64_t rf_hash_memory(uint32_t entries, uint32_t key_size, uint32_t value_size);
/* The kernel's information about a trie. */
struct rf_trie_size {
	uint64_t counted; /* `memlock`, in bytes */
	uint32_t key_size, value_size, max_entries;
};

/*
 * The bytes of a trie of disjoint prefixes, which the kernel counts without the inner nodes and
 * without what its allocator adds. Where prefixes contain others, it is a little less.
 */
uint64_t rf_trie_memory(const struct rf_trie_size *size);

#endif /* RINGFENCE_FENCE_MEMORY_H */
