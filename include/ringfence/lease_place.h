/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the lease of a source may be: a keyed hash tells the set, and the tags of that set tell
 * which of its leases to look at.
 */
#ifndef RINGFENCE_LEASE_PLACE_H
#define RINGFENCE_LEASE_PLACE_H

#include "abi.h"
#include "atomic.h"

/*
 * The upper bits tell the place; nobody outside knows the keys. With one multiplication for each
 * word and no more, the sources of a whole network would meet in a few places, for one key in ten.
 */
RF_INLINE __u64 rf_lease_hash(__u64 source, const __u64 key[3])
{
	const __u64 sum = (__u32)source * key[0] + (source >> 32) * key[1];

	return (sum ^ sum >> 32) * key[2];
}

/*
 * The tags of a set are one word: a byte for each of its eight leases, 0 for one that was never
 * used. A source without a lease costs the cache line of this word, which it shares with seven
 * other sets, and not the four lines of its set.
 */
#define RF_TAGS_LOW 0x0101010101010101ULL

RF_INLINE __u32 rf_lease_tag(__u64 hash)
{
	return 1 + ((hash >> 16 & 0xffff) * 255 >> 16);
}

/*
 * The leases that have this tag: bit 7 of the byte of each. The byte after one that has it may be
 * marked wrongly, so the lease itself must be looked at. 0: none.
 */
RF_INLINE __u64 rf_tags_find(__u64 tags, __u32 tag)
{
	const __u64 differ = tags ^ tag * RF_TAGS_LOW;

	return (differ - RF_TAGS_LOW) & ~differ & RF_TAGS_LOW << 7;
}

/* The first lease of those; there must be one. */
RF_INLINE __u32 rf_tags_first(__u64 places)
{
	return ((places & -places) >> 7) * 0x0001020304050607ULL >> 56;
}

RF_INLINE __u64 rf_tags_set(__u64 tags, __u32 way, __u32 tag)
{
	const __u32 shift = way % RF_LEASE_WAYS * 8;

	return (tags & ~(0xffULL << shift)) | (__u64)tag << shift;
}

#endif /* RINGFENCE_LEASE_PLACE_H */
