// SPDX-License-Identifier: GPL-2.0
/* What windows received, for the sum over all hosts, and the bans that follow from it: sums.h. */
#include <string.h>

#include "fleet/private.h"

#define COLLECT_NS 50000000ULL /* what was received is collected for so long */

void rf_claims_send_sums(struct rf_claims *claims, uint64_t now)
{
	for (uint32_t i = 0; i < RF_BUCKETS; i++) {
		struct rf_sum_batch *batch = &claims->sums[i];

		if (!batch->count || batch->is_under_way || now < batch->since_ns + COLLECT_NS)
			continue;
		batch->bucket = i;
		batch->joined = claims->member[i].joined;
		batch->is_under_way = true;
		if (!claims->member[i].joined || !claims->ports.sums(claims->ports.context, batch))
			rf_claims_unsummed(batch);
	}
}

uint64_t rf_claims_sums_due_ns(const struct rf_claims *claims)
{
	uint64_t due_ns = UINT64_MAX;

	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		if (claims->sums[i].count && !claims->sums[i].is_under_way &&
		    claims->sums[i].since_ns + COLLECT_NS < due_ns)
			due_ns = claims->sums[i].since_ns + COLLECT_NS;
	return due_ns;
}

static bool is_still_meant(const struct rf_claims *claims, const struct rf_sum_item *item)
{
	const struct rf_fleet_limit *limit = &claims->limit[item->key.limit];

	return limit->in_force && limit->tag == item->tag;
}

struct rf_sum_report rf_claims_sum_report(const struct rf_claims *claims,
					  const struct rf_sum_batch *batch, uint32_t i)
{
	const struct rf_sum_item *item = &batch->item[i];
	const uint64_t window_ms = claims->limit[item->key.limit].window_ns / RF_NS_PER_MS;

	return (struct rf_sum_report){
		.from_ms = rf_sum_clock_ms(&claims->clock[batch->bucket],
					   claims->member[batch->bucket].joined, item->from_ns),
		.units = is_still_meant(claims, item) ? item->units : 0,
		.window_ms = window_ms ? window_ms : 1,
	};
}

/* The claim that an item is of, where its source is over L on all hosts together. */
static struct rf_claimant *claimant_over(const struct rf_claims *claims,
					 const struct rf_sum_item *item,
					 const struct rf_sum_answer *answer)
{
	if (answer->status != RF_LEDGER_DONE || !is_still_meant(claims, item) ||
	    answer->sum <= claims->limit[item->key.limit].limit)
		return NULL;
	return rf_claim_table_find(&claims->table, &item->key);
}

void rf_claims_summed(struct rf_claims *claims, struct rf_sum_batch *batch,
		      const struct rf_sum_answer *answer, uint64_t now)
{
	struct rf_claimant *over[RF_REPORT_ITEMS];
	struct rf_visit visit;
	uint32_t count = 0;

	for (uint32_t i = 0; i < batch->count; i++) {
		struct rf_claimant *claimant = claimant_over(claims, &batch->item[i], &answer[i]);

		if (claimant)
			over[count++] = claimant;
		if (answer[i].status == RF_LEDGER_DONE)
			claims->clock[batch->bucket] = (struct rf_sum_clock){
				.joined = batch->joined,
				.ledger_ms = answer[i].now_ms,
				.heard_ns = now,
			};
	}
	rf_claims_unsummed(batch);
	claims->counts.over += count;
	if (count) /* where it fails, the source is over again soon */
		rf_claims_visit(claims, over, count, RF_VISIT_BANS, now, &visit);
}

/* It is not sent again, since the ledger may have it. */
void rf_claims_unsummed(struct rf_sum_batch *batch)
{
	batch->count = 0;
	batch->is_under_way = false;
}
