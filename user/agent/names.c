// SPDX-License-Identifier: GPL-2.0
#include <netdb.h>
#include <stddef.h>
#include <string.h>

#include "agent/names.h"
#include "base/say.h"

/* A thread of the C library has both, and may outlive the agent. */
static struct gaicb request;
static char name[sizeof(((struct rf_server *)0)->host)];

void rf_names_start(struct rf_names *names, const struct rf_engine *engine,
		    struct rf_cluster *cluster, uint64_t now)
{
	*names = (struct rf_names){
		.engine = engine,
		.cluster = cluster,
		.at_ns = now + RF_NAMES_AGAIN_NS,
	};
}

static void begin(struct rf_names *names)
{
	struct gaicb *list[] = {&request};
	uint32_t tried = 0;

	while (tried++ < names->engine->servers) {
		names->server = (names->server + 1) % names->engine->servers;
		if (rf_cluster_knows(names->cluster, names->server))
			continue;
		strcpy(name, names->engine->server[names->server].host);
		request = (struct gaicb){.ar_name = name};
		names->is_under_way = !getaddrinfo_a(GAI_NOWAIT, list, 1, NULL);
		return;
	}
}

static void take(struct rf_names *names, struct addrinfo *found)
{
	struct rf_server server = names->engine->server[names->server];

	rf_server_resolved(&server, found);
	freeaddrinfo(found);
	rf_cluster_add(names->cluster, names->server, &server);
	rf_say("engine %s:%s: its name is resolved now", server.host, server.port);
}

void rf_names_turn(struct rf_names *names, uint64_t now)
{
	int err;

	if (!names->is_under_way && now < names->at_ns)
		return;
	names->at_ns = now + RF_NAMES_AGAIN_NS;
	if (!names->is_under_way) {
		begin(names);
		return;
	}
	err = gai_error(&request);
	names->is_under_way = err == EAI_INPROGRESS;
	if (!err)
		take(names, request.ar_result);
}
