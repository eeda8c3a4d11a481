/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a host and the ledger of a fleet say to each other, and what the ledger keeps. The ledger is
 * user/fleet/library/, which runs in the engine and has the rules; tests/fleet/model/ is a model of
 * it in C. Pure.
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

static inline bool rf_ledger_slots_has(const struct rf_ledger_slots *slots, uint32_t slot)
{
	return slots->word[slot / 64] >> slot % 64 & 1;
}

static inline void rf_ledger_slots_add(struct rf_ledger_slots *slots, uint32_t slot)
{
	slots->word[slot / 64] |= 1ULL << slot % 64;
}

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

/* ---- what all hosts received of a source: library/sums.lua ---- */

#define RF_SUM_CELLS 16 /* that W is divided into */

struct rf_sum_report {
	uint64_t from_ms; /* of the ledger's clock: what it reports came later; 0: not known */
	uint32_t units;
	uint32_t window_ms; /* W */
};

struct rf_sum_answer {
	enum rf_ledger_status status;
	uint32_t sum;	 /* of all hosts within W, at most */
	uint64_t now_ms; /* of the ledger's clock */
};

#endif /* RF_FLEET_LEDGER_H */
