/* SPDX-License-Identifier: GPL-2.0 */
/* The sizes of a new fence's maps, from the user's wishes and the number of possible CPUs. Pure. */
#ifndef RINGFENCE_SIZES_H
#define RINGFENCE_SIZES_H

#include <stdint.h>

/* The smallest number of `sources` that is allowed. */
uint32_t rf_sources_least(int cpus);
/* The number of windows of each address family. `given` is the user's number; 0: none was given. */
uint32_t rf_sources_wanted(uint32_t given, int cpus);
/*
 * The bytes of a hash whose elements are allocated in advance, as in every hash of a fence. What
 * the kernel allocates once for a hash, or once for each CPU, is not included.
 */
uint64_t rf_hash_memory(uint32_t entries, uint32_t key_size, uint32_t value_size);

#endif /* RINGFENCE_SIZES_H */
