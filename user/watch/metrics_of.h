/* SPDX-License-Identifier: GPL-2.0 */
/* What metrics.c takes from scans, and metrics_text.c writes; only tests include it as well. */
#ifndef RINGFENCE_METRICS_OF_H
#define RINGFENCE_METRICS_OF_H

#include "watch/metrics.h"

/*
 * ---- counters ----
 *
 * Counters of one fence that never decrease for a reader, through changes of the fence: a count
 * that a lease is about to flush can be missing from a reading, a fence can be replaced, a limit
 * deleted and recreated. The published value is `base`, of all finished runs, plus the maximum of
 * the present run. Pure.
 */

#define RF_MONOTONIC_MAX 2048 /* counters; beyond this, the least recently seen are dropped */
#define RF_MONOTONIC_KEY_SIZE 96

struct rf_monotonic;

struct rf_monotonic *rf_monotonic_new(void); /* NULL: no memory */
void rf_monotonic_free(struct rf_monotonic *counters);

/*
 * Starts a reading of the fence with this identity. If the identity differs from the previous one,
 * all its counters started at 0. `generation` is the one of its rules, read before the counters.
 */
void rf_monotonic_begin(struct rf_monotonic *counters, const char *identity, uint32_t generation);
/* Updates a counter with its present value. Returns the published value. */
uint64_t rf_monotonic_see(struct rf_monotonic *counters, const char *key, uint64_t now);
/*
 * The same for a counter of a limit that exists since `since`, a generation. If that is after the
 * previous reading, the counter started at 0.
 */
uint64_t rf_monotonic_see_since(struct rf_monotonic *counters, const char *key, uint32_t since,
				uint64_t now);
/* Counts something that no fence counts. */
uint64_t rf_monotonic_add(struct rf_monotonic *counters, const char *key, uint64_t more);
/* The last published value; 0: none yet. */
uint64_t rf_monotonic_told(const struct rf_monotonic *counters, const char *key);

/* All counters as JSON, on one line. The caller frees it. NULL: no memory. */
char *rf_monotonic_save(const struct rf_monotonic *counters);
/*
 * Adds the saved counters, as if they had been seen before all values seen since. -EINVAL: the text
 * is damaged, and the counters are unchanged. -ENOMEM.
 */
int rf_monotonic_restore(struct rf_monotonic *counters, const char *text);

/* ---- peaks ---- */

#define RF_PEAKS_PLACES 131072 /* a power of two; half of them are used at most */

struct rf_peak {
	uint64_t hash; /* of the source and the limit; 0: the place is free */
	uint32_t limit_id;
	uint32_t use; /* in thousandths of the limit */
};

#define RF_PEAKS_WAIT 16

/*
 * The most that each source used of a limit in the present minute. Of many sources it notes a
 * random half, quarter, eighth …, and each of these counts for as many.
 */
struct rf_peaks {
	struct rf_peak *place; /* NULL: none was noted yet */
	/* Not in their places yet, whose memory is on its way to the cache. */
	struct rf_peak waiting[RF_PEAKS_WAIT];
	unsigned int waits;
	size_t count;
	unsigned int share_bits; /* one in 1 << share_bits is noted */
	uint64_t key[3];	 /* random: a sender cannot choose which sources are noted */
};

/* ---- metrics ---- */

/* Upper bounds of the histogram of use, and more than the last. */
#define RF_USE_BOUNDS 12
#define RF_USE_BUCKETS (RF_USE_BOUNDS + 1)

struct rf_use_bound {
	uint32_t most;	   /* in thousandths */
	const char *label; /* as OpenMetrics writes it */
};

extern const struct rf_use_bound rf_use_bounds[RF_USE_BOUNDS];

/* The worst recent source; `packets` is 0: none. */
struct rf_worst {
	struct rf_prefix source;
	uint64_t packets; /* between two scans */
	uint64_t time_ns; /* since 1970 */
};

struct rf_limit_metrics {
	char name[RF_NAME_SIZE]; /* "": no limit is in this slot */
	uint32_t id;
	uint64_t count, window_ns;
	bool is_bytes;
	struct rf_limit_counters counters;
	uint64_t active, over, banned; /* sources */
	struct rf_worst dropped, would_drop;
	uint64_t use[RF_USE_BUCKETS]; /* each for itself */
	uint64_t use_sum;	      /* in thousandths */
};

struct rf_fleet_metrics {
	bool is_told; /* some limit is one of the fleet */
	struct rf_fleet_seen seen;
	uint64_t asks_sent, asks_put_off, asks_lost; /* in their published form */
	uint64_t alone_times, alone_ns;
};

struct rf_metrics {
	char fence[RF_NAME_SIZE];
	bool is_known; /* a scan has ended, or failed */
	bool is_up, has_history, is_restored;
	struct rf_monotonic *told;
	struct rf_peaks peaks;
	uint64_t minute; /* of the scan before */
	/* Of the last scan: */
	uint64_t awake_ns, confirm_ns, paused_ns;
	uint64_t windows[2], capacity, listed[2];
	/* As published: */
	struct rf_counters counters;
	struct rf_limit_metrics limit[RF_LIMITS_MAX];
	struct rf_fleet_metrics fleet;
	struct rf_interface_seen interface[RF_SNAPSHOT_INTERFACES];
	int interfaces;
	uint64_t events[RF_EVENT_TYPES], suppressed[RF_EVENT_TYPES];
	uint64_t history_bytes, history_errors, history_errors_before;
};

#endif /* RINGFENCE_METRICS_OF_H */
