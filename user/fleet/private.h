/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of claims.h share. */
#ifndef RF_FLEET_PRIVATE_H
#define RF_FLEET_PRIVATE_H

#include "base/units.h"
#include "fleet/claims.h"
#include "ringfence/share.h"

/* ---- claims_wants.c ---- */

/* What a source would like, as its ask shows it; also notes what the ask counted. */
uint32_t rf_claims_wants(struct rf_claimant *claimant, const struct rf_fleet_limit *limit,
			 const struct rf_fleet_ask *ask);
/* Does it want less for now than it would like, as others want some as well? */
bool rf_claims_yields(const struct rf_claimant *claimant, uint64_t now);
/* What it wants, without what it leaves to others. */
uint32_t rf_claims_may_want(const struct rf_claimant *claimant, uint64_t now);
/* Does the use of a window fall fast? `seen`: what it was at the look before. */
bool rf_claims_falls(const struct rf_fleet_limit *limit, uint32_t seen, uint32_t used);
/* What a share may be lowered to, after so much was used in W. */
uint32_t rf_claims_needs(const struct rf_fleet_limit *limit, uint32_t used, bool falls);

/* Notes what its window has counted, for people. */
void rf_claims_show(struct rf_claimant *claimant, uint64_t passed, uint64_t dropped, uint64_t now);

/* ---- claims_visit.c ---- */

/* What is done to windows, beside that they are read. */
enum rf_visit_kind {
	RF_VISIT_READS,
	RF_VISIT_WRITES, /* they get their shares as they are now */
	RF_VISIT_BANS,	 /* their sources are over L, and are banned */
};

/* What came of a visit to the windows of some claims. */
struct rf_visit {
	uint32_t used[RF_FLEET_BATCH];
	uint8_t result[RF_FLEET_BATCH]; /* enum rf_share_result */
};

/*
 * Visits the windows of claims that have one. It may lose windows. Where a share could not be
 * written, since the window had one of an older definition, the result says so. `now`: before it.
 */
int rf_claims_visit(struct rf_claims *claims, struct rf_claimant *const *claimant, uint32_t count,
		    enum rf_visit_kind kind, uint64_t now, struct rf_visit *visit);

/* ---- claims_received.c ---- */

/* What its window has received so far, in units. `read_ns`: a time before that was read. */
void rf_claims_received(struct rf_claims *claims, struct rf_claimant *claimant, uint64_t received,
			uint64_t read_ns);
/* How often windows with a share are read for that; UINT64_MAX: they are not. */
uint64_t rf_claims_reads_each_ns(const struct rf_claims *claims,
				 const struct rf_fleet_limit *limit);

/* ---- claims_sums.c ---- */

/* Sends what is due, and when that is. */
void rf_claims_send_sums(struct rf_claims *claims, uint64_t now);
uint64_t rf_claims_sums_due_ns(const struct rf_claims *claims);

/* ---- claims_lose.c ---- */

/* The window of a claim is gone, or counts by another definition. */
void rf_claims_lose(struct rf_claims *claims, struct rf_claimant *claimant, uint64_t now);
/* It waits for its report or, where a share is to end first, for that. */
void rf_claims_queue(struct rf_claims *claims, struct rf_claimant *claimant);
/* It is to be reported anew; where its share is to be lowered first, then after that. */
void rf_claims_touch(struct rf_claims *claims, struct rf_claimant *claimant);
/* Its share is to be taken back to that. */
void rf_claims_take_back(struct rf_claims *claims, struct rf_claimant *claimant, uint32_t to);
void rf_claims_wait(struct rf_claims *claims, struct rf_claimant *claimant, uint64_t until_ns);
/* It waits for its report; until then its window is looked at, so that what it has is given back.
 */
void rf_claims_look_later(struct rf_claims *claims, struct rf_claimant *claimant, uint64_t now);

#endif /* RF_FLEET_PRIVATE_H */
