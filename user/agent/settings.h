/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The settings of an agent: the words of /etc/ringfence/NAME.fleet, then those of the command line.
 *
 *   redis HOST:PORT[,HOST:PORT…] [user USER] [password file PATH] [hosts N] [grace TIME] [asks N/s]
 * [bans take] [key file PATH]
 */
#ifndef RINGFENCE_AGENT_SETTINGS_H
#define RINGFENCE_AGENT_SETTINGS_H

#include "agent/engine.h"
#include "fleet/key.h"
#include "rules/grammar.h"

#define RF_AGENT_GRACE_NS 2000000000ULL
#define RF_AGENT_ASKS 5000

struct rf_agent_settings {
	char name[RF_NAME_SIZE]; /* of the fence */
	struct rf_engine engine;
	uint32_t hosts; /* where the fence has none; 0: nobody said it */
	uint64_t grace_ns;
	uint32_t asks_each_s;
	bool takes_bans; /* of other hosts */
	struct rf_fleet_key key;
};

/* The first of `words` is the fence's name, the others are settings. */
int rf_agent_settings(struct rf_agent_settings *settings, struct rf_words *words,
		      struct rf_error *error);
/* Of secrets. */
void rf_agent_settings_clear(struct rf_agent_settings *settings);

#endif /* RINGFENCE_AGENT_SETTINGS_H */
