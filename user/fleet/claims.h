/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The claims of a host: requests of sources become reports, and the replies become shares. Pure:
 * the caller reads and writes windows, sends reports, and supplies time and replies. Built on
 * member.h, which has the rules of the bound.
 *
 * A request is delayed briefly, its window is read, and it is reported; a source has one report in
 * flight. A claim is reported again after W/4, then less and less often, up to every
 * RF_CLAIM_REST_NS. Its window is read every W/4, or W/8 if other hosts wait for it: when its use
 * falls, a part of the share is released. An unsatisfied source requests again after a quarter of
 * the time it has waited, up to RF_CLAIM_PATIENCE_NS.
 *
 * Times are in ns of the host's clock.
 */
#ifndef RF_FLEET_CLAIMS_H
#define RF_FLEET_CLAIMS_H

#include "fleet/claim_table.h"
#include "ringfence/abi.h"
#include "ringfence/fleet_call.h"

#define RF_REPORT_ITEMS 32		   /* in one report */
#define RF_REPORTS_MAX 128		   /* in flight; fewer after timeouts: */
#define RF_REPORTS_LEAST 48		   /* one can be sent while another waits */
#define RF_REPORTS_CUT_NS 50000000ULL	   /* half as many, once in that time, */
#define RF_REPORTS_GROW 8		   /* and one more after this many replies */
#define RF_CLAIM_COLLECT_NS 1000000ULL	   /* requests are collected for that long, */
#define RF_CLAIM_SETTLE_NS 50000000ULL	   /* and shares to be taken back */
#define RF_CLAIM_REST_NS 2000000000ULL	   /* between two readings, or W/4 if longer */
#define RF_CLAIM_PATIENCE_NS 8000000000ULL /* at most, of an unsatisfied source */
#define RF_CLAIM_RENEW_NS 150000000000ULL  /* a claim is reported again by then */
#define RF_FLEET_LIMITS_MAX (4 * RF_LIMITS_MAX)

/* A definition of a limit. Replaced definitions remain while claims refer to them. */
struct rf_fleet_limit {
	char name[RF_NAME_SIZE];     /* "": the place is free */
	uint64_t definition;	     /* a hash that is the same on all hosts */
	uint32_t limit_id, tag;	     /* in this fence */
	uint32_t limit, first, pool; /* in units */
	uint64_t window_ns;
	uint8_t per4, per6; /* prefix lengths that group the sources */
	bool in_force;
	bool bans;
};

struct rf_report_item {
	struct rf_claimant *claimant;
	struct rf_ledger_report report;
};

/* Reports of one bucket that are sent together. */
struct rf_report_batch {
	uint32_t bucket, node, count; /* count 0: it is not in use */
	struct rf_report_item item[RF_REPORT_ITEMS];
};

/* Units that a window received since then. */
struct rf_sum_item {
	struct rf_claim_key key;
	uint64_t from_ns;
	uint32_t units, tag; /* of the limit, which can have changed before the reply */
};

/* One for each bucket: filled, sent, and emptied by the reply. */
struct rf_sum_batch {
	uint32_t bucket, count;
	uint64_t joined;   /* the membership in which it was sent */
	uint64_t since_ns; /* of the first item */
	bool is_under_way;
	struct rf_sum_item item[RF_REPORT_ITEMS];
};

/*
 * In-flight reports to a node of the server. Each node has a quota according to its buckets: a slow
 * node does not delay reports to others.
 */
struct rf_reports_under_way {
	uint32_t count, most; /* batches on their way, and how many all nodes might have */
	uint32_t grows;	      /* replies since the last increase */
	uint64_t cut_ns;      /* when there were fewer */
};

struct rf_claims_ports {
	void *context;
	/* Runs a batch as rf_shares_call(). 0 or -errno. */
	int (*windows)(void *context, struct rf_fleet_record *record, uint32_t count);
	/*
	 * Starts a wait for all programs that run now; rf_claims_settled() is called then. False:
	 * failed, and it will not be called. One wait at a time.
	 */
	bool (*settle)(void *context);
	/*
	 * Sends a report. The caller then calls rf_claims_answered() or rf_claims_unanswered().
	 * False: not sent, and neither is called.
	 */
	bool (*report)(void *context, struct rf_report_batch *batch);
	/* The same for received units: rf_claims_summed() or rf_claims_unsummed(). */
	bool (*sums)(void *context, struct rf_sum_batch *batch);
};

struct rf_claims_counts {
	uint64_t asks;
	uint64_t asks_sent;    /* that became reports */
	uint64_t asks_put_off; /* more than the agent may send */
	uint64_t asks_no_room; /* the table is full */
	uint64_t reports, answers, failed;
	uint64_t in_vain; /* replies that granted less than requested */
	uint64_t given_back;
	uint64_t over; /* replies with a source over its limit on all hosts together */
	uint64_t lost; /* windows evicted while they had a claim */
};

struct rf_claims {
	struct rf_member member[RF_BUCKETS];
	struct rf_claim_table table;
	struct rf_fleet_limit limit[RF_FLEET_LIMITS_MAX];
	struct rf_report_batch batch[RF_REPORTS_MAX];
	struct rf_reports_under_way under_way[RF_BUCKETS]; /* by node */
	struct rf_sum_batch sums[RF_BUCKETS];
	struct rf_sum_clock clock[RF_BUCKETS];
	struct rf_claims_ports ports;
	uint64_t key[2];      /* of buckets, see rf_bucket_by() */
	uint64_t fingerprint; /* of that key; 0: no key */
	uint64_t fleet_key;   /* the fingerprint of the fleet's key, if different */
	uint32_t foreign;     /* buckets whose members have a different key: then none is used */
	uint32_t asks_each_s; /* at most */
	uint64_t asks_left, asks_left_ns;
	uint64_t reported_ns, settled_ns; /* when ready ones, and shares to take back, had a turn */
	uint64_t blind_until_ns;	  /* until then windows can have shares without a claim */
	uint32_t ended;	  /* buckets whose shares are revoked: the caller does this and clears it */
	bool is_settling; /* waiting for programs */
	bool is_leaving;  /* no more requests */
	struct rf_claims_counts counts;
};

/* `size` claims at most. -ENOMEM. Free them even after an error. */
int rf_claims_make(struct rf_claims *claims, uint32_t size, const uint64_t hash_key[2],
		   uint64_t now);
void rf_claims_free(struct rf_claims *claims);

/* ---- limits ---- */

/* The enforced limits, by their definitions. Claims under other definitions end. */
void rf_claims_take_limits(struct rf_claims *claims, uint64_t now,
			   const struct rf_fleet_limit *limits, uint32_t count);
/* The longest W, also of definitions that claims still refer to. */
uint64_t rf_claims_window_ns(const struct rf_claims *claims);

/* ---- membership ---- */

/* Takes a slot, under a separate nonce: a new member in each bucket. */
void rf_claims_take_slot(struct rf_claims *claims, uint32_t slot, uint64_t nonce, uint64_t grace);
/* In all buckets. */
bool rf_claims_are_alone(const struct rf_claims *claims, uint64_t now);
bool rf_claims_may_beat(const struct rf_claims *claims, uint32_t bucket);
struct rf_ledger_beat rf_claims_beat(struct rf_claims *claims, uint32_t bucket, uint64_t now);
enum rf_member_news rf_claims_heard(struct rf_claims *claims, uint32_t bucket, uint64_t now,
				    uint32_t beat, uint64_t sent,
				    const struct rf_ledger_heard *heard);

/* ---- requests ---- */

/* The bucket of a source, as computed by the fence. */
uint32_t rf_claims_bucket(const struct rf_claims *claims, uint64_t first, uint64_t second);

/* False: no enforced limit has that id and tag, so the limits have changed. */
bool rf_claims_ask(struct rf_claims *claims, uint64_t now, const struct rf_fleet_ask *ask);
/* A window that can have a share from an earlier agent: its use is to be reported. */
void rf_claims_found(struct rf_claims *claims, uint64_t now, const struct rf_fleet_ask *window);

/* ---- windows and reports (reports.c) ---- */

/* All windows were removed with their fence. */
void rf_claims_lose_all(struct rf_claims *claims, uint64_t now);

/* Runs due work. */
void rf_claims_turn(struct rf_claims *claims, uint64_t now);
/* When the next turn is due; replies can make it earlier. */
uint64_t rf_claims_due_ns(const struct rf_claims *claims);
/* All programs that ran when `settle` was called have finished; or it is unknown. */
void rf_claims_settled(struct rf_claims *claims, bool is_known, uint64_t now);
/* Releases all shares, and reports their use until it is older than W: then no claim is left. */
void rf_claims_leave(struct rf_claims *claims);
/* One reply for each item, in order. */
void rf_claims_answered(struct rf_claims *claims, struct rf_report_batch *batch,
			const struct rf_ledger_answer *answer, uint64_t now);
/* The server can have processed them. They are sent again, with fewer in flight. */
void rf_claims_unanswered(struct rf_claims *claims, struct rf_report_batch *batch, uint64_t now);

/* ---- what all hosts received together ---- */

struct rf_sum_report rf_claims_sum_report(const struct rf_claims *claims,
					  const struct rf_sum_batch *batch, uint32_t i);
/* One reply for each item, in order. */
void rf_claims_summed(struct rf_claims *claims, struct rf_sum_batch *batch,
		      const struct rf_sum_answer *answer, uint64_t now);
/* No reply: the reported units are lost. */
void rf_claims_unsummed(struct rf_sum_batch *batch);

#endif /* RF_FLEET_CLAIMS_H */
