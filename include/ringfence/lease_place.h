/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the lease of a source can be: a keyed hash selects the set, and the tags of that set select
 * the leases to compare.
 */
#ifndef RINGFENCE_LEASE_PLACE_H
#define RINGFENCE_LEASE_PLACE_H

#include "abi.h"
#include "atomic.h"

/*
 * The upper bits are the place. The keys are secret. The last multiplication is needed: without it,
 * one key in ten puts the sources of a whole network into a few places.
 */
RF_INLINE __u64 rf_lease_hash(__u64 source, const __u64 key[3])
{
	const __u64 sum = (__u32)source * key[0] + (source >> 32) * key[1];

	return (sum ^ sum >> 32) * key[2];
}

/*
 * The tags of a set are one word: a byte for each of its eight leases, 0 for an unused one. So a
 * source without a lease costs one cache line, which eight sets share, instead of the four lines of
 * its set.
 */
#define RF_TAGS_LOW 0x0101010101010101ULL

RF_INLINE __u32 rf_lease_tag(__u64 hash)
{
	return 1 + ((hash >> 16 & 0xffff) * 255 >> 16);
}

/*
 * The leases with this tag: bit 7 of their bytes; 0: none. The byte after a match can be marked
 * wrongly, so the lease itself must be compared.
 */
RF_INLINE __u64 rf_tags_find(__u64 tags, __u32 tag)
{
	const __u64 differ = tags ^ tag * RF_TAGS_LOW;

	return (differ - RF_TAGS_LOW) & ~differ & RF_TAGS_LOW << 7;
}

/* The first lease of `places`, which is not 0. */
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
