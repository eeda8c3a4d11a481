/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The most that each source used of a limit in the present minute. Of many sources it notes a
 * random half, quarter, eighth …, and each of these counts for as many. Pure.
 */
#ifndef RINGFENCE_PEAKS_H
#define RINGFENCE_PEAKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/prefix.h"

#define RF_PEAKS_PLACES 131072 /* a power of two; half of them are used at most */

struct rf_peak {
	uint64_t hash; /* of the source and the limit; 0: the place is free */
	uint32_t limit_id;
	uint32_t use; /* in thousandths of the limit */
};

#define RF_PEAKS_WAIT 16

struct rf_peaks {
	struct rf_peak *place; /* NULL: none was noted yet */
	/* Not in their places yet, whose memory is on its way to the cache. */
	struct rf_peak waiting[RF_PEAKS_WAIT];
	unsigned int waits;
	size_t count;
	unsigned int share_bits; /* one in 1 << share_bits is noted */
	uint64_t key[3];	 /* random, so that nobody chooses which sources are noted */
};

/* Returns false where there is no memory; then nothing is noted. */
bool rf_peaks_note(struct rf_peaks *peaks, const struct rf_prefix *source, uint32_t limit_id,
		   uint32_t use);
/* Calls `take` for each, with how many sources it stands for, and begins a new minute. */
void rf_peaks_take(struct rf_peaks *peaks,
		   void (*take)(void *context, const struct rf_peak *peak, uint64_t weight),
		   void *context);
void rf_peaks_free(struct rf_peaks *peaks);

#endif /* RINGFENCE_PEAKS_H */
