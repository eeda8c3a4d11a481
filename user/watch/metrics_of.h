/* SPDX-License-Identifier: GPL-2.0 */
/* What metrics.c takes from scans, and metrics_text.c writes; nobody else includes this. */
#ifndef RINGFENCE_METRICS_OF_H
#define RINGFENCE_METRICS_OF_H

#include "watch/metrics.h"
#include "watch/monotonic.h"
#include "watch/peaks.h"

/* Upper bounds of the histogram of use, and more than the last. */
#define RF_USE_BOUNDS 12
#define RF_USE_BUCKETS (RF_USE_BOUNDS + 1)

struct rf_use_bound {
	uint32_t most;	   /* in thousandths */
	const char *label; /* as OpenMetrics writes it */
};

extern const struct rf_use_bound rf_use_bounds[RF_USE_BOUNDS];

/* The worst source lately; `packets` is 0: there was none. */
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
	uint64_t asks_sent, asks_put_off, asks_lost; /* as they may be told */
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
	uint64_t awake_ns, trial_ns, paused_ns;
	uint64_t windows[2], capacity, listed[2];
	/* As they may be told: */
	struct rf_counters counters;
	struct rf_limit_metrics limit[RF_LIMITS_MAX];
	struct rf_fleet_metrics fleet;
	struct rf_interface_seen interface[RF_SNAPSHOT_INTERFACES];
	int interfaces;
	uint64_t events[RF_EVENT_TYPES], suppressed[RF_EVENT_TYPES];
	uint64_t history_bytes, history_errors, history_errors_before;
};

/* Takes what a scan saw of the fleet (metrics_fleet.c). */
void rf_metrics_take_fleet(struct rf_metrics *metrics, const struct rf_fleet_seen *seen);

#endif /* RINGFENCE_METRICS_OF_H */
