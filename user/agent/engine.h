/* SPDX-License-Identifier: GPL-2.0 */
/* The engine as the settings name it: a redis-server, or what speaks like one. */
#ifndef RINGFENCE_AGENT_ENGINE_H
#define RINGFENCE_AGENT_ENGINE_H

#include <netdb.h>
#include <stdint.h>

#include "base/error.h"
#include "rules/fleet_settings.h"
#include "rules/secret.h"

struct rf_server {
	char host[256]; /* as it was named */
	char port[8];
	char address[64]; /* of the host, numeric: resolved once */
	uint16_t port_number;
	const char *unknown; /* why its name cannot be resolved; NULL: it is */
};

/* Where it is, and how to log in. Several servers are nodes of one cluster. */
struct rf_engine {
	struct rf_server server[RF_SERVERS_MOST];
	uint32_t servers;
	char user[256], password[RF_SECRET_SIZE]; /* "": none */
};

#define RF_NAME_REMEDY "name it by its address, or see that the name can be resolved"

/* Resolves the hosts; returns how many could be. */
uint32_t rf_engine_resolve(struct rf_engine *engine);
void rf_server_resolved(struct rf_server *server, const struct addrinfo *found);

#endif /* RINGFENCE_AGENT_ENGINE_H */
