/* SPDX-License-Identifier: GPL-2.0 */
/* The engine as the settings name it: a redis-server, or what speaks like one. */
#ifndef RINGFENCE_AGENT_ENGINE_H
#define RINGFENCE_AGENT_ENGINE_H

#include <stdint.h>

#include "base/error.h"
#include "rules/fleet_settings.h"

struct rf_server {
	char host[256]; /* as it was named */
	char port[8];
	char address[64]; /* of the host, numeric: resolved once */
	uint16_t port_number;
};

/* Where it is, and how to log in. Several servers are nodes of one cluster. */
struct rf_engine {
	struct rf_server server[RF_SERVERS_MOST];
	uint32_t servers;
	char user[256], password[256]; /* "": none */
};

/* Resolves the hosts. An error names the host, and what to do. */
int rf_engine_resolve(struct rf_engine *engine, struct rf_error *error);

#endif /* RINGFENCE_AGENT_ENGINE_H */
