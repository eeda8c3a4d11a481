/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which sources have a window: a counting Bloom filter in front of the windows, which stay the
 * truth, so that one cache line recognises a newcomer in a flood. Pure functions like limiter.h.
 *
 * It may take a newcomer for a known source, which costs a look-up in vain. It never takes a known
 * source for a newcomer: a source is added before its window is inserted, and removed after its
 * window was deleted. Nothing but an insert or a delete writes it, so a flood that is refused
 * leaves it as it is, however long it lasts.
 *
 * A source counts once for each of its windows, whatever limit they are of: so rules may change,
 * and who was known still is.
 */
#ifndef RINGFENCE_KNOWN_FILTER_H
#define RINGFENCE_KNOWN_FILTER_H

#include "abi.h"
#include "atomic.h"

#define RF_KNOWN_FILTER_HASHES 3
/*
 * A counter is added to below the one and taken from below the other. So it never runs over into
 * the next one, while fewer than 63 CPUs add to it in the same moment; and where something was not
 * added any more, nothing is taken away either, and it is never 0 again. By chance none comes near.
 */
#define RF_KNOWN_FILTER_MAX 192
#define RF_KNOWN_FILTER_STUCK 128

/* Of a source as one limit groups it, by keys that nobody outside knows. */
RF_INLINE __u64 rf_known_filter_hash(const __u64 source[2], int is_ipv6, const __u64 key[3])
{
	const __u64 sum = (__u32)source[0] * key[0] + (source[0] >> 32) * key[1] +
			  (source[1] ^ is_ipv6) * key[2];
	const __u64 mixed = (sum ^ sum >> 32) * key[0];

	return (mixed ^ mixed >> 29) * key[1];
}

/* Which of 2^(64 - shift) lines: each family has half of them. */
RF_INLINE __u32 rf_known_filter_place(__u64 hash, __u32 shift, int is_ipv6)
{
	return hash >> (shift & 63) >> 1 | (__u32)is_ipv6 << ((63 - shift) & 31);
}

/* Counter `i` of a source: its word in the line, and how far up it stands there. */
RF_INLINE __u32 rf_known_filter_word(__u64 hash, int i)
{
	return hash >> (6 * i + 3) & 7;
}

RF_INLINE __u32 rf_known_filter_up(__u64 hash, int i)
{
	return (hash >> 6 * i & 7) * 8;
}

/* May it have a window? 0: it has none for certain. */
RF_INLINE int rf_known_filter_has(const struct rf_known_filter *line, __u64 hash)
{
	int has = 1;

	for (int i = 0; i < RF_KNOWN_FILTER_HASHES; i++) {
		const __u64 word = rf_load(&line->count[rf_known_filter_word(hash, i)]);

		has &= (word >> rf_known_filter_up(hash, i) & 0xff) != 0;
	}
	return has;
}

/* `sign` is 1, or ~0 to take away; from counters below `bound`. */
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

/* Before a window of it is inserted. */
RF_INLINE void rf_known_filter_add(struct rf_known_filter *line, __u64 hash)
{
	rf_known_filter_count(line, hash, 1, RF_KNOWN_FILTER_MAX);
}

/* After a window of it was deleted, or could not be inserted. */
RF_INLINE void rf_known_filter_remove(struct rf_known_filter *line, __u64 hash)
{
	rf_known_filter_count(line, hash, ~0ULL, RF_KNOWN_FILTER_STUCK);
}

#endif /* RINGFENCE_KNOWN_FILTER_H */
