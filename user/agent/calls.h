/* SPDX-License-Identifier: GPL-2.0 */
/* The agent's calls to the fleet server: heartbeats, which get it a slot, reports of claims, and of
 * received packets. */
#ifndef RINGFENCE_AGENT_CALLS_H
#define RINGFENCE_AGENT_CALLS_H

#include <netinet/in.h>

#include "agent/link.h"
#include "agent/settings.h"
#include "base/prefix.h"
#include "fleet/claims.h"

#define RF_CALLS_SOURCE_SIZE (INET6_ADDRSTRLEN + 4)

/* A heartbeat on its way; one for each bucket. */
struct rf_beating {
	struct rf_calls *calls;
	uint32_t bucket, beat;
	uint32_t term; /* of rf_calls: replies of an earlier term are ignored */
	uint64_t sent_ns;
	bool is_under_way;
	bool is_refused, is_learning; /* by the latest reply */
	/* When the next is due early, because the host joined, the node changed, or claims were
	 * reported; UINT64_MAX: at the regular time. */
	uint64_t due_ns;
};

struct rf_reporting {
	struct rf_calls *calls;
	struct rf_report_batch *batch;
};

struct rf_summing {
	struct rf_calls *calls;
	struct rf_sum_batch *batch;
};

struct rf_calls {
	const struct rf_agent_settings *settings;
	struct rf_claims *claims;
	struct rf_line *beats, *reports;
	uint32_t hosts;	   /* of the fleet; 0: not known, and no slot is taken */
	uint32_t refusals; /* consecutive slots that were refused */
	uint64_t beat_at_ns;
	uint32_t term; /* counts the slots that were taken */
	struct rf_beating beating[RF_BUCKETS];
	struct rf_reporting reporting[RF_REPORTS_MAX];
	struct rf_summing summing[RF_BUCKETS];
	uint64_t beats_answered;
};

void rf_calls_start(struct rf_calls *calls, const struct rf_agent_settings *settings,
		    struct rf_claims *claims, struct rf_line *beats, struct rf_line *reports);
/*
 * Sends heartbeats that are due, first with another slot if the present one is refused. `hosts`: of
 * the fleet; 0: not known.
 */
void rf_calls_turn(struct rf_calls *calls, uint32_t hosts, uint64_t now);
uint64_t rf_calls_due_ns(const struct rf_calls *calls, uint64_t now);
/* A random number other than 0. */
uint64_t rf_calls_draw(void);
/* As in the keys of the server: */
void rf_calls_format_source(const struct rf_claim_key *key, const struct rf_fleet_limit *limit,
			    char text[RF_CALLS_SOURCE_SIZE]);
/* The source of an address under a limit, by the claims' number of it. */
struct rf_claim_key rf_calls_key(const struct rf_claims *claims, int limit,
				 const struct rf_address *address);
/* The arguments of every call of a bucket. */
struct rf_ledger_call rf_calls_of(const struct rf_calls *calls, uint32_t bucket);
/* Calls a function of one argument with the keys of a bucket; see rf_line_call(). */
bool rf_calls_send(struct rf_line *line, uint32_t bucket, uint32_t slot, const char *function,
		   const void *bytes, size_t size, rf_link_answer answer, void *data);
/* Ports of rf_claims. */
bool rf_calls_report(struct rf_calls *calls, struct rf_report_batch *batch);
bool rf_calls_sum(struct rf_calls *calls, struct rf_sum_batch *batch);

#endif /* RINGFENCE_AGENT_CALLS_H */
