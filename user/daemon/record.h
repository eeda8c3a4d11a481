/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is kept of the scans of a fence: its history, its metrics and its events. It is found by the
 * fence's name, and outlives the fence: so the counters of a fence that comes back never step back.
 * Of fences that are gone, the last RF_RECORDS_GONE are kept; the others come back from their
 * histories.
 */
#ifndef RINGFENCE_DAEMON_RECORD_H
#define RINGFENCE_DAEMON_RECORD_H

#include "daemon/settings.h"
#include "daemon/telling.h"
#include "watch/history.h"
#include "watch/metrics.h"

#define RF_RECORDS_GONE 64 /* of fences that are gone: the last ones */

struct rf_record {
	char fence[RF_NAME_SIZE];
	bool is_taken;	      /* by a fence that is attached */
	uint64_t released_ns; /* when it was released last, by rf_time_awake() */
	struct rf_metrics *metrics;
	bool is_restored;	    /* the metrics have what was saved before this process */
	uint64_t saved_ns;	    /* when they were saved last, by rf_time_awake() */
	struct rf_history *history; /* NULL: none, or it cannot be opened */
	uint64_t open_at_ns;	    /* when to try again, likewise */
	struct rf_error said;	    /* the last failure; it is said once */
	struct rf_telling telling;
	struct rf_outlets *outlets; /* of all records */
};

struct rf_records {
	struct rf_record **of;
	int count;
	struct rf_outlets *outlets;
};

/*
 * Takes new settings: closes all histories, and makes the directory of the history where it is
 * missing. A warning, where that fails.
 */
void rf_records_prepare(struct rf_records *records, const struct rf_settings *settings);
/* Whenever the daemon wakes up. */
void rf_records_turn(struct rf_records *records);
/* The record for a fence that was attached. NULL: another fence has its name, or no memory. */
struct rf_record *rf_records_take(struct rf_records *records, const char *fence);
/* The fence is gone, which is an event. Any argument may be NULL, here and below. */
void rf_record_end(struct rf_record *record);
/* Nobody watches the fence any more. */
void rf_record_release(struct rf_record *record);
/* Takes a scan, and records it as the settings say. A failure is said, and costs that scan alone.
 */
void rf_record_scan(struct rf_record *record, const struct rf_settings *settings,
		    const struct rf_fence *fence, const struct rf_snapshot *snapshot);
/* The key of the sample whose cells a history takes; NULL: there is none that takes cells. */
const __u64 *rf_record_cells_key(const struct rf_record *record,
				 const struct rf_settings *settings);
/* Records cells between two scans. */
void rf_record_cells(struct rf_record *record, const struct rf_snapshot *before,
		     const struct rf_cells_row *cells, size_t count);
/* The scan failed. */
void rf_record_miss(struct rf_record *record);
void rf_records_free(struct rf_records *records);

#endif /* RINGFENCE_DAEMON_RECORD_H */
