// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/probe.h"
#include "agent/probe_node.h"
#include "agent/probe_place.h"
#include "base/json.h"
#include "base/say.h"
#include "base/units.h"

#define HOPS 4 /* from node to node, for the keys of a tag */
#define NOW 1  /* one look has no time */

struct probe {
	const struct rf_engine *engine;
	struct rf_cluster cluster;
	struct rf_probe_node node[RF_NODES_MOST];
};

/* Goes to where the keys of a tag are, or should be. */
static void find(struct probe *probe, uint32_t tag)
{
	for (int hop = 0; hop < HOPS; hop++) {
		const uint32_t node = probe->cluster.route[tag].node;
		char error[256];
		const char *why;

		if (!rf_probe_reach(&probe->node[node], &probe->cluster.node[node].server,
				    probe->engine)) {
			/* The last one stays: nobody has taken its place. */
			if (hop < HOPS - 1)
				rf_cluster_failed(&probe->cluster, node, 0, NOW);
			continue;
		}
		why = rf_probe_ask(&probe->node[node], tag, error);
		if (!why || !rf_cluster_refused(&probe->cluster, tag, node, why, NOW)) {
			if (!*probe->node[node].trouble)
				rf_cluster_answered(&probe->cluster, tag, node, NOW);
			return;
		}
	}
}

static int buckets_of(const struct probe *probe, uint32_t node)
{
	int buckets = 0;

	for (uint32_t tag = 0; tag < RF_BUCKETS; tag++)
		buckets += probe->cluster.route[tag].node == node;
	return buckets;
}

/* ---- replicas, which are of use only once their master is gone ---- */

/* As MOVED would name it then: behind a tunnel by its port alone. */
static bool replica_at(const struct probe *probe, const struct rf_server *master,
		       const json_t *replica, struct rf_server *server)
{
	const char *host = json_string_value(json_array_get(replica, 0));
	const char *port = json_string_value(json_array_get(replica, 1));
	const unsigned long number = strtoul(port, NULL, 10);

	*server = *master;
	snprintf(server->port, sizeof(server->port), "%s", port);
	server->port_number = number <= UINT16_MAX ? number : 0;
	if (host && !rf_address_is_loopback(master->address)) {
		snprintf(server->host, sizeof(server->host), "%s", host);
		snprintf(server->address, sizeof(server->address), "%s", host);
	}
	for (uint32_t i = 0; i < RF_NODES_MOST; i++) {
		const struct rf_server *known = &probe->cluster.node[i].server;

		if (known->port_number == server->port_number &&
		    strcmp(known->address, server->address) == 0)
			return false; /* it was looked at */
	}
	return true;
}

static void look_at_replicas(const struct probe *probe, uint32_t master, json_t *nodes)
{
	const struct rf_server *server = &probe->cluster.node[master].server;
	json_t *replica, *facts;
	size_t i;

	json_array_foreach (json_object_get(probe->node[master].facts, "replicas"), i, replica) {
		struct rf_probe_node node = {};
		struct rf_server at;

		if (!replica_at(probe, server, replica, &at))
			continue;
		rf_probe_reach(&node, &at, probe->engine);
		facts = rf_probe_tell(&node, 0);
		json_object_set_new(facts, "replica_of",
				    json_sprintf("%s:%s", server->host, server->port));
		json_array_append_new(nodes, facts);
	}
}

/* ---- all nodes ---- */

/* Keys led to it, and then on to another node. */
static void leave(struct rf_probe_node *node)
{
	if (node->facts)
		json_decref(rf_probe_tell(node, 0));
}

/* Each that has keys, and those of the settings. */
static json_t *look_at_nodes(struct probe *probe)
{
	json_t *nodes = json_array();

	for (uint32_t tag = 0; tag < RF_TAGS; tag++)
		find(probe, tag);
	for (uint32_t i = 0; i < RF_NODES_MOST; i++) {
		const struct rf_server *server = &probe->cluster.node[i].server;

		if (i >= probe->cluster.named &&
		    !(probe->cluster.node[i].id &&
		      rf_cluster_uses(&probe->cluster, i, UINT32_MAX))) {
			leave(&probe->node[i]);
			continue;
		}
		rf_probe_reach(&probe->node[i], server, probe->engine);
		json_array_append_new(nodes, rf_probe_tell(&probe->node[i], buckets_of(probe, i)));
		if (probe->cluster.is_cluster && buckets_of(probe, i))
			look_at_replicas(probe, i, nodes);
	}
	rf_probe_compare_places(nodes);
	return nodes;
}

/* What the cluster itself says, of keys that nobody has. */
static const char *trouble_of(const struct rf_cluster *cluster)
{
	for (uint32_t tag = 0; tag < RF_TAGS; tag++)
		if (cluster->route[tag].refused_ns && *cluster->why)
			return strchr(cluster->why, ' ') + 1;
	return NULL;
}

static void look_at_engine(struct rf_engine *engine, json_t *facts)
{
	struct probe *probe = calloc(1, sizeof(*probe));
	const char *trouble = NULL;

	if (!probe) {
		trouble = strerror(ENOMEM);
	} else {
		rf_engine_resolve(engine);
		probe->engine = engine;
		rf_cluster_start(&probe->cluster, engine);
		json_object_set_new(facts, "nodes", look_at_nodes(probe));
		trouble = trouble_of(&probe->cluster);
	}
	json_object_set_new(facts, "trouble", trouble ? rf_json_text(trouble) : json_null());
	free(probe);
}

int rf_agent_probe(struct rf_agent_settings *settings, int settings_err,
		   const struct rf_error *settings_error, struct rf_error *error)
{
	json_t *facts = json_object();
	char *text;

	json_object_set_new(facts, "settings",
			    settings_err ? rf_json_text(settings_error->text) : json_null());
	json_object_set_new(facts, "has_key", json_boolean(settings->key.fingerprint));
	json_object_set_new(facts, "grace_ms", json_integer(settings->grace_ns / RF_NS_PER_MS));
	if (!settings_err)
		look_at_engine(&settings->engine, facts);
	text = json_dumps(facts, JSON_COMPACT);
	json_decref(facts);
	if (!text)
		return rf_error_failed(error, -ENOMEM, "cannot look: %s", strerror(ENOMEM));
	rf_say_text(text);
	free(text);
	return 0;
}
