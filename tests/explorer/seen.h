/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The states that were seen, by their hash, and how many schedules lead from each to the end.
 */
#ifndef RINGFENCE_EXPLORER_SEEN_H
#define RINGFENCE_EXPLORER_SEEN_H

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

#endif /* RINGFENCE_EXPLORER_SEEN_H */
