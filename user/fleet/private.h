/* SPDX-License-Identifier: GPL-2.0 */
/* Functions of claims.c for reports.c, in addition to claims.h. */
#ifndef RF_FLEET_PRIVATE_H
#define RF_FLEET_PRIVATE_H

#include "fleet/claims.h"

/* The window of a claim was removed, or counts by a different definition. */
void rf_claims_lose(struct rf_claims *claims, struct rf_claimant *claimant, uint64_t now);
/* Queues it for its report, or first for lowering its share. */
void rf_claims_queue(struct rf_claims *claims, struct rf_claimant *claimant);
/* Its share is to be taken back to that. */
void rf_claims_take_back(struct rf_claims *claims, struct rf_claimant *claimant, uint32_t to);
/* Queues it for its report; until then its window is read, to release unused units. */
void rf_claims_look_later(struct rf_claims *claims, struct rf_claimant *claimant, uint64_t now);

static inline void rf_claims_wait(struct rf_claims *claims, struct rf_claimant *claimant,
				  uint64_t until_ns)
{
	claimant->due_ns = until_ns;
	rf_claim_table_move(&claims->table, claimant, RF_CLAIM_WAITS);
}

/* A share of that size, or the largest that the limit has. */
static inline uint32_t rf_claims_capped(uint64_t share, const struct rf_fleet_limit *limit)
{
	const uint32_t beyond = limit->limit > limit->first ? limit->limit - limit->first : 0;
	const uint32_t most = beyond < limit->pool ? beyond : limit->pool;

	return share < most ? share : most;
}

/* Does it want less for now than it would like, as others want some as well? */
static inline bool rf_claims_yields(const struct rf_claimant *claimant, uint64_t now)
{
	return now < claimant->yields_until_ns && claimant->yields_to < claimant->wants;
}

/* Its requested share, without the units left to others. */
static inline uint32_t rf_claims_may_want(const struct rf_claimant *claimant, uint64_t now)
{
	return rf_claims_yields(claimant, now) ? claimant->yields_to : claimant->wants;
}

/* Notes what its window has counted, for people. */
void rf_claims_show(struct rf_claimant *claimant, uint64_t passed, uint64_t dropped, uint64_t now);
/* Units that its window has received, in total. `read_ns`: a time before they were read. */
void rf_claims_received(struct rf_claims *claims, struct rf_claimant *claimant, uint64_t received,
			uint64_t read_ns);

#endif /* RF_FLEET_PRIVATE_H */
