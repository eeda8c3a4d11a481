/* SPDX-License-Identifier: GPL-2.0 */
/* A page's view of the last scan, rendered once for all viewers. */
#ifndef RINGFENCE_DAEMON_LIVE_H
#define RINGFENCE_DAEMON_LIVE_H

#include "daemon/feed.h"
#include "daemon/fences.h"

/* Sends RF_DOC_LIVE, a line for each fence, and stores its rows for rf_recent_json(). */
void rf_live_put(struct rf_feed *feed, const struct rf_watching *watching,
		 const struct rf_settings *settings, uint64_t interval_ns);

/* Sends a document of each kind. `told`: of the sources in exemplars. */
void rf_documents_put(struct rf_feed *feed, const struct rf_records *records, enum rf_told told,
		      uint64_t interval_ns);

#endif /* RINGFENCE_DAEMON_LIVE_H */
