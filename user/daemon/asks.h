/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Viewers' requests in the page process: the last scan of each fence, and requests to the scanner,
 * one at a time. Viewers with the same request share the reply.
 */
#ifndef RINGFENCE_DAEMON_ASKS_H
#define RINGFENCE_DAEMON_ASKS_H

#include <stdbool.h>

#include "daemon/feed.h"
#include "daemon/query.h"

/* A text, and its compressed form once it is requested. */
struct rf_body {
	char *text, *packed;
	size_t length, packed_length;
	uint64_t made_ns; /* by rf_time_awake() */
	unsigned int status;
};

enum rf_asked {
	RF_ASK_KNOWN,	 /* `body` is the reply */
	RF_ASK_WAITS,	 /* call again once rf_asks_take() or rf_asks_turn() returned true */
	RF_ASK_NOT_YET,	 /* no scan has begun, or there is no such fence */
	RF_ASK_SCANNING, /* the first scan is under way */
	RF_ASK_BUSY,	 /* too many different questions */
};

/* `body` remains valid until the next call of any function here. */
enum rf_asked rf_asks_find(const struct rf_query *query, struct rf_body **body);
/* Makes sure that `packed` is there. False: no memory. */
bool rf_body_pack(struct rf_body *body);

/*
 * Takes ownership of a document, RF_DOC_LIVE or RF_DOC_ANSWER. Returns whether waiting callers
 * should call again.
 */
bool rf_asks_take(const struct rf_feed_message *message);
/* Sends the next request to the scanner, and drops unanswered ones. Likewise. */
bool rf_asks_turn(int fd);

#endif /* RINGFENCE_DAEMON_ASKS_H */
