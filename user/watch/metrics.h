/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Metrics for Prometheus, made from scans: what ringfence-metrics(5) lists. No source is ever a
 * label. What is kept of a fence outlives the fence, so that its counters never step back.
 */
#ifndef RINGFENCE_METRICS_H
#define RINGFENCE_METRICS_H

#include "base/error.h"
#include "snapshot/snapshot.h"
#include "watch/event.h"
#include "watch/privacy.h"

/* What is known of one fence. */
struct rf_metrics;

struct rf_metrics *rf_metrics_new(const char *fence); /* NULL: no memory */
void rf_metrics_free(struct rf_metrics *metrics);

/* Takes a scan, in the order of scans. */
void rf_metrics_take(struct rf_metrics *metrics, const struct rf_snapshot *snapshot);
/*
 * The last scan failed, or the fence is gone: its counters are not told until the next one. Before
 * the first scan nothing is told, not even that the fence is down. May be called with NULL.
 */
void rf_metrics_lose(struct rf_metrics *metrics);
/*
 * Observes the use of sources now, not at the end of the minute: for who scans once in a while.
 */
void rf_metrics_observe(struct rf_metrics *metrics);
void rf_metrics_count_event(struct rf_metrics *metrics, enum rf_event_type type);
void rf_metrics_count_suppressed(struct rf_metrics *metrics, enum rf_event_type type,
				 uint64_t events);
/* The bytes of its history, and the writes that failed since it was opened. */
void rf_metrics_note_history(struct rf_metrics *metrics, uint64_t bytes, uint64_t errors);

/*
 * What keeps the counters going, as one line of JSON; see watch/metrics_of.h. The caller frees it.
 */
char *rf_metrics_save(const struct rf_metrics *metrics);
/* Only the first success has an effect: what goes on is newer. -EINVAL: the text is damaged. */
int rf_metrics_restore(struct rf_metrics *metrics, const char *text);

/*
 * The counters as they may be told: they never step back. Those of a limit, by its name; NULL: none
 * has this name.
 */
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
 * For node_exporter's textfile collector. It keeps what the counters need to go on, in comments:
 * `# ringfence state {"fence":…,"state":…}`.
 */

struct rf_metrics_file {
	const char *path;
	char *before;	 /* the text that the file had; NULL: there was none */
	bool is_damaged; /* some state in it was not taken */
};

/* Reads the file, if there is one. An error where it is none of ringfence's. */
int rf_metrics_file_read(struct rf_metrics_file *file, const char *path, struct rf_error *error);
/* Takes over what it keeps of this fence. */
void rf_metrics_file_restore(struct rf_metrics_file *file, struct rf_metrics *metrics);
/*
 * Writes the page into the file, all at once, with what is to be kept of its fences, and of others
 * that the file had.
 */
int rf_metrics_file_write(const struct rf_metrics_file *file, const struct rf_metrics_page *page,
			  struct rf_error *error);
void rf_metrics_file_free(struct rf_metrics_file *file);

#endif /* RINGFENCE_METRICS_H */
