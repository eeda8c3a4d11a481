// SPDX-License-Identifier: GPL-2.0
/* Reports, of several sources in a call. */
#include <string.h>

#include "compare.h"

#define BATCH 8

/* Any, or one that has the same bytes as the name of a host in a record. */
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

/* How long the record of a source is stored, in ms. */
static uint64_t life_of(const struct rf_ledger_source *source, uint64_t grace, uint64_t window)
{
	const uint64_t silent = grace + window;
	bool is_claimed = false, is_wanted = false;

	for (int i = 0; i < source->count; i++) {
		is_claimed |= source->claim[i].claim;
		is_wanted |= source->claim[i].in_vain;
	}
	if (is_claimed)
		return silent + rf_wire_kept_ms(window);
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
	bucket->ends[source] = now + life_of(&bucket->source[source], call->grace, limit.window);
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

/* At times the stored state of a source is invalid while the call is made. */
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

void report(struct bucket *bucket, struct member *member)
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
