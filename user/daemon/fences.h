/* SPDX-License-Identifier: GPL-2.0 */
/* The fences of this network namespace: added and removed ones, and a scan of each. */
#ifndef RINGFENCE_DAEMON_FENCES_H
#define RINGFENCE_DAEMON_FENCES_H

#include "base/say.h"
#include "daemon/outlets.h"
#include "daemon/recent.h"
#include "daemon/settings.h"
#include "fence/find.h"
#include "snapshot/snapshot.h"
#include "watch/history.h"
#include "watch/metrics.h"

/*
 * The stored state of a fence's scans: its history, its metrics and its events. It is found by the
 * fence's name, and outlives the fence: the counters of a fence that returns never decrease. The
 * last RF_RECORDS_GONE of removed fences are stored; the others are restored from their histories.
 */

#define RF_RECORDS_GONE 64 /* of removed fences: the last ones */

struct rf_record {
	char fence[RF_NAME_SIZE];
	bool is_taken;	      /* by a fence that is attached */
	uint64_t released_ns; /* when it was released last, by rf_time_awake() */
	struct rf_metrics *metrics;
	bool is_restored;	    /* the metrics include the state saved before this process */
	uint64_t saved_ns;	    /* when they were saved last, by rf_time_awake() */
	struct rf_history *history; /* NULL: none, or it cannot be opened */
	uint64_t open_at_ns;	    /* when to try again, likewise */
	struct rf_said said;	    /* the last failure; it is said once */
	struct rf_telling telling;
	struct rf_outlets *outlets; /* of all records */
};

struct rf_records {
	struct rf_record **of;
	int count;
	struct rf_outlets *outlets;
};

/*
 * Applies new settings: closes all histories, and creates the directory of the history if it is
 * missing. A warning if that fails.
 */
void rf_records_prepare(struct rf_records *records, const struct rf_settings *settings);
/* Whenever the daemon wakes up. */
void rf_records_turn(struct rf_records *records);
/* The record for a fence that was attached. NULL: another fence has its name, or no memory. */
struct rf_record *rf_records_take(struct rf_records *records, const char *fence);
/* The fence is not watched any more. */
void rf_record_release(struct rf_record *record);
void rf_records_free(struct rf_records *records);

/* A fence that is attached. */
struct rf_watched {
	struct rf_found found;
	struct rf_scanner *scanner; /* NULL: it cannot be read, or no longer */
	struct rf_snapshot snapshot;
	bool has_snapshot;	  /* of the last scan */
	bool was_scanned;	  /* once at least, even if that failed */
	bool is_found;		  /* by the search that is under way */
	struct rf_said said;	  /* the last error; it is said once */
	struct rf_record *record; /* NULL: another fence has its name */
	struct rf_recent *recent; /* rows that pages have received */
};

struct rf_watching {
	struct rf_watched **of;
	int count;
	struct rf_records records; /* including removed fences */
	struct rf_said said;	   /* of the search */
};

/* Searches for fences: opens new ones, and forgets removed ones. */
void rf_watching_find(struct rf_watching *watching);
/* Scans each fence. Returns whether one was removed: then search again. */
bool rf_watching_scan(struct rf_watching *watching);
/* Records the last scan of each fence. */
void rf_watching_record(struct rf_watching *watching, const struct rf_settings *settings);
/* When cells must be read before the next scan, by rf_time_awake(); UINT64_MAX: never. */
uint64_t rf_watching_cells_due_ns(const struct rf_watching *watching);
/* Reads due cells, and records them if they are too many to wait for the scan. */
void rf_watching_read_cells(struct rf_watching *watching);
void rf_watching_end(struct rf_watching *watching);

#endif /* RINGFENCE_DAEMON_FENCES_H */
