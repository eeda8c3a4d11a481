/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rows of the last scans of a fence, as they were told: a page that is opened has the last
 * minute of its sources at once, whether or not there is a history.
 */
#ifndef RINGFENCE_DAEMON_RECENT_H
#define RINGFENCE_DAEMON_RECENT_H

#include <jansson.h>

#include "snapshot/snapshot.h"
#include "watch/privacy.h"

#define RF_LIVE_SOURCES 40 /* rows of a scan that are shown */

struct rf_recent; /* NULL: nothing is kept yet; 180 KiB otherwise */

/*
 * {"times": [ms], "sources": [[source, limit, [packets a second, or null]]]} of the sources of the
 * last scan, the oldest first. What may not be told today is left out.
 */
json_t *rf_recent_json(const struct rf_recent *recent, const struct rf_bank *rules,
		       enum rf_told told);

/* The sources of a scan that a page shows, and how much of each limit is used. */

#define RF_LIVE_BUCKETS 11 /* of use: up to 10 %, up to 20 % …, and from 100 % on */

/* The use of a limit by its sources. */
struct rf_live_use {
	uint64_t active, over, banned;
	uint64_t bucket[RF_LIVE_BUCKETS];
};

/* A row as it may be told. */
struct rf_live_row {
	struct rf_source_row row; /* `source` is told; the rest is the sum, or the most */
	uint32_t use;		  /* in thousandths */
	int slot;		  /* of the limit */
};

#endif /* RINGFENCE_DAEMON_RECENT_H */
