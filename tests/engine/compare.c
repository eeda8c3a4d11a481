// SPDX-License-Identifier: GPL-2.0
/*
 * The engine's functions beside user/fleet/ledger.c, call by call: answers and all that is kept are
 * the same, whatever is called. The library is a copy whose time is that of two keys; test_function
 * makes it, and mutants of it. Usage: compare SOCKET LIBRARY CALLS; RF_TEST_SEED as in unit tests.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

#define BUCKETS 2
#define MEMBERS 7
#define SOURCES 4
#define BATCH 8
#define GRACE 2000
#define WINDOW 3000

struct member {
	uint32_t slot;
	uint64_t nonce, joined;
	uint32_t seq, share[SOURCES];
};

/* What the rules say that the engine has. */
static struct bucket {
	struct rf_ledger ledger;
	struct rf_ledger_source source[SOURCES];
	uint64_t ends[SOURCES]; /* when the record does; 0: there is none */
	bool is_new;		/* the engine has lost its hosts: where generations begin is its */
	struct member member[MEMBERS];
	char key[SOURCES][RF_WIRE_KEY_SIZE], hosts_key[RF_WIRE_KEY_SIZE];
	uint32_t number;
} buckets[BUCKETS];

static const uint32_t slots[MEMBERS] = {0, 1, 3, 256, 257, 511, 1023};
static const struct rf_ledger_limit limits[SOURCES] = {
	{90, 10, WINDOW}, {90, 0, 1000}, {7, 1, 10}, {3000000000, 1, WINDOW}};

static redisContext *redis;
static const char *library;
static uint64_t now = 1764000000000, run = 1, random_state, stamps = 1ULL << 63;
static uint64_t calls;
static struct {
	uint64_t beats, refused, learning, done, old, stranger, garbage, grown, lowered, errors;
} seen;

static void differs(const char *format, ...)
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
static uint64_t dice(uint64_t bound)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (z ^ z >> 31) % bound;
}

static void command(const char *format, const char *key)
{
	engine_send(redis, format, key);
	freeReplyObject(engine_get(redis));
}

/* ---- what befalls the engine ---- */

static void lose_hosts(struct bucket *bucket)
{
	static const char *const how[] = {"SET %s rubbish", "RPUSH %s rubbish",
					  "SET %s 1234567890123456789012345678901234567890123x",
					  "GET %s"};

	command("DEL %s", bucket->hosts_key);
	command(how[dice(4)], bucket->hosts_key);
	memset(&bucket->ledger, 0, sizeof(bucket->ledger));
	bucket->is_new = true;
}

static void lose_record(struct bucket *bucket, int source)
{
	command("DEL %s", bucket->key[source]);
	memset(&bucket->source[source], 0, sizeof(bucket->source[source]));
	bucket->ends[source] = 0;
}

static void lose_all(void)
{
	engine_send(redis, "FLUSHALL");
	freeReplyObject(engine_get(redis));
	for (int i = 0; i < BUCKETS; i++) {
		lose_hosts(&buckets[i]);
		for (int j = 0; j < SOURCES; j++)
			lose_record(&buckets[i], j);
	}
}

static void load(void)
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

static void happen(struct bucket *bucket)
{
	struct member *member = &bucket->member[dice(MEMBERS)];

	pass_time();
	if (!dice(4000))
		lose_hosts(bucket);
	if (!dice(300))
		lose_record(bucket, dice(SOURCES));
	if (!dice(8000))
		lose_all();
	if (!dice(3000))
		load();
	if (!dice(2000)) { /* a new start of the agent */
		member->nonce = 1 + dice(UINT64_MAX);
		member->joined = 0;
	}
}

/* ---- what the engine keeps ---- */

static bool same_host(const struct rf_ledger_host *is, const struct rf_ledger_host *wanted)
{
	if (is->nonce != wanted->nonce || is->is_expected != wanted->is_expected)
		return false;
	if (is->generation != wanted->generation || is->is_complete != wanted->is_complete)
		return false;
	return !is->nonce || (is->joined == wanted->joined && is->heard == wanted->heard);
}

static void compare_hosts(const struct rf_ledger *is, const struct rf_ledger *wanted,
			  const struct rf_ledger_slots *listed)
{
	if (is->newest != wanted->newest || is->learns_from != wanted->learns_from ||
	    is->window != wanted->window || is->is_learning != wanted->is_learning)
		differs("newest %" PRIu64 ", learns from %" PRIu64 ", window %" PRIu64
			", learning %d, not %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %d",
			is->newest, is->learns_from, is->window, is->is_learning, wanted->newest,
			wanted->learns_from, wanted->window, wanted->is_learning);
	for (int i = 0; i < RF_LEDGER_SLOTS; i++)
		if (rf_ledger_slots_has(listed, i)
			    ? !same_host(&is->host[i], &wanted->host[i])
			    : wanted->host[i].nonce || wanted->host[i].is_expected)
			differs("the host of slot %d", i);
}

static const struct rf_ledger_claim *claim_of(const struct rf_ledger_source *source, uint32_t slot)
{
	for (int i = 0; i < source->count; i++)
		if (source->claim[i].slot == slot)
			return &source->claim[i];
	return NULL;
}

static void compare_record(const struct rf_ledger_source *is, const struct rf_ledger_source *wanted)
{
	if (is->contested_until != wanted->contested_until)
		differs("contested until");
	if (is->count != wanted->count)
		differs("%u claims, not %u", is->count, wanted->count);
	for (int i = 0; i < is->count; i++) {
		const struct rf_ledger_claim *one = &is->claim[i],
					     *other = claim_of(wanted, one->slot);

		if (!other || one->generation != other->generation || one->seq != other->seq ||
		    one->claim != other->claim || one->in_vain != other->in_vain)
			differs("the claim of slot %u", one->slot);
	}
}

/* The times of the engine's real clock before and after the call, and when a key ends. */
static void check_expiry(uint64_t before, uint64_t after, int64_t ends, uint64_t life)
{
	if (ends < (int64_t)(before + life) || ends > (int64_t)(after + life))
		differs("it ends %" PRId64 " ms after the call, not %" PRIu64,
			ends - (int64_t)before, life);
}

/* The hosts as they are kept now; where generations begin is taken over from an engine that lost
 * its hosts. */
static bool get_hosts(struct bucket *bucket, struct rf_ledger *ledger,
		      struct rf_ledger_slots *listed)
{
	redisReply *reply = engine_get(redis);
	uint16_t base = 0;
	const bool is_read = engine_parse_hosts(reply, ledger, &base, listed);

	freeReplyObject(reply);
	for (int i = 0; i < RF_LEDGER_SLOTS && is_read && bucket->is_new; i++)
		bucket->ledger.host[i].generation = base;
	bucket->is_new &= !is_read;
	return is_read;
}

/* ---- calls ---- */

static struct rf_ledger_call call_of(const struct member *member)
{
	return (struct rf_ledger_call){
		.now = now,
		.run = run,
		.grace = dice(10) ? GRACE : GRACE / 2 + dice(GRACE),
		.window = WINDOW,
		.nonce = member->nonce,
		.joined = dice(30) ? member->joined : dice(3),
		.slot = member->slot,
	};
}

/* Changes bytes at times, so that they may or may not make sense. */
static size_t garble(uint8_t *bytes, size_t size, uint64_t seldom)
{
	if (dice(seldom))
		return size;
	if (!dice(3))
		return dice(size + 4);
	bytes[dice(size)] = dice(2) ? dice(256) : dice(2) * 255;
	return size;
}

static void send_begin(void)
{
	engine_send(redis, "SET now:s %llu", (unsigned long long)now / 1000);
	engine_send(redis, "SET now:us %llu", (unsigned long long)(now % 1000 * 1000 + dice(1000)));
	engine_send(redis, "TIME");
}

static uint64_t get_begin(void)
{
	freeReplyObject(engine_get(redis));
	freeReplyObject(engine_get(redis));
	return engine_get_time_ms(redis);
}

static struct rf_ledger_beat some_beat(const struct bucket *bucket)
{
	struct rf_ledger_beat beat = {.is_complete = dice(8) > 0, .resumes = !dice(4)};

	for (int i = 0; i < RF_LEDGER_SLOTS; i++)
		if (bucket->ledger.host[i].nonce && dice(8))
			rf_ledger_slots_add(&beat.known, i);
	if (!dice(1000))
		rf_ledger_slots_add(&beat.known, dice(RF_LEDGER_SLOTS));
	return beat;
}

static void compare_heard(const struct rf_ledger_heard *is, const struct rf_ledger_heard *wanted)
{
	if (is->status != wanted->status || is->joined != wanted->joined)
		differs("status %d, joined %" PRIx64 ", not %d, %" PRIx64, is->status, is->joined,
			wanted->status, wanted->joined);
	if (is->is_complete != wanted->is_complete || is->is_learning != wanted->is_learning)
		differs("complete %d, learning %d, not %d, %d", is->is_complete, is->is_learning,
			wanted->is_complete, wanted->is_learning);
	if (memcmp(&is->members, &wanted->members, sizeof(is->members)))
		differs("the members");
	seen.beats++;
	seen.refused += is->status == RF_LEDGER_REFUSED;
	seen.learning += is->is_learning;
}

/* An answer that names the membership that the rules know brings none that is new. */
static void beat_model(struct bucket *bucket, struct member *member, struct rf_ledger_call *call,
		       const struct rf_ledger_beat *beat, const redisReply *reply)
{
	const uint64_t present = bucket->ledger.host[call->slot].joined;
	struct rf_ledger_heard heard, wanted;

	if (!engine_read_heard(reply, &heard))
		differs("a heartbeat is answered by %s",
			reply->type == REDIS_REPLY_ERROR ? reply->str : "garbage");
	call->stamp = heard.joined && heard.joined != present ? heard.joined : ++stamps;
	wanted = rf_ledger_beat(&bucket->ledger, call, beat);
	compare_heard(&heard, &wanted);
	if (heard.joined)
		member->joined = heard.joined;
}

static void beat(struct bucket *bucket, struct member *member)
{
	struct rf_ledger_call call = call_of(member);
	struct rf_ledger_beat says = some_beat(bucket);
	uint8_t bytes[RF_WIRE_BEAT_MAX + 4] = {0};
	const size_t size = garble(bytes, rf_wire_pack_beat(bytes, &call, &says), 300);
	const uint32_t slot = dice(100) ? member->slot : dice(5);
	struct rf_ledger kept;
	struct rf_ledger_slots listed;
	uint64_t before, after;
	redisReply *reply;
	bool is_read;
	int64_t ends;

	send_begin();
	engine_send_beat(redis, bucket->number, slot, bytes, size);
	engine_send(redis, "TIME");
	engine_send(redis, "GET %s", bucket->hosts_key);
	engine_send(redis, "PEXPIRETIME %s", bucket->hosts_key);
	before = get_begin();
	reply = engine_get(redis);
	after = engine_get_time_ms(redis);
	is_read = get_hosts(bucket, &kept, &listed);
	ends = engine_get_number(redis);
	if (!rf_wire_unpack_beat(&call, &says, bytes, size) || call.slot != slot) {
		if (reply->type != REDIS_REPLY_ERROR)
			differs("a heartbeat is taken that makes no sense");
		seen.errors++;
	} else {
		call.now = now;
		call.run = run;
		beat_model(bucket, member, &call, &says, reply);
		check_expiry(before, after, ends,
			     RF_WIRE_KEPT_MS + call.grace + bucket->ledger.window);
	}
	freeReplyObject(reply);
	if (is_read)
		compare_hosts(&kept, &bucket->ledger, &listed);
	if (bucket->ledger.window > WINDOW)
		lose_hosts(bucket);
}

/* ---- reports ---- */

/* Any, or one that has the same bytes as what names a host in a record. */
static uint32_t some_number(const struct bucket *bucket)
{
	const uint32_t slot = slots[dice(MEMBERS)];

	if (dice(2))
		return dice(UINT32_MAX + 1ULL);
	return slot << 16 | bucket->ledger.host[slot].generation;
}

static void some_report(struct bucket *bucket, struct member *member, int source,
			struct engine_report *to)
{
	const uint32_t pool = limits[source].pool, share = member->share[source];
	struct rf_ledger_report says = {
		.used = dice(200) ? dice(pool / 2 + 20) : dice(UINT32_MAX + 1ULL),
		.has = dice(200) ? dice(share + 1ULL) : some_number(bucket),
		.wants = dice(3) ? dice(pool + 1ULL) : 0,
	};

	member->seq += dice(20) ? 1 : dice(4);
	says.seq = member->seq - (dice(20) ? 0 : dice(6));
	if (!dice(5000)) /* numbers come round */
		member->seq += 0x70000000;
	to->key = dice(200) ? bucket->key[source] : dice(2) ? bucket->hosts_key : "rf:{0}:x";
	rf_wire_pack_report(to->bytes, &limits[source], &says);
	to->size = garble(to->bytes, RF_WIRE_REPORT_SIZE, 100);
}

static void compare_answer(const struct rf_ledger_answer *is, const struct rf_ledger_answer *wanted)
{
	if (is->status != wanted->status || is->seq != wanted->seq || is->share != wanted->share ||
	    is->lower_to != wanted->lower_to)
		differs("status %d, %u, share %u, lower to %u, not %d, %u, %u, %u", is->status,
			is->seq, is->share, is->lower_to, wanted->status, wanted->seq,
			wanted->share, wanted->lower_to);
	seen.done += is->status == RF_LEDGER_DONE;
	seen.old += is->status == RF_LEDGER_OLD;
	seen.stranger += is->status == RF_LEDGER_STRANGER;
	seen.garbage += is->status == RF_LEDGER_GARBAGE;
	seen.lowered += is->lower_to < is->share;
}

/* How long the record of a source is kept, in ms. `silent`: G + W. */
static uint64_t life_of(const struct rf_ledger_source *source, uint64_t silent)
{
	bool is_claimed = false, is_wanted = false;

	for (int i = 0; i < source->count; i++) {
		is_claimed |= source->claim[i].claim;
		is_wanted |= source->claim[i].in_vain;
	}
	if (is_claimed)
		return silent + RF_WIRE_KEPT_MS;
	return is_wanted ? silent + RF_WIRE_IDLE_MS : RF_WIRE_LEFT_MS;
}

/* One report of a call that makes sense. */
static struct rf_ledger_answer report_model(struct bucket *bucket, struct member *member,
					    const struct rf_ledger_call *call, int source,
					    bool is_rubbish, const struct engine_report *report)
{
	struct rf_ledger_answer wanted = {.status = RF_LEDGER_GARBAGE};
	struct rf_ledger_report says;
	struct rf_ledger_limit limit;

	if (report->size == RF_WIRE_REPORT_SIZE)
		memcpy(&wanted.seq, report->bytes, sizeof(wanted.seq));
	if (!rf_wire_unpack_report(&limit, &says, call, report->bytes, report->size))
		return wanted;
	if (is_rubbish || report->key != bucket->key[source]) {
		struct rf_ledger_source none = {0};

		wanted = rf_ledger_report(&bucket->ledger, &none, call, &limit, &says);
		if (wanted.status == RF_LEDGER_DONE)
			wanted = (struct rf_ledger_answer){RF_LEDGER_GARBAGE, says.seq, 0, 0};
		return wanted;
	}
	wanted = rf_ledger_report(&bucket->ledger, &bucket->source[source], call, &limit, &says);
	if (wanted.status != RF_LEDGER_DONE)
		return wanted;
	seen.grown += wanted.share > says.has;
	member->share[source] = wanted.share;
	bucket->ends[source] = now + life_of(&bucket->source[source], call->grace + limit.window);
	return wanted;
}

/* The records are made not to expire, since time is not the engine's here. */
static void get_records(struct bucket *bucket, uint64_t before, uint64_t after,
			const bool *is_written, int rubbish, const struct rf_ledger *kept,
			const struct rf_ledger_call *call)
{
	for (int i = 0; i < SOURCES; i++) {
		redisReply *reply = engine_get(redis);
		const int64_t ends = engine_get_number(redis);
		struct rf_ledger_source source;

		engine_get_number(redis);
		if (i != rubbish && !engine_parse_record(reply, &source))
			differs("a record that makes no sense");
		freeReplyObject(reply);
		if (i == rubbish)
			continue;
		compare_record(&source, &bucket->source[i]);
		if (rf_ledger_claimed(kept, &source, call, &limits[i]) !=
		    rf_ledger_claimed(&bucket->ledger, &bucket->source[i], call, &limits[i]))
			differs("the sum of the claims");
		if (is_written[i])
			check_expiry(before, after, ends, bucket->ends[i] - now);
	}
}

static void send_reports(struct bucket *bucket, uint32_t slot, const uint8_t *bytes, size_t size,
			 const struct engine_report *reports, int count)
{
	send_begin();
	engine_send_reports(redis, bucket->number, slot, bytes, size, reports, count);
	engine_send(redis, "TIME");
	engine_send(redis, "GET %s", bucket->hosts_key);
	for (int i = 0; i < SOURCES; i++) {
		engine_send(redis, "GET %s", bucket->key[i]);
		engine_send(redis, "PEXPIRETIME %s", bucket->key[i]);
		engine_send(redis, "PERSIST %s", bucket->key[i]);
	}
}

/* At times what is kept of a source makes no sense while the call is made. */
static int make_rubbish(struct bucket *bucket)
{
	static const char *const how[] = {"SET %s rubbish", "RPUSH %s rubbish",
					  "SET %s 123456789012345678901", "HSET %s some rubbish"};
	const int source = dice(SOURCES);

	if (dice(100))
		return -1;
	lose_record(bucket, source);
	command(how[dice(4)], bucket->key[source]);
	return source;
}

static void report(struct bucket *bucket, struct member *member)
{
	struct rf_ledger_call call = call_of(member);
	const uint32_t slot = dice(100) ? member->slot : dice(5);
	const int count = 1 + dice(BATCH), rubbish = make_rubbish(bucket);
	struct engine_report reports[BATCH];
	uint8_t bytes[RF_WIRE_CALL_SIZE + 4] = {0};
	bool is_written[SOURCES] = {false}, makes_sense, is_read;
	int source[BATCH];
	struct rf_ledger kept;
	struct rf_ledger_slots listed;
	uint64_t before, after;
	redisReply *reply;
	size_t size;

	rf_wire_pack_call(bytes, &call);
	size = garble(bytes, RF_WIRE_CALL_SIZE, 300);
	makes_sense = rf_wire_unpack_call(&call, bytes, size) && call.slot == slot;
	call.now = now;
	call.run = run;
	for (int i = 0; i < count; i++) {
		source[i] = dice(SOURCES);
		some_report(bucket, member, source[i], &reports[i]);
	}
	send_reports(bucket, slot, bytes, size, reports, count);
	before = get_begin();
	reply = engine_get(redis);
	after = engine_get_time_ms(redis);
	is_read = get_hosts(bucket, &kept, &listed);
	if (makes_sense != engine_read_answers(reply, reports, count))
		differs("a call is answered by %s",
			reply->type == REDIS_REPLY_ERROR ? reply->str : "garbage");
	seen.errors += !makes_sense;
	if (makes_sense)
		rf_ledger_report(&bucket->ledger, &(struct rf_ledger_source){0}, &call, &limits[0],
				 &(struct rf_ledger_report){0});
	for (int i = 0; i < count && makes_sense; i++) {
		const struct rf_ledger_answer wanted = report_model(
			bucket, member, &call, source[i], source[i] == rubbish, &reports[i]);

		compare_answer(&reports[i].answer, &wanted);
		is_written[source[i]] |= wanted.status == RF_LEDGER_DONE;
	}
	freeReplyObject(reply);
	if (is_read)
		compare_hosts(&kept, &bucket->ledger, &listed);
	get_records(bucket, before, after, is_written, rubbish, &kept, &call);
	if (rubbish >= 0)
		lose_record(bucket, rubbish);
	if (bucket->ledger.window > WINDOW)
		lose_hosts(bucket);
}

static void start(void)
{
	for (int i = 0; i < BUCKETS; i++) {
		buckets[i].number = i ? RF_BUCKETS - 1 : 0;
		rf_wire_hosts_key(buckets[i].hosts_key, buckets[i].number);
		for (int j = 0; j < SOURCES; j++)
			rf_wire_record_key(buckets[i].key[j], buckets[i].number, "dns", j,
					   "192.0.2.1/32");
		for (int j = 0; j < MEMBERS; j++)
			buckets[i].member[j] = (struct member){.slot = slots[j], .nonce = 1 + j};
	}
	load();
	lose_all();
}

int main(int argc, char **argv)
{
	const char *seed = getenv("RF_TEST_SEED");

	if (argc != 4)
		return 2;
	random_state = seed ? strtoull(seed, NULL, 0) : 20240229;
	redis = engine_open(argv[1]);
	library = argv[2];
	start();
	for (const uint64_t wanted = strtoull(argv[3], NULL, 10); calls < wanted; calls++) {
		struct bucket *bucket = &buckets[dice(BUCKETS)];
		struct member *member = &bucket->member[dice(MEMBERS)];

		happen(bucket);
		if (dice(2))
			report(bucket, member);
		else
			beat(bucket, member);
	}
	printf("calls %" PRIu64 " beats %" PRIu64 " refused %" PRIu64 " learning %" PRIu64
	       " done %" PRIu64 " old %" PRIu64 " stranger %" PRIu64 " garbage %" PRIu64
	       " grown %" PRIu64 " lowered %" PRIu64 " errors %" PRIu64 "\n",
	       calls, seen.beats, seen.refused, seen.learning, seen.done, seen.old, seen.stranger,
	       seen.garbage, seen.grown, seen.lowered, seen.errors);
	redisFree(redis);
	return 0;
}
