/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ledger of a fleet: the rules that the engine runs, one bucket of sources at a time. Pure:
 * the caller brings the time, the run of the engine and the records, and keeps what came of them.
 * docs/fleet.md has the scheme and the proof.
 *
 * Members. A host is a member by its slot and its nonce. Its heartbeats keep its claims; silent for
 * G + W, it is void, and so are they. `joined` names one membership: a new one begins when a slot
 * is taken, and for all when learning begins. A call that names another is answered by the present
 * one, and changes nothing. A member is complete once it says that it has reported all its claims
 * since it joined; only then may the host trust its shares for longer.
 *
 * Claims. claim = max(has, used - f, given), and the sum of what is given never exceeds P. A claim
 * follows its host's newest report, by sequence number, up or down. So a report that was lost does
 * not matter, nor one that comes twice or late.
 *
 * Learning. Whoever the ledger has forgotten may still use a share. So while it learns, claims are
 * noted and nothing is given. It begins with an empty ledger, with another run of the engine, and
 * when no call came for G/2 of the engine's time or the time went back by as much. It ends
 * once all members that somebody knew are complete, but not before G, when those whom nobody knew
 * have gone alone; and after G + W in any case, when nothing counts that was passed before.
 *
 * Keys. Members have one key of buckets, see rf_bucket_by(): under two, a source would have its
 * whole limit in each of two buckets. A host with another key than a member, one that was heard in
 * G + W, is foreign, and changes nothing. Once there is no such member a host of another key may
 * join: all others are forgotten, and the ledger learns.
 *
 * Times are in one unit, whichever, of the engine's clock. Units of claims are those of the limit.
 */
#ifndef RF_FLEET_LEDGER_H
#define RF_FLEET_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "ringfence/fleet.h"

#ifndef RF_LEDGER_SLOTS /* fewer where every state is explored */
#define RF_LEDGER_SLOTS RF_FLEET_HOSTS_MAX
#endif
#define RF_LEDGER_WORDS ((RF_LEDGER_SLOTS + 63) / 64)

/* A bit for each slot. */
struct rf_ledger_slots {
	uint64_t word[RF_LEDGER_WORDS];
};

struct rf_ledger_host {
	uint64_t nonce;	 /* 0: the slot is free */
	uint64_t joined; /* 0: not since learning began */
	uint64_t heard;
	uint16_t generation; /* of the slot: claims of another are void */
	bool is_complete;
	bool is_expected; /* while learning: another member knows this slot's host */
};

/* One bucket: who is a member. All zeros is an empty one. */
struct rf_ledger {
	uint64_t run;
	uint64_t newest; /* time of the last call; never goes back while nothing is forgotten */
	uint64_t learns_from;
	uint64_t window; /* the longest W that a member told */
	uint64_t key;	 /* the fingerprint of its members' key of buckets; 0: they have none */
	bool is_learning;
	struct rf_ledger_host host[RF_LEDGER_SLOTS];
};

struct rf_ledger_claim {
	uint16_t slot, generation;
	uint32_t claim;
	uint32_t seq; /* of the report that it follows */
	bool in_vain; /* it wanted more than there was */
};

/* One source under one definition of a limit. All zeros is one without claims. */
struct rf_ledger_source {
	uint64_t contested_until;
	uint16_t count;
	struct rf_ledger_claim claim[RF_LEDGER_SLOTS];
};

/* What every call brings. */
struct rf_ledger_call {
	/* The engine's own. */
	uint64_t now;
	uint64_t run;
	uint64_t stamp; /* names a membership that this call begins: never used before, not 0 */
	/* The caller's. */
	uint64_t grace, window; /* G, and the longest W of all limits */
	uint64_t nonce, joined;
	uint32_t slot;
};

enum rf_ledger_status {
	RF_LEDGER_DONE,
	RF_LEDGER_REFUSED,  /* the slot is another host's, or may be */
	RF_LEDGER_STRANGER, /* not this membership: a heartbeat tells the present one */
	RF_LEDGER_OLD,	    /* a newer report was here before */
	RF_LEDGER_GARBAGE,  /* of the engine: the report makes no sense, or what is kept there */
	RF_LEDGER_FOREIGN,  /* the members have another key of buckets */
};

struct rf_ledger_beat {
	bool is_complete; /* all claims were reported since the host joined, and answered */
	bool resumes;	  /* it was complete before, and its deadline has not come */
	uint64_t key;	  /* the fingerprint of its key of buckets; 0: none */
	struct rf_ledger_slots known;
};

struct rf_ledger_heard {
	enum rf_ledger_status status;
	uint64_t joined;
	bool is_complete, is_learning;
	uint64_t key; /* of the members, if FOREIGN */
	struct rf_ledger_slots members;
};

struct rf_ledger_report {
	uint32_t seq;
	uint32_t used;	/* in W, as read after `has` was in force */
	uint32_t has;	/* the largest share that may be in force */
	uint32_t wants; /* the share it would like */
};

/* What the limit says, in units, and its W in the engine's time. */
struct rf_ledger_limit {
	uint32_t pool, first;
	uint64_t window;
};

struct rf_ledger_answer {
	enum rf_ledger_status status;
	uint32_t seq;
	uint32_t share;	   /* may be in force from now on: `has` at least */
	uint32_t lower_to; /* to be given back down to, since others want as well */
};

/* Of a host that is said to be gone. REFUSED: its claims may count for so much longer. */
struct rf_ledger_left {
	enum rf_ledger_status status;
	uint64_t left;
};

struct rf_ledger_heard rf_ledger_beat(struct rf_ledger *ledger, const struct rf_ledger_call *call,
				      const struct rf_ledger_beat *beat);
struct rf_ledger_answer rf_ledger_report(struct rf_ledger *ledger, struct rf_ledger_source *source,
					 const struct rf_ledger_call *call,
					 const struct rf_ledger_limit *limit,
					 const struct rf_ledger_report *report);

/*
 * The host of `slot` is no member any more, if it was silent for G + W: then its claims are void
 * already, and only its name is forgotten. Before, nobody can say what it passed in W.
 */
struct rf_ledger_left rf_ledger_gone(struct rf_ledger *ledger, const struct rf_ledger_call *call,
				     uint32_t slot);

/* What every call does first; and may it do more? */
void rf_ledger_open(struct rf_ledger *ledger, const struct rf_ledger_call *call);
bool rf_ledger_is_member(const struct rf_ledger *ledger, const struct rf_ledger_call *call);

/* The sum of the claims that are not void. */
uint64_t rf_ledger_claimed(const struct rf_ledger *ledger, const struct rf_ledger_source *source,
			   const struct rf_ledger_call *call, const struct rf_ledger_limit *limit);

bool rf_ledger_slots_has(const struct rf_ledger_slots *slots, uint32_t slot);
void rf_ledger_slots_add(struct rf_ledger_slots *slots, uint32_t slot);

#endif /* RF_FLEET_LEDGER_H */
