// SPDX-License-Identifier: GPL-2.0
/*
 * One call of a member, from words, and its reply as words. G is 2 s, W 3 s, P 90, f 10.
 *
 *   call SOCKET beat BUCKET SLOT NONCE JOINED [complete] [resumes]
 *   call SOCKET report BUCKET SLOT NONCE JOINED {SOURCE SEQ USED HAS WANTS}…
 *   call SOCKET gone BUCKET SLOT NONCE JOINED WHO
 *
 * ENGINE_USER and ENGINE_PASSWORD identify the caller; ENGINE_KEY_SLOT is the slot that the key
 * names, if it differs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

#define REPORTS_MAX 8

static const struct rf_ledger_limit limit = {90, 10, 3000};
static const char *const status_names[] = {"done", "refused", "stranger",
					   "old",  "garbage", "foreign"};

static uint64_t number(const char *word)
{
	return strtoull(word, NULL, 0);
}

static int print_error(const redisReply *reply)
{
	printf("error: %s\n", reply->type == REDIS_REPLY_ERROR ? reply->str : "garbage");
	return 1;
}

static uint32_t key_slot(const struct rf_ledger_call *call)
{
	const char *slot = getenv("ENGINE_KEY_SLOT");

	return slot ? number(slot) : call->slot;
}

static void log_in(redisContext *redis)
{
	const char *user = getenv("ENGINE_USER");
	redisReply *reply;

	if (!user)
		return;
	engine_send(redis, "AUTH %s %s", user, getenv("ENGINE_PASSWORD"));
	reply = engine_get(redis);
	if (reply->type == REDIS_REPLY_ERROR)
		exit(print_error(reply));
	freeReplyObject(reply);
}

static int beat(redisContext *redis, uint32_t bucket, const struct rf_ledger_call *call,
		char **words, int count)
{
	struct rf_ledger_beat says = {0};
	uint8_t bytes[RF_WIRE_BEAT_MAX];
	struct rf_ledger_heard heard;
	redisReply *reply;

	for (int i = 0; i < count; i++) {
		says.is_complete |= !strcmp(words[i], "complete");
		says.resumes |= !strcmp(words[i], "resumes");
		if (!strncmp(words[i], "key=", 4))
			says.key = number(words[i] + 4);
	}
	engine_send_beat(redis, bucket, key_slot(call), bytes,
			 rf_wire_pack_beat(bytes, call, &says));
	reply = engine_get(redis);
	if (!engine_read_heard(reply, &heard))
		return print_error(reply);
	if (heard.status == RF_LEDGER_FOREIGN)
		heard.joined = heard.key;
	printf("%s %" PRIu64 "%s%s\n", status_names[heard.status], heard.joined,
	       heard.is_complete ? " complete" : "", heard.is_learning ? " learning" : "");
	return 0;
}

static int report(redisContext *redis, uint32_t bucket, const struct rf_ledger_call *call,
		  char **words, int count)
{
	static char key[REPORTS_MAX][RF_WIRE_KEY_SIZE];
	struct engine_report reports[REPORTS_MAX];
	uint8_t bytes[RF_WIRE_CALL_SIZE];
	redisReply *reply;

	count /= 5;
	for (int i = 0; i < count && i < REPORTS_MAX; i++, words += 5) {
		const struct rf_ledger_report says = {number(words[1]), number(words[2]),
						      number(words[3]), number(words[4])};

		rf_wire_record_key(key[i], bucket, "dns", 0xabc, words[0]);
		reports[i].key = key[i];
		reports[i].size = RF_WIRE_REPORT_SIZE;
		rf_wire_pack_report(reports[i].bytes, &limit, &says);
	}
	rf_wire_pack_call(bytes, call);
	engine_send_reports(redis, bucket, key_slot(call), bytes, sizeof(bytes), reports, count);
	reply = engine_get(redis);
	if (!engine_read_answers(reply, reports, count))
		return print_error(reply);
	for (int i = 0; i < count; i++)
		printf("%s %u\n", status_names[reports[i].answer.status], reports[i].answer.share);
	return 0;
}

static int gone(redisContext *redis, uint32_t bucket, const struct rf_ledger_call *call,
		char **words, int count)
{
	uint8_t bytes[RF_WIRE_GONE_SIZE];
	struct rf_ledger_left left;
	redisReply *reply;

	rf_wire_pack_gone(bytes, call, count ? number(words[0]) : 0);
	engine_send_gone(redis, bucket, key_slot(call), bytes, sizeof(bytes));
	reply = engine_get(redis);
	if (reply->type != REDIS_REPLY_STRING ||
	    !rf_wire_unpack_left(&left, reply->str, reply->len))
		return print_error(reply);
	printf("%s %" PRIu64 "\n", status_names[left.status], left.left);
	return 0;
}

int main(int argc, char **argv)
{
	struct rf_ledger_call call = {.grace = 2000, .window = 3000};
	redisContext *redis;

	if (argc < 7 || (argc - 7) / 5 > REPORTS_MAX)
		return 2;
	redis = engine_open(argv[1]);
	log_in(redis);
	call.slot = number(argv[4]);
	call.nonce = number(argv[5]);
	call.joined = number(argv[6]);
	if (strcmp(argv[2], "gone") == 0)
		return gone(redis, number(argv[3]), &call, argv + 7, argc - 7);
	return (strcmp(argv[2], "beat") ? report : beat)(redis, number(argv[3]), &call, argv + 7,
							 argc - 7);
}
