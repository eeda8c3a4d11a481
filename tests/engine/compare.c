// SPDX-License-Identifier: GPL-2.0
/*
 * The server's functions compared with their model, call by call: replies and all stored state are
 * the same, for any calls. The library is a copy whose time comes from two keys; test_function
 * creates it, and mutants of it. Usage: compare SOCKET LIBRARY CALLS; RF_TEST_SEED as in unit
 * tests.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

struct bucket buckets[BUCKETS];
const uint32_t slots[MEMBERS] = {0, 1, 3, 256, 257, 511, 1023};
const struct rf_ledger_limit limits[SOURCES] = {
	{90, 10, WINDOW}, {90, 0, 1000}, {7, 1, 10}, {3000000000, 1, WINDOW}};

redisContext *redis;
uint64_t now = 1764000000000, run = 1, calls;
struct seen seen;
static uint64_t random_state;

void differs(const char *format, ...)
{
	va_list values;

	printf("call %" PRIu64 " differs: ", calls);
	va_start(values, format);
	vprintf(format, values);
	va_end(values);
	puts("");
	exit(1);
}

/* splitmix64, as in tests/unit/unit.h. */
uint64_t dice(uint64_t bound)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (z ^ z >> 31) % bound;
}

void command(const char *format, const char *key)
{
	engine_send(redis, format, key);
	freeReplyObject(engine_get(redis));
}

static void start_keys(struct bucket *bucket, int source)
{
	rf_wire_record_key(bucket->key[source], bucket->number, "dns", source, "192.0.2.1/32");
	rf_wire_sum_key(bucket->sum_key[source], bucket->number, "dns", source, "192.0.2.1/32");
}

static void start(void)
{
	for (int i = 0; i < BUCKETS; i++) {
		buckets[i].number = i ? RF_BUCKETS - 1 : 0;
		rf_wire_hosts_key(buckets[i].hosts_key, buckets[i].number);
		for (int j = 0; j < SOURCES; j++)
			start_keys(&buckets[i], j);
		for (int j = 0; j < MEMBERS; j++)
			buckets[i].member[j] = (struct member){.slot = slots[j], .nonce = 1 + j};
	}
	load_library();
	lose_all();
}

int main(int argc, char **argv)
{
	const char *seed = getenv("RF_TEST_SEED");

	if (argc != 4)
		return 2;
	random_state = seed ? strtoull(seed, NULL, 0) : 20240229;
	redis = engine_open(argv[1]);
	take_library(argv[2]);
	start();
	for (const uint64_t wanted = strtoull(argv[3], NULL, 10); calls < wanted; calls++) {
		struct bucket *bucket = &buckets[dice(BUCKETS)];
		struct member *member = &bucket->member[dice(MEMBERS)];

		happen(bucket);
		if (!dice(8))
			gone(bucket, member);
		else if (!dice(10))
			add_sums(bucket, member);
		else if (dice(2) || now < member->quiet_until)
			report(bucket, member);
		else
			beat(bucket, member);
	}
	printf("calls %" PRIu64 " beats %" PRIu64 " refused %" PRIu64 " learning %" PRIu64
	       " done %" PRIu64 " old %" PRIu64 " stranger %" PRIu64 " garbage %" PRIu64
	       " grown %" PRIu64 " lowered %" PRIu64 " errors %" PRIu64 " gone %" PRIu64
	       " forgotten %" PRIu64 " foreign %" PRIu64 " sums %" PRIu64 "\n",
	       calls, seen.beats, seen.refused, seen.learning, seen.done, seen.old, seen.stranger,
	       seen.garbage, seen.grown, seen.lowered, seen.errors, seen.gone, seen.forgotten,
	       seen.foreign, seen.sums);
	redisFree(redis);
	return 0;
}
