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
	struct rf_ledger_beat beat =
		rf_member_beat(&claims->member[bucket], now, all_are_known(claims, bucket, now));

	beat.key = claims->fingerprint;
	return beat;
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

/*
 * By another key the same source is in another bucket. So where one bucket is that of hosts with
 * another key, this host is alone in all of them: it hears nothing, and its deadlines come.
 */
static void note_key(struct rf_claims *claims, uint32_t bucket, const struct rf_ledger_heard *heard)
{
	const uint32_t bit = 1U << bucket;

	if (heard->status == RF_LEDGER_FOREIGN) {
		if (!bucket || !claims->foreign)
			claims->fleet_key = heard->key;
		claims->foreign |= bit;
	} else {
		claims->foreign &= ~bit;
	}
}

/* The first bucket says whose key is the fleet's: a host that is foreign there leaves the others.
 */
bool rf_claims_may_beat(const struct rf_claims *claims, uint32_t bucket)
{
	return !bucket || !(claims->foreign & 1);
}

enum rf_member_news rf_claims_heard(struct rf_claims *claims, uint32_t bucket, uint64_t now,
				    uint32_t beat, uint64_t sent,
				    const struct rf_ledger_heard *heard)
{
	enum rf_member_news news;

	note_key(claims, bucket, heard);
	if (claims->foreign)
		return heard->status == RF_LEDGER_FOREIGN ? RF_MEMBER_FOREIGN : RF_MEMBER_SAME;
	news = rf_member_heard(&claims->member[bucket], now, beat, sent, heard);
	if (news == RF_MEMBER_EMPTIED)
		claims->ended |= 1U << bucket;
	if (news == RF_MEMBER_REJOINED || news == RF_MEMBER_EMPTIED)
		tell_again(claims, bucket, news == RF_MEMBER_EMPTIED);
	return news;
}
