/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is kept of the scans of a fence: its history and its metrics. It is found by the fence's
 * name, and outlives the fence: so the counters of a fence that comes back never step back.
 */
#ifndef RINGFENCE_DAEMON_RECORD_H
#define RINGFENCE_DAEMON_RECORD_H

#include "daemon/settings.h"
#include "watch/history.h"
#include "watch/metrics.h"

struct rf_record {
	char fence[RF_NAME_SIZE];
	bool is_taken; /* by a fence that is attached */
	struct rf_metrics *metrics;
	bool is_restored;	    /* the metrics have what was saved before this process */
	uint64_t saved_ns;	    /* when they were saved last, by rf_time_awake() */
	struct rf_history *history; /* NULL: none, or it cannot be opened */
	uint64_t open_at_ns;	    /* when to try again, likewise */
	struct rf_error said;	    /* the last failure; it is said once */
};

struct rf_records {
	struct rf_record **of;
	int count;
};

/* Makes the directory of the history where it is missing. A warning, where that fails. */
void rf_records_prepare(const struct rf_settings *settings);
/* The record for a fence that was attached. NULL: another fence has its name, or no memory. */
struct rf_record *rf_records_take(struct rf_records *records, const char *fence);
/* The fence is gone. Any argument may be NULL, here and below. */
void rf_record_release(struct rf_record *record);
/* Takes a scan, and records it as the settings say. A failure is said, and costs that scan alone.
 */
void rf_record_scan(struct rf_record *record, const struct rf_settings *settings,
		    const struct rf_fence *fence, const struct rf_snapshot *snapshot);
/* The scan failed. */
void rf_record_miss(struct rf_record *record);
/* Closes all histories: the settings are others now. */
void rf_records_close(struct rf_records *records);
void rf_records_free(struct rf_records *records);

#endif /* RINGFENCE_DAEMON_RECORD_H */
