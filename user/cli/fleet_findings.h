/* SPDX-License-Identifier: GPL-2.0 */
/* What is wrong with a fleet, seen from one host, and what to type: facts in, findings out. */
#ifndef RINGFENCE_CLI_FLEET_FINDINGS_H
#define RINGFENCE_CLI_FLEET_FINDINGS_H

#include <jansson.h>

#include "cli/fleet_agent.h"
#include "doctor/diagnose.h"
#include "fence/fence.h"

/* What is known of a fleet; NULL where it could not be had. */
struct rf_fleet_facts {
	const char *fence;
	const char *settings_file; /* NULL: there is none */
	const struct rf_fence *open;
	const char *open_error; /* why it is not open */
	const struct rf_bank *bank;
	const json_t *probe;	  /* what 'ringfence-fleet probe' said */
	const char *probe_error;  /* why it said nothing */
	const json_t *status;	  /* what the agent answered */
	const char *status_error; /* why it did not */
	const json_t *hosts;	  /* the same of all hosts */
};

/* Of bans, what the agent tells of them. `told` counts since its start. */
struct rf_fleet_bans_seen {
	bool is_known, takes;
	json_int_t taken, told, refused;
	char trouble[RF_FLEET_TROUBLE_SIZE]; /* "": none */
};

void rf_fleet_check_settings(const struct rf_fleet_facts *facts, struct rf_findings *findings);
void rf_fleet_check_fence(const struct rf_fleet_facts *facts, struct rf_findings *findings);
void rf_fleet_check_agent(const struct rf_fleet_facts *facts, struct rf_findings *findings);
/* fleet_findings_bans.c */
void rf_fleet_read_bans(const json_t *status, struct rf_fleet_bans_seen *seen);
void rf_fleet_check_bans(const struct rf_fleet_facts *facts, struct rf_findings *findings);
/* fleet_findings_engine.c */
void rf_fleet_check_engine(const struct rf_fleet_facts *facts, struct rf_findings *findings);
/* fleet_findings_hosts.c */
void rf_fleet_check_hosts(const struct rf_fleet_facts *facts, struct rf_findings *findings);

#endif /* RINGFENCE_CLI_FLEET_FINDINGS_H */
