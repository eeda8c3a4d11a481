/* SPDX-License-Identifier: GPL-2.0 */
/* What the daemon serves, made from what it saw. */
#ifndef RINGFENCE_DAEMON_DOCUMENTS_H
#define RINGFENCE_DAEMON_DOCUMENTS_H

#include "daemon/feed.h"
#include "daemon/fences.h"
#include "daemon/pace.h"

/* Puts a document of each kind on its way. */
void rf_documents_put(struct rf_feed *feed, const struct rf_watching *watching,
		      const struct rf_pace *pace);

#endif /* RINGFENCE_DAEMON_DOCUMENTS_H */
