// SPDX-License-Identifier: GPL-2.0
#include "seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>

static struct seen *seen;
static __u64 seen_size; /* a power of two */
__u64 seen_count;
static __u64 seen_most; /* 0: all */

#define HUNT_FROM 2000
#define HUNT_GROWS 16
#define HUNT_TO 1000000

struct seen *seen_slot(const __u64 hash[2])
{
	__u64 at = hash[1] & (seen_size - 1);

	while (seen[at].hash[0] && (seen[at].hash[0] != hash[0] || seen[at].hash[1] != hash[1]))
		at = (at + 1) & (seen_size - 1);
	return &seen[at];
}

/* Zeroed. Of huge pages, since a look-up in small ones is mostly a walk of page tables. */
static struct seen *table(__u64 size)
{
	void *table = mmap(NULL, size * sizeof(*seen), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (table == MAP_FAILED) {
		puts("Bail out! out of memory");
		exit(1);
	}
	madvise(table, size * sizeof(*seen), MADV_HUGEPAGE);
	return table;
}

static void seen_resize(__u64 size)
{
	struct seen *old = seen;
	__u64 old_size = seen_size;

	seen = table(size);
	seen_size = size;
	for (__u64 i = 0; i < old_size; i++)
		if (old[i].hash[0])
			*seen_slot(old[i].hash) = old[i];
	if (old)
		munmap(old, old_size * sizeof(*old));
}

void seen_clear(void)
{
	if (seen)
		munmap(seen, seen_size * sizeof(*seen));
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
