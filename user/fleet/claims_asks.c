// SPDX-License-Identifier: GPL-2.0
/* What sources ask for, and windows that are found to have a share. */
#include <stddef.h>

#include "base/units.h"
#include "fleet/private.h"
#include "ringfence/share.h"

static bool may_send_ask(struct rf_claims *claims, uint64_t now)
{
	const uint64_t most = claims->asks_each_s; /* those of a second at once, no more */
	const uint64_t more = (now - claims->asks_left_ns) * claims->asks_each_s / RF_NS_PER_S;

	if (now - claims->asks_left_ns >= RF_NS_PER_S)
		claims->asks_left = most;
	else if (claims->asks_left + more < most)
		claims->asks_left += more;
	else
		claims->asks_left = most;
	if (more)
		claims->asks_left_ns = now;
	if (!claims->asks_left)
		return false;
	claims->asks_left--;
	return true;
}

uint32_t rf_claims_bucket(const struct rf_claims *claims, uint64_t first, uint64_t second)
{
	const __u64 key[2] = {claims->key[0], claims->key[1]};

	return rf_bucket_by(key, first, second);
}

static struct rf_claimant *claimant_of(struct rf_claims *claims, int limit,
				       const struct rf_fleet_ask *ask)
{
	const struct rf_claim_key key = {
		.source = {ask->source[0], ask->source[1]},
		.limit = limit,
		.is_ipv6 = ask->is_ipv6,
	};
	struct rf_claimant *claimant = rf_claim_table_find(&claims->table, &key);

	if (!claimant)
		claimant = rf_claim_table_add(
			&claims->table, &key,
			rf_claims_bucket(claims, ask->source[0], ask->source[1]));
	if (!claimant)
		claims->counts.asks_no_room++;
	return claimant;
}

/* Incarnations count up. False: the ask is of a window that is known to be gone. */
static bool note_incarnation(struct rf_claims *claims, struct rf_claimant *claimant,
			     uint32_t incarnation, uint64_t now)
{
	if (claimant->incarnation && (int32_t)(incarnation - claimant->incarnation) < 0)
		return false;
	if (claimant->incarnation != incarnation)
		rf_claims_lose(claims, claimant, now);
	claimant->incarnation = incarnation;
	return true;
}

/* Is it patient, and will be reported as soon as it no longer is? */
static bool is_patient(const struct rf_claimant *claimant, uint64_t now)
{
	return now < claimant->patient_until_ns &&
	       claimant->report_ns <= claimant->patient_until_ns;
}

/* It asked before its time: it is reported then. */
static void report_later(struct rf_claims *claims, struct rf_claimant *claimant, uint64_t now)
{
	claimant->report_ns = claimant->patient_until_ns;
	rf_claims_look_later(claims, claimant, now);
}

bool rf_claims_ask(struct rf_claims *claims, uint64_t now, const struct rf_fleet_ask *ask)
{
	const int limit = rf_claims_limit_of(claims, ask->limit_id, ask->tag);
	struct rf_claimant *claimant;

	claims->counts.asks++;
	if (limit < 0)
		return false;
	/* Nothing can be given yet; it asks again. */
	if (claims->is_leaving ||
	    !claims->member[rf_claims_bucket(claims, ask->source[0], ask->source[1])].is_complete)
		return true;
	claimant = claimant_of(claims, limit, ask);
	if (!claimant || !note_incarnation(claims, claimant, ask->incarnation, now))
		return true;
	claimant->wants = rf_claims_wants(claimant, &claims->limit[limit], ask);
	claimant->asked_ns = now;
	rf_claims_show(claimant, ask->passed, ask->dropped, now);
	rf_claims_received(claims, claimant, ask->received, ask->time_ns);
	if (claimant->state != RF_CLAIM_WAITS || is_patient(claimant, now) ||
	    rf_claims_may_want(claimant, now) <= claimant->claim.has)
		return true;
	if (!may_send_ask(claims, now)) {
		claims->counts.asks_put_off++;
		return true;
	}
	claims->counts.asks_sent++;
	if (now < claimant->patient_until_ns)
		report_later(claims, claimant, now);
	else
		rf_claims_touch(claims, claimant);
	return true;
}

void rf_claims_found(struct rf_claims *claims, uint64_t now, const struct rf_fleet_ask *window)
{
	const int limit = rf_claims_limit_of(claims, window->limit_id, window->tag);
	struct rf_claimant *claimant = limit < 0 ? NULL : claimant_of(claims, limit, window);

	if (!claimant) {
		claims->blind_until_ns = now + rf_claims_window_ns(claims);
		return;
	}
	if (claimant->incarnation != window->incarnation)
		claimant->received_ns = 0;
	claimant->incarnation = window->incarnation;
	claimant->claim.covers = 1; /* until its use is read: not known to the ledger */
	rf_claims_touch(claims, claimant);
}
