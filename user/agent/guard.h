/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an engine may send. hiredis builds each reply in memory as large as it says that it will be,
 * and aborts the process on a reply that no call asked for. A guard sits in its reader: a reply
 * beyond RF_REPLY_MOST, or one that nothing waits for, ends the connection by an error.
 */
#ifndef RINGFENCE_AGENT_GUARD_H
#define RINGFENCE_AGENT_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

/*
 * Of one reply, in memory, and as it comes. The largest that is asked for are the 1,024 bans, 64
 * KiB, and what a cluster of 1,000 nodes says of its slots, 1 MiB.
 */
#define RF_REPLY_MOST (4U << 20)

struct rf_guard {
	/* NULL: one reply each to calls that wait for it, as of a connection that blocks. */
	bool (*is_expected)(const void *link);
	const void *link;
	size_t size;	     /* of the reply that is being read */
	const char *refused; /* why it has failed; NULL: it has not */
	redisReplyObjectFunctions usual, guarded;
};

/* Puts the guard into a connection that has read nothing yet. It must outlive that. */
void rf_guard_set(struct rf_guard *guard, redisContext *redis);
/* After each read. False: what has come of a reply is too much; the connection must be ended. */
bool rf_guard_holds(struct rf_guard *guard, const redisContext *redis);
/*
 * Calls over a connection that blocks, and waits for `patience_ns` in all. The caller frees the
 * reply. NULL: none, and `guard->refused` or the connection's errstr may say why.
 */
redisReply *rf_guard_ask(struct rf_guard *guard, redisContext *redis, uint64_t patience_ns,
			 int count, const char **words);

#endif /* RINGFENCE_AGENT_GUARD_H */
