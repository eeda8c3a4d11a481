// SPDX-License-Identifier: GPL-2.0
#include "fleet/member.h"

#include "base/units.h"

bool rf_member_is_alone(const struct rf_member *member, uint64_t now)
{
	return now >= member->deadline;
}

struct rf_ledger_beat rf_member_beat(struct rf_member *member, uint64_t now, bool all_known)
{
	member->beat++;
	return (struct rf_ledger_beat){
		.is_complete = all_known,
		.resumes = member->joined && !rf_member_is_alone(member, now),
		.known = member->members,
	};
}

static enum rf_member_news empty(struct rf_member *member, uint64_t now)
{
	member->is_empty = rf_member_is_alone(member, now);
	member->generation++;
	return RF_MEMBER_EMPTIED;
}

/*
 * Shares can remain only if the ledger grants nothing yet and they never expired: then no other
 * host has got their units.
 */
static enum rf_member_news rejoin(struct rf_member *member, uint64_t now,
				  const struct rf_ledger_heard *heard)
{
	const bool stays = heard->is_learning && !rf_member_is_alone(member, now);

	member->joined = heard->joined;
	member->is_complete = false;
	if (stays)
		return RF_MEMBER_REJOINED;
	return empty(member, now);
}

/*
 * A host that goes offline before the ledger has all its claims can report them too late, after the
 * units were granted to others.
 */
static bool is_too_late(const struct rf_member *member, uint64_t now)
{
	return !member->is_complete && rf_member_is_alone(member, now) && !member->is_empty;
}

/*
 * A learning ledger does not know all members yet. If it loses its data again, members that did not
 * call meanwhile are still expected by the members that knew them.
 */
static void note_members(struct rf_member *member, const struct rf_ledger_heard *heard)
{
	for (int i = 0; i < RF_LEDGER_WORDS; i++) {
		const uint64_t known = heard->is_learning ? member->members.word[i] : 0;

		member->members.word[i] = heard->members.word[i] | known;
	}
}

/*
 * The claims expire G and W after that by the server's clock, which can run faster than this one,
 * and counts in ms.
 */
static uint64_t deadline_of(const struct rf_member *member, uint64_t sent)
{
	return sent + member->grace - member->grace / RF_FLEET_DRIFT;
}

enum rf_member_news rf_member_heard(struct rf_member *member, uint64_t now, uint32_t beat,
				    uint64_t sent, const struct rf_ledger_heard *heard)
{
	if ((int32_t)(beat - member->heard_beat) <= 0)
		return RF_MEMBER_SAME;
	member->heard_beat = beat;
	if (heard->status == RF_LEDGER_FOREIGN)
		return RF_MEMBER_FOREIGN;
	if (heard->status != RF_LEDGER_DONE)
		return RF_MEMBER_REFUSED;
	note_members(member, heard);
	if (heard->joined != member->joined)
		return rejoin(member, now, heard);
	if (is_too_late(member, now))
		return empty(member, now);
	member->is_complete = heard->is_complete;
	if (heard->is_complete && deadline_of(member, sent) > member->deadline) {
		member->deadline = deadline_of(member, sent);
		member->is_empty = false;
	}
	return RF_MEMBER_SAME;
}

/* ---- claims ---- */

static uint32_t larger(uint32_t one, uint32_t other)
{
	return one > other ? one : other;
}

void rf_claim_lower(struct rf_claim *claim, uint32_t share)
{
	if (share < claim->share)
		claim->share = share;
}

/* The reply to a report of more would release that. */
void rf_claim_waited(struct rf_claim *claim)
{
	if (claim->share < claim->has)
		claim->seq = 0;
	claim->has = claim->share;
}

void rf_claim_lost(struct rf_claim *claim, uint64_t now, uint64_t window)
{
	claim->held += claim->covers;
	claim->held_until = now + window;
	claim->share = claim->has = claim->covers = 0;
	claim->seq = 0;
}

struct rf_ledger_report rf_claim_report(struct rf_claim *claim, struct rf_member *member,
					uint64_t now, uint32_t first, uint32_t used, uint32_t wants)
{
	if (now >= claim->held_until)
		claim->held = 0;
	claim->covers = larger(claim->has, used > first ? used - first : 0);
	claim->seq = ++member->seq;
	claim->asked_in = member->joined;
	return (struct rf_ledger_report){
		.seq = claim->seq,
		/* Held units count completely, independent of unused units of `first`. */
		.used = claim->held ? larger(used, first) + claim->held : used,
		.has = claim->has + claim->held,
		.wants = wants + claim->held,
	};
}

bool rf_claim_answered(struct rf_claim *claim, const struct rf_member *member,
		       const struct rf_ledger_answer *answer)
{
	uint32_t share;

	if (!claim->seq || answer->seq != claim->seq || claim->asked_in != member->joined)
		return false;
	claim->seq = 0;
	if (answer->status != RF_LEDGER_DONE)
		return false;
	claim->known_in = member->joined;
	share = answer->share > claim->held ? answer->share - claim->held : 0;
	if (share <= claim->has)
		return false;
	claim->share = claim->has = share;
	claim->covers = larger(claim->covers, share);
	return true;
}

bool rf_claim_is_known(const struct rf_claim *claim, const struct rf_member *member)
{
	return claim->known_in == member->joined || !(claim->covers || claim->has || claim->held);
}

/* ---- the ledger's clock ---- */

/*
 * The reply came at that time of the ledger or later. With clocks of different rates, and the
 * ledger's ms resolution, it can seem later than it is: see deadline_of().
 */
uint64_t rf_sum_clock_ms(const struct rf_sum_clock *clock, uint64_t joined, uint64_t ns)
{
	const bool is_past = ns < clock->heard_ns;
	const uint64_t apart_ns = is_past ? clock->heard_ns - ns : ns - clock->heard_ns;
	const uint64_t drift_ns = apart_ns / RF_FLEET_DRIFT;
	uint64_t back_ms;

	if (!clock->joined || clock->joined != joined)
		return 0;
	if (!is_past)
		return clock->ledger_ms + (apart_ns - drift_ns) / RF_NS_PER_MS;
	back_ms = (apart_ns + drift_ns) / RF_NS_PER_MS + 1;
	return back_ms < clock->ledger_ms ? clock->ledger_ms - back_ms : 0;
}
