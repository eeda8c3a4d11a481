// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

static void fail(const char *what, const redisContext *redis)
{
	fprintf(stderr, "engine: %s: %s\n", what, redis ? redis->errstr : "no memory");
	exit(2);
}

redisContext *engine_open(const char *socket)
{
	redisContext *redis = redisConnectUnix(socket);

	if (!redis || redis->err)
		fail(socket, redis);
	return redis;
}

void engine_send(redisContext *redis, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	if (redisvAppendCommand(redis, format, values) != REDIS_OK)
		fail(format, redis);
	va_end(values);
}

redisReply *engine_get(redisContext *redis)
{
	redisReply *reply;

	if (redisGetReply(redis, (void **)&reply) != REDIS_OK)
		fail("no answer", redis);
	return reply;
}

int64_t engine_get_number(redisContext *redis)
{
	redisReply *reply = engine_get(redis);
	const int64_t number = reply->integer;

	freeReplyObject(reply);
	return number;
}

uint64_t engine_get_time_ms(redisContext *redis)
{
	redisReply *reply = engine_get(redis);
	const uint64_t seconds = strtoull(reply->element[0]->str, NULL, 10);
	const uint64_t us = strtoull(reply->element[1]->str, NULL, 10);

	freeReplyObject(reply);
	return seconds * 1000 + us / 1000;
}

/* ---- calls ---- */

struct words {
	const char *at[6 + 2 * RF_WIRE_REPORTS_MAX];
	size_t size[6 + 2 * RF_WIRE_REPORTS_MAX];
	int count;
};

static void add(struct words *words, const void *at, size_t size)
{
	words->at[words->count] = at;
	words->size[words->count++] = size;
}

static void add_text(struct words *words, const char *text)
{
	add(words, text, strlen(text));
}

static void send_words(redisContext *redis, const struct words *words)
{
	if (redisAppendCommandArgv(redis, words->count, (const char **)words->at, words->size) !=
	    REDIS_OK)
		fail("a call", redis);
}

static void send_call(redisContext *redis, const char *function, uint32_t bucket, uint32_t slot,
		      const void *bytes, size_t size)
{
	char slot_key[RF_WIRE_KEY_SIZE], hosts_key[RF_WIRE_KEY_SIZE];
	struct words words = {.count = 0};

	rf_wire_slot_key(slot_key, bucket, slot);
	rf_wire_hosts_key(hosts_key, bucket);
	add_text(&words, "FCALL");
	add_text(&words, function);
	add_text(&words, "2");
	add_text(&words, slot_key);
	add_text(&words, hosts_key);
	add(&words, bytes, size);
	send_words(redis, &words);
}

void engine_send_beat(redisContext *redis, uint32_t bucket, uint32_t slot, const void *bytes,
		      size_t size)
{
	send_call(redis, "rf_beat", bucket, slot, bytes, size);
}

void engine_send_gone(redisContext *redis, uint32_t bucket, uint32_t slot, const void *bytes,
		      size_t size)
{
	send_call(redis, "rf_gone", bucket, slot, bytes, size);
}

void engine_send_items(redisContext *redis, const char *function, uint32_t bucket, uint32_t slot,
		       const void *bytes, size_t size, const struct engine_report *reports,
		       int count)
{
	char slot_key[RF_WIRE_KEY_SIZE], hosts_key[RF_WIRE_KEY_SIZE], keys[16];
	struct words words = {.count = 0};

	rf_wire_slot_key(slot_key, bucket, slot);
	rf_wire_hosts_key(hosts_key, bucket);
	snprintf(keys, sizeof(keys), "%d", 2 + count);
	add_text(&words, "FCALL");
	add_text(&words, function);
	add_text(&words, keys);
	add_text(&words, slot_key);
	add_text(&words, hosts_key);
	for (int i = 0; i < count; i++)
		add_text(&words, reports[i].key);
	add(&words, bytes, size);
	for (int i = 0; i < count; i++)
		add(&words, reports[i].bytes, reports[i].size);
	send_words(redis, &words);
}

void engine_send_reports(redisContext *redis, uint32_t bucket, uint32_t slot, const void *bytes,
			 size_t size, const struct engine_report *reports, int count)
{
	engine_send_items(redis, "rf_report", bucket, slot, bytes, size, reports, count);
}

bool engine_read_heard(const redisReply *reply, struct rf_ledger_heard *heard)
{
	return reply->type == REDIS_REPLY_STRING &&
	       rf_wire_unpack_heard(heard, reply->str, reply->len);
}

bool engine_read_answers(const redisReply *reply, struct engine_report *reports, int count)
{
	if (reply->type != REDIS_REPLY_ARRAY || (int)reply->elements != count)
		return false;
	for (int i = 0; i < count; i++) {
		const redisReply *one = reply->element[i];

		if (one->type != REDIS_REPLY_STRING ||
		    !rf_wire_unpack_answer(&reports[i].answer, one->str, one->len))
			return false;
	}
	return true;
}

/* ---- the server's stored state ---- */

#define HEAD_SIZE 51
#define HOST_SIZE 29
#define CLAIM_SIZE 12
#define SHORT_SIZE 8
#define SHORT_MAX (SHORT_SIZE + 3 * CLAIM_SIZE)
#define LONG_SIZE 26 /* with what counting came to */
#define IN_VAIN 0x8000

static uint64_t number(const char *bytes, int size)
{
	uint64_t value = 0;

	for (int i = 0; i < size; i++)
		value |= (uint64_t)(uint8_t)bytes[i] << 8 * i;
	return value;
}

bool engine_parse_hosts(const redisReply *reply, struct rf_ledger *ledger, uint16_t *base,
			struct rf_ledger_slots *listed)
{
	memset(ledger, 0, sizeof(*ledger));
	memset(listed, 0, sizeof(*listed));
	if (reply->type != REDIS_REPLY_STRING || reply->len < HEAD_SIZE ||
	    (reply->len - HEAD_SIZE) % HOST_SIZE)
		return false;
	ledger->run = number(reply->str, 8);
	ledger->newest = number(reply->str + 8, 8);
	ledger->learns_from = number(reply->str + 16, 8);
	ledger->window = number(reply->str + 24, 4);
	*base = number(reply->str + 28, 2);
	ledger->is_learning = reply->str[30];
	ledger->key = number(reply->str + 35, 8);
	for (size_t at = HEAD_SIZE; at < (size_t)reply->len; at += HOST_SIZE) {
		const char *bytes = reply->str + at;
		const uint32_t slot = number(bytes, 2);

		if (slot >= RF_LEDGER_SLOTS || rf_ledger_slots_has(listed, slot))
			return false;
		rf_ledger_slots_add(listed, slot);
		ledger->host[slot] = (struct rf_ledger_host){
			.generation = number(bytes + 2, 2),
			.is_complete = bytes[4] & 1,
			.is_expected = bytes[4] >> 1 & 1,
			.nonce = number(bytes + 5, 8),
			.joined = number(bytes + 13, 8),
			.heard = number(bytes + 21, 8),
		};
	}
	return true;
}

bool engine_parse_record(const redisReply *reply, struct rf_ledger_source *source)
{
	size_t head;

	memset(source, 0, sizeof(*source));
	if (reply->type == REDIS_REPLY_NIL)
		return true;
	head = reply->len <= SHORT_MAX ? SHORT_SIZE : LONG_SIZE;
	if (reply->type != REDIS_REPLY_STRING || reply->len < head ||
	    (reply->len - head) % CLAIM_SIZE)
		return false;
	source->contested_until = number(reply->str, 8);
	for (size_t at = head; at < (size_t)reply->len; at += CLAIM_SIZE) {
		const char *bytes = reply->str + at;
		const uint32_t slot = number(bytes + 2, 2);

		source->claim[source->count++] = (struct rf_ledger_claim){
			.slot = slot & ~IN_VAIN,
			.generation = number(bytes, 2),
			.claim = number(bytes + 4, 4),
			.seq = number(bytes + 8, 4),
			.in_vain = slot & IN_VAIN,
		};
	}
	return true;
}
