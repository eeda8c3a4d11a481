// SPDX-License-Identifier: GPL-2.0
/* What was received, for the sum over all hosts. */
#include "agent/call_words.h"
#include "agent/calls.h"
#include "base/time.h"

static void make_item(struct rf_call_words *words, const struct rf_claims *claims,
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

static bool unpack_answers(const struct rf_sum_batch *batch, const redisReply *reply,
			   struct rf_sum_answer answer[RF_REPORT_ITEMS])
{
	if (!rf_call_is_answered(reply, batch->count))
		return false;
	for (uint32_t i = 0; i < batch->count; i++)
		if (!rf_wire_unpack_summed(&answer[i], reply->element[i]->str,
					   reply->element[i]->len))
			return false;
	return true;
}

static void take_answers(void *data, const redisReply *reply)
{
	struct rf_summing *summing = data;
	struct rf_claims *claims = summing->calls->claims;
	struct rf_sum_answer answer[RF_REPORT_ITEMS];

	if (unpack_answers(summing->batch, reply, answer))
		rf_claims_summed(claims, summing->batch, answer, rf_time_awake());
	else
		rf_claims_unsummed(summing->batch);
}

bool rf_calls_sum(struct rf_calls *calls, struct rf_sum_batch *batch)
{
	const struct rf_ledger_call call = rf_calls_of(calls, batch->bucket);
	struct rf_call_words words;

	if (!rf_line_is_ready(calls->reports, batch->bucket, rf_time_awake()))
		return false;
	for (uint32_t i = 0; i < batch->count; i++)
		make_item(&words, calls->claims, batch, i);
	rf_call_words_make(&words, &call, batch->bucket, "rf_sums", batch->count, RF_WIRE_SUM_SIZE);
	return rf_line_call(calls->reports, batch->bucket, words.words, words.word, words.length,
			    take_answers, &calls->summing[batch->bucket]);
}
