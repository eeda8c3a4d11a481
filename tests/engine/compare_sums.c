// SPDX-License-Identifier: GPL-2.0
/* The received packets, of several sources in a call. */
#include <string.h>

#include "compare.h"

#define BATCH 8
#define HEAD_SIZE 28 /* run, start of learning, the latest cell, W */

/* None of these is the key of a sum. */
static const char *other_key(const struct bucket *bucket, int source)
{
	const char *const keys[] = {bucket->hosts_key, bucket->key[source], "rf:{0}:x",
				    "rf:{0}:x:sum"};

	return keys[dice(4)];
}

static void some_sum(const struct bucket *bucket, int source, struct engine_report *to)
{
	const struct rf_sum_report says = {
		.from_ms = dice(20)  ? now - dice(limits[source].window * 5 / 4 + 20)
			   : dice(2) ? now + dice(500)
				     : dice(UINT64_MAX),
		.units = dice(200) ? dice(1000) : dice(UINT32_MAX + 1ULL),
		.window_ms = dice(50)  ? limits[source].window
			     : dice(2) ? limits[source].window - 1
				       : dice(WINDOW + 2),
	};

	to->key = dice(200) ? bucket->sum_key[source] : other_key(bucket, source);
	rf_wire_pack_sum(to->bytes, &says);
	to->size = garble(to->bytes, RF_WIRE_SUM_SIZE, 100);
}

static bool read_summed(const redisReply *reply, struct rf_sum_answer *answer, int count)
{
	if (reply->type != REDIS_REPLY_ARRAY || (int)reply->elements != count)
		return false;
	for (int i = 0; i < count; i++)
		if (!rf_wire_unpack_summed(&answer[i], reply->element[i]->str,
					   reply->element[i]->len))
			return false;
	return true;
}

static struct rf_sum_answer add_to_model(struct bucket *bucket, const struct rf_ledger_call *call,
					 int source, int rubbish,
					 const struct engine_report *report)
{
	const bool is_sum = report->key == bucket->sum_key[source] && source != rubbish;
	struct rf_sum_answer wanted = {RF_LEDGER_GARBAGE, 0, bucket->ledger.newest};
	struct rf_sum none = {0};
	struct rf_sum_report says;

	if (!rf_wire_unpack_sum(&says, call, report->bytes, report->size))
		return wanted;
	wanted = rf_sum_add(is_sum ? &bucket->sum[source] : &none, &bucket->ledger, call, &says);
	if (!is_sum && wanted.status == RF_LEDGER_DONE)
		wanted.status = RF_LEDGER_GARBAGE, wanted.sum = 0;
	return wanted;
}

static void compare_summed(const struct rf_sum_answer *is, const struct rf_sum_answer *wanted)
{
	if (is->status != wanted->status || is->sum != wanted->sum || is->now_ms != wanted->now_ms)
		differs("status %d, sum %u at %llu, not %d, %u, %llu", is->status, is->sum,
			(unsigned long long)is->now_ms, wanted->status, wanted->sum,
			(unsigned long long)wanted->now_ms);
	seen.sums += is->sum > 0;
}

/*
 * The stored state; a key is made not to expire, because time is not the server's here. It can have
 * expired before that: some last for 2 ms.
 */
static void compare_sum(struct bucket *bucket, int source, uint64_t before, uint64_t after,
			bool is_written)
{
	const struct rf_sum *wanted = &bucket->sum[source];
	const uint64_t life =
		wanted->window_ms + (wanted->window_ms + RF_SUM_CELLS - 1) / RF_SUM_CELLS;
	redisReply *reply;
	bool is_kept;
	int64_t ends;

	engine_send(redis, "GET %s", bucket->sum_key[source]);
	engine_send(redis, "PEXPIRETIME %s", bucket->sum_key[source]);
	engine_send(redis, "PERSIST %s", bucket->sum_key[source]);
	engine_send(redis, "TIME");
	reply = engine_get(redis);
	ends = engine_get_number(redis);
	is_kept = engine_get_number(redis);
	if (engine_get_time_ms(redis) >= before + life && is_written && !is_kept) {
		lose_sum(bucket, source);
	} else if (is_written) {
		if (reply->type != REDIS_REPLY_STRING ||
		    reply->len != HEAD_SIZE + sizeof(wanted->units) ||
		    memcmp(reply->str + HEAD_SIZE, wanted->units, sizeof(wanted->units)) != 0)
			differs("what is kept of a sum");
		check_expiry(before, after, ends, life);
	}
	freeReplyObject(reply);
}

/* At times the stored state of a source is invalid while the call is made. */
static int make_rubbish(struct bucket *bucket)
{
	static const char *const how[] = {"SET %s rubbish", "RPUSH %s rubbish", "SETRANGE %s 96 x",
					  "HSET %s some rubbish"};
	const int source = dice(SOURCES);

	if (dice(100))
		return -1;
	lose_sum(bucket, source);
	command(how[dice(4)], bucket->sum_key[source]);
	return source;
}

void add_sums(struct bucket *bucket, struct member *member)
{
	struct rf_ledger_call call = call_of(member);
	struct engine_report reports[BATCH];
	struct rf_sum_answer answer[BATCH];
	uint8_t bytes[RF_WIRE_CALL_SIZE];
	bool is_written[SOURCES] = {false};
	const int count = 1 + dice(BATCH), rubbish = make_rubbish(bucket);
	int source[BATCH];
	uint64_t before, after;
	redisReply *reply;

	rf_wire_pack_call(bytes, &call);
	for (int i = 0; i < count; i++) {
		source[i] = dice(SOURCES);
		some_sum(bucket, source[i], &reports[i]);
	}
	send_begin();
	engine_send_items(redis, "rf_sums", bucket->number, call.slot, bytes, sizeof(bytes),
			  reports, count);
	engine_send(redis, "TIME");
	before = get_begin();
	reply = engine_get(redis);
	after = engine_get_time_ms(redis);
	if (!read_summed(reply, answer, count))
		differs("sums are answered by %s",
			reply->type == REDIS_REPLY_ERROR ? reply->str : "garbage");
	freeReplyObject(reply);
	rf_ledger_open(&bucket->ledger, &call);
	for (int i = 0; i < count; i++) {
		const struct rf_sum_answer wanted =
			add_to_model(bucket, &call, source[i], rubbish, &reports[i]);

		compare_summed(&answer[i], &wanted);
		is_written[source[i]] |= wanted.status == RF_LEDGER_DONE &&
					 reports[i].key == bucket->sum_key[source[i]];
	}
	for (int i = 0; i < SOURCES; i++)
		compare_sum(bucket, i, before, after, is_written[i]);
	if (rubbish >= 0)
		lose_sum(bucket, rubbish);
}
