/* SPDX-License-Identifier: GPL-2.0 */
/* Answers as responses of HTTP. */
#ifndef RINGFENCE_DAEMON_RESPOND_H
#define RINGFENCE_DAEMON_RESPOND_H

#include <microhttpd.h>

#include "daemon/feed.h"
#include "daemon/request.h"

enum rf_responded {
	RF_RESPONDED,
	RF_RESPOND_LATER, /* the scanner was asked */
	RF_RESPOND_FAILED,
};

/* Takes over a document. Returns whether who waits should be answered now. */
bool rf_respond_take(const struct rf_feed_message *message);
enum rf_responded rf_respond(struct MHD_Connection *connection, const struct rf_answer *answer);

#endif /* RINGFENCE_DAEMON_RESPOND_H */
