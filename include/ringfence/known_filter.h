/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The known filter: a counting Bloom filter of the sources that have a window. It recognizes a
 * newcomer of a flood by one cache line; the windows remain authoritative. Pure functions like
 * limiter.h.
 *
 * The filter can mistake a newcomer for a known source, which costs a needless look-up. It never
 * mistakes a known source for a newcomer: a source is added before its window is inserted, and
 * removed after its window was deleted. Only inserts and deletes write to it, so a refused flood
 * changes nothing.
 *
 * A source is counted once for each of its windows, under any limit. A known source therefore
 * remains known when rules change.
 */
#ifndef RINGFENCE_KNOWN_FILTER_H
#define RINGFENCE_KNOWN_FILTER_H

#include "abi.h"
#include "atomic.h"

#define RF_KNOWN_FILTER_HASHES 3
/*
 * A counter of 8 bits is added to below RF_KNOWN_FILTER_MAX, and subtracted from below
 * RF_KNOWN_FILTER_STUCK. It therefore never overflows, unless 63 CPUs add at the same instant. A
 * counter that has ever skipped an addition was past STUCK, so it is never subtracted from, and
 * never 0 again. Chance does not bring a counter near these numbers.
 */
#define RF_KNOWN_FILTER_MAX 192
#define RF_KNOWN_FILTER_STUCK 128

/* The hash of a source, as a limit groups it, by secret keys. */
RF_INLINE __u64 rf_known_filter_hash(const __u64 source[2], int is_ipv6, const __u64 key[3])
{
	const __u64 sum = (__u32)source[0] * key[0] + (source[0] >> 32) * key[1] +
			  (source[1] ^ is_ipv6) * key[2];
	const __u64 mixed = (sum ^ sum >> 32) * key[0];

	return (mixed ^ mixed >> 29) * key[1];
}

/* The line, of 2^(64 - shift) lines, of which each family has half. */
RF_INLINE __u32 rf_known_filter_place(__u64 hash, __u32 shift, int is_ipv6)
{
	return hash >> (shift & 63) >> 1 | (__u32)is_ipv6 << ((63 - shift) & 31);
}

/* Counter `i` of a source: its word in the line, and its lowest bit in that word. */
RF_INLINE __u32 rf_known_filter_word(__u64 hash, int i)
{
	return hash >> (6 * i + 3) & 7;
}

RF_INLINE __u32 rf_known_filter_up(__u64 hash, int i)
{
	return (hash >> 6 * i & 7) * 8;
}

/* Can the source have a window? 0: it certainly has no window. */
RF_INLINE int rf_known_filter_has(const struct rf_known_filter *line, __u64 hash)
{
	int has = 1;

	for (int i = 0; i < RF_KNOWN_FILTER_HASHES; i++) {
		const __u64 word = rf_load(&line->count[rf_known_filter_word(hash, i)]);

		has &= (word >> rf_known_filter_up(hash, i) & 0xff) != 0;
	}
	return has;
}

/* Adds `sign`, 1 or ~0 for -1, to each counter that is below `bound`. */
RF_INLINE void rf_known_filter_count(struct rf_known_filter *line, __u64 hash, __u64 sign,
				     __u32 bound)
{
	for (int i = 0; i < RF_KNOWN_FILTER_HASHES; i++) {
		__u64 *word = &line->count[rf_known_filter_word(hash, i)];
		const __u32 up = rf_known_filter_up(hash, i);

		if ((rf_load(word) >> up & 0xff) < bound)
			rf_fetch_add(word, sign << up);
	}
}

/* Call before a window of the source is inserted. */
RF_INLINE void rf_known_filter_add(struct rf_known_filter *line, __u64 hash)
{
	rf_known_filter_count(line, hash, 1, RF_KNOWN_FILTER_MAX);
}

/* Call after a window of the source was deleted, or could not be inserted. */
RF_INLINE void rf_known_filter_remove(struct rf_known_filter *line, __u64 hash)
{
	rf_known_filter_count(line, hash, ~0ULL, RF_KNOWN_FILTER_STUCK);
}

#endif /* RINGFENCE_KNOWN_FILTER_H */
