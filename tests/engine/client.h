/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A client of a fleet server for tests: calls of its functions like a member's, one at a time, and
 * its stored state. A connection error exits the program.
 */
#ifndef RINGFENCE_ENGINE_CLIENT_H
#define RINGFENCE_ENGINE_CLIENT_H

#include <hiredis/hiredis.h>

#include "fleet/wire.h"

/* One report of a call. */
struct engine_report {
	const char *key;
	uint8_t bytes[RF_WIRE_REPORT_SIZE + 4]; /* a place for more than makes sense */
	size_t size;
	struct rf_ledger_answer answer;
};

redisContext *engine_open(const char *socket);
/* Sends one command; its reply is for engine_get(). */
void engine_send(redisContext *redis, const char *format, ...);
/* The next reply, which the caller frees. */
redisReply *engine_get(redisContext *redis);
/* The same, of a number, and of TIME. */
int64_t engine_get_number(redisContext *redis);
uint64_t engine_get_time_ms(redisContext *redis);

/* `bytes`: a packed call. `slot`: that the key names. */
void engine_send_beat(redisContext *redis, uint32_t bucket, uint32_t slot, const void *bytes,
		      size_t size);
void engine_send_gone(redisContext *redis, uint32_t bucket, uint32_t slot, const void *bytes,
		      size_t size);
void engine_send_reports(redisContext *redis, uint32_t bucket, uint32_t slot, const void *bytes,
			 size_t size, const struct engine_report *reports, int count);
/* The same for rf_sums: the caller checks the contents of the reports. */
void engine_send_items(redisContext *redis, const char *function, uint32_t bucket, uint32_t slot,
		       const void *bytes, size_t size, const struct engine_report *reports,
		       int count);
/* False: the reply is an error, or invalid. */
bool engine_read_heard(const redisReply *reply, struct rf_ledger_heard *heard);
bool engine_read_answers(const redisReply *reply, struct engine_report *reports, int count);

/* The server's stored state. False: these bytes are not the hosts of a bucket, or a record. */
bool engine_parse_hosts(const redisReply *reply, struct rf_ledger *ledger, uint16_t *base,
			struct rf_ledger_slots *listed);
bool engine_parse_record(const redisReply *reply, struct rf_ledger_source *source);

#endif /* RINGFENCE_ENGINE_CLIENT_H */
