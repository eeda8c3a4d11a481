// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cluster.h"
#include "base/prefix.h"

#define SLOTS 16384

void rf_cluster_start(struct rf_cluster *cluster, const struct rf_engine *engine)
{
	*cluster = (struct rf_cluster){
		.named = engine->servers,
		.nodes = engine->servers,
		.ids = engine->servers,
		.is_cluster = engine->servers > 1,
	};
	for (uint32_t i = engine->servers; i-- > 0;) {
		cluster->node[i].server = engine->server[i];
		if (engine->server[i].unknown)
			continue;
		cluster->node[i].id = i + 1;
		for (uint32_t tag = 0; tag < RF_TAGS; tag++)
			cluster->route[tag].node = i;
	}
}

bool rf_cluster_knows(const struct rf_cluster *cluster, uint32_t node)
{
	return cluster->node[node].id;
}

/* ---- nodes ---- */

bool rf_cluster_uses(const struct rf_cluster *cluster, uint32_t node, uint32_t tags)
{
	for (uint32_t i = 0; i < RF_TAGS; i++)
		if (tags & 1U << i && cluster->route[i].node == node)
			return true;
	return false;
}

/* Its number; RF_NODES_MOST: there is no such one. */
static uint32_t find_node(const struct rf_cluster *cluster, const struct rf_server *server)
{
	uint32_t i = 0;

	while (i < RF_NODES_MOST && !(cluster->node[i].id &&
				      cluster->node[i].server.port_number == server->port_number &&
				      !strcmp(cluster->node[i].server.address, server->address)))
		i++;
	return i;
}

/* RF_NODES_MOST: full, so an unused one is forgotten first. */
static uint32_t take_node(struct rf_cluster *cluster, const struct rf_server *server)
{
	uint32_t i = find_node(cluster, server);

	if (i < RF_NODES_MOST)
		return i;
	for (i = cluster->named; i < RF_NODES_MOST && cluster->node[i].id;)
		i++;
	if (i == RF_NODES_MOST)
		for (i = cluster->named;
		     i < RF_NODES_MOST && rf_cluster_uses(cluster, i, UINT32_MAX);)
			i++;
	if (i == RF_NODES_MOST)
		return i;
	cluster->node[i] = (struct rf_node){.server = *server, .id = ++cluster->ids};
	if (i >= cluster->nodes)
		cluster->nodes = i + 1;
	return i;
}

void rf_cluster_add(struct rf_cluster *cluster, uint32_t node, const struct rf_server *server)
{
	const uint32_t learned = find_node(cluster, server);

	cluster->node[node] = (struct rf_node){.server = *server, .id = ++cluster->ids};
	if (learned < cluster->named || learned == RF_NODES_MOST)
		return;
	for (uint32_t tag = 0; tag < RF_TAGS; tag++)
		if (cluster->route[tag].node == learned)
			cluster->route[tag].node = node;
	cluster->node[learned] = (struct rf_node){};
}

static void note(struct rf_cluster *cluster, uint32_t node, const char *what)
{
	const struct rf_server *server = &cluster->node[node].server;

	snprintf(cluster->why, sizeof(cluster->why), RF_CLUSTER_WHO "%s:%s: %s", server->host,
		 server->port, what);
	if (!strcmp(cluster->why, cluster->trouble))
		cluster->is_repeated = true;
}

/* ---- MOVED ---- */

struct moved {
	char host[INET6_ADDRSTRLEN + 1];
	char named[256]; /* as received, printable */
	uint32_t port;
};

/* MOVED SLOT HOST:PORT, without brackets where the host has colons. False: it makes no sense. */
static bool read_moved(const char *error, struct moved *moved)
{
	struct rf_host_port place;
	char *end;
	const unsigned long slot = strtoul(error + 6, &end, 10);

	if (!isdigit((unsigned char)error[6]) || slot >= SLOTS || *end != ' ' ||
	    !rf_host_port_split(end + 1, &place) || place.in_brackets ||
	    !rf_host_port_copy(&place, moved->named, sizeof(moved->named)))
		return false;
	moved->port = rf_port_of(place.port);
	for (const char *at = moved->named; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr(".:-_?", *at))
			return false;
	return moved->port;
}

/* In canonical form. False: not an address. */
static bool read_address(const char *text, char address[INET6_ADDRSTRLEN])
{
	const int family = strchr(text, ':') ? AF_INET6 : AF_INET;
	unsigned char bytes[sizeof(struct in6_addr)];

	return inet_pton(family, text, bytes) == 1 &&
	       inet_ntop(family, bytes, address, INET6_ADDRSTRLEN);
}

/* To connect to 0.0.0.0 leads there as well. */
bool rf_address_is_loopback(const char *address)
{
	const char *mapped = strncmp(address, "::ffff:", 7) == 0 ? address + 7 : address;

	return strncmp(mapped, "127.", 4) == 0 || strcmp(mapped, "0.0.0.0") == 0 ||
	       strcmp(address, "::1") == 0 || strcmp(address, "::") == 0;
}

/* The node that it names; RF_NODES_MOST: not usable, with the reason in `why`. */
static uint32_t follow(struct rf_cluster *cluster, uint32_t from, const char *error)
{
	const struct rf_server *asked = &cluster->node[from].server;
	struct rf_server server = *asked; /* without a host: the host that replied */
	char text[400];
	struct moved moved;

	if (!read_moved(error, &moved)) {
		note(cluster, from, "what it says of its cluster makes no sense");
		return RF_NODES_MOST;
	}
	server.port_number = moved.port;
	snprintf(server.port, sizeof(server.port), "%u", moved.port);
	if (*moved.named && !read_address(moved.named, server.address)) {
		snprintf(text, sizeof(text),
			 "it names a node of its cluster '%s', which is no address; set "
			 "'cluster-preferred-endpoint-type ip' on each node",
			 moved.named);
		note(cluster, from, text);
		return RF_NODES_MOST;
	}
	if (*moved.named)
		strcpy(server.host, server.address);
	if (rf_address_is_loopback(asked->address) && !rf_address_is_loopback(server.address)) {
		snprintf(text, sizeof(text),
			 "it sends on to %s, port %s, past what listens on this machine; behind a "
			 "tunnel set 'cluster-preferred-endpoint-type unknown-endpoint' on each "
			 "node, else name the nodes by the addresses that they announce",
			 server.address, server.port);
		note(cluster, from, text);
		return RF_NODES_MOST;
	}
	return take_node(cluster, &server);
}

/* ---- routes ---- */

/* A new route is tried immediately, but not endlessly between nodes that name each other. */
static void rest(struct rf_route *route, uint32_t hops, uint64_t now)
{
	uint64_t rest_ns = RF_ROUTE_REST_NS;

	if (now < route->rests_until_ns)
		return;
	if (!route->refused_ns)
		route->refused_ns = now;
	route->hops++;
	if (route->hops <= hops)
		return;
	for (uint32_t i = hops + 1; i < route->hops && rest_ns < RF_ROUTE_REST_MOST_NS; i++)
		rest_ns *= 2;
	route->rests_until_ns = now + rest_ns;
}

static bool is_one(const char *error, const char *begins)
{
	return strncmp(error, begins, strlen(begins)) == 0;
}

static void note_in_vain(struct rf_cluster *cluster, uint32_t from, uint32_t to)
{
	const struct rf_server *server = &cluster->node[to].server;
	char text[400];

	if (to == from) {
		note(cluster, from,
		     "it names itself for keys that it has not; behind a tunnel each node has a "
		     "port of its own, and that port leads to no other");
		return;
	}
	snprintf(text, sizeof(text),
		 cluster->node[to].is_well
			 ? "nodes of its cluster only name each other; see 'redis-cli --cluster "
			   "check'"
			 : "it names %s, port %s, which does not answer; see the tunnel to it, or "
			   "'redis-cli --cluster check'",
		 server->address, server->port);
	note(cluster, from, text);
}

static void take_moved(struct rf_cluster *cluster, uint32_t tag, uint32_t from, const char *error,
		       uint64_t now)
{
	struct rf_route *route = &cluster->route[tag];
	uint32_t to;

	if (route->node != from) /* of several calls, one has moved it before */
		return;
	to = follow(cluster, from, error);
	if (to < RF_NODES_MOST)
		route->node = to;
	rest(route, to < RF_NODES_MOST && to != from ? RF_ROUTE_HOPS : 0, now);
	if (to < RF_NODES_MOST && (to == from || route->hops > 1))
		note_in_vain(cluster, from, to);
}

/* A different node: a healthy one, or else the next. Its own number: no other node. */
static uint32_t another_node(const struct rf_cluster *cluster, uint32_t node)
{
	uint32_t next = node;

	for (uint32_t i = 1; i < RF_NODES_MOST; i++) {
		const uint32_t other = (node + i) % RF_NODES_MOST;

		if (!cluster->node[other].id ||
		    (other >= cluster->named && !rf_cluster_uses(cluster, other, UINT32_MAX)))
			continue;
		if (cluster->node[other].is_well)
			return other;
		if (next == node)
			next = other;
	}
	return next;
}

bool rf_cluster_refused(struct rf_cluster *cluster, uint32_t tag, uint32_t node, const char *error,
			uint64_t now)
{
	struct rf_route *route = &cluster->route[tag];

	if (is_one(error, "MOVED ")) {
		cluster->is_cluster = true;
		take_moved(cluster, tag, node, error, now);
		return true;
	}
	/* A call has several keys, and one of them is never stored: during migration neither node
	 * accepts it. */
	if (is_one(error, "ASK ") || is_one(error, "TRYAGAIN")) {
		cluster->is_cluster = true;
		note(cluster, node,
		     "a slot of its cluster is on its way to another node; if it stays so, see "
		     "'redis-cli --cluster fix'");
		rest(route, 0, now);
		return true;
	}
	/* It can be partitioned from the other nodes. */
	if (is_one(error, "CLUSTERDOWN")) {
		cluster->is_cluster = true;
		note(cluster, node, "its cluster is down; see 'redis-cli --cluster check'");
		if (route->node == node)
			route->node = another_node(cluster, node);
		rest(route, 0, now);
		return true;
	}
	return false;
}

void rf_cluster_answered(struct rf_cluster *cluster, uint32_t tag, uint32_t node, uint64_t now)
{
	struct rf_route *route = &cluster->route[tag];

	cluster->node[node].is_well = true;
	cluster->node[node].answered_ns = now;
	if (route->node != node)
		return;
	route->hops = 0;
	route->rests_until_ns = route->refused_ns = 0;
}

void rf_cluster_failed(struct rf_cluster *cluster, uint32_t node, uint64_t patience_ns,
		       uint64_t now)
{
	const uint32_t other = another_node(cluster, node);
	const uint64_t answered_ns = cluster->node[node].answered_ns;

	if (answered_ns && now - answered_ns < patience_ns)
		return;
	cluster->node[node].is_well = false;
	for (uint32_t i = 0; i < RF_TAGS; i++)
		if (cluster->route[i].node == node)
			cluster->route[i].node = other;
}

/* ---- time ---- */

/*
 * The reason can change while calls are refused. Of several alternating reasons one is reported
 * until no refusal repeats it.
 */
static void renew_trouble(struct rf_cluster *cluster, uint64_t now)
{
	if (cluster->is_repeated)
		cluster->repeated_ns = now;
	cluster->is_repeated = false;
	if (*cluster->trouble && now - cluster->repeated_ns < RF_TROUBLE_OUTDATED_NS)
		return;
	memcpy(cluster->trouble, cluster->why, sizeof(cluster->trouble));
	cluster->repeated_ns = now;
}

void rf_cluster_turn(struct rf_cluster *cluster, uint64_t now)
{
	bool lasts = false, is_any = false;

	if (!cluster->is_cluster)
		return;
	for (uint32_t i = cluster->named; i < cluster->nodes; i++) {
		if (!cluster->node[i].id)
			continue;
		if (!cluster->node[i].used_ns || rf_cluster_uses(cluster, i, UINT32_MAX))
			cluster->node[i].used_ns = now;
		else if (now - cluster->node[i].used_ns >= RF_NODE_KEPT_NS)
			cluster->node[i] = (struct rf_node){};
	}
	for (uint32_t i = 0; i < RF_TAGS; i++) {
		is_any = is_any || cluster->route[i].refused_ns;
		lasts = lasts || (cluster->route[i].refused_ns &&
				  now - cluster->route[i].refused_ns >= RF_ROUTE_PATIENCE_NS);
	}
	if (!is_any)
		*cluster->why = '\0'; /* otherwise it would be reported */
	if (!lasts)
		*cluster->trouble = '\0';
	else
		renew_trouble(cluster, now);
}
