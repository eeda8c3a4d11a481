/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Metrics for Prometheus, made from scans: the metrics of ringfence-metrics(5). No source is ever a
 * label. The state of a fence outlives the fence, so its counters never decrease.
 */
#ifndef RINGFENCE_METRICS_H
#define RINGFENCE_METRICS_H

#include "base/error.h"
#include "snapshot/snapshot.h"
#include "watch/event.h"
#include "watch/privacy.h"

/* The metrics of one fence. */
struct rf_metrics;

struct rf_metrics *rf_metrics_new(const char *fence); /* NULL: no memory */
void rf_metrics_free(struct rf_metrics *metrics);

/* Takes a scan, in the order of scans. */
void rf_metrics_take(struct rf_metrics *metrics, const struct rf_snapshot *snapshot);
/*
 * The last scan failed, or the fence was removed: its counters are not written until the next scan.
 * Before the first scan no metric is written, not even that the fence is down. NULL is allowed.
 */
void rf_metrics_lose(struct rf_metrics *metrics);
/* Observes the use of sources now, not at the turn of the minute: for callers that scan rarely. */
void rf_metrics_observe(struct rf_metrics *metrics);
void rf_metrics_count_event(struct rf_metrics *metrics, enum rf_event_type type);
void rf_metrics_count_suppressed(struct rf_metrics *metrics, enum rf_event_type type,
				 uint64_t events);
/* The bytes of its history, and the writes that failed since it was opened. */
void rf_metrics_note_history(struct rf_metrics *metrics, uint64_t bytes, uint64_t errors);

/*
 * The state from which the counters continue, as one line of JSON; see watch/metrics_of.h. The
 * caller frees it.
 */
char *rf_metrics_save(const struct rf_metrics *metrics);
/*
 * Only the first success has an effect: the present counters are newer. -EINVAL: the text is
 * damaged.
 */
int rf_metrics_restore(struct rf_metrics *metrics, const char *text);

/* The published counters, which never decrease. The counters of a limit, by its name; NULL: not
 * found. */
const struct rf_counters *rf_metrics_counters(const struct rf_metrics *metrics);
const struct rf_limit_counters *rf_metrics_limit_counters(const struct rf_metrics *metrics,
							  const char *name);

struct rf_metrics_page {
	const struct rf_metrics *const *fence;
	int fences;
	bool is_open;	      /* OpenMetrics 1.0, not the text format 0.0.4 */
	bool has_exemplars;   /* of OpenMetrics: the worst sources */
	enum rf_told told;    /* of them */
	bool has_no_use;      /* without the histogram, which takes several scans */
	bool is_once;	      /* the scan is of now, and no other follows */
	uint64_t awake_ns;    /* now, by rf_time_awake() */
	uint64_t interval_ns; /* between two scans */
};

/* Writes the metrics of several fences. The caller frees the text. NULL: no memory. */
char *rf_metrics_write(const struct rf_metrics_page *page, size_t *length);

/*
 * ---- a file of metrics ----
 *
 * For node_exporter's textfile collector. It stores the state of the counters in comments: `#
 * ringfence state {"fence":…,"state":…}`.
 */

struct rf_metrics_file {
	const char *path;
	char *before;	 /* the text that the file had; NULL: there was none */
	bool is_damaged; /* some state in it was not taken */
};

/* Reads the file, if it exists. An error if it was not written by ringfence. */
int rf_metrics_file_read(struct rf_metrics_file *file, const char *path, struct rf_error *error);
/* Restores the stored state of this fence. */
void rf_metrics_file_restore(struct rf_metrics_file *file, struct rf_metrics *metrics);
/*
 * Replaces the file atomically by the page, with the state of its fences, and of other fences that
 * the file had.
 */
int rf_metrics_file_write(const struct rf_metrics_file *file, const struct rf_metrics_page *page,
			  struct rf_error *error);
void rf_metrics_file_free(struct rf_metrics_file *file);

#endif /* RINGFENCE_METRICS_H */
