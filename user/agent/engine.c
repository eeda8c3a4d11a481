// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <sys/socket.h>

#include "agent/engine.h"

static const struct addrinfo stream = {.ai_socktype = SOCK_STREAM};

void rf_server_resolved(struct rf_server *server, const struct addrinfo *found)
{
	getnameinfo(found->ai_addr, found->ai_addrlen, server->address, sizeof(server->address),
		    NULL, 0, NI_NUMERICHOST);
	server->port_number = strtoul(server->port, NULL, 10);
	server->unknown = NULL;
}

static void resolve(struct rf_server *server)
{
	struct addrinfo *found = NULL;
	const int err = getaddrinfo(server->host, NULL, &stream, &found);

	server->unknown = err ? gai_strerror(err) : NULL;
	if (err)
		return;
	rf_server_resolved(server, found);
	freeaddrinfo(found);
}

uint32_t rf_engine_resolve(struct rf_engine *engine)
{
	uint32_t known = 0;

	for (uint32_t i = 0; i < engine->servers; i++) {
		resolve(&engine->server[i]);
		known += !engine->server[i].unknown;
	}
	return known;
}
