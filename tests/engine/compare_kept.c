// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>

#include "compare.h"

static bool same_host(const struct rf_ledger_host *is, const struct rf_ledger_host *wanted)
{
	if (is->nonce != wanted->nonce || is->is_expected != wanted->is_expected)
		return false;
	if (is->generation != wanted->generation || is->is_complete != wanted->is_complete)
		return false;
	return !is->nonce || (is->joined == wanted->joined && is->heard == wanted->heard);
}

void compare_hosts(const struct rf_ledger *is, const struct rf_ledger *wanted,
		   const struct rf_ledger_slots *listed)
{
	if (is->newest != wanted->newest || is->learns_from != wanted->learns_from ||
	    is->window != wanted->window || is->is_learning != wanted->is_learning)
		differs("newest %" PRIu64 ", learns from %" PRIu64 ", window %" PRIu64
			", learning %d, not %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %d",
			is->newest, is->learns_from, is->window, is->is_learning, wanted->newest,
			wanted->learns_from, wanted->window, wanted->is_learning);
	if (is->key != wanted->key)
		differs("key %" PRIx64 ", not %" PRIx64, is->key, wanted->key);
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

void compare_record(const struct rf_ledger_source *is, const struct rf_ledger_source *wanted)
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

void check_expiry(uint64_t before, uint64_t after, int64_t ends, uint64_t life)
{
	if (ends < (int64_t)(before + life) || ends > (int64_t)(after + life))
		differs("it ends %" PRId64 " ms after the call, not %" PRIu64,
			ends - (int64_t)before, life);
}

bool get_hosts(struct bucket *bucket, struct rf_ledger *ledger, struct rf_ledger_slots *listed)
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
