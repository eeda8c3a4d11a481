// SPDX-License-Identifier: GPL-2.0
/* The engine, as 'ringfence-fleet probe' saw it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fleet_agent.h"
#include "cli/fleet_findings.h"
#include "fleet/library.h"

#define ENGINE "engine"
#define LEAST_VERSION 7

struct engine {
	char host[256], port[8], trouble[RF_FLEET_TROUBLE_SIZE];
	char version[32], role[16], policy[32], library[16];
	char client[288]; /* how to call it */
};

static void read_engine(const json_t *probe, struct engine *engine)
{
	rf_fleet_text(probe, "host", engine->host, sizeof(engine->host));
	rf_fleet_text(probe, "port", engine->port, sizeof(engine->port));
	rf_fleet_text(probe, "trouble", engine->trouble, sizeof(engine->trouble));
	rf_fleet_text(probe, "version", engine->version, sizeof(engine->version));
	rf_fleet_text(probe, "role", engine->role, sizeof(engine->role));
	rf_fleet_text(probe, "policy", engine->policy, sizeof(engine->policy));
	rf_fleet_text(probe, "library", engine->library, sizeof(engine->library));
	snprintf(engine->client, sizeof(engine->client), "redis-cli -h %.255s -p %s", engine->host,
		 engine->port);
}

static void check_role(const struct rf_fleet_facts *facts, const struct engine *engine,
		       struct rf_findings *findings)
{
	char host[256], port[8];

	if (strcmp(engine->role, "slave") != 0 && strcmp(engine->role, "replica") != 0)
		return;
	rf_fleet_text(facts->probe, "master_host", host, sizeof(host));
	rf_fleet_text(facts->probe, "master_port", port, sizeof(port));
	rf_findings_add(findings, RF_PROBLEM, ENGINE, "it is a replica; name its master");
	rf_findings_remedy(findings, "ringfence fleet join %s redis %s:%s hosts N", facts->fence,
			   host, port);
}

static void check_policy(const struct engine *engine, struct rf_findings *findings)
{
	if (!*engine->policy || strcmp(engine->policy, "noeviction") == 0)
		return;
	rf_findings_add(findings, RF_PROBLEM, ENGINE,
			"its maxmemory-policy is %s, so it may forget claims", engine->policy);
	rf_findings_remedy(findings, "%s CONFIG SET maxmemory-policy noeviction", engine->client);
}

static void check_library(const struct engine *engine, struct rf_findings *findings)
{
	if (strcmp(engine->library, "missing") == 0) {
		rf_findings_add(
			findings, RF_PROBLEM, ENGINE,
			"it has no functions; the agent loads them, if it runs and its user "
			"may; otherwise load them");
		rf_findings_remedy(findings, "%s -x FUNCTION LOAD <" RF_FLEET_LIBRARY,
				   engine->client);
	}
	if (strcmp(engine->library, "other") == 0) {
		rf_findings_add(findings, RF_NOTE, ENGINE,
				"it has functions of another version of ringfence; once all hosts "
				"have this one, replace them: the fleet learns for a moment");
		rf_findings_remedy(findings, "%s -x FUNCTION LOAD REPLACE <" RF_FLEET_LIBRARY,
				   engine->client);
	}
}

/* What the user of a member may not ask for, nobody can check here. */
static void check_rights(const json_t *probe, struct rf_findings *findings)
{
	if (json_is_true(json_object_get(probe, "info_denied")))
		rf_findings_add(findings, RF_NOTE, ENGINE,
				"its role and memory are not checked: this user needs the right "
				"'+info'");
	if (json_is_true(json_object_get(probe, "list_denied")))
		rf_findings_add(findings, RF_NOTE, ENGINE,
				"its functions are not checked: this user needs the right "
				"'+function|list'");
}

void rf_fleet_check_engine(const struct rf_fleet_facts *facts, struct rf_findings *findings)
{
	struct engine engine;
	char loading[4];
	const int before = findings->count;

	read_engine(facts->probe, &engine);
	if (!facts->probe || !*engine.host)
		return;
	rf_fleet_text(facts->probe, "loading", loading, sizeof(loading));
	if (strcmp(loading, "1") == 0)
		rf_findings_add(findings, RF_PROBLEM, ENGINE,
				"it is still loading its data; wait, or start it without any, by "
				"'save \"\"': the fleet needs none");
	else if (*engine.trouble)
		rf_findings_add(findings, RF_PROBLEM, ENGINE, "%s:%s: %s", engine.host, engine.port,
				engine.trouble);
	if (*engine.version && strtoul(engine.version, NULL, 10) < LEAST_VERSION)
		rf_findings_add(findings, RF_PROBLEM, ENGINE,
				"it is version %s, which knows no functions; it takes Redis 7 or "
				"Valkey",
				engine.version);
	check_role(facts, &engine, findings);
	check_policy(&engine, findings);
	check_library(&engine, findings);
	check_rights(facts->probe, findings);
	if (findings->count == before)
		rf_findings_add(findings, RF_OK, ENGINE, "%s:%s, version %s", engine.host,
				engine.port, engine.version);
}
