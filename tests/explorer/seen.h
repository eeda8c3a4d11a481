/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The states that were seen, and how many schedules lead from each to the end. Included by
 * explorer.c alone, after limiter.h.
 */
#ifndef RINGFENCE_EXPLORER_SEEN_H
#define RINGFENCE_EXPLORER_SEEN_H

#include "machine.h"

struct seen {
	__u64 hash[2];	  /* both 0: free */
	double schedules; /* from this state to the end */
};

static struct seen *seen;
static __u64 seen_size, seen_count; /* the size is a power of two */

static __u64 mix(__u64 hash, __u64 word)
{
	__uint128_t product = (__uint128_t)(hash ^ word ^ 0xa0761d6478bd642fULL) *
			      (word ^ 0xe7037ed1a0b428dbULL ^ (hash << 32 | hash >> 32));

	return (__u64)product ^ (__u64)(product >> 64) ^ hash * 31;
}

static void hash_words(__u64 hash[2], const void *from, size_t size)
{
	for (size_t at = 0; at < size; at += sizeof(__u64)) {
		__u64 word;

		memcpy(&word, (const char *)from + at, sizeof(word));
		hash[0] = mix(hash[0], word);
		hash[1] = (hash[1] ^ word) * 0xff51afd7ed558ccdULL;
		hash[1] ^= hash[1] >> 32;
	}
}

static void hash_lease(__u64 hash[2], const struct cpu *cpu)
{
	const __u64 words[] = {
		(__u64)cpu->call << 56 | (__u64)cpu->given << 48 | (__u64)cpu->credits << 32 |
			cpu->credits_epoch,
	};

	hash_words(hash, words, sizeof(words));
	hash_words(hash, &cpu->lease, sizeof(cpu->lease));
}

/* CPUs that take as many packets are alike: their order does not make another state. */
static void hash_state(__u64 hash[2])
{
	__u64 cpu[CPUS_MAX][2];

	hash[0] = 1;
	hash[1] = 2;
	hash_words(hash, &state.window, offsetof(struct rf_window, cell[ring_cells]));
	hash_words(hash, state.admitted, sizeof(state.admitted));
	if (rf_counts_rejected(&policy) || row->leases)
		hash_words(hash, state.offered, sizeof(state.offered));
	if (rf_is_bucket(&policy))
		hash_words(hash, &state.tokens, sizeof(state.tokens));
	for (int i = 0; i < CPUS_MAX; i++) {
		const struct cpu *of = &state.cpu[i];
		const __u64 words[] = {
			(__u64)row->takes[i] << 56 | (__u64)of->taken << 48 |
				(__u64)of->operations << 32 | of->was_full << 24 | of->limit << 8 |
				of->time,
			of->history,
		};

		cpu[i][0] = cpu[i][1] = 3;
		hash_words(cpu[i], words, sizeof(words));
		if (row->leases)
			hash_lease(cpu[i], of);
		for (int j = i; j > 0 && cpu[j][0] < cpu[j - 1][0]; j--) {
			__u64 swap[2];

			memcpy(swap, cpu[j], sizeof(swap));
			memcpy(cpu[j], cpu[j - 1], sizeof(swap));
			memcpy(cpu[j - 1], swap, sizeof(swap));
		}
	}
	hash_words(hash, cpu, sizeof(cpu));
	hash[1] = mix(hash[1], state.displaced);
	hash[0] |= 1;
}

static struct seen *seen_slot(const __u64 hash[2])
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

static void seen_clear(void)
{
	free(seen);
	seen = NULL;
	seen_size = seen_count = 0;
	seen_resize(1 << 12);
}

static void seen_add(const __u64 hash[2], double schedules)
{
	struct seen *slot;

	if (++seen_count * 4 > seen_size * 3)
		seen_resize(seen_size * 2);
	slot = seen_slot(hash);
	memcpy(slot->hash, hash, sizeof(slot->hash));
	slot->schedules = schedules;
}

#endif /* RINGFENCE_EXPLORER_SEEN_H */
