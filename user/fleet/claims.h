/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The claims of a host: what sources ask for becomes reports, and their answers become shares.
 * Pure: the caller reads and writes windows, sends what is reported, and brings time and answers.
 * It is the caller of member.h, which has the rules that the bound rests on.
 *
 * An ask is collected for a moment, its window is read, and it is reported; a source has one report
 * on its way. A claim is reported again after W/4, and then more and more seldom, up to each
 * RF_CLAIM_REST_NS. Its window is looked at each W/4, or W/8 where others wait for it: where its
 * use has fallen, a part of the share is given back. Whoever wants in vain asks again after a
 * quarter of the time that it has waited, up to RF_CLAIM_PATIENCE_NS.
 *
 * Times are in ns of the host's own clock.
 */
#ifndef RF_FLEET_CLAIMS_H
#define RF_FLEET_CLAIMS_H

#include "fleet/claim_table.h"
#include "ringfence/abi.h"
#include "ringfence/fleet_call.h"

#define RF_REPORT_ITEMS 32		   /* in one report */
#define RF_REPORTS_MAX 128		   /* on their way; fewer after some had no answer: */
#define RF_REPORTS_LEAST 48		   /* one turn may go while another has no answer */
#define RF_REPORTS_CUT_NS 50000000ULL	   /* half as many, once in that time, */
#define RF_REPORTS_GROW 8		   /* and one more after so many answers */
#define RF_CLAIM_COLLECT_NS 1000000ULL	   /* asks are collected so long, */
#define RF_CLAIM_SETTLE_NS 50000000ULL	   /* and shares to be taken back */
#define RF_CLAIM_REST_NS 2000000000ULL	   /* between two looks, or W/4 where that is longer */
#define RF_CLAIM_PATIENCE_NS 8000000000ULL /* at most, of who wants in vain */
#define RF_CLAIM_RENEW_NS 150000000000ULL  /* a claim is told again, at the latest */
#define RF_FLEET_LIMITS_MAX (4 * RF_LIMITS_MAX)

/* A definition of a limit. Those that are no longer in force stay while claims refer to them. */
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

/* So much a window received since then. */
struct rf_sum_item {
	struct rf_claim_key key;
	uint64_t from_ns;
	uint32_t units, tag; /* of the limit, which may be another one when an answer comes */
};

/* One for each bucket: it is filled, sent, and empty again once it is answered. */
struct rf_sum_batch {
	uint32_t bucket, count;
	uint64_t joined;   /* the membership in which it was sent */
	uint64_t since_ns; /* of the first item */
	bool is_under_way;
	struct rf_sum_item item[RF_REPORT_ITEMS];
};

/*
 * To a node of the engine. Each has a part of what may be on its way, by its buckets: one that is
 * slow holds up no report to another.
 */
struct rf_reports_under_way {
	uint32_t count, most; /* batches on their way, and how many all nodes might have */
	uint32_t grows;	      /* answers since there may be one more */
	uint64_t cut_ns;      /* when there were fewer */
};

struct rf_claims_ports {
	void *context;
	/* Runs a batch as rf_shares_call(). 0 or -errno. */
	int (*windows)(void *context, struct rf_fleet_record *record, uint32_t count);
	/*
	 * Begins to wait until no program runs any more that runs now; rf_claims_settled() is
	 * called then. False: it cannot, and that will not be called. One wait at a time.
	 */
	bool (*settle)(void *context);
	/*
	 * Sends a report. Its answers come by rf_claims_answered(), or rf_claims_unanswered() is
	 * called. False: it cannot be sent, and neither will be called.
	 */
	bool (*report)(void *context, struct rf_report_batch *batch);
	/* The same, of what was received: rf_claims_summed() or rf_claims_unsummed(). */
	bool (*sums)(void *context, struct rf_sum_batch *batch);
};

struct rf_claims_counts {
	uint64_t asks;
	uint64_t asks_sent;    /* that became reports */
	uint64_t asks_put_off; /* more than the agent may send */
	uint64_t asks_no_room; /* the table is full */
	uint64_t reports, answers, failed;
	uint64_t in_vain; /* answers that gave less than was wanted */
	uint64_t given_back;
	uint64_t over; /* answers by which a source was over its limit on all hosts together */
	uint64_t lost; /* windows that are gone while they had a claim */
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
	uint64_t fingerprint; /* of that key; 0: there is none */
	uint64_t fleet_key;   /* the fingerprint of the fleet's, where it is another one */
	uint32_t foreign;     /* buckets whose members have another key: then none is heard */
	uint32_t asks_each_s; /* at most */
	uint64_t asks_left, asks_left_ns;
	uint64_t reported_ns, settled_ns; /* when ready ones, and shares to take back, had a turn */
	uint64_t blind_until_ns;	  /* until then windows may have what no claim tells */
	uint32_t ended;	  /* buckets whose shares end at once: the caller does so, and clears it */
	bool is_settling; /* it waits for programs */
	bool is_leaving;  /* nothing is asked for any more */
	struct rf_claims_counts counts;
};

/* `size` claims at most. -ENOMEM. Free them even after an error. */
int rf_claims_make(struct rf_claims *claims, uint32_t size, const uint64_t hash_key[2],
		   uint64_t now);
void rf_claims_free(struct rf_claims *claims);

/* ---- limits ---- */

/* The limits in force, by their definitions. Claims under others end. */
void rf_claims_take_limits(struct rf_claims *claims, uint64_t now,
			   const struct rf_fleet_limit *limits, uint32_t count);
/* The longest W, also of definitions that claims still refer to. */
uint64_t rf_claims_window_ns(const struct rf_claims *claims);

/* ---- membership ---- */

/* Another slot, or the first one, under a nonce of its own: a new member in each bucket. */
void rf_claims_take_slot(struct rf_claims *claims, uint32_t slot, uint64_t nonce, uint64_t grace);
/* In all buckets. */
bool rf_claims_are_alone(const struct rf_claims *claims, uint64_t now);
bool rf_claims_may_beat(const struct rf_claims *claims, uint32_t bucket);
struct rf_ledger_beat rf_claims_beat(struct rf_claims *claims, uint32_t bucket, uint64_t now);
enum rf_member_news rf_claims_heard(struct rf_claims *claims, uint32_t bucket, uint64_t now,
				    uint32_t beat, uint64_t sent,
				    const struct rf_ledger_heard *heard);

/* ---- asks ---- */

/* Of a source, as the fence computes it. */
uint32_t rf_claims_bucket(const struct rf_claims *claims, uint64_t first, uint64_t second);

/* False: no limit in force has that id and tag, so the limits have changed. */
bool rf_claims_ask(struct rf_claims *claims, uint64_t now, const struct rf_fleet_ask *ask);
/* A window that an agent before this one may have given a share: its use is to be told. */
void rf_claims_found(struct rf_claims *claims, uint64_t now, const struct rf_fleet_ask *window);

/* ---- windows and reports (reports.c) ---- */

/* All windows are gone, with their fence. */
void rf_claims_lose_all(struct rf_claims *claims, uint64_t now);

/* Does what is due. */
void rf_claims_turn(struct rf_claims *claims, uint64_t now);
/* When the next turn is due; answers may make one due before. */
uint64_t rf_claims_due_ns(const struct rf_claims *claims);
/* No program runs any more that ran when `settle` was called; or nobody knows. */
void rf_claims_settled(struct rf_claims *claims, bool is_known, uint64_t now);
/* Gives all shares back, and reports what was used until it is out of W: then no claim is left. */
void rf_claims_leave(struct rf_claims *claims);
/* One answer for each item, in their order. */
void rf_claims_answered(struct rf_claims *claims, struct rf_report_batch *batch,
			const struct rf_ledger_answer *answer, uint64_t now);
/* An engine may have taken them. They are made again, and fewer are sent at a time. */
void rf_claims_unanswered(struct rf_claims *claims, struct rf_report_batch *batch, uint64_t now);

/* ---- what all hosts received together ---- */

struct rf_sum_report rf_claims_sum_report(const struct rf_claims *claims,
					  const struct rf_sum_batch *batch, uint32_t i);
/* One answer for each item, in their order. */
void rf_claims_summed(struct rf_claims *claims, struct rf_sum_batch *batch,
		      const struct rf_sum_answer *answer, uint64_t now);
/* It has no answer: what it reported is lost. */
void rf_claims_unsummed(struct rf_sum_batch *batch);

#endif /* RF_FLEET_CLAIMS_H */
