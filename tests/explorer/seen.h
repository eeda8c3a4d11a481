/* SPDX-License-Identifier: GPL-2.0 */
/* The states that were seen, by their hash, and the number of schedules from each to completion. */
#ifndef RINGFENCE_EXPLORER_SEEN_H
#define RINGFENCE_EXPLORER_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <linux/types.h>

struct seen {
	__u64 hash[2];	  /* both 0: free */
	double schedules; /* from this state to completion */
};

extern __u64 seen_count;

/* Both halves of a product of 128 bits. */
static inline __u64 mix(__u64 a, __u64 b)
{
	const __uint128_t product =
		(__uint128_t)(a ^ 0xa0761d6478bd642fULL) * (b ^ 0xe7037ed1a0b428dbULL);

	return (__u64)product ^ (__u64)(product >> 64);
}

static inline void hash_pair(__u64 hash[2], __u64 first, __u64 second)
{
	hash[0] = mix(hash[0] ^ first, second);
	hash[1] = (hash[1] ^ second) * 0xff51afd7ed558ccdULL + first;
	hash[1] ^= hash[1] >> 32;
}

/* Here, since it takes a third of the time where the size is unknown. */
static inline void hash_words(__u64 hash[2], const void *from, size_t size)
{
	__u64 word[2] = {0, size};

	for (; size >= sizeof(word); size -= sizeof(word)) {
		memcpy(word, from, sizeof(word));
		hash_pair(hash, word[0], word[1]);
		from = (const char *)from + sizeof(word);
	}
	if (size) {
		memcpy(word, from, sizeof(*word));
		hash_pair(hash, word[0], sizeof(*word));
	}
}

/* The state of that hash; its own hash is 0 if the search has not seen it. */
struct seen *seen_slot(const __u64 hash[2]);
void seen_clear(void);
void seen_add(const __u64 hash[2], double schedules);

/* Has the search seen as many states as it may? Then it turns back everywhere. Only in a hunt. */
bool seen_enough(void);

/*
 * Runs `finds`, which searches one row after the other, repeatedly until it returns true: at first
 * with few states for each search, the last time with all. A bug shows within few states of some
 * row, but it is unknown which.
 */
bool hunt(bool (*finds)(const void *rows), const void *rows);

#endif /* RINGFENCE_EXPLORER_SEEN_H */
