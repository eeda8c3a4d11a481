/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SipHash-2-4, a keyed hash that does not reveal its key: Aumasson and Bernstein, "SipHash: a fast
 * short-input PRF", 2012. Pure.
 */
#ifndef RINGFENCE_SIPHASH_H
#define RINGFENCE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t rf_siphash(const uint64_t key[2], const void *data, size_t size);

#endif /* RINGFENCE_SIPHASH_H */
