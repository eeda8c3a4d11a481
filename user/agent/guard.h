/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Limits replies of the server. hiredis allocates the announced size of each reply, and aborts the
 * process on a reply without a request. The guard sits in its reader: a reply larger than
 * RF_REPLY_MOST, or without a request, closes the connection with an error.
 */
#ifndef RINGFENCE_AGENT_GUARD_H
#define RINGFENCE_AGENT_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

/*
 * Of one reply, in memory and on the wire. The largest regular replies are 1,024 bans, 64 KiB, and
 * the slots of a cluster of 1,000 nodes, 1 MiB.
 */
#define RF_REPLY_MOST (4U << 20)

struct rf_guard {
	/* NULL: one reply per call, on a blocking connection. */
	bool (*is_expected)(const void *link);
	const void *link;
	size_t size;	     /* of the reply being read */
	const char *refused; /* the error; NULL: none */
	redisReplyObjectFunctions usual, guarded;
};

/* Installs the guard in a new connection. It must outlive the connection. */
void rf_guard_set(struct rf_guard *guard, redisContext *redis);
/* After each read. False: too much of a reply; close the connection. */
bool rf_guard_holds(struct rf_guard *guard, const redisContext *redis);
/*
 * Calls over a blocking connection, and waits for `patience_ns` in total. The caller frees the
 * reply. NULL: failed; see `guard->refused` and the errstr of the connection.
 */
redisReply *rf_guard_ask(struct rf_guard *guard, redisContext *redis, uint64_t patience_ns,
			 int count, const char **words);

#endif /* RINGFENCE_AGENT_GUARD_H */
