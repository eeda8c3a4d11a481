// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "agent/calls.h"
#include "base/time.h"
#include "base/units.h"
#include "fleet/wire.h"

#define COUNT_SIZE 12
#define TOLD_PAUSE_NS (50 * RF_NS_PER_MS)
#define BEAT_WORDS 6 /* FCALL, function, number of keys, two keys, the call */
#define REPORT_WORDS (2 * RF_REPORT_ITEMS + 6)

void rf_calls_start(struct rf_calls *calls, struct rf_claims *claims, struct rf_line *beats,
		    struct rf_line *reports)
{
	*calls = (struct rf_calls){.claims = claims, .beats = beats, .reports = reports};
	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		calls->beating[i] =
			(struct rf_beating){.calls = calls, .bucket = i, .due_ns = UINT64_MAX};
	for (uint32_t i = 0; i < RF_REPORTS_MAX; i++)
		calls->reporting[i] =
			(struct rf_reporting){.calls = calls, .batch = &claims->batch[i]};
}

void rf_calls_take_slot(struct rf_calls *calls)
{
	calls->term++;
	for (uint32_t i = 0; i < RF_BUCKETS; i++) {
		calls->beating[i].is_refused = false;
		calls->beating[i].due_ns = 0;
	}
}

/* In ms of the engine's time: rounded up, as the window may be longer and never shorter. */
static uint32_t ms_of(uint64_t ns)
{
	const uint64_t ms = (ns + RF_NS_PER_MS - 1) / RF_NS_PER_MS;

	return ms ? ms : 1;
}

struct rf_ledger_call rf_calls_of(const struct rf_calls *calls, uint32_t bucket)
{
	const struct rf_member *member = &calls->claims->member[bucket];

	return (struct rf_ledger_call){
		.slot = member->slot,
		.nonce = member->nonce,
		.joined = member->joined,
		.grace = ms_of(member->grace),
		.window = ms_of(rf_claims_window_ns(calls->claims)),
	};
}

/* ---- heartbeats ---- */

static void take_heard(void *data, const redisReply *reply)
{
	struct rf_beating *beating = data;
	struct rf_calls *calls = beating->calls;
	struct rf_ledger_heard heard;
	enum rf_member_news news;

	beating->is_under_way = false;
	if (reply && reply->type == REDIS_REPLY_ERROR)
		beating->due_ns = 0;
	if (!reply || beating->term != calls->term || reply->type != REDIS_REPLY_STRING ||
	    !rf_wire_unpack_heard(&heard, reply->str, reply->len))
		return;
	calls->beats_answered++;
	news = rf_claims_heard(calls->claims, beating->bucket, rf_time_awake(), beating->beat,
			       beating->sent_ns, &heard);
	beating->is_learning = heard.is_learning && heard.status != RF_LEDGER_FOREIGN;
	beating->is_refused = news == RF_MEMBER_REFUSED;
	if (news == RF_MEMBER_REJOINED || news == RF_MEMBER_EMPTIED)
		beating->due_ns = 0;
}

static void send_beat(struct rf_calls *calls, uint32_t bucket, uint64_t now)
{
	struct rf_beating *beating = &calls->beating[bucket];
	const struct rf_ledger_call call = rf_calls_of(calls, bucket);
	const struct rf_ledger_beat beat = rf_claims_beat(calls->claims, bucket, now);
	char slot_key[RF_WIRE_KEY_SIZE], hosts_key[RF_WIRE_KEY_SIZE];
	uint8_t bytes[RF_WIRE_BEAT_MAX];
	const size_t size = rf_wire_pack_beat(bytes, &call, &beat);
	const char *const words[BEAT_WORDS] = {"FCALL",	 "rf_beat", "2",
					       slot_key, hosts_key, (const char *)bytes};
	size_t lengths[BEAT_WORDS];

	rf_wire_slot_key(slot_key, bucket, call.slot);
	rf_wire_hosts_key(hosts_key, bucket);
	for (int i = 0; i < BEAT_WORDS - 1; i++)
		lengths[i] = strlen(words[i]);
	lengths[BEAT_WORDS - 1] = size;
	beating->term = calls->term;
	beating->beat = calls->claims->member[bucket].beat;
	beating->sent_ns = now;
	beating->due_ns = UINT64_MAX;
	beating->is_under_way =
		rf_line_call(calls->beats, bucket, BEAT_WORDS, words, lengths, take_heard, beating);
}

static bool may_beat(const struct rf_calls *calls, uint32_t bucket, uint64_t now)
{
	return !calls->beating[bucket].is_under_way && rf_claims_may_beat(calls->claims, bucket) &&
	       rf_line_is_ready(calls->beats, bucket, now);
}

void rf_calls_beat(struct rf_calls *calls, bool due_only, uint64_t now)
{
	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		if (may_beat(calls, i, now) && (calls->beating[i].due_ns <= now || !due_only))
			send_beat(calls, i, now);
}

uint64_t rf_calls_due_ns(const struct rf_calls *calls, uint64_t now)
{
	uint64_t due_ns = UINT64_MAX;

	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		if (calls->beating[i].due_ns < due_ns && may_beat(calls, i, now))
			due_ns = calls->beating[i].due_ns;
	return due_ns;
}

bool rf_calls_are_refused(const struct rf_calls *calls)
{
	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		if (calls->beating[i].is_refused && !calls->beating[i].is_learning)
			return true;
	return false;
}

/* ---- reports ---- */

void rf_calls_format_source(const struct rf_claim_key *key, const struct rf_fleet_limit *limit,
			    char text[RF_CALLS_SOURCE_SIZE])
{
	const int family = key->is_ipv6 ? AF_INET6 : AF_INET;
	char address[INET6_ADDRSTRLEN];

	inet_ntop(family, key->source, address, sizeof(address));
	snprintf(text, RF_CALLS_SOURCE_SIZE, "%s/%u", address,
		 key->is_ipv6 ? limit->per6 : limit->per4);
}

/* What a call of rf_report is made of. */
struct words {
	char count[COUNT_SIZE], slot_key[RF_WIRE_KEY_SIZE], hosts_key[RF_WIRE_KEY_SIZE];
	char record_key[RF_REPORT_ITEMS][RF_WIRE_KEY_SIZE];
	uint8_t call[RF_WIRE_CALL_SIZE], report[RF_REPORT_ITEMS][RF_WIRE_REPORT_SIZE];
	const char *word[REPORT_WORDS];
	size_t length[REPORT_WORDS];
	int words;
};

static void add_word(struct words *words, const void *word, size_t length)
{
	words->word[words->words] = word;
	words->length[words->words++] = length;
}

static void add_text(struct words *words, const char *text)
{
	add_word(words, text, strlen(text));
}

static void add_record(struct words *words, const struct rf_claims *claims,
		       const struct rf_report_batch *batch, uint32_t i)
{
	const struct rf_claim_key *key = &batch->item[i].claimant->key;
	const struct rf_fleet_limit *limit = &claims->limit[key->limit];
	const struct rf_ledger_limit figures = {limit->pool, limit->first, ms_of(limit->window_ns)};
	char source[RF_CALLS_SOURCE_SIZE];

	rf_calls_format_source(key, limit, source);
	rf_wire_record_key(words->record_key[i], batch->bucket, limit->name, limit->definition,
			   source);
	rf_wire_pack_report(words->report[i], &figures, &batch->item[i].report);
	add_text(words, words->record_key[i]);
}

static void make_words(struct words *words, const struct rf_calls *calls,
		       const struct rf_report_batch *batch)
{
	const struct rf_ledger_call call = rf_calls_of(calls, batch->bucket);

	words->words = 0;
	snprintf(words->count, sizeof(words->count), "%u", batch->count + 2);
	rf_wire_slot_key(words->slot_key, batch->bucket, call.slot);
	rf_wire_hosts_key(words->hosts_key, batch->bucket);
	rf_wire_pack_call(words->call, &call);
	add_text(words, "FCALL");
	add_text(words, "rf_report");
	add_text(words, words->count);
	add_text(words, words->slot_key);
	add_text(words, words->hosts_key);
	for (uint32_t i = 0; i < batch->count; i++)
		add_record(words, calls->claims, batch, i);
	add_word(words, words->call, sizeof(words->call));
	for (uint32_t i = 0; i < batch->count; i++)
		add_word(words, words->report[i], sizeof(words->report[i]));
}

/* An answer that cannot be read is none. */
static bool unpack_answers(const struct rf_report_batch *batch, const redisReply *reply,
			   struct rf_ledger_answer answer[RF_REPORT_ITEMS])
{
	if (!reply || reply->type != REDIS_REPLY_ARRAY || reply->elements != batch->count)
		return false;
	for (uint32_t i = 0; i < batch->count; i++)
		if (reply->element[i]->type != REDIS_REPLY_STRING ||
		    !rf_wire_unpack_answer(&answer[i], reply->element[i]->str,
					   reply->element[i]->len))
			return false;
	return true;
}

/*
 * The deadline moves by the first heartbeat after all claims were told. It looks whether that is
 * so; they may come in many reports.
 */
static void tell_soon(struct rf_calls *calls, uint32_t bucket)
{
	struct rf_beating *beating = &calls->beating[bucket];

	if (!calls->claims->member[bucket].is_complete &&
	    beating->sent_ns + TOLD_PAUSE_NS < beating->due_ns)
		beating->due_ns = beating->sent_ns + TOLD_PAUSE_NS;
}

static void take_answers(void *data, const redisReply *reply)
{
	struct rf_reporting *reporting = data;
	struct rf_claims *claims = reporting->calls->claims;
	struct rf_ledger_answer answer[RF_REPORT_ITEMS];

	if (unpack_answers(reporting->batch, reply, answer)) {
		tell_soon(reporting->calls, reporting->batch->bucket);
		rf_claims_answered(claims, reporting->batch, answer, rf_time_awake());
	} else {
		rf_claims_unanswered(claims, reporting->batch, rf_time_awake());
	}
}

bool rf_calls_report(struct rf_calls *calls, struct rf_report_batch *batch)
{
	struct words words;

	if (!rf_line_is_ready(calls->reports, batch->bucket, rf_time_awake()))
		return false;
	make_words(&words, calls, batch);
	return rf_line_call(calls->reports, batch->bucket, words.words, words.word, words.length,
			    take_answers, &calls->reporting[batch - calls->claims->batch]);
}
