/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file of metrics, for node_exporter's textfile collector. It keeps what the counters need to go
 * on, in comments: `# ringfence state {"fence":…,"state":…}`.
 */
#ifndef RINGFENCE_METRICS_FILE_H
#define RINGFENCE_METRICS_FILE_H

#include "base/error.h"
#include "watch/metrics.h"

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

#endif /* RINGFENCE_METRICS_FILE_H */
