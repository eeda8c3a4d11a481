/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An engine for tests: calls of its functions as a member makes them, one at a time, and what it
 * keeps. A mistake of the connection ends the program.
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
/* Sends one command; its answer is for engine_get(). */
void engine_send(redisContext *redis, const char *format, ...);
/* The next answer, which the caller frees. */
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
/* The same of rf_sums: what is in the reports is the caller's. */
void engine_send_items(redisContext *redis, const char *function, uint32_t bucket, uint32_t slot,
		       const void *bytes, size_t size, const struct engine_report *reports,
		       int count);
/* False: the answer is an error, or makes no sense. */
bool engine_read_heard(const redisReply *reply, struct rf_ledger_heard *heard);
bool engine_read_answers(const redisReply *reply, struct engine_report *reports, int count);

/* What the engine keeps. False: these bytes are not the hosts of a bucket, or a record. */
bool engine_parse_hosts(const redisReply *reply, struct rf_ledger *ledger, uint16_t *base,
			struct rf_ledger_slots *listed);
bool engine_parse_record(const redisReply *reply, struct rf_ledger_source *source);

#endif /* RINGFENCE_ENGINE_CLIENT_H */
