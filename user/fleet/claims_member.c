// SPDX-License-Identifier: GPL-2.0
/* One membership in each bucket, and what a new one means for the claims. */
#include <stddef.h>

#include "fleet/private.h"

/*
 * Shares stay in force until the deadline of the old membership, in which their claims are kept.
 * Nothing is known of the new one, so it takes no slot back from others: it resumes nothing.
 */
void rf_claims_take_slot(struct rf_claims *claims, uint32_t slot, uint64_t nonce, uint64_t grace)
{
	for (int i = 0; i < RF_BUCKETS; i++) {
		claims->member[i].slot = slot;
		claims->member[i].nonce = nonce;
		claims->member[i].grace = grace;
		claims->member[i].joined = 0;
		claims->member[i].is_complete = false;
	}
}

bool rf_claims_are_alone(const struct rf_claims *claims, uint64_t now)
{
	for (int i = 0; i < RF_BUCKETS; i++)
		if (!rf_member_is_alone(&claims->member[i], now))
			return false;
	return true;
}

static bool all_are_known(const struct rf_claims *claims, uint32_t bucket, uint64_t now)
{
	const struct rf_member *member = &claims->member[bucket];
	struct rf_claimant *claimant = NULL;

	if (now < claims->blind_until_ns)
		return false;
	if (member->is_complete)
		return true;
	while ((claimant = rf_claim_table_next(&claims->table, claimant)))
		if (claimant->bucket == bucket &&
		    (claimant->gives_back || !rf_claim_is_known(&claimant->claim, member)))
			return false;
	return true;
}

struct rf_ledger_beat rf_claims_beat(struct rf_claims *claims, uint32_t bucket, uint64_t now)
{
	return rf_member_beat(&claims->member[bucket], now, all_are_known(claims, bucket, now));
}

static void tell_again(struct rf_claims *claims, uint32_t bucket, bool emptied)
{
	struct rf_claimant *claimant = NULL;

	while ((claimant = rf_claim_table_next(&claims->table, claimant))) {
		if (claimant->bucket != bucket)
			continue;
		claimant->vain_since_ns = claimant->patient_until_ns = 0;
		if (emptied && claimant->claim.has)
			rf_claims_take_back(claims, claimant, 0);
		else
			rf_claims_touch(claims, claimant);
	}
}

enum rf_member_news rf_claims_heard(struct rf_claims *claims, uint32_t bucket, uint64_t now,
				    uint32_t beat, uint64_t sent,
				    const struct rf_ledger_heard *heard)
{
	const enum rf_member_news news =
		rf_member_heard(&claims->member[bucket], now, beat, sent, heard);

	if (news == RF_MEMBER_EMPTIED)
		claims->ended |= 1U << bucket;
	if (news == RF_MEMBER_REJOINED || news == RF_MEMBER_EMPTIED)
		tell_again(claims, bucket, news == RF_MEMBER_EMPTIED);
	return news;
}
