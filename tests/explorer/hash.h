/* SPDX-License-Identifier: GPL-2.0 */
/* The components that distinguish states of explorer.c. */
#ifndef RINGFENCE_EXPLORER_HASH_H
#define RINGFENCE_EXPLORER_HASH_H

#include <linux/types.h>

/* CPUs that take as many packets are alike: their order does not make another state. */
void hash_state(__u64 hash[2]);

#endif /* RINGFENCE_EXPLORER_HASH_H */
