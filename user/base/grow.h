/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_GROW_H
#define RINGFENCE_GROW_H

#include <stdlib.h>

/*
 * Makes room for one more element after `count` in an array of `*capacity`, which starts at `least`
 * and doubles. Returns the array, which can have moved. NULL: no memory, and the array is
 * unchanged.
 */
static inline void *rf_grow(void *of, size_t count, size_t *capacity, size_t size, size_t least)
{
	const size_t wanted = *capacity ? 2 * *capacity : least;
	void *grown = count < *capacity ? of : reallocarray(of, wanted, size);

	if (grown && count >= *capacity)
		*capacity = wanted;
	return grown;
}

#endif /* RINGFENCE_GROW_H */
