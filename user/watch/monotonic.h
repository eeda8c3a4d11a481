/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of one fence that never step back to a reader, whatever the fence does: a count that a
 * lease is about to hand over may be missing from a reading, a fence may be replaced, a limit
 * deleted and made anew. What is told is `base`, of all that ended, and the most that was seen of
 * what goes on. Pure.
 */
#ifndef RINGFENCE_MONOTONIC_H
#define RINGFENCE_MONOTONIC_H

#include <stddef.h>
#include <stdint.h>

#define RF_MONOTONIC_MAX 2048 /* counters; of more, those that were not seen for longest go */
#define RF_MONOTONIC_KEY_SIZE 96

struct rf_monotonic;

struct rf_monotonic *rf_monotonic_new(void); /* NULL: no memory */
void rf_monotonic_free(struct rf_monotonic *counters);

/*
 * Begins a reading of the fence with this identity. With another one than before, all its counters
 * began at 0. `generation` is that of its rules, as they were before the reading.
 */
void rf_monotonic_begin(struct rf_monotonic *counters, const char *identity, uint32_t generation);
/* Takes what a counter of the fence has now. Returns what may be told. */
uint64_t rf_monotonic_see(struct rf_monotonic *counters, const char *key, uint64_t now);
/*
 * The same of a counter that a limit has had since `since`, a generation. After the reading before,
 * it began at 0.
 */
uint64_t rf_monotonic_see_since(struct rf_monotonic *counters, const char *key, uint32_t since,
				uint64_t now);
/* Counts something that no fence counts. */
uint64_t rf_monotonic_add(struct rf_monotonic *counters, const char *key, uint64_t more);
/* What was told last; 0: nothing yet. */
uint64_t rf_monotonic_told(const struct rf_monotonic *counters, const char *key);

/* All of it as JSON, on one line. The caller frees it. NULL: no memory. */
char *rf_monotonic_save(const struct rf_monotonic *counters);
/*
 * Adds what was saved, as if it had been seen before all that was seen since. -EINVAL: the text is
 * damaged, and nothing is changed. -ENOMEM.
 */
int rf_monotonic_restore(struct rf_monotonic *counters, const char *text);

#endif /* RINGFENCE_MONOTONIC_H */
