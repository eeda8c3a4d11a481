/* SPDX-License-Identifier: GPL-2.0 */
/* How large a new fence's maps are, by what was asked for and the CPUs there may be. Pure. */
#ifndef RINGFENCE_SIZES_H
#define RINGFENCE_SIZES_H

#include <stdint.h>

/* The smallest number of `sources` there may be. */
uint32_t rf_sources_least(int cpus);
/* Windows of each address family. `given` is the word of `attach`, 0 without it. */
uint32_t rf_sources_wanted(uint32_t given, int cpus);
/*
 * Bytes that a hash takes whose elements are made in advance, as all of a fence are, but for what
 * it has once or for each CPU.
 */
uint64_t rf_hash_memory(uint32_t entries, uint32_t key_size, uint32_t value_size);

#endif /* RINGFENCE_SIZES_H */
