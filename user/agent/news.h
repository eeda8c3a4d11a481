/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a host tells the others of itself, for people: its name, its definitions of limits, and the
 * sources that it drops the most of. Nothing is decided by it. It has a connection of its own, so
 * that no question of a person, and no right that is missing, touches heartbeats and reports.
 *
 * Both are JSON, kept in the engine by slot. What others have written is anybody's text.
 */
#ifndef RINGFENCE_AGENT_NEWS_H
#define RINGFENCE_AGENT_NEWS_H

#include <jansson.h>

#include "agent/calls.h"
#include "agent/settings.h"
#include "agent/site.h"
#include "schema/record.h"

#define RF_HOST_NAME_SIZE 65
#define RF_NEWS_HOST_MAX 8192 /* bytes of what a host says of itself, */
#define RF_NEWS_TOP_MAX 8192  /* and of its sources */
#define RF_NEWS_SOURCES 32    /* that a host tells */

struct rf_news {
	const struct rf_agent_settings *settings;
	struct rf_claims *claims;
	const struct rf_site *site;
	struct rf_line *line;
	char name[RF_HOST_NAME_SIZE]; /* of this host */
	uint64_t host_at_ns, top_at_ns;
	/* What was told: where one of them changes, it is told anew. */
	uint32_t slot, hosts;
	uint64_t in_force, joined;
};

void rf_news_start(struct rf_news *news, const struct rf_agent_settings *settings,
		   struct rf_claims *claims, const struct rf_site *site, struct rf_line *line);
/* Tells what is due. `hosts`: of the fleet. */
void rf_news_turn(struct rf_news *news, uint32_t hosts, uint64_t now);
uint64_t rf_news_due_ns(const struct rf_news *news, uint64_t now);

/* ---- what others have told ---- */

/* Letters, digits, '-', '.' and '_' of a name; others become '_'. */
void rf_news_clean_name(const char *name, char clean[RF_HOST_NAME_SIZE]);
/* A source as one host reports it, or several hosts together. */
struct rf_told_source {
	char source[RF_PREFIX_TEXT_SIZE], limit[RF_NAME_SIZE];
	uint64_t passed, dropped, rate, hosts;
};

extern const struct rf_field rf_told_fields[];

/*
 * Who of the fleet is heard. A member keeps its slot until another host wants it, so a heartbeat's
 * answer also has those that are long gone. When each was heard is what the engine keeps of a
 * bucket, which is read now and then. For people alone: nothing is decided by it.
 */
struct rf_roll {
	struct rf_line *line;
	uint64_t grace_ms;
	uint64_t at_ns;	   /* when it is read next */
	uint64_t known_ns; /* when the answer came; 0: none yet */
	bool is_under_way;
	struct rf_ledger kept;	      /* of a bucket */
	struct rf_ledger_slots heard; /* not silent for G + W: their claims count */
};

void rf_roll_start(struct rf_roll *roll, struct rf_line *line, uint64_t grace_ns);
void rf_roll_turn(struct rf_roll *roll, uint64_t now);
/* False: not for some time. */
bool rf_roll_is_known(const struct rf_roll *roll, uint64_t now);

#endif /* RINGFENCE_AGENT_NEWS_H */
