/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rows of the last scans of a fence, as they were sent to the page: a new viewer receives the
 * last minute of its sources immediately, with or without a history.
 */
#ifndef RINGFENCE_DAEMON_RECENT_H
#define RINGFENCE_DAEMON_RECENT_H

#include <jansson.h>

#include "snapshot/snapshot.h"
#include "watch/privacy.h"

#define RF_LIVE_SOURCES 40 /* rows of a scan that are shown */

struct rf_recent; /* NULL: no scan yet; 180 KiB otherwise */

/*
 * {"times": [ms], "sources": [[source, limit, [packets a second, or null]]]} of the sources of the
 * last scan, the oldest first. Sources that the present setting hides are left out.
 */
json_t *rf_recent_json(const struct rf_recent *recent, const struct rf_bank *rules,
		       enum rf_told told);

#endif /* RINGFENCE_DAEMON_RECENT_H */
