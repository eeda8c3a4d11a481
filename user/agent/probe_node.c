// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/link.h"
#include "agent/probe_node.h"
#include "base/json.h"
#include "base/units.h"
#include "fleet/bans.h"
#include "fleet/wire.h"

#include "build/fleet_functions.h"

#define PATIENCE_S 3

static void note(struct rf_probe_node *node, const char *error)
{
	if (!*node->trouble)
		rf_engine_explain(error, node->trouble, sizeof(node->trouble));
}

/* ---- the connection ---- */

static bool connect_to(struct rf_probe_node *node, const struct rf_server *server)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};

	if (server->unknown) {
		snprintf(node->trouble, sizeof(node->trouble),
			 "its name cannot be resolved: %s; " RF_NAME_REMEDY, server->unknown);
		return false;
	}
	if (!server->port_number) { /* an engine may announce any number */
		snprintf(node->trouble, sizeof(node->trouble),
			 "the engine announces port %s for it, which is invalid; see "
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

/* NULL: no answer. */
static redisReply *try_to_ask(struct rf_probe_node *node, int count, const char **words)
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

/* NULL: no answer, or an error, which `*denied` says is a right that is missing. */
static redisReply *ask(struct rf_probe_node *node, int count, const char **words, bool *denied)
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

static bool log_in(struct rf_probe_node *node, const struct rf_engine *engine)
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

const char *rf_probe_ask(struct rf_probe_node *node, uint32_t tag, char error[256])
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

/* ---- what it says of itself ---- */

/* The value of a line "KEY:VALUE"; NULL: there is none. */
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

/* Those that follow it: "ip=ADDRESS,port=PORT,state=online,…". */
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

static void look_at_info(struct rf_probe_node *node)
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

/* Of one library: names and values, one after the other. */
static const char *compare_library(const redisReply *library)
{
	for (size_t i = 0; i + 1 < library->elements; i += 2)
		if (is_text(library->element[i], "library_code"))
			return is_text(library->element[i + 1], rf_fleet_functions) ? "same"
										    : "other";
	return "unknown";
}

static void look_at_library(struct rf_probe_node *node)
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

/* HOST, PORT, ID, and maybe more. */
static bool is_node(const redisReply *node)
{
	return node->type == REDIS_REPLY_ARRAY && node->elements >= 3 &&
	       node->element[1]->type == REDIS_REPLY_INTEGER && is_string(node->element[2]);
}

/* As in MOVED, a host may be missing. */
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

/* Of its own replicas INFO has other addresses, which MOVED never names. */
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

/* An error but a right that is missing is none of the fleet's: some engines lack these commands. */
static void look_at_place(struct rf_probe_node *node)
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

/* ---- all of it ---- */

static bool is_in_cluster(const struct rf_probe_node *node)
{
	const char *in_cluster = json_string_value(json_object_get(node->facts, "in_cluster"));

	return in_cluster && strcmp(in_cluster, "1") == 0;
}

bool rf_probe_reach(struct rf_probe_node *node, const struct rf_server *server,
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

json_t *rf_probe_tell(struct rf_probe_node *node, int buckets)
{
	json_object_set_new(node->facts, "buckets", json_integer(buckets));
	json_object_set_new(node->facts, "trouble",
			    *node->trouble ? rf_json_text(node->trouble) : json_null());
	if (node->redis)
		redisFree(node->redis);
	node->redis = NULL;
	return node->facts;
}
