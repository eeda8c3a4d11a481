// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "agent/engine.h"

static int resolve(struct rf_server *server, struct rf_error *error)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	const int err = getaddrinfo(server->host, server->port, &hints, &found);

	if (err)
		return rf_error_failed(
			error, -EHOSTUNREACH,
			"engine %s: %s; name it by its address, or see that the name "
			"can be resolved",
			server->host, gai_strerror(err));
	getnameinfo(found->ai_addr, found->ai_addrlen, server->address, sizeof(server->address),
		    NULL, 0, NI_NUMERICHOST);
	freeaddrinfo(found);
	server->port_number = strtoul(server->port, NULL, 10);
	return 0;
}

int rf_engine_resolve(struct rf_engine *engine, struct rf_error *error)
{
	int err = 0;

	for (uint32_t i = 0; i < engine->servers && !err; i++)
		err = resolve(&engine->server[i], error);
	return err;
}
