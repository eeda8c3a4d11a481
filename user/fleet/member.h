/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A host in a fleet: what the agent may believe, say and write. Pure, as ledger.h: the caller
 * brings the time of the host's own clock, reads and writes the windows, and sends what comes of
 * it.
 *
 * A member trusts its shares until its deadline: a little less than G after it sent the newest
 * heartbeat that the ledger answered with the membership that the host has, as complete. Past the
 * deadline the data path is alone, whatever the agent does. Where the ledger may have given to
 * others what its shares stand for, the shares of all windows end at once, by another generation:
 * in a new membership that begins past the deadline or past learning, and where the deadline comes
 * before all claims were told.
 *
 * A claim is one source under one definition. It has one report in flight; a later one voids the
 * answer to the one before, and so does another membership. A share is taken back in this order:
 * rf_claim_lower() and write it; wait until no program runs that may have read the old one;
 * rf_claim_waited(); read `used`; rf_claim_report().
 *
 * A window may be lost: evicted, deleted or attached anew. What it may have admitted stays claimed
 * for W, beside what the next window gets.
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
	bool is_empty;		   /* alone, and the shares from before have ended */
	uint64_t deadline;	   /* alone from then on; 0: from the start */
	uint32_t generation;	   /* a share of another one counts as 0 */
	uint32_t beat, heard_beat; /* number of the newest heartbeat sent, and answered */
	uint32_t seq;		   /* of the newest report, of any source */
	struct rf_ledger_slots members;
};

/* What a heartbeat's answer means for the claims. */
enum rf_member_news {
	RF_MEMBER_SAME,
	RF_MEMBER_REJOINED, /* report every claim again */
	RF_MEMBER_EMPTIED,  /* that, and every share is 0 now: rf_claim_lower(claim, 0) */
	RF_MEMBER_REFUSED,  /* the slot is another's: take another one */
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
	uint64_t known_in; /* the membership in which the last answer came */
};

/* What is claimed for a source here, in all. */
static inline uint64_t rf_claim_total(const struct rf_claim *claim)
{
	return (uint64_t)claim->covers + claim->held;
}

bool rf_member_is_alone(const struct rf_member *member, uint64_t now);
/* Makes a heartbeat; `all_known`: every claim was answered in this membership. */
struct rf_ledger_beat rf_member_beat(struct rf_member *member, uint64_t now, bool all_known);
/* `beat` and `sent`: the number and the time of the heartbeat that `heard` answers. */
enum rf_member_news rf_member_heard(struct rf_member *member, uint64_t now, uint32_t beat,
				    uint64_t sent, const struct rf_ledger_heard *heard);

/* The share to write is claim->share. */
void rf_claim_lower(struct rf_claim *claim, uint32_t share);
void rf_claim_waited(struct rf_claim *claim);
/* The window is another one now. `window`: W, in the unit of `now`. */
void rf_claim_lost(struct rf_claim *claim, uint64_t now, uint64_t window);
/* `used` was read after the last rf_claim_waited(); `wants`: the share that is wanted. */
struct rf_ledger_report rf_claim_report(struct rf_claim *claim, struct rf_member *member,
					uint64_t now, uint32_t first, uint32_t used,
					uint32_t wants);
/* True: claim->share has grown, and is to be written. */
bool rf_claim_answered(struct rf_claim *claim, const struct rf_member *member,
		       const struct rf_ledger_answer *answer);
/* Has the ledger this claim, or is there nothing to tell? What was used counts as well as a share.
 */
bool rf_claim_is_known(const struct rf_claim *claim, const struct rf_member *member);

/* ---- the ledger's clock, for sums of what all hosts received ---- */

/*
 * The ledger's clock, as a host knows it: from the answers to its reports, and only within one
 * membership, as the next one can have a different clock.
 */
struct rf_sum_clock {
	uint64_t joined; /* the membership; 0: it is not known */
	uint64_t ledger_ms;
	uint64_t heard_ns; /* the host's clock, when that time had come already */
};

/* The ledger's time at a time of the host, or an earlier one. 0: it is not known. */
uint64_t rf_sum_clock_ms(const struct rf_sum_clock *clock, uint64_t joined, uint64_t ns);

#endif /* RF_FLEET_MEMBER_H */
