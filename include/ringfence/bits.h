/* SPDX-License-Identifier: GPL-2.0 */
/* Sets of bits in a word. */
#ifndef RINGFENCE_BITS_H
#define RINGFENCE_BITS_H

#include "atomic.h"

/*
 * The lowest bit of a set that is not empty: the number of bits below it. Counted by hand, since
 * clang 14 crashes on the builtin.
 */
RF_INLINE __u32 rf_first_bit(__u32 bits)
{
	__u64 below = (bits & -bits) - 1U;

	below -= below >> 1 & 0x55555555;
	RF_OPAQUE(below); /* otherwise the compiler recognizes the builtin */
	below = (below & 0x33333333) + (below >> 2 & 0x33333333);
	below = (below + (below >> 4)) & 0x0f0f0f0f;
	return (__u32)(below * 0x01010101) >> 24;
}

#endif /* RINGFENCE_BITS_H */
