/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages between a host and the ledger, and the state of the ledger. The ledger is
 * user/fleet/library/, which runs in the server and has the rules; tests/fleet/model/ is a model of
 * it in C. Pure.
 *
 * All times are in the same unit of the server's clock. Units of claims are units of the limit.
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
	uint64_t joined; /* 0: not since learning started */
	uint64_t heard;
	uint16_t generation; /* of the slot: claims of another are void */
	bool is_complete;
	bool is_expected; /* while learning: a different member knows the host of this slot */
};

/* One bucket: who is a member. All zeros is an empty one. */
struct rf_ledger {
	uint64_t run;
	uint64_t newest; /* time of the last call; monotonic unless data is lost */
	uint64_t learns_from;
	uint64_t window; /* the longest W of a member */
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
	uint64_t stamp; /* identifies a membership started by this call: unique, not 0 */
	/* The caller's. */
	uint64_t grace, window; /* G, and the longest W of all limits */
	uint64_t nonce, joined;
	uint32_t slot;
};

enum rf_ledger_status {
	RF_LEDGER_DONE,
	RF_LEDGER_REFUSED,  /* the slot belongs, or can belong, to a different host */
	RF_LEDGER_STRANGER, /* a different membership: a heartbeat returns the current one */
	RF_LEDGER_OLD,	    /* a newer report was here before */
	RF_LEDGER_GARBAGE,  /* from the server: the report or the stored record is invalid */
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
	uint32_t used;	/* in W, read after `has` was enforced */
	uint32_t has;	/* the largest share that can be enforced */
	uint32_t wants; /* the share it would like */
};

/* The parameters of the limit in units, and its W in the server's time. */
struct rf_ledger_limit {
	uint32_t pool, first;
	uint64_t window;
};

struct rf_ledger_answer {
	enum rf_ledger_status status;
	uint32_t seq;
	uint32_t share;	   /* can be enforced from now on: at least `has` */
	uint32_t lower_to; /* the share to release down to, as others request too */
};

/* The reply about a removed host. REFUSED: its claims can count for this much longer. */
struct rf_ledger_left {
	enum rf_ledger_status status;
	uint64_t left;
};

/* ---- what all hosts received of a source: library/sums.lua ---- */

#define RF_SUM_CELLS 16 /* that W is divided into */

struct rf_sum_report {
	uint64_t from_ms; /* of the ledger's clock: the reported units came later; 0: unknown */
	uint32_t units;
	uint32_t window_ms; /* W */
};

struct rf_sum_answer {
	enum rf_ledger_status status;
	uint32_t sum;	 /* of all hosts within W, at most */
	uint64_t now_ms; /* of the ledger's clock */
};

#endif /* RF_FLEET_LEDGER_H */
