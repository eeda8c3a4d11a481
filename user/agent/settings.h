/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The settings of an agent: the words of /etc/ringfence/NAME.fleet, then the words of the command
 * line; see schema/fleet_settings.def.
 */
#ifndef RINGFENCE_AGENT_SETTINGS_H
#define RINGFENCE_AGENT_SETTINGS_H

#include "agent/engine.h"
#include "fleet/key.h"
#include "rules/grammar.h"
#include "rules/settings.h"

struct rf_agent_settings {
	char name[RF_NAME_SIZE]; /* of the fence */
	struct rf_engine engine;
	uint32_t hosts; /* used if the fence is without a number; 0: not set */
	uint64_t grace_ns;
	uint32_t asks_each_s;
	bool takes_bans; /* of other hosts */
	struct rf_fleet_key key;
};

extern const struct rf_setting_table rf_fleet_settings;

/* The first of `words` is the fence's name, the others are settings. */
int rf_agent_settings(struct rf_agent_settings *settings, struct rf_words *words,
		      struct rf_error *error);
/* Erases secrets. */
void rf_agent_settings_clear(struct rf_agent_settings *settings);

#endif /* RINGFENCE_AGENT_SETTINGS_H */
