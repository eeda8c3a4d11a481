/* SPDX-License-Identifier: GPL-2.0 */
/* What is kept of the scans of one fence. */
#ifndef RINGFENCE_DAEMON_RECORD_H
#define RINGFENCE_DAEMON_RECORD_H

#include "daemon/settings.h"
#include "watch/history.h"

struct rf_record {
	struct rf_history *history; /* NULL: none, or it cannot be opened */
	uint64_t open_at_ns;	    /* when to try again, by rf_time_awake() */
	struct rf_error said;	    /* the last failure; it is said once */
};

/* Makes the directory of the history where it is missing. A warning, where that fails. */
void rf_record_prepare(const struct rf_settings *settings);
/* Records a scan, as the settings say. Failures are said, and cost only that scan. */
void rf_record_scan(struct rf_record *record, const struct rf_settings *settings,
		    const struct rf_fence *fence, const struct rf_snapshot *snapshot);
void rf_record_end(struct rf_record *record);

#endif /* RINGFENCE_DAEMON_RECORD_H */
