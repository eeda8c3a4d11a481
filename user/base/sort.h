/* SPDX-License-Identifier: GPL-2.0 */
/*
 * qsort() and bsearch() for an array that can be empty, and is then NULL: the C library does not
 * allow NULL, even with a count of 0.
 */
#ifndef RINGFENCE_SORT_H
#define RINGFENCE_SORT_H

#include <stdlib.h>

typedef int (*rf_compare)(const void *, const void *);

static inline void rf_sort(void *base, size_t count, size_t size, rf_compare compare)
{
	if (count)
		qsort(base, count, size, compare);
}

static inline void *rf_search(const void *key, const void *base, size_t count, size_t size,
			      rf_compare compare)
{
	return count ? bsearch(key, base, count, size, compare) : NULL;
}

#endif /* RINGFENCE_SORT_H */
