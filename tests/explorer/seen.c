// SPDX-License-Identifier: GPL-2.0
#include "seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct seen *seen;
static __u64 seen_size; /* a power of two */
__u64 seen_count;
static __u64 seen_most; /* 0: all */

#define HUNT_FROM 2000
#define HUNT_GROWS 16
#define HUNT_TO 1000000

__u64 mix(__u64 hash, __u64 word)
{
	__uint128_t product = (__uint128_t)(hash ^ word ^ 0xa0761d6478bd642fULL) *
			      (word ^ 0xe7037ed1a0b428dbULL ^ (hash << 32 | hash >> 32));

	return (__u64)product ^ (__u64)(product >> 64) ^ hash * 31;
}

void hash_words(__u64 hash[2], const void *from, size_t size)
{
	for (size_t at = 0; at < size; at += sizeof(__u64)) {
		__u64 word;

		memcpy(&word, (const char *)from + at, sizeof(word));
		hash[0] = mix(hash[0], word);
		hash[1] = (hash[1] ^ word) * 0xff51afd7ed558ccdULL;
		hash[1] ^= hash[1] >> 32;
	}
}

struct seen *seen_slot(const __u64 hash[2])
{
	__u64 at = hash[1] & (seen_size - 1);

	while (seen[at].hash[0] && memcmp(seen[at].hash, hash, sizeof(seen[at].hash)) != 0)
		at = (at + 1) & (seen_size - 1);
	return &seen[at];
}

static void seen_resize(__u64 size)
{
	struct seen *old = seen;
	__u64 old_size = seen_size;

	seen = calloc(size, sizeof(*seen));
	if (!seen) {
		puts("Bail out! out of memory");
		exit(1);
	}
	seen_size = size;
	for (__u64 i = 0; i < old_size; i++)
		if (old[i].hash[0])
			*seen_slot(old[i].hash) = old[i];
	free(old);
}

void seen_clear(void)
{
	free(seen);
	seen = NULL;
	seen_size = seen_count = 0;
	seen_resize(1 << 12);
}

void seen_add(const __u64 hash[2], double schedules)
{
	struct seen *slot;

	if (++seen_count * 4 > seen_size * 3)
		seen_resize(seen_size * 2);
	slot = seen_slot(hash);
	memcpy(slot->hash, hash, sizeof(slot->hash));
	slot->schedules = schedules;
}

bool seen_enough(void)
{
	return seen_most && seen_count >= seen_most;
}

bool hunt(bool (*finds)(const void *rows), const void *rows)
{
	for (seen_most = HUNT_FROM; seen_most <= HUNT_TO; seen_most *= HUNT_GROWS)
		if (finds(rows))
			return true;
	seen_most = 0;
	return finds(rows);
}
