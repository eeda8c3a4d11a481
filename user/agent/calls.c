// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "agent/call_words.h"
#include "agent/calls.h"
#include "base/time.h"
#include "base/units.h"
#include "rules/grouping.h"

#define TOLD_PAUSE_NS (50 * RF_NS_PER_MS)
#define BEAT_WORDS 6 /* FCALL, function, number of keys, two keys, the call */

void rf_calls_start(struct rf_calls *calls, struct rf_claims *claims, struct rf_line *beats,
		    struct rf_line *reports)
{
	*calls = (struct rf_calls){.claims = claims, .beats = beats, .reports = reports};
	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		calls->beating[i] =
			(struct rf_beating){.calls = calls, .bucket = i, .due_ns = UINT64_MAX};
	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		calls->summing[i] = (struct rf_summing){.calls = calls, .batch = &claims->sums[i]};
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
	struct rf_address source = {.version = key->is_ipv6 ? 6 : 4};
	char address[INET6_ADDRSTRLEN];

	memcpy(source.word, key->source, sizeof(key->source));
	inet_ntop(key->is_ipv6 ? AF_INET6 : AF_INET, key->source, address, sizeof(address));
	snprintf(text, RF_CALLS_SOURCE_SIZE, "%s/%u", address,
		 rf_group_length(limit->per4, limit->per6, &source));
}

static void make_item(struct rf_call_words *words, const struct rf_claims *claims,
		      const struct rf_report_batch *batch, uint32_t i)
{
	const struct rf_claim_key *key = &batch->item[i].claimant->key;
	const struct rf_fleet_limit *limit = &claims->limit[key->limit];
	const struct rf_ledger_limit figures = {limit->pool, limit->first, ms_of(limit->window_ns)};
	char source[RF_CALLS_SOURCE_SIZE];

	rf_calls_format_source(key, limit, source);
	rf_wire_record_key(words->key[i], batch->bucket, limit->name, limit->definition, source);
	rf_wire_pack_report(words->item[i], &figures, &batch->item[i].report);
}

static bool unpack_answers(const struct rf_report_batch *batch, const redisReply *reply,
			   struct rf_ledger_answer answer[RF_REPORT_ITEMS])
{
	if (!rf_call_is_answered(reply, batch->count))
		return false;
	for (uint32_t i = 0; i < batch->count; i++)
		if (!rf_wire_unpack_answer(&answer[i], reply->element[i]->str,
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
	const struct rf_ledger_call call = rf_calls_of(calls, batch->bucket);
	struct rf_call_words words;

	if (!rf_line_is_ready(calls->reports, batch->bucket, rf_time_awake()))
		return false;
	for (uint32_t i = 0; i < batch->count; i++)
		make_item(&words, calls->claims, batch, i);
	rf_call_words_make(&words, &call, batch->bucket, "rf_report", batch->count,
			   RF_WIRE_REPORT_SIZE);
	return rf_line_call(calls->reports, batch->bucket, words.words, words.word, words.length,
			    take_answers, &calls->reporting[batch - calls->claims->batch]);
}
