// SPDX-License-Identifier: GPL-2.0
/* The servers of the engine, as 'ringfence-fleet probe' saw them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fleet_agent.h"
#include "cli/fleet_findings.h"
#include "fleet/library.h"

#define ENGINE "engine"
#define LEAST_VERSION 7

struct node {
	const json_t *facts;
	char host[256], port[8], trouble[RF_FLEET_TROUBLE_SIZE];
	char version[32], role[16], policy[32], library[16];
	json_int_t buckets; /* whose keys it has */
	bool is_in_cluster;
	char client[288];     /* how to call it */
	char name[272];	      /* before what is wrong; "": there is one server */
	char replica_of[272]; /* its master; "": it is none, or was not looked at as one */
};

static void read_node(const json_t *facts, bool has_others, struct node *node)
{
	char in_cluster[4];

	node->facts = facts;
	rf_fleet_text(facts, "host", node->host, sizeof(node->host));
	rf_fleet_text(facts, "port", node->port, sizeof(node->port));
	rf_fleet_text(facts, "trouble", node->trouble, sizeof(node->trouble));
	rf_fleet_text(facts, "version", node->version, sizeof(node->version));
	rf_fleet_text(facts, "role", node->role, sizeof(node->role));
	rf_fleet_text(facts, "policy", node->policy, sizeof(node->policy));
	rf_fleet_text(facts, "library", node->library, sizeof(node->library));
	rf_fleet_text(facts, "replica_of", node->replica_of, sizeof(node->replica_of));
	rf_fleet_text(facts, "in_cluster", in_cluster, sizeof(in_cluster));
	node->is_in_cluster = strcmp(in_cluster, "1") == 0;
	node->buckets = json_integer_value(json_object_get(facts, "buckets"));
	snprintf(node->client, sizeof(node->client), "redis-cli -h %.255s -p %s", node->host,
		 node->port);
	*node->name = '\0';
	if (has_others)
		snprintf(node->name, sizeof(node->name), "%.255s:%s: ", node->host, node->port);
}

/* In a cluster, a replica sends on to its master. */
static void check_role(const struct rf_fleet_facts *facts, const struct node *node,
		       struct rf_findings *findings)
{
	char host[256], port[8];

	if (node->is_in_cluster ||
	    (strcmp(node->role, "slave") != 0 && strcmp(node->role, "replica") != 0))
		return;
	rf_fleet_text(node->facts, "master_host", host, sizeof(host));
	rf_fleet_text(node->facts, "master_port", port, sizeof(port));
	rf_findings_add(findings, RF_PROBLEM, ENGINE, "%sit is a replica; name its master",
			node->name);
	rf_findings_remedy(findings, "ringfence fleet join %s redis %s:%s hosts N", facts->fence,
			   host, port);
}

/*
 * True: whoever is sent to its address does not come to the node that is meant. That is so of nodes
 * without keys as well, once they have some.
 */
static bool check_place(const struct node *node, struct rf_findings *findings)
{
	char by[272], at[272];

	rf_fleet_text(node->facts, "announced_by", by, sizeof(by));
	rf_fleet_text(node->facts, "leads_to", at, sizeof(at));
	if (!*by)
		return false;
	if (*at)
		rf_findings_add(findings, RF_PROBLEM, ENGINE,
				"%sit is the node that its cluster announces as %s, and not the "
				"one that it announces here; behind a tunnel, see where that port "
				"leads",
				node->name, at);
	else
		rf_findings_add(findings, RF_PROBLEM, ENGINE,
				"%sit is none of the nodes that %s knows, and not the one that it "
				"announces here; behind a tunnel, see where that port leads",
				node->name, by);
	return true;
}

/* It would have claims of its own. */
static void check_cluster(const struct node *node, struct rf_findings *findings)
{
	if (*node->name && *node->role && !node->is_in_cluster)
		rf_findings_add(findings, RF_PROBLEM, ENGINE,
				"%sit is no node of a cluster; 'redis' names one server, or nodes "
				"of one cluster",
				node->name);
}

static void check_policy(const struct node *node, struct rf_findings *findings)
{
	if (!*node->policy || strcmp(node->policy, "noeviction") == 0)
		return;
	rf_findings_add(findings, RF_PROBLEM, ENGINE,
			"%sits maxmemory-policy is %s, so it may forget claims", node->name,
			node->policy);
	rf_findings_remedy(findings, "%s CONFIG SET maxmemory-policy noeviction", node->client);
}

static void check_library(const struct node *node, struct rf_findings *findings)
{
	if (strcmp(node->library, "missing") == 0) {
		rf_findings_add(
			findings, RF_PROBLEM, ENGINE,
			"%sit has no functions; the agent loads them, if it runs and its user "
			"may; otherwise load them",
			node->name);
		rf_findings_remedy(findings, "%s -x FUNCTION LOAD <" RF_FLEET_LIBRARY,
				   node->client);
	}
	if (strcmp(node->library, "other") == 0) {
		rf_findings_add(
			findings, RF_NOTE, ENGINE,
			"%sit has functions of another version of ringfence; once all hosts "
			"have this one, replace them: the fleet learns for a moment",
			node->name);
		rf_findings_remedy(findings, "%s -x FUNCTION LOAD REPLACE <" RF_FLEET_LIBRARY,
				   node->client);
	}
}

/* What the user of a member may not ask for, nobody can check here. */
static void check_rights(const struct node *node, struct rf_findings *findings)
{
	if (json_is_true(json_object_get(node->facts, "info_denied")))
		rf_findings_add(findings, RF_NOTE, ENGINE,
				"%sits role, memory and replicas are not checked: this user needs "
				"the right '+info'",
				node->name);
	if (json_is_true(json_object_get(node->facts, "list_denied")))
		rf_findings_add(findings, RF_NOTE, ENGINE,
				"%sits functions are not checked: this user needs the right "
				"'+function|list'",
				node->name);
	if (json_is_true(json_object_get(node->facts, "place_denied")))
		rf_findings_add(findings, RF_NOTE, ENGINE,
				"%sthat it is the node which its cluster announces here is not "
				"checked: this user needs the rights '+cluster|myid' and "
				"'+cluster|slots'",
				node->name);
}

static void check_answers(const struct node *node, struct rf_findings *findings)
{
	char loading[4];

	rf_fleet_text(node->facts, "loading", loading, sizeof(loading));
	if (strcmp(loading, "1") == 0)
		rf_findings_add(findings, RF_PROBLEM, ENGINE,
				"%sit is still loading its data; wait, or start it without any, by "
				"'save \"\"': the fleet needs none",
				node->name);
	else if (*node->trouble)
		rf_findings_add(findings, RF_PROBLEM, ENGINE, "%s:%s: %s", node->host, node->port,
				node->trouble);
	if (*node->version && strtoul(node->version, NULL, 10) < LEAST_VERSION)
		rf_findings_add(findings, RF_PROBLEM, ENGINE,
				"%sit is version %s, which knows no functions; it takes Redis 7 or "
				"Valkey",
				node->name, node->version);
}

static void say_well(const struct node *node, struct rf_findings *findings)
{
	char buckets[32] = "";

	if (*node->name)
		snprintf(buckets, sizeof(buckets), ", with %lld buckets", (long long)node->buckets);
	rf_findings_add(findings, RF_OK, ENGINE, "%s:%s, version %s%s", node->host, node->port,
			node->version, buckets);
}

/* One that has no keys only has to be there. */
static void check_idle(const struct node *node, struct rf_findings *findings)
{
	if (*node->trouble)
		rf_findings_add(findings, RF_NOTE, ENGINE, "%s%s", node->name, node->trouble);
	check_cluster(node, findings);
	check_place(node, findings);
}

/* It has to be within reach before it is needed. */
static void check_replica(const struct node *node, struct rf_findings *findings)
{
	if (*node->trouble)
		rf_findings_add(findings, RF_PROBLEM, ENGINE,
				"%s%s; it is a replica of %s, in whose place this host could not "
				"reach it",
				node->name, node->trouble, node->replica_of);
	else if (check_place(node, findings))
		return;
	else if (strcmp(node->role, "master") == 0)
		rf_findings_add(findings, RF_PROBLEM, ENGINE,
				"%sit is a master, and not the replica of %s that announces this; "
				"behind a tunnel, see where that port leads",
				node->name, node->replica_of);
}

static void check_node(const struct rf_fleet_facts *facts, const struct node *node,
		       struct rf_findings *findings)
{
	const int before = findings->count;

	if (*node->replica_of) {
		check_replica(node, findings);
		return;
	}
	if (*node->name && !node->buckets) {
		check_idle(node, findings);
		return;
	}
	check_answers(node, findings);
	check_cluster(node, findings);
	check_place(node, findings);
	check_role(facts, node, findings);
	check_policy(node, findings);
	check_library(node, findings);
	check_rights(node, findings);
	if (findings->count == before)
		say_well(node, findings);
}

/* Nodes share the sources by their buckets. */
static void check_key(const struct rf_fleet_facts *facts, struct rf_findings *findings)
{
	const json_t *node;
	int shared = 0;
	size_t i;

	json_array_foreach (json_object_get(facts->probe, "nodes"), i, node)
		shared += json_integer_value(json_object_get(node, "buckets")) > 0;
	if (shared < 2 || json_is_true(json_object_get(facts->probe, "has_key")))
		return;
	rf_findings_add(
		findings, RF_NOTE, "key",
		"without a bucket key, senders can choose which of its %d masters has their "
		"claims; give all hosts the same 'key file'",
		shared);
	rf_findings_remedy(findings, "openssl rand -hex 16");
}

void rf_fleet_check_engine(const struct rf_fleet_facts *facts, struct rf_findings *findings)
{
	const json_t *nodes = json_object_get(facts->probe, "nodes");
	char trouble[RF_FLEET_TROUBLE_SIZE];
	json_t *each;
	size_t i;

	rf_fleet_text(facts->probe, "trouble", trouble, sizeof(trouble));
	if (*trouble)
		rf_findings_add(findings, RF_PROBLEM, ENGINE, "%s", trouble);
	json_array_foreach (nodes, i, each) {
		struct node node;

		read_node(each, json_array_size(nodes) > 1, &node);
		check_node(facts, &node, findings);
	}
	check_key(facts, findings);
}
