/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The states that were seen, by their hash, and how many schedules lead from each to the end.
 */
#ifndef RINGFENCE_EXPLORER_SEEN_H
#define RINGFENCE_EXPLORER_SEEN_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

struct seen {
	__u64 hash[2];	  /* both 0: free */
	double schedules; /* from this state to the end */
};

extern __u64 seen_count;

__u64 mix(__u64 hash, __u64 word);
void hash_words(__u64 hash[2], const void *from, size_t size);

/* Of the state of that hash; its own hash is 0 if that was not seen. */
struct seen *seen_slot(const __u64 hash[2]);
void seen_clear(void);
void seen_add(const __u64 hash[2], double schedules);

/* Has the search seen as many states as it may? Then it turns back everywhere. Only in a hunt. */
bool seen_enough(void);

/*
 * Runs `finds`, which searches one row after the other, again and again until it returns true: at
 * first with few states for each search, the last time with all. A mistake shows in few states of
 * some row, and nobody knows of which.
 */
bool hunt(bool (*finds)(const void *rows), const void *rows);

#endif /* RINGFENCE_EXPLORER_SEEN_H */
