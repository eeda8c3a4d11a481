/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many answers a prefix gets: a counter that restarts in each period. The word is {period:32 |
 * answers:32}. Any number of CPUs take from it at the same time.
 */
#ifndef RINGFENCE_ANSWERS_H
#define RINGFENCE_ANSWERS_H

#include "atomic.h"

/* Is `period` later than the word's? A CPU can lag: its time is then the word's period. */
RF_INLINE int rf_answers_are_over(__u64 word, __u32 period)
{
	return (__s32)(period - (__u32)(word >> 32)) > 0;
}

/*
 * Takes one answer of at most `most` in the period; 0: there is none left. At most 2^32 - 1 CPUs
 * may exceed `most` concurrently, so the count never reaches the period.
 */
RF_INLINE int rf_answers_take(__u64 *word, __u32 period, __u32 most)
{
	__u64 seen = rf_load(word);

	if (rf_answers_are_over(seen, period)) {
		const __u64 found = rf_cas(word, seen, (__u64)period << 32 | 1);

		if (found == seen)
			return most > 0;
		seen = found; /* another CPU has started the period, or a later one */
	}
	if ((__u32)seen >= most)
		return 0;
	return (__u32)rf_fetch_add(word, 1) < most;
}

#endif /* RINGFENCE_ANSWERS_H */
