/* SPDX-License-Identifier: GPL-2.0 */
/* The fences of this network namespace: those that come, those that go, and a scan of each. */
#ifndef RINGFENCE_DAEMON_FENCES_H
#define RINGFENCE_DAEMON_FENCES_H

#include "daemon/recent.h"
#include "daemon/record.h"
#include "fence/find.h"
#include "watch/snapshot.h"

/* A fence that is attached. */
struct rf_watched {
	struct rf_found found;
	struct rf_scanner *scanner; /* NULL: it cannot be read, or no longer */
	struct rf_snapshot snapshot;
	bool has_snapshot;	  /* of the last scan */
	bool was_scanned;	  /* once at least, even if that failed */
	bool is_found;		  /* by the search that is under way */
	struct rf_error said;	  /* the last error; it is said once */
	struct rf_record *record; /* NULL: another fence has its name */
	struct rf_recent *recent; /* rows that pages were told */
};

struct rf_watching {
	struct rf_watched **of;
	int count;
	struct rf_records records; /* also of fences that are gone */
	struct rf_error said;	   /* of the search */
};

/* Looks for fences: opens those that are new, and forgets those that are gone. */
void rf_watching_find(struct rf_watching *watching);
/* Scans each fence. Returns whether one is gone: then it is time to look again. */
bool rf_watching_scan(struct rf_watching *watching);
/* Records the last scan of each fence. */
void rf_watching_record(struct rf_watching *watching, const struct rf_settings *settings);
/* When cells must be read before the next scan, by rf_time_awake(); UINT64_MAX: never. */
uint64_t rf_watching_cells_due_ns(const struct rf_watching *watching);
/* Reads those that are due, and records them where they are too many to wait for the scan. */
void rf_watching_read_cells(struct rf_watching *watching);
void rf_watching_end(struct rf_watching *watching);

#endif /* RINGFENCE_DAEMON_FENCES_H */
