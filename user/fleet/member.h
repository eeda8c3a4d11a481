/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A host in a fleet: the rules of the agent for shares and reports. Pure, as ledger.h: the caller
 * supplies the time of the host's clock, reads and writes the windows, and sends the messages.
 *
 * A member trusts its shares until its deadline: a little less than G after it sent the latest
 * heartbeat that the ledger answered with the current membership, as complete. After the deadline
 * the data path is offline, independent of the agent. If the ledger can have granted their units to
 * others, the shares of all windows are revoked atomically by a new generation: in a new membership
 * that starts after the deadline or after learning, and if the deadline passes before all claims
 * were reported.
 *
 * A claim is one source under one definition. It has one report in flight; a later report, or a new
 * membership, invalidates the earlier reply. A share is lowered in this order: rf_claim_lower() and
 * write it; wait until all programs that can have read the old one have finished;
 * rf_claim_waited(); read `used`; rf_claim_report().
 *
 * A window can be lost: evicted, deleted or attached again. Units that it can have admitted remain
 * claimed for W, in addition to the next window's claim.
 */
#ifndef RF_FLEET_MEMBER_H
#define RF_FLEET_MEMBER_H

#include "fleet/ledger.h"

struct rf_member {
	uint64_t nonce; /* of this start of the agent; not 0 */
	uint32_t slot;
	uint64_t grace;
	uint64_t joined;	   /* the membership; 0: none yet */
	bool is_complete;	   /* the ledger said so, of this membership */
	bool is_empty;		   /* offline, and earlier shares have expired */
	uint64_t deadline;	   /* offline from then on; 0: from the start */
	uint32_t generation;	   /* a share of a different generation counts as 0 */
	uint32_t beat, heard_beat; /* number of the latest heartbeat sent, and answered */
	uint32_t seq;		   /* of the latest report, of any source */
	struct rf_ledger_slots members;
};

/* The effect of a heartbeat's reply on the claims. */
enum rf_member_news {
	RF_MEMBER_SAME,
	RF_MEMBER_REJOINED, /* report every claim again */
	RF_MEMBER_EMPTIED,  /* that, and every share is 0 now: rf_claim_lower(claim, 0) */
	RF_MEMBER_REFUSED,  /* the slot belongs to a different host: take a new one */
	RF_MEMBER_FOREIGN,  /* the fleet has another key of buckets */
};

struct rf_claim {
	uint32_t share;	 /* as written */
	uint32_t has;	 /* the largest that a program may still be using */
	uint32_t covers; /* what this window's claim is at least */
	uint32_t held;	 /* of windows that were lost, until: */
	uint64_t held_until;
	uint32_t seq;	   /* of the report in flight; 0: none is */
	uint64_t asked_in; /* the membership of that report */
	uint64_t known_in; /* the membership of the last reply */
};

/* The total claim of a source on this host. */
static inline uint64_t rf_claim_total(const struct rf_claim *claim)
{
	return (uint64_t)claim->covers + claim->held;
}

bool rf_member_is_alone(const struct rf_member *member, uint64_t now);
/* Makes a heartbeat; `all_known`: every claim was answered in this membership. */
struct rf_ledger_beat rf_member_beat(struct rf_member *member, uint64_t now, bool all_known);
/* `beat` and `sent`: number and time of the heartbeat of the reply `heard`. */
enum rf_member_news rf_member_heard(struct rf_member *member, uint64_t now, uint32_t beat,
				    uint64_t sent, const struct rf_ledger_heard *heard);

/* The share to write is claim->share. */
void rf_claim_lower(struct rf_claim *claim, uint32_t share);
void rf_claim_waited(struct rf_claim *claim);
/* The window was replaced. `window`: W, in the unit of `now`. */
void rf_claim_lost(struct rf_claim *claim, uint64_t now, uint64_t window);
/* `used` was read after the last rf_claim_waited(); `wants`: the share that is wanted. */
struct rf_ledger_report rf_claim_report(struct rf_claim *claim, struct rf_member *member,
					uint64_t now, uint32_t first, uint32_t used,
					uint32_t wants);
/* True: claim->share has grown, and is to be written. */
bool rf_claim_answered(struct rf_claim *claim, const struct rf_member *member,
		       const struct rf_ledger_answer *answer);
/* Does the ledger have this claim, or is it empty? Used units count like a share. */
bool rf_claim_is_known(const struct rf_claim *claim, const struct rf_member *member);

/* ---- the ledger's clock, for sums of what all hosts received ---- */

/*
 * The ledger's clock as known by a host: from replies to its reports, only within one membership,
 * as the next one can have a different clock.
 */
struct rf_sum_clock {
	uint64_t joined; /* the membership; 0: it is not known */
	uint64_t ledger_ms;
	uint64_t heard_ns; /* the host's clock, when that time had come already */
};

/* The ledger's time at a time of the host, or an earlier one. 0: it is not known. */
uint64_t rf_sum_clock_ms(const struct rf_sum_clock *clock, uint64_t joined, uint64_t ns);

#endif /* RF_FLEET_MEMBER_H */
