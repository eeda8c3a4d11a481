/* SPDX-License-Identifier: GPL-2.0 */
/* What the daemon serves, made from what it recorded. */
#ifndef RINGFENCE_DAEMON_DOCUMENTS_H
#define RINGFENCE_DAEMON_DOCUMENTS_H

#include "daemon/feed.h"
#include "daemon/record.h"

/* Puts a document of each kind on its way. `told`: of the sources in exemplars. */
void rf_documents_put(struct rf_feed *feed, const struct rf_records *records, enum rf_told told,
		      uint64_t interval_ns);

#endif /* RINGFENCE_DAEMON_DOCUMENTS_H */
