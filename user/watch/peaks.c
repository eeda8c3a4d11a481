// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "ringfence/lease_place.h"
#include "watch/peaks.h"

static bool start(struct rf_peaks *peaks)
{
	if (peaks->place)
		return true;
	if (getrandom(peaks->key, sizeof(peaks->key), 0) < 0)
		return false;
	for (int i = 0; i < 3; i++)
		peaks->key[i] |= 1;
	peaks->place = calloc(RF_PEAKS_PLACES, sizeof(*peaks->place));
	return peaks->place;
}

static uint64_t hash(const struct rf_peaks *peaks, const struct rf_prefix *source,
		     uint32_t limit_id)
{
	const uint64_t high = source->word[0] | (uint64_t)source->word[1] << 32;
	const uint64_t low = source->word[2] | (uint64_t)source->word[3] << 32;
	const __u64 key[3] = {peaks->key[0], peaks->key[1], peaks->key[2]};
	uint64_t sum = rf_lease_hash(high ^ limit_id ^ (uint64_t)source->version << 32, key);

	if (low)
		sum += rf_lease_hash(~low, key);
	sum = rf_lease_hash(sum ^ sum >> 32, key);
	return sum ? sum : 1;
}

/* The upper bits tell the place, so these do not. */
static bool is_noted(const struct rf_peaks *peaks, uint64_t hash)
{
	return !(hash >> 20 & ((1U << peaks->share_bits) - 1));
}

static struct rf_peak *find(const struct rf_peaks *peaks, uint64_t hash)
{
	for (size_t at = hash >> 40;; at++) {
		struct rf_peak *place = &peaks->place[at % RF_PEAKS_PLACES];

		if (!place->hash || place->hash == hash)
			return place;
	}
}

static void put(struct rf_peaks *peaks, const struct rf_peak *peak)
{
	struct rf_peak *place;

	if (!is_noted(peaks, peak->hash))
		return;
	place = find(peaks, peak->hash);
	peaks->count += !place->hash;
	if (!place->hash || peak->use > place->use)
		*place = *peak;
}

/* Forgets one half of the sources. */
static bool halve(struct rf_peaks *peaks)
{
	struct rf_peak *before = peaks->place;
	struct rf_peak *place = calloc(RF_PEAKS_PLACES, sizeof(*place));

	if (!place)
		return false;
	peaks->place = place;
	peaks->count = 0;
	peaks->share_bits++;
	for (size_t i = 0; i < RF_PEAKS_PLACES; i++)
		if (before[i].hash)
			put(peaks, &before[i]);
	free(before);
	return true;
}

/* Puts those that wait into their places. */
static bool settle(struct rf_peaks *peaks)
{
	const unsigned int waits = peaks->waits;

	peaks->waits = 0;
	for (unsigned int i = 0; i < waits; i++) {
		if (peaks->count >= RF_PEAKS_PLACES / 2 && !halve(peaks))
			return false;
		put(peaks, &peaks->waiting[i]);
	}
	return true;
}

bool rf_peaks_note(struct rf_peaks *peaks, const struct rf_prefix *source, uint32_t limit_id,
		   uint32_t use)
{
	struct rf_peak peak = {.limit_id = limit_id, .use = use};

	if (!start(peaks))
		return false;
	peak.hash = hash(peaks, source, limit_id);
	__builtin_prefetch(&peaks->place[(peak.hash >> 40) % RF_PEAKS_PLACES], 1);
	peaks->waiting[peaks->waits++] = peak;
	return peaks->waits < RF_PEAKS_WAIT || settle(peaks);
}

void rf_peaks_take(struct rf_peaks *peaks,
		   void (*take)(void *context, const struct rf_peak *peak, uint64_t weight),
		   void *context)
{
	settle(peaks);
	for (size_t i = 0; peaks->place && i < RF_PEAKS_PLACES; i++)
		if (peaks->place[i].hash)
			take(context, &peaks->place[i], 1ULL << peaks->share_bits);
	rf_peaks_free(peaks);
}

void rf_peaks_free(struct rf_peaks *peaks)
{
	free(peaks->place);
	*peaks = (struct rf_peaks){};
}
