// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "agent/engine.h"

int rf_engine_resolve(struct rf_engine *engine, struct rf_error *error)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	const int err = getaddrinfo(engine->host, engine->port, &hints, &found);

	if (err)
		return rf_error_failed(
			error, -EHOSTUNREACH,
			"engine %s: %s; name it by its address, or see that the name "
			"can be resolved",
			engine->host, gai_strerror(err));
	getnameinfo(found->ai_addr, found->ai_addrlen, engine->address, sizeof(engine->address),
		    NULL, 0, NI_NUMERICHOST);
	freeaddrinfo(found);
	engine->port_number = strtoul(engine->port, NULL, 10);
	return 0;
}
