/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Information that a host publishes for operators on other hosts: its name, its definitions of
 * limits, and its sources with the most drops. No decision depends on it. It has a separate
 * connection, so requests and missing rights never affect heartbeats and reports.
 *
 * Both are JSON, stored on the server by slot. Text from other hosts is untrusted.
 */
#ifndef RINGFENCE_AGENT_NEWS_H
#define RINGFENCE_AGENT_NEWS_H

#include <jansson.h>

#include "agent/calls.h"
#include "agent/settings.h"
#include "agent/site.h"
#include "schema/record.h"

#define RF_HOST_NAME_SIZE 65
#define RF_NEWS_HOST_MAX 8192 /* bytes of a description, */
#define RF_NEWS_TOP_MAX 8192  /* and of its sources */
#define RF_NEWS_SOURCES 32    /* of a host */

struct rf_news {
	const struct rf_agent_settings *settings;
	struct rf_claims *claims;
	const struct rf_site *site;
	struct rf_line *line;
	char name[RF_HOST_NAME_SIZE]; /* of this host */
	uint64_t host_at_ns, top_at_ns;
	/* The published state: a change publishes it again. */
	uint32_t slot, hosts;
	uint64_t in_force, joined;
};

void rf_news_start(struct rf_news *news, const struct rf_agent_settings *settings,
		   struct rf_claims *claims, const struct rf_site *site, struct rf_line *line);
/* Publishes what is due. `hosts`: of the fleet. */
void rf_news_turn(struct rf_news *news, uint32_t hosts, uint64_t now);
uint64_t rf_news_due_ns(const struct rf_news *news, uint64_t now);

/* ---- information of other hosts ---- */

/* Letters, digits, '-', '.' and '_' of a name; others become '_'. */
void rf_news_clean_name(const char *name, char clean[RF_HOST_NAME_SIZE]);
/* A source as one host reports it, or several hosts together. */
struct rf_told_source {
	char source[RF_PREFIX_TEXT_SIZE], limit[RF_NAME_SIZE];
	uint64_t passed, dropped, rate, hosts;
};

extern const struct rf_field rf_told_fields[];

/*
 * Which members are alive. A member has its slot until a different host needs it, so the reply to a
 * heartbeat also lists dead ones. The server stores the time of the last heartbeat of each, which
 * is read periodically from one bucket. For operators only: no decision depends on it.
 */
struct rf_roll {
	struct rf_line *line;
	uint64_t grace_ms;
	uint64_t at_ns;	   /* when it is read next */
	uint64_t known_ns; /* time of the last reply; 0: none yet */
	bool is_under_way;
	struct rf_ledger kept;	      /* of a bucket */
	struct rf_ledger_slots heard; /* silent for less than G + W: their claims count */
};

void rf_roll_start(struct rf_roll *roll, struct rf_line *line, uint64_t grace_ns);
void rf_roll_turn(struct rf_roll *roll, uint64_t now);
/* False: no recent reply. */
bool rf_roll_is_known(const struct rf_roll *roll, uint64_t now);

#endif /* RINGFENCE_AGENT_NEWS_H */
