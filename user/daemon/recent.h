/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rows of the last scans of a fence, as they were told: a page that is opened has the last
 * minute of its sources at once, whether or not there is a history.
 */
#ifndef RINGFENCE_DAEMON_RECENT_H
#define RINGFENCE_DAEMON_RECENT_H

#include <jansson.h>

#include "daemon/live_sources.h"

#define RF_LIVE_SOURCES 40 /* rows of a scan that are shown */

struct rf_recent; /* NULL: nothing is kept yet; 180 KiB otherwise */

/* Keeps the rows of a scan, and forgets those of the oldest one. Without memory nothing is kept. */
void rf_recent_note(struct rf_recent **recent, const struct rf_snapshot *snapshot,
		    const struct rf_live_row *rows, int count);
/*
 * {"times": [ms], "sources": [[source, limit, [packets a second, or null]]]} of the sources of the
 * last scan, the oldest first. What may not be told today is left out.
 */
json_t *rf_recent_json(const struct rf_recent *recent, const struct rf_bank *rules,
		       enum rf_told told);

#endif /* RINGFENCE_DAEMON_RECENT_H */
