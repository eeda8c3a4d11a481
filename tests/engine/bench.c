// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of an update for the fleet server: calls of 8 reports, on sources with claims of HOLDERS
 * hosts each; and of a heartbeat of this many members. Usage: bench SOCKET HOLDERS SOURCES CALLS;
 * prints a line of each. The library is loaded.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client.h"

#define BATCH 8
#define DEPTH 16 /* calls in flight, as of this many hosts */
#define GRACE 2000
#define WINDOW 10000
#define HOLDERS_MAX 1000
#define BEATS 4000

static const struct rf_ledger_limit limit = {1000000, 10, WINDOW};
static redisContext *redis;
static int holders, sources;
static char (*keys)[RF_WIRE_KEY_SIZE];
static struct host {
	uint64_t joined;
	uint32_t seq;
} host[HOLDERS_MAX];
static struct rf_ledger_slots members; /* as in the latest reply */
static uint64_t bytes_both_ways;

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

static struct rf_ledger_call call_of(int slot)
{
	return (struct rf_ledger_call){.slot = slot,
				       .nonce = slot + 1,
				       .joined = host[slot].joined,
				       .grace = GRACE,
				       .window = WINDOW};
}

/* False: the server is learning. */
static bool beat_all(void)
{
	bool gives = true;

	for (int i = 0; i < holders; i++) {
		const struct rf_ledger_call call = call_of(i);
		const struct rf_ledger_beat says = {.is_complete = host[i].joined,
						    .known = members};
		uint8_t bytes[RF_WIRE_BEAT_MAX];
		struct rf_ledger_heard heard;
		redisReply *reply;

		engine_send_beat(redis, 0, i, bytes, rf_wire_pack_beat(bytes, &call, &says));
		reply = engine_get(redis);
		gives &=
			engine_read_heard(reply, &heard) && heard.is_complete && !heard.is_learning;
		host[i].joined = heard.joined;
		members = heard.members;
		freeReplyObject(reply);
	}
	return gives;
}

static void send_call(int slot, int first_source, uint32_t used)
{
	const struct rf_ledger_call call = call_of(slot);
	struct engine_report reports[BATCH];
	uint8_t bytes[RF_WIRE_CALL_SIZE];

	rf_wire_pack_call(bytes, &call);
	for (int i = 0; i < BATCH; i++) {
		const struct rf_ledger_report says = {
			.seq = ++host[slot].seq, .used = used, .has = used, .wants = used + 100};

		reports[i].key = keys[(first_source + i) % sources];
		reports[i].size = RF_WIRE_REPORT_SIZE;
		rf_wire_pack_report(reports[i].bytes, &limit, &says);
		bytes_both_ways += strlen(reports[i].key) + RF_WIRE_REPORT_SIZE;
	}
	engine_send_reports(redis, 0, slot, bytes, sizeof(bytes), reports, BATCH);
}

static void get_answers(void)
{
	struct engine_report reports[BATCH];
	redisReply *reply = engine_get(redis);

	if (!engine_read_answers(reply, reports, BATCH) ||
	    reports[0].answer.status != RF_LEDGER_DONE) {
		fprintf(stderr, "bench: a call failed: %s\n",
			reply->type == REDIS_REPLY_ERROR ? reply->str : "not done");
		exit(1);
	}
	bytes_both_ways += BATCH * RF_WIRE_ANSWER_SIZE;
	freeReplyObject(reply);
}

/* A figure of INFO. */
static double info(const char *name)
{
	redisReply *reply;
	const char *at;
	double figure;

	engine_send(redis, "INFO everything");
	reply = engine_get(redis);
	at = strstr(reply->str, name);
	figure = at ? strtod(at + strlen(name), NULL) : 0;
	freeReplyObject(reply);
	return figure;
}

static double cpu_seconds(void)
{
	return info("used_cpu_sys:") + info("used_cpu_user:");
}

static void beat_if_due(uint64_t *due)
{
	if (now_ns() < *due)
		return;
	*due = now_ns() + GRACE / 4 * 1000000ULL;
	beat_all();
}

/* Each host has a claim on each source. */
static void fill(void)
{
	uint64_t due = now_ns();

	for (int i = 0; i < holders; i++)
		for (int j = 0; j < sources; j += BATCH) {
			send_call(i, j, 100);
			get_answers();
			beat_if_due(&due);
		}
}

static void measure(int calls)
{
	const uint64_t start = now_ns();
	uint64_t due = start;
	double cpu = cpu_seconds();

	bytes_both_ways = 0;
	for (int done = 0; done < calls; done += DEPTH) {
		for (int i = 0; i < DEPTH; i++)
			send_call((done + i) % holders, (done + i) * BATCH % sources, done % 200);
		for (int i = 0; i < DEPTH; i++)
			get_answers();
		beat_if_due(&due);
	}
	cpu = cpu_seconds() - cpu;
	printf("%d holders: %.0f updates/s a core, %.1f us a call of %d, %.0f bytes an update, "
	       "%.0f updates/s seen\n",
	       holders, calls * BATCH / cpu, cpu / calls * 1e6, BATCH,
	       (double)bytes_both_ways / calls / BATCH, calls * BATCH / ((now_ns() - start) / 1e9));
}

static void measure_beats(void)
{
	const int rounds = (BEATS + holders - 1) / holders;
	double cpu = cpu_seconds();

	for (int i = 0; i < rounds; i++)
		beat_all();
	cpu = cpu_seconds() - cpu;
	printf("%d members: %.1f us a heartbeat\n", holders, cpu / rounds / holders * 1e6);
}

int main(int argc, char **argv)
{
	double memory;

	if (argc != 5)
		return 2;
	redis = engine_open(argv[1]);
	holders = atoi(argv[2]);
	sources = atoi(argv[3]);
	if (holders < 1 || holders > HOLDERS_MAX || sources < BATCH)
		return 2;
	keys = calloc(sources, sizeof(*keys));
	for (int i = 0; i < sources; i++) {
		char source[32];

		snprintf(source, sizeof(source), "10.%d.%d.%d", i >> 16 & 255, i >> 8 & 255,
			 i & 255);
		rf_wire_record_key(keys[i], 0, "dns", 0x123456789abcdef, source);
	}
	while (!beat_all())
		nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
	memory = info("used_memory:");
	fill();
	printf("%d holders: %.0f bytes of memory a source\n", holders,
	       (info("used_memory:") - memory) / sources);
	measure(atoi(argv[4]));
	measure_beats();
	free(keys);
	redisFree(redis);
	return 0;
}
