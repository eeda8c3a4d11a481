/* SPDX-License-Identifier: GPL-2.0 */
/* The fleet server of the settings: Redis, Valkey or compatible. */
#ifndef RINGFENCE_AGENT_ENGINE_H
#define RINGFENCE_AGENT_ENGINE_H

#include <stdint.h>

#include "base/error.h"
#include "rules/settings.h"

struct rf_server {
	char host[256]; /* as it was named */
	char port[8];
	char address[64]; /* of the host, numeric: resolved once */
	uint16_t port_number;
	const char *unknown; /* why its name cannot be resolved; NULL: it is */
};

/* Its addresses and credentials. Several servers are nodes of one cluster. */
struct rf_engine {
	struct rf_server server[RF_SERVERS_MOST];
	uint32_t servers;
	char user[256], password[RF_SECRET_SIZE]; /* "": none */
};

#define RF_NAME_REMEDY "name it by its address, or see that the name can be resolved"

/* Resolves the hosts; returns how many could be. */
uint32_t rf_engine_resolve(struct rf_engine *engine);

/*
 * Configured servers whose names could not be resolved on start: they are retried in turn without
 * blocking, and become nodes of the cluster.
 */
#define RF_NAMES_AGAIN_NS 2000000000ULL /* between two of them */

struct rf_cluster;

struct rf_names {
	const struct rf_engine *engine;
	struct rf_cluster *cluster;
	uint32_t server; /* that is tried, or was last */
	bool is_under_way;
	uint64_t at_ns;
};

void rf_names_start(struct rf_names *names, const struct rf_engine *engine,
		    struct rf_cluster *cluster, uint64_t now);
void rf_names_turn(struct rf_names *names, uint64_t now);

#endif /* RINGFENCE_AGENT_ENGINE_H */
