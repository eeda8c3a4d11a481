/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Limits the responses to a prefix: a counter of fixed periods. The word is {period:32 | count:32},
 * and is updated concurrently by all CPUs.
 */
#ifndef RINGFENCE_ANSWERS_H
#define RINGFENCE_ANSWERS_H

#include "atomic.h"

/* Is `period` later than the period of the word? An earlier one, of a CPU that lags, is not. */
RF_INLINE int rf_answers_are_over(__u64 word, __u32 period)
{
	return (__s32)(period - (__u32)(word >> 32)) > 0;
}

/*
 * Counts one response, in `period` or a later one, if fewer than `most` were counted in it; returns
 * 0 otherwise. It also returns 0 if a CPU that lags counts in an earlier period at the same time.
 * CPUs that race for the last one increment the count beyond `most`, each once, which cannot
 * overflow.
 */
RF_INLINE int rf_answers_take(__u64 *word, __u32 period, __u32 most)
{
	__u64 seen = rf_load(word);

	if (rf_answers_are_over(seen, period)) {
		const __u64 found = rf_cas(word, seen, (__u64)period << 32 | 1);

		if (found == seen)
			return most > 0;
		if (rf_answers_are_over(found, period))
			return 0;
		seen = found; /* another CPU has started the period, or a later one */
	}
	if ((__u32)seen >= most)
		return 0;
	return (__u32)rf_fetch_add(word, 1) < most;
}

#endif /* RINGFENCE_ANSWERS_H */
