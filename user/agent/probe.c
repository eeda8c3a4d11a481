// SPDX-License-Identifier: GPL-2.0
#include "agent/probe.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cluster.h"
#include "agent/guard.h"
#include "agent/link.h"
#include "agent/probe_place.h"
#include "base/json.h"
#include "base/say.h"
#include "base/units.h"
#include "build/fleet_functions.h"
#include "fleet/bans.h"
#include "fleet/wire.h"

#define PATIENCE_S 3
#define HOPS 4 /* redirections for the keys of a tag */
#define NOW 1  /* a single probe needs no clock */

/* ---- one server, blocking ---- */

struct probe_node {
	redisContext *redis; /* NULL: not connected */
	struct rf_guard guard;
	json_t *facts; /* NULL: not probed yet */
	bool is_loading;
	char trouble[RF_CLUSTER_TEXT_SIZE]; /* "": none */
};

static void note(struct probe_node *node, const char *error)
{
	if (!*node->trouble)
		rf_engine_explain(error, node->trouble, sizeof(node->trouble));
}

/* ---- the connection ---- */

static bool connect_to(struct probe_node *node, const struct rf_server *server)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};

	if (server->unknown) {
		snprintf(node->trouble, sizeof(node->trouble),
			 "its name cannot be resolved: %s; " RF_NAME_REMEDY, server->unknown);
		return false;
	}
	if (!server->port_number) { /* a server can announce any number */
		snprintf(node->trouble, sizeof(node->trouble),
			 "the fleet server announces port %s for it, which is invalid; see "
			 "'cluster-announce-port'",
			 server->port);
		return false;
	}
	node->redis = redisConnectWithTimeout(server->address, server->port_number, patience);
	if (!node->redis || node->redis->err) {
		note(node, node->redis ? node->redis->errstr : "no memory is left");
		return false;
	}
	redisSetTimeout(node->redis, patience);
	rf_guard_set(&node->guard, node->redis);
	return true;
}

/* NULL: no reply. */
static redisReply *try_to_ask(struct probe_node *node, int count, const char **words)
{
	redisReply *reply =
		rf_guard_ask(&node->guard, node->redis, PATIENCE_S * RF_NS_PER_S, count, words);

	if (!reply)
		note(node, node->guard.refused	  ? node->guard.refused
			   : *node->redis->errstr ? node->redis->errstr
						  : "it does not answer in time");
	return reply;
}

static bool is_denied(const redisReply *reply)
{
	return reply && reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "NOPERM", 6) == 0;
}

/* NULL: no reply, or an error; `*denied`: because of a missing right. */
static redisReply *ask(struct probe_node *node, int count, const char **words, bool *denied)
{
	redisReply *reply = try_to_ask(node, count, words);

	*denied = is_denied(reply);
	if (!reply || reply->type != REDIS_REPLY_ERROR)
		return reply;
	if (!*denied)
		note(node, reply->str);
	freeReplyObject(reply);
	return NULL;
}

static bool log_in(struct probe_node *node, const struct rf_engine *engine)
{
	const char *words[] = {"AUTH", engine->user, engine->password};
	bool denied;
	redisReply *reply;

	if (!*engine->password)
		return true;
	if (!*engine->user)
		words[1] = engine->password;
	reply = ask(node, *engine->user ? 3 : 2, words, &denied);
	if (reply)
		freeReplyObject(reply);
	return reply;
}

/*
 * Checks whether it has the keys of a tag, by a call without effect that every member's user has
 * the right to. NULL: it has them; otherwise its error, valid until the next call.
 */
static const char *ask_node(struct probe_node *node, uint32_t tag, char error[256])
{
	char key[RF_WIRE_KEY_SIZE];
	const char *words[] = {"FCALL", "rf_beat", "1", key};
	redisReply *reply;

	if (tag == RF_TAG_OF_ALL)
		snprintf(key, sizeof(key), "%s", RF_BANS_KEY);
	else
		rf_wire_hosts_key(key, tag);
	reply = try_to_ask(node, ARRAY_SIZE(words), words);
	*error = '\0';
	if (reply && reply->type == REDIS_REPLY_ERROR)
		snprintf(error, 256, "%s", reply->str);
	if (reply)
		freeReplyObject(reply);
	return *error ? error : NULL;
}

/* ---- its facts ---- */

/* The value of a line "KEY:VALUE"; NULL: no such line. */
static json_t *field(const char *info, const char *key)
{
	const size_t length = strlen(key);

	for (const char *line = info; line; line = strchr(line, '\n')) {
		char value[128];
		size_t end;

		line += *line == '\n';
		if (strncmp(line, key, length) != 0 || line[length] != ':')
			continue;
		end = strcspn(line + length + 1, "\r\n");
		if (end >= sizeof(value))
			return NULL;
		memcpy(value, line + length + 1, end);
		value[end] = '\0';
		return rf_json_text(value);
	}
	return NULL;
}

static void tell_field(json_t *facts, const char *info, const char *as, const char *key)
{
	json_t *value = field(info, key);

	json_object_set_new(facts, as, value ? value : json_null());
}

/* Its replicas: */
static json_t *replicas_of(const char *info)
{
	json_t *replicas = json_array();

	for (int i = 0; i < RF_REPLICAS_MOST; i++) {
		char key[16], host[64], port[8];
		json_t *text;

		snprintf(key, sizeof(key), "slave%d", i);
		text = field(info, key);
		if (text && strstr(json_string_value(text), ",state=online,") &&
		    sscanf(json_string_value(text), "ip=%63[^,],port=%7[0-9],", host, port) == 2)
			json_array_append_new(replicas,
					      json_pack("[o, s]", rf_json_text(host), port));
		json_decref(text);
	}
	return replicas;
}

static void look_at_info(struct probe_node *node)
{
	const char *words[] = {"INFO", "all"};
	json_t *facts = node->facts;
	bool denied;
	redisReply *reply = ask(node, ARRAY_SIZE(words), words, &denied);
	const char *info = reply && reply->type == REDIS_REPLY_STRING ? reply->str : "";

	json_object_set_new(facts, "info_denied", json_boolean(denied));
	tell_field(facts, info, "version", "redis_version");
	tell_field(facts, info, "role", "role");
	tell_field(facts, info, "master_host", "master_host");
	tell_field(facts, info, "master_port", "master_port");
	tell_field(facts, info, "loading", "loading");
	node->is_loading = strstr(info, "\nloading:1");
	tell_field(facts, info, "policy", "maxmemory_policy");
	tell_field(facts, info, "in_cluster", "cluster_enabled");
	json_object_set_new(facts, "replicas", replicas_of(info));
	if (reply)
		freeReplyObject(reply);
}

/* ---- the library ---- */

static bool is_text(const redisReply *reply, const char *text)
{
	return (reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS) &&
	       strcmp(reply->str, text) == 0;
}

/* One library: alternating names and values. */
static const char *compare_library(const redisReply *library)
{
	for (size_t i = 0; i + 1 < library->elements; i += 2)
		if (is_text(library->element[i], "library_code"))
			return is_text(library->element[i + 1], rf_fleet_functions) ? "same"
										    : "other";
	return "unknown";
}

static void look_at_library(struct probe_node *node)
{
	const char *words[] = {"FUNCTION", "LIST", "LIBRARYNAME", "ringfence", "WITHCODE"};
	const char *library = "unknown";
	bool denied;
	redisReply *reply = ask(node, ARRAY_SIZE(words), words, &denied);

	if (reply && reply->type == REDIS_REPLY_ARRAY && !reply->elements)
		library = "missing";
	else if (reply && reply->type == REDIS_REPLY_ARRAY &&
		 reply->element[0]->type == REDIS_REPLY_ARRAY)
		library = compare_library(reply->element[0]);
	json_object_set_new(node->facts, "library", json_string(library));
	json_object_set_new(node->facts, "list_denied", json_boolean(denied));
	if (reply)
		freeReplyObject(reply);
}

/* ---- its place in a cluster, see probe_place.h ---- */

static bool is_string(const redisReply *reply)
{
	return reply->type == REDIS_REPLY_STRING;
}

/* HOST, PORT, ID, optionally more. */
static bool is_node(const redisReply *node)
{
	return node->type == REDIS_REPLY_ARRAY && node->elements >= 3 &&
	       node->element[1]->type == REDIS_REPLY_INTEGER && is_string(node->element[2]);
}

/* As in MOVED, the host can be missing. */
static json_t *place_of(const redisReply *node)
{
	const redisReply *host = node->element[0];

	return json_pack("[o, o]",
			 is_string(host) && *host->str ? rf_json_text(host->str) : json_null(),
			 json_sprintf("%lld", node->element[1]->integer));
}

/*
 * A range of slots: its first, its last, its master and the replicas of that. `own`: the places of
 * the node's own replicas, by their ids.
 */
static void tell_range(const json_t *facts, json_t *own, const redisReply *range)
{
	json_t *places = json_object_get(facts, "announces");
	const char *id = json_string_value(json_object_get(facts, "id"));
	bool is_mine = false;

	for (size_t i = 2; range->type == REDIS_REPLY_ARRAY && i < range->elements; i++) {
		const redisReply *node = range->element[i];

		if (!is_node(node))
			continue;
		json_object_set_new(places, node->element[2]->str, place_of(node));
		if (i == 2)
			is_mine = id && strcmp(node->element[2]->str, id) == 0;
		else if (is_mine)
			json_object_set_new(own, node->element[2]->str, place_of(node));
	}
}

/* INFO has different addresses of its replicas than MOVED. */
static void tell_places(json_t *facts, const redisReply *ranges)
{
	json_t *own = json_object(), *replicas = json_array(), *place;
	const char *id;

	json_object_set_new(facts, "announces", json_object());
	for (size_t i = 0; i < ranges->elements; i++)
		tell_range(facts, own, ranges->element[i]);
	json_object_foreach (own, id, place)
		if (json_array_size(replicas) < RF_REPLICAS_MOST)
			json_array_append(replicas, place);
	json_decref(own);
	if (json_object_get(facts, "id"))
		json_object_set(facts, "replicas", replicas);
	json_decref(replicas);
}

/* Only a missing right is an error here: some servers lack these commands. */
static void look_at_place(struct probe_node *node)
{
	const char *id_words[] = {"CLUSTER", "MYID"}, *slots_words[] = {"CLUSTER", "SLOTS"};
	redisReply *id = try_to_ask(node, ARRAY_SIZE(id_words), id_words);
	redisReply *slots = try_to_ask(node, ARRAY_SIZE(slots_words), slots_words);

	json_object_set_new(node->facts, "place_denied",
			    json_boolean(is_denied(id) || is_denied(slots)));
	if (id && is_string(id))
		json_object_set_new(node->facts, "id", rf_json_text(id->str));
	if (slots && slots->type == REDIS_REPLY_ARRAY)
		tell_places(node->facts, slots);
	if (id)
		freeReplyObject(id);
	if (slots)
		freeReplyObject(slots);
}

/* ---- one node ---- */

static bool is_in_cluster(const struct probe_node *node)
{
	const char *in_cluster = json_string_value(json_object_get(node->facts, "in_cluster"));

	return in_cluster && strcmp(in_cluster, "1") == 0;
}

/* Probes it the first time. False: not usable, see `trouble` or its facts. */
static bool reach_node(struct probe_node *node, const struct rf_server *server,
		       const struct rf_engine *engine)
{
	if (!node->facts) {
		node->facts = json_object();
		json_object_set_new(node->facts, "host", rf_json_text(server->host));
		json_object_set_new(node->facts, "port", rf_json_text(server->port));
		json_object_set_new(node->facts, "address", rf_json_text(server->address));
		if (connect_to(node, server) && log_in(node, engine)) {
			look_at_info(node);
			look_at_library(node);
			if (is_in_cluster(node))
				look_at_place(node);
		}
	}
	return !*node->trouble && !node->is_loading;
}

/* Closes it and returns its facts, as JSON. `buckets`: number of its buckets. */
static json_t *tell_node(struct probe_node *node, int buckets)
{
	json_object_set_new(node->facts, "buckets", json_integer(buckets));
	json_object_set_new(node->facts, "last_error",
			    *node->trouble ? rf_json_text(node->trouble) : json_null());
	if (node->redis)
		redisFree(node->redis);
	node->redis = NULL;
	return node->facts;
}

/* ---- the cluster ---- */

struct probe {
	const struct rf_engine *engine;
	struct rf_cluster cluster;
	struct probe_node node[RF_NODES_MOST];
};

/* Follows redirections to the node of a tag. */
static void find_node_of(struct probe *probe, uint32_t tag)
{
	for (int hop = 0; hop < HOPS; hop++) {
		const uint32_t node = probe->cluster.route[tag].node;
		char error[256];
		const char *why;

		if (!reach_node(&probe->node[node], &probe->cluster.node[node].server,
				probe->engine)) {
			/* The last one remains: no node took over. */
			if (hop < HOPS - 1)
				rf_cluster_failed(&probe->cluster, node, 0, NOW);
			continue;
		}
		why = ask_node(&probe->node[node], tag, error);
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

/* ---- replicas, used after a failover ---- */

/* As MOVED would name it after a failover: behind a tunnel only by its port. */
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
			return false; /* already probed */
	}
	return true;
}

static void look_at_replicas(const struct probe *probe, uint32_t master, json_t *nodes)
{
	const struct rf_server *server = &probe->cluster.node[master].server;
	json_t *replica, *facts;
	size_t i;

	json_array_foreach (json_object_get(probe->node[master].facts, "replicas"), i, replica) {
		struct probe_node node = {};
		struct rf_server at;

		if (!replica_at(probe, server, replica, &at))
			continue;
		reach_node(&node, &at, probe->engine);
		facts = tell_node(&node, 0);
		json_object_set_new(facts, "replica_of",
				    json_sprintf("%s:%s", server->host, server->port));
		json_array_append_new(nodes, facts);
	}
}

/* ---- all nodes ---- */

/* Keys led to it, and then to a different node. */
static void leave(struct probe_node *node)
{
	if (node->facts)
		json_decref(tell_node(node, 0));
}

/* All nodes with keys, and the configured ones. */
static json_t *look_at_nodes(struct probe *probe)
{
	json_t *nodes = json_array();

	for (uint32_t tag = 0; tag < RF_TAGS; tag++)
		find_node_of(probe, tag);
	for (uint32_t i = 0; i < RF_NODES_MOST; i++) {
		const struct rf_server *server = &probe->cluster.node[i].server;

		if (i >= probe->cluster.named &&
		    !(probe->cluster.node[i].id &&
		      rf_cluster_uses(&probe->cluster, i, UINT32_MAX))) {
			leave(&probe->node[i]);
			continue;
		}
		reach_node(&probe->node[i], server, probe->engine);
		json_array_append_new(nodes, tell_node(&probe->node[i], buckets_of(probe, i)));
		if (probe->cluster.is_cluster && buckets_of(probe, i))
			look_at_replicas(probe, i, nodes);
	}
	rf_probe_compare_places(nodes);
	return nodes;
}

/* The error of the cluster for keys that no node has. */
static const char *trouble_of(const struct rf_cluster *cluster)
{
	for (uint32_t tag = 0; tag < RF_TAGS; tag++)
		if (cluster->route[tag].refused_ns && *cluster->why)
			return cluster->why + strlen(RF_CLUSTER_WHO);
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
	json_object_set_new(facts, "last_error", trouble ? rf_json_text(trouble) : json_null());
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
