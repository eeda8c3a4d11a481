/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The claims of a host, by limit and source: a table of fixed size, the queues of claims, and a
 * timer wheel. Pure. Times are in ns of the host's clock.
 *
 * A claim is in one place, according to its `state`.
 */
#ifndef RF_FLEET_CLAIM_TABLE_H
#define RF_FLEET_CLAIM_TABLE_H

#include <sys/queue.h>

#include "fleet/member.h"
#include "ringfence/source.h"

#define RF_CLAIM_TICK_NS 16000000ULL /* the wheel turns so often */
#define RF_CLAIM_TICKS 1024	     /* number of spokes: no wait is longer than a full turn */

enum rf_claim_state {
	RF_CLAIM_WAITS,	   /* in the wheel, until `due_ns` */
	RF_CLAIM_READY,	   /* to be reported */
	RF_CLAIM_LOWERS,   /* its share is to be taken back to `lower_to`, then it is reported */
	RF_CLAIM_SETTLES,  /* waits until no program uses what its window had before */
	RF_CLAIM_REPORTED, /* in a report on its way */
};

/* Of which window. `source` as in rf_fleet_ask. */
struct rf_claim_key {
	uint64_t source[2];
	uint32_t limit; /* the caller's number of the definition */
	uint32_t is_ipv6;
};

struct rf_claimant {
	LIST_ENTRY(rf_claimant) same_hash;
	TAILQ_ENTRY(rf_claimant) place;
	struct rf_claim_key key;
	struct rf_claim claim;
	uint32_t incarnation; /* of its window; 0: unknown */
	uint32_t bucket;
	enum rf_claim_state state;
	uint32_t spoke; /* of the wheel while it waits */
	uint32_t node;	/* of the engine, for which it is ready */
	bool is_used;
	bool again; /* RF_CLAIM_REPORTED: changed since the report was sent */
	bool gives_back;
	bool was_retagged; /* its share is written once no program uses an older one */
	uint32_t lower_to; /* while it releases a part */
	uint32_t wants;
	uint64_t due_ns;
	uint64_t rest_ns;	   /* between two reports */
	uint64_t report_ns;	   /* when the next one is due; before that it is only looked at */
	uint64_t vain_since_ns;	   /* since when its requests are unsatisfied; 0: they are not */
	uint64_t patient_until_ns; /* it does not request more until then */
	uint64_t yields_until_ns;  /* others want as well: it wants no more than that until then */
	uint32_t yields_to;
	uint64_t answered_ns; /* the earliest time at which the ledger can have got its latest
				 report */
	uint64_t asked_ns;    /* the last time */
	/* Counters of the last request, to compute the rate. */
	uint64_t counted_ns, passed, dropped;
	uint64_t received_ns, received; /* units that its window had received by then; 0: unknown */
	uint32_t unit_used;		/* of a packet, in 1/16 */
	uint32_t seen_used;		/* at a look up to W/4 ago, */
	uint64_t seen_ns;		/* then */
	/* For people: since when there is a claim, and what its window has counted. */
	uint64_t since_ns;
	uint64_t shown_ns, shown_passed, shown_dropped;
	uint64_t told_ns, told_packets; /* as last published by the host */
	uint32_t rate_pps;
};

TAILQ_HEAD(rf_claimants, rf_claimant);
LIST_HEAD(rf_claim_chain, rf_claimant);

struct rf_claim_table {
	struct rf_claimant *all;
	uint32_t size, count;
	uint32_t untouched; /* entries of `all` ever used */
	uint64_t hash_key[2];
	struct rf_claim_chain *chain;
	struct rf_claimants free, lowers, settles;
	struct rf_claimants ready[RF_BUCKETS]; /* by node */
	uint32_t node[RF_BUCKETS];	       /* of each bucket: the first bucket that it has */
	struct rf_claimants wheel[RF_CLAIM_TICKS];
	uint64_t tick; /* of the wheel: all before it were taken */
};

/* `size`: of how many claims. -ENOMEM. Free it even after an error. It cannot be copied. */
int rf_claim_table_make(struct rf_claim_table *table, uint32_t size, const uint64_t hash_key[2],
			uint64_t now);
void rf_claim_table_free(struct rf_claim_table *table);

struct rf_claimant *rf_claim_table_find(const struct rf_claim_table *table,
					const struct rf_claim_key *key);
/* Adds a claim, which waits. NULL: the table is full. */
struct rf_claimant *rf_claim_table_add(struct rf_claim_table *table, const struct rf_claim_key *key,
				       uint32_t bucket);
void rf_claim_table_remove(struct rf_claim_table *table, struct rf_claimant *claimant);

/* Moves a claim to another place. RF_CLAIM_WAITS: until claimant->due_ns. */
void rf_claim_table_move(struct rf_claim_table *table, struct rf_claimant *claimant,
			 enum rf_claim_state state);
/* Which node of the engine has each bucket, by any number of it. At first it is one. */
void rf_claim_table_take_nodes(struct rf_claim_table *table, const uint32_t node[RF_BUCKETS]);
/* Moves due claims to the ready queue. */
void rf_claim_table_turn(struct rf_claim_table *table, uint64_t now);
/* When the next one is due; UINT64_MAX: none waits. */
uint64_t rf_claim_table_due_ns(const struct rf_claim_table *table);
/* The next claim in use behind that one; NULL before the first and behind the last. */
struct rf_claimant *rf_claim_table_next(const struct rf_claim_table *table,
					struct rf_claimant *claimant);

#endif /* RF_FLEET_CLAIM_TABLE_H */
