// SPDX-License-Identifier: GPL-2.0
#include "agent/calls.h"

#include <arpa/inet.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/prefix.h"
#include "base/say.h"
#include "base/time.h"
#include "base/units.h"
#include "fleet/wire.h"
#include "rules/policy.h"

#define TOLD_PAUSE_NS (50 * RF_NS_PER_MS)

void rf_calls_start(struct rf_calls *calls, const struct rf_agent_settings *settings,
		    struct rf_claims *claims, struct rf_line *beats, struct rf_line *reports)
{
	*calls = (struct rf_calls){
		.settings = settings, .claims = claims, .beats = beats, .reports = reports};
	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		calls->beating[i] =
			(struct rf_beating){.calls = calls, .bucket = i, .due_ns = UINT64_MAX};
	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		calls->summing[i] = (struct rf_summing){.calls = calls, .batch = &claims->sums[i]};
	for (uint32_t i = 0; i < RF_REPORTS_MAX; i++)
		calls->reporting[i] =
			(struct rf_reporting){.calls = calls, .batch = &claims->batch[i]};
}

/* In ms of the server's time, rounded up: the window can be longer but never shorter. */
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

bool rf_calls_send(struct rf_line *line, uint32_t bucket, uint32_t slot, const char *function,
		   const void *bytes, size_t size, rf_link_answer answer, void *data)
{
	char slot_key[RF_WIRE_KEY_SIZE], hosts_key[RF_WIRE_KEY_SIZE];
	const char *const words[] = {"FCALL", function, "2", slot_key, hosts_key, bytes};
	size_t lengths[ARRAY_SIZE(words)];

	rf_wire_slot_key(slot_key, bucket, slot);
	rf_wire_hosts_key(hosts_key, bucket);
	for (size_t i = 0; i < ARRAY_SIZE(words) - 1; i++)
		lengths[i] = strlen(words[i]);
	lengths[ARRAY_SIZE(words) - 1] = size;
	return rf_line_call(line, bucket, ARRAY_SIZE(words), words, lengths, answer, data);
}

static void send_beat(struct rf_calls *calls, uint32_t bucket, uint64_t now)
{
	struct rf_beating *beating = &calls->beating[bucket];
	const struct rf_ledger_call call = rf_calls_of(calls, bucket);
	const struct rf_ledger_beat beat = rf_claims_beat(calls->claims, bucket, now);
	uint8_t bytes[RF_WIRE_BEAT_MAX];
	const size_t size = rf_wire_pack_beat(bytes, &call, &beat);

	beating->term = calls->term;
	beating->beat = calls->claims->member[bucket].beat;
	beating->sent_ns = now;
	beating->due_ns = UINT64_MAX;
	beating->is_under_way = rf_calls_send(calls->beats, bucket, call.slot, "rf_beat", bytes,
					      size, take_heard, beating);
}

static bool may_beat(const struct rf_calls *calls, uint32_t bucket, uint64_t now)
{
	return !calls->beating[bucket].is_under_way && rf_claims_may_beat(calls->claims, bucket) &&
	       rf_line_is_ready(calls->beats, bucket, now);
}

static void send_beats(struct rf_calls *calls, bool due_only, uint64_t now)
{
	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		if (may_beat(calls, i, now) && (calls->beating[i].due_ns <= now || !due_only))
			send_beat(calls, i, now);
}

/* Nothing hurries once all slots were tried. */
uint64_t rf_calls_due_ns(const struct rf_calls *calls, uint64_t now)
{
	uint64_t due_ns = calls->beat_at_ns;

	if (!calls->hosts || calls->refusals >= calls->hosts)
		return due_ns;
	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		if (calls->beating[i].due_ns < due_ns && may_beat(calls, i, now))
			due_ns = calls->beating[i].due_ns;
	return due_ns;
}

static void beat(struct rf_calls *calls, uint64_t now)
{
	const bool is_time = now >= calls->beat_at_ns;

	if (is_time)
		calls->beat_at_ns = now + calls->settings->grace_ns / 4;
	if (calls->hosts && (is_time || rf_calls_due_ns(calls, now) <= now))
		send_beats(calls, !is_time, now);
}

/* ---- the slot ---- */

uint64_t rf_calls_draw(void)
{
	uint64_t number = 0;

	while (!number)
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			number = 0;
	return number;
}

static void take_slot(struct rf_calls *calls, uint32_t slot)
{
	rf_claims_take_slot(calls->claims, slot, rf_calls_draw(), calls->settings->grace_ns);
	calls->term++;
	for (uint32_t i = 0; i < RF_BUCKETS; i++) {
		calls->beating[i].is_refused = false;
		calls->beating[i].due_ns = 0;
	}
}

/* Tries all slots in turn, then again, at the pace of heartbeats. */
static void take_next_slot(struct rf_calls *calls)
{
	calls->refusals++;
	if (calls->refusals == calls->hosts)
		rf_warn("all %u slots of the fleet are in use: this host is offline; raise "
			"'hosts', or wait until a lost host is removed",
			calls->hosts);
	take_slot(calls, (calls->claims->member[0].slot + 1) % calls->hosts);
}

/* The number of hosts may change: a slot beyond them is another definition's. */
static void look_at_hosts(struct rf_calls *calls, uint32_t hosts)
{
	const uint32_t before = calls->hosts;

	calls->hosts = hosts;
	if (hosts && (!before || calls->claims->member[0].slot >= hosts))
		take_slot(calls, rf_calls_draw() % hosts);
}

/* Does the slot belong to a different host? Ignored while the fleet server is learning, when it can
 * refuse any host. */
static bool is_refused(const struct rf_calls *calls)
{
	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		if (calls->beating[i].is_refused && !calls->beating[i].is_learning)
			return true;
	return false;
}

static void look_at_slot(struct rf_calls *calls)
{
	bool all = true;

	if (is_refused(calls)) {
		take_next_slot(calls);
		return;
	}
	for (int i = 0; i < RF_BUCKETS; i++)
		all = all && calls->claims->member[i].is_complete;
	if (all)
		calls->refusals = 0;
}

void rf_calls_turn(struct rf_calls *calls, uint32_t hosts, uint64_t now)
{
	look_at_hosts(calls, hosts);
	if (hosts)
		look_at_slot(calls);
	beat(calls, now);
}

/* ---- calls with items, each about a separate key: rf_report and rf_sums ---- */

struct call_words {
	char count[12];
	char slot_key[RF_WIRE_KEY_SIZE], hosts_key[RF_WIRE_KEY_SIZE];
	char key[RF_REPORT_ITEMS][RF_WIRE_KEY_SIZE];
	uint8_t call[RF_WIRE_CALL_SIZE];
	uint8_t item[RF_REPORT_ITEMS][RF_WIRE_REPORT_SIZE]; /* of the longest */
	const char *word[2 * RF_REPORT_ITEMS + 6];
	size_t length[2 * RF_REPORT_ITEMS + 6];
	int words;
};

static void add_word(struct call_words *words, const void *word, size_t length)
{
	words->word[words->words] = word;
	words->length[words->words++] = length;
}

static void add_text(struct call_words *words, const char *text)
{
	add_word(words, text, strlen(text));
}

/* A call of which the caller has filled the first `items` of `key` and `item`. */
static bool send_items(struct rf_calls *calls, struct call_words *words, uint32_t bucket,
		       const char *function, uint32_t items, size_t item_size,
		       rf_link_answer answer, void *data)
{
	const struct rf_ledger_call call = rf_calls_of(calls, bucket);

	words->words = 0;
	snprintf(words->count, sizeof(words->count), "%u", items + 2);
	rf_wire_slot_key(words->slot_key, bucket, call.slot);
	rf_wire_hosts_key(words->hosts_key, bucket);
	rf_wire_pack_call(words->call, &call);
	add_text(words, "FCALL");
	add_text(words, function);
	add_text(words, words->count);
	add_text(words, words->slot_key);
	add_text(words, words->hosts_key);
	for (uint32_t i = 0; i < items; i++)
		add_text(words, words->key[i]);
	add_word(words, words->call, sizeof(words->call));
	for (uint32_t i = 0; i < items; i++)
		add_word(words, words->item[i], item_size);
	return rf_line_call(calls->reports, bucket, words->words, words->word, words->length,
			    answer, data);
}

/* Does the reply have a string for each item? Otherwise it is invalid. */
static bool is_answered(const redisReply *reply, uint32_t items)
{
	if (!reply || reply->type != REDIS_REPLY_ARRAY || reply->elements != items)
		return false;
	for (uint32_t i = 0; i < items; i++)
		if (reply->element[i]->type != REDIS_REPLY_STRING)
			return false;
	return true;
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

struct rf_claim_key rf_calls_key(const struct rf_claims *claims, int number,
				 const struct rf_address *address)
{
	const struct rf_fleet_limit *limit = &claims->limit[number];
	const unsigned int length = rf_group_length(limit->per4, limit->per6, address);
	struct rf_claim_key key = {.limit = number, .is_ipv6 = address->version == 6};
	struct rf_address masked = *address;

	for (unsigned int i = 0; i < 4; i++)
		masked.word[i] &= rf_prefix_mask(length, i);
	memcpy(key.source, masked.word, sizeof(key.source));
	return key;
}

static void make_item(struct call_words *words, const struct rf_claims *claims,
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
	if (!is_answered(reply, batch->count))
		return false;
	for (uint32_t i = 0; i < batch->count; i++)
		if (!rf_wire_unpack_answer(&answer[i], reply->element[i]->str,
					   reply->element[i]->len))
			return false;
	return true;
}

/*
 * The first heartbeat after all claims were reported extends the deadline. Reports of them can be
 * in several calls.
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
	struct call_words words;

	if (!rf_line_is_ready(calls->reports, batch->bucket, rf_time_awake()))
		return false;
	for (uint32_t i = 0; i < batch->count; i++)
		make_item(&words, calls->claims, batch, i);
	return send_items(calls, &words, batch->bucket, "rf_report", batch->count,
			  RF_WIRE_REPORT_SIZE, take_answers,
			  &calls->reporting[batch - calls->claims->batch]);
}

/* ---- received packets, for the sum over all hosts ---- */

static void make_sum(struct call_words *words, const struct rf_claims *claims,
		     const struct rf_sum_batch *batch, uint32_t i)
{
	const struct rf_claim_key *key = &batch->item[i].key;
	const struct rf_fleet_limit *limit = &claims->limit[key->limit];
	const struct rf_sum_report report = rf_claims_sum_report(claims, batch, i);
	char source[RF_CALLS_SOURCE_SIZE];

	rf_calls_format_source(key, limit, source);
	rf_wire_sum_key(words->key[i], batch->bucket, limit->name, limit->definition, source);
	rf_wire_pack_sum(words->item[i], &report);
}

static bool unpack_sums(const struct rf_sum_batch *batch, const redisReply *reply,
			struct rf_sum_answer answer[RF_REPORT_ITEMS])
{
	if (!is_answered(reply, batch->count))
		return false;
	for (uint32_t i = 0; i < batch->count; i++)
		if (!rf_wire_unpack_summed(&answer[i], reply->element[i]->str,
					   reply->element[i]->len))
			return false;
	return true;
}

static void take_sums(void *data, const redisReply *reply)
{
	struct rf_summing *summing = data;
	struct rf_claims *claims = summing->calls->claims;
	struct rf_sum_answer answer[RF_REPORT_ITEMS];

	if (unpack_sums(summing->batch, reply, answer))
		rf_claims_summed(claims, summing->batch, answer, rf_time_awake());
	else
		rf_claims_unsummed(summing->batch);
}

bool rf_calls_sum(struct rf_calls *calls, struct rf_sum_batch *batch)
{
	struct call_words words;

	if (!rf_line_is_ready(calls->reports, batch->bucket, rf_time_awake()))
		return false;
	for (uint32_t i = 0; i < batch->count; i++)
		make_sum(&words, calls->claims, batch, i);
	return send_items(calls, &words, batch->bucket, "rf_sums", batch->count, RF_WIRE_SUM_SIZE,
			  take_sums, &calls->summing[batch->bucket]);
}
