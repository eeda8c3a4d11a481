// SPDX-License-Identifier: GPL-2.0
#include "agent/engine.h"

#include <netdb.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "agent/cluster.h"
#include "base/say.h"

static const struct addrinfo stream = {.ai_socktype = SOCK_STREAM};

static void note_address(struct rf_server *server, const struct addrinfo *found)
{
	getnameinfo(found->ai_addr, found->ai_addrlen, server->address, sizeof(server->address),
		    NULL, 0, NI_NUMERICHOST);
	server->port_number = strtoul(server->port, NULL, 10);
	server->unknown = NULL;
}

static void resolve_server(struct rf_server *server)
{
	struct addrinfo *found = NULL;
	const int err = getaddrinfo(server->host, NULL, &stream, &found);

	server->unknown = err ? gai_strerror(err) : NULL;
	if (err)
		return;
	note_address(server, found);
	freeaddrinfo(found);
}

uint32_t rf_engine_resolve(struct rf_engine *engine)
{
	uint32_t known = 0;

	for (uint32_t i = 0; i < engine->servers; i++) {
		resolve_server(&engine->server[i]);
		known += !engine->server[i].unknown;
	}
	return known;
}

/* ---- names that could not be resolved at first ---- */

/* A thread of the C library has both, and may outlive the agent. */
static struct gaicb request;
static char asked_name[sizeof(((struct rf_server *)0)->host)];

void rf_names_start(struct rf_names *names, const struct rf_engine *engine,
		    struct rf_cluster *cluster, uint64_t now)
{
	*names = (struct rf_names){
		.engine = engine,
		.cluster = cluster,
		.at_ns = now + RF_NAMES_AGAIN_NS,
	};
}

static void begin_to_resolve(struct rf_names *names)
{
	struct gaicb *list[] = {&request};
	uint32_t tried = 0;

	while (tried++ < names->engine->servers) {
		names->server = (names->server + 1) % names->engine->servers;
		if (rf_cluster_knows(names->cluster, names->server))
			continue;
		strcpy(asked_name, names->engine->server[names->server].host);
		request = (struct gaicb){.ar_name = asked_name};
		names->is_under_way = !getaddrinfo_a(GAI_NOWAIT, list, 1, NULL);
		return;
	}
}

static void take_resolved(struct rf_names *names, struct addrinfo *found)
{
	struct rf_server server = names->engine->server[names->server];

	note_address(&server, found);
	freeaddrinfo(found);
	rf_cluster_add(names->cluster, names->server, &server);
	rf_say("fleet server %s:%s: its name is resolved now", server.host, server.port);
}

void rf_names_turn(struct rf_names *names, uint64_t now)
{
	int err;

	if (!names->is_under_way && now < names->at_ns)
		return;
	names->at_ns = now + RF_NAMES_AGAIN_NS;
	if (!names->is_under_way) {
		begin_to_resolve(names);
		return;
	}
	err = gai_error(&request);
	names->is_under_way = err == EAI_INPROGRESS;
	if (!err)
		take_resolved(names, request.ar_result);
}
