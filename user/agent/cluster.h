/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The nodes of the fleet server, and which of them has the keys of each hash tag. Pure: link.h
 * makes the connections.
 *
 * All tags start at the first configured server with an address, until a node replies with MOVED;
 * no command and no additional right is needed for this. If a node fails, its tags move to a
 * different one, which either has them or redirects. A single server has all tags.
 *
 * The bound does not depend on any of this: a ledger detects that it is on a different node, and
 * learns. But a server outside the cluster would be a second ledger. So only nodes named by MOVED
 * or by the settings are used, a node without tags is forgotten, and link.h checks that each one is
 * part of a cluster.
 */
#ifndef RINGFENCE_AGENT_CLUSTER_H
#define RINGFENCE_AGENT_CLUSTER_H

#include <stdbool.h>

#include "agent/engine.h"
#include "ringfence/source.h"

#define RF_TAG_OF_ALL RF_BUCKETS /* {m}: bans and descriptions of hosts */
#define RF_TAGS (RF_BUCKETS + 1)
#define RF_NODES_MOST 32 /* the configured ones, one for each tag, and some spare */
#define RF_CLUSTER_TEXT_SIZE 896
#define RF_NODE_KEPT_NS 10000000000ULL /* for a node without tags; limits reconnects */
#define RF_ROUTE_HOPS 3		       /* immediate redirections in a row; then a pause: */
#define RF_ROUTE_REST_NS 50000000ULL
#define RF_ROUTE_REST_MOST_NS 200000000ULL
#define RF_ROUTE_PATIENCE_NS 1000000000ULL    /* refusals for that long are logged */
#define RF_TROUBLE_OUTDATED_NS 10000000000ULL /* longer than pauses between calls */

struct rf_node {
	struct rf_server server;
	uint32_t id;	      /* unique; 0: free, or without a known address */
	bool is_well;	      /* replied, and has not failed since */
	uint64_t answered_ns; /* when it last replied, on any connection */
	uint64_t used_ns;     /* when it last had a tag */
};

/* Where the keys of a tag are. */
struct rf_route {
	uint32_t node;
	uint32_t hops;		 /* refused calls since the last reply */
	uint64_t rests_until_ns; /* nothing is sent earlier */
	uint64_t refused_ns;	 /* since when; 0: not refused */
};

#define RF_CLUSTER_WHO "fleet server " /* starts each text below */

struct rf_cluster {
	struct rf_node node[RF_NODES_MOST]; /* the configured ones first */
	uint32_t named;
	uint32_t nodes; /* used places are below */
	uint32_t ids;
	struct rf_route route[RF_TAGS];
	bool is_cluster;		    /* by the settings, or by a node */
	char why[RF_CLUSTER_TEXT_SIZE];	    /* of the latest refusal, after RF_CLUSTER_WHO */
	char trouble[RF_CLUSTER_TEXT_SIZE]; /* a persistent error; "": none */
	bool is_repeated;		    /* `trouble`, by a refusal since the last turn */
	uint64_t repeated_ns;		    /* when it was last repeated */
};

/* Is it a loopback address, in any notation? */
bool rf_address_is_loopback(const char *address);

void rf_cluster_start(struct rf_cluster *cluster, const struct rf_engine *engine);
/* Configured servers can be without an address at first. */
bool rf_cluster_knows(const struct rf_cluster *cluster, uint32_t node);
/* It was resolved. If it is the address of a learned node, both become one. */
void rf_cluster_add(struct rf_cluster *cluster, uint32_t node, const struct rf_server *server);
/*
 * A node refused a call. True: because of the cluster, so the call had no effect and is to be sent
 * again by the new route after its pause.
 */
bool rf_cluster_refused(struct rf_cluster *cluster, uint32_t tag, uint32_t node, const char *error,
			uint64_t now);
void rf_cluster_answered(struct rf_cluster *cluster, uint32_t tag, uint32_t node, uint64_t now);
/*
 * A connection failed or timed out. A node that replied on a different connection within that time
 * has not failed: errors of reports and requests do not affect heartbeats.
 */
void rf_cluster_failed(struct rf_cluster *cluster, uint32_t node, uint64_t patience_ns,
		       uint64_t now);
/* Forgets nodes, and detects persistent errors. */
void rf_cluster_turn(struct rf_cluster *cluster, uint64_t now);
/* Is it the route of one of these tags, a bit each? */
bool rf_cluster_uses(const struct rf_cluster *cluster, uint32_t node, uint32_t tags);

#endif /* RINGFENCE_AGENT_CLUSTER_H */
