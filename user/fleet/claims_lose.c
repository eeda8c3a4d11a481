// SPDX-License-Identifier: GPL-2.0
/* Single claims: where they go next. */
#include <stddef.h>

#include "fleet/private.h"

void rf_claims_wait(struct rf_claims *claims, struct rf_claimant *claimant, uint64_t until_ns)
{
	claimant->due_ns = until_ns;
	rf_claim_table_move(&claims->table, claimant, RF_CLAIM_WAITS);
}

/*
 * Others have to wait for what a source has here that moves to them. So it is looked at more often
 * if that is most of the pool, or if it has begun to leave. For a sum over all hosts, what it has
 * received is to be known all the time.
 */
void rf_claims_look_later(struct rf_claims *claims, struct rf_claimant *claimant, uint64_t now)
{
	const struct rf_fleet_limit *limit = &claims->limit[claimant->key.limit];
	const bool is_awaited = claimant->claim.share > limit->pool / 2 || !claimant->asked_ns;
	const uint64_t each_ns = limit->window_ns / (is_awaited ? 8 : 4);
	const uint64_t reads_ns = rf_claims_reads_each_ns(claims, limit);
	const uint64_t look_ns = now + (each_ns < reads_ns ? each_ns : reads_ns);
	const bool looks = claimant->claim.share && look_ns < claimant->report_ns;

	rf_claims_wait(claims, claimant, looks ? look_ns : claimant->report_ns);
}

void rf_claims_queue(struct rf_claims *claims, struct rf_claimant *claimant)
{
	const bool settles = claimant->gives_back || claimant->was_retagged;

	claimant->report_ns = 0;
	rf_claim_table_move(&claims->table, claimant, settles ? RF_CLAIM_LOWERS : RF_CLAIM_READY);
}

void rf_claims_touch(struct rf_claims *claims, struct rf_claimant *claimant)
{
	if (claimant->state == RF_CLAIM_REPORTED)
		claimant->again = true;
	else if (claimant->state != RF_CLAIM_SETTLES) /* it is reported after that */
		rf_claims_queue(claims, claimant);
}

void rf_claims_take_back(struct rf_claims *claims, struct rf_claimant *claimant, uint32_t to)
{
	if (!claimant->gives_back || to < claimant->lower_to)
		claimant->lower_to = to;
	claimant->gives_back = true;
	rf_claims_touch(claims, claimant);
}

void rf_claims_lose(struct rf_claims *claims, struct rf_claimant *claimant, uint64_t now)
{
	const struct rf_fleet_limit *limit = &claims->limit[claimant->key.limit];

	if (!claimant->incarnation)
		return;
	claims->counts.lost += claimant->claim.covers != 0;
	rf_claim_lost(&claimant->claim, now, limit->window_ns);
	claimant->incarnation = 0;
	claimant->gives_back = false;
	claimant->counted_ns = claimant->received_ns = 0;
}

void rf_claims_lose_all(struct rf_claims *claims, uint64_t now)
{
	struct rf_claimant *claimant = NULL;

	while ((claimant = rf_claim_table_next(&claims->table, claimant))) {
		rf_claims_lose(claims, claimant, now);
		rf_claims_touch(claims, claimant);
	}
}

void rf_claims_leave(struct rf_claims *claims)
{
	struct rf_claimant *claimant = NULL;

	claims->is_leaving = true;
	while ((claimant = rf_claim_table_next(&claims->table, claimant)))
		rf_claims_take_back(claims, claimant, 0);
}
