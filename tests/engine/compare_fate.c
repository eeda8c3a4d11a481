// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "compare.h"

static const char *library;

void take_library(const char *path)
{
	library = path;
}

void lose_hosts(struct bucket *bucket)
{
	static const char *const how[] = {
		"SET %s rubbish", "RPUSH %s rubbish",
		"SET %s 123456789012345678901234567890123456789012345678901x", "GET %s"};

	command("DEL %s", bucket->hosts_key);
	command(how[dice(4)], bucket->hosts_key);
	memset(&bucket->ledger, 0, sizeof(bucket->ledger));
	bucket->is_new = true;
}

void lose_record(struct bucket *bucket, int source)
{
	command("DEL %s", bucket->key[source]);
	memset(&bucket->source[source], 0, sizeof(bucket->source[source]));
	bucket->ends[source] = 0;
}

void lose_sum(struct bucket *bucket, int source)
{
	command("DEL %s", bucket->sum_key[source]);
	memset(&bucket->sum[source], 0, sizeof(bucket->sum[source]));
}

void lose_all(void)
{
	engine_send(redis, "FLUSHALL");
	freeReplyObject(engine_get(redis));
	for (int i = 0; i < BUCKETS; i++) {
		lose_hosts(&buckets[i]);
		for (int j = 0; j < SOURCES; j++) {
			lose_record(&buckets[i], j);
			lose_sum(&buckets[i], j);
		}
	}
}

void load_library(void)
{
	FILE *file = fopen(library, "r");
	char text[65536];
	size_t size = file ? fread(text, 1, sizeof(text), file) : 0;
	redisReply *reply;

	if (file)
		fclose(file);
	engine_send(redis, "FUNCTION LOAD REPLACE %b", text, size);
	reply = engine_get(redis);
	if (reply->type == REDIS_REPLY_ERROR)
		differs("the library is not loaded: %s", reply->str);
	freeReplyObject(reply);
	run++;
}

static void pass_time(void)
{
	const uint64_t kind = dice(8000);

	if (kind < 6)
		now += dice(2) ? GRACE / 2 + dice(3) - 1 : GRACE + WINDOW - 1 + dice(3);
	else if (kind < 7)
		now -= dice(3 * GRACE);
	else if (kind < 8)
		now += dice(RF_WIRE_KEPT_MS + 20000);
	else if (kind < 6000)
		now += dice(25);
	for (int i = 0; i < BUCKETS; i++)
		for (int j = 0; j < SOURCES; j++)
			if (buckets[i].ends[j] && now >= buckets[i].ends[j])
				lose_record(&buckets[i], j);
}

void happen(struct bucket *bucket)
{
	struct member *member = &bucket->member[dice(MEMBERS)];

	pass_time();
	if (!dice(4000))
		lose_hosts(bucket);
	if (!dice(300))
		lose_record(bucket, dice(SOURCES));
	if (!dice(300))
		lose_sum(bucket, dice(SOURCES));
	if (!dice(8000))
		lose_all();
	if (!dice(3000))
		load_library();
	if (!dice(2000)) { /* a new start of the agent */
		member->nonce = 1 + dice(UINT64_MAX);
		member->joined = 0;
	}
	if (!dice(2500))
		bucket->says_key = dice(3);
	if (!dice(300))
		member->quiet_until = now + dice(4 * (GRACE + WINDOW));
}
