/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The nodes of the engine, and which of them has the keys of each hash tag. Pure: connections are
 * made by link.h.
 *
 * All tags are at the first server of the settings that has an address, until a node says MOVED: it
 * is asked nothing for that, so it takes no further right. Where a node fails, its tags go to
 * another one, which has them by now or says who does. A single server has all of them, and keeps
 * them.
 *
 * The bound does not rest on any of this: a ledger notices by itself that it is on another node,
 * and learns. But a server that is no node of the cluster would be a second ledger. So none is
 * used that MOVED, or the settings, did not name, a node without tags is forgotten, and link.h
 * asks each one whether it is part of a cluster.
 */
#ifndef RINGFENCE_AGENT_CLUSTER_H
#define RINGFENCE_AGENT_CLUSTER_H

#include <stdbool.h>

#include "agent/engine.h"
#include "ringfence/source.h"

#define RF_TAG_OF_ALL RF_BUCKETS /* {m}: bans, and what hosts say of themselves */
#define RF_TAGS (RF_BUCKETS + 1)
#define RF_NODES_MOST 32 /* those of the settings, one for each tag, and some to spare */
#define RF_CLUSTER_TEXT_SIZE 896
#define RF_NODE_KEPT_NS 10000000000ULL /* one without tags; so its connections keep their pace */
#define RF_ROUTE_HOPS 3 /* so many, one after the other, are made at once; then it rests: */
#define RF_ROUTE_REST_NS 50000000ULL
#define RF_ROUTE_REST_MOST_NS 200000000ULL
#define RF_ROUTE_PATIENCE_NS 1000000000ULL    /* refused for so long, it is said */
#define RF_TROUBLE_OUTDATED_NS 10000000000ULL /* longer than pauses between calls */

struct rf_node {
	struct rf_server server;
	uint32_t id;  /* no two have had the same; 0: the place is free, or no address is known */
	bool is_well; /* it has answered, and has not failed since */
	uint64_t answered_ns; /* when it did, on any connection */
	uint64_t used_ns;     /* when it had a tag, the last time */
};

/* Where the keys of a tag are. */
struct rf_route {
	uint32_t node;
	uint32_t hops;		 /* calls that were refused since the last answer */
	uint64_t rests_until_ns; /* nothing is sent before */
	uint64_t refused_ns;	 /* since when; 0: it is not */
};

struct rf_cluster {
	struct rf_node node[RF_NODES_MOST]; /* those of the settings come first */
	uint32_t named;
	uint32_t nodes; /* no place from there on was ever in use */
	uint32_t ids;
	struct rf_route route[RF_TAGS];
	bool is_cluster;		    /* so the settings say, or a node */
	char why[RF_CLUSTER_TEXT_SIZE];	    /* of the newest refusal */
	char trouble[RF_CLUSTER_TEXT_SIZE]; /* that lasts; "": none */
	bool is_repeated;		    /* `trouble`, by a refusal since the last turn */
	uint64_t repeated_ns;		    /* the last time */
};

/* The loopback, also where it is written otherwise. */
bool rf_address_is_loopback(const char *address);

void rf_cluster_start(struct rf_cluster *cluster, const struct rf_engine *engine);
/* Servers of the settings may have no address at first. */
bool rf_cluster_knows(const struct rf_cluster *cluster, uint32_t node);
/* It has one now. If that is of a node that was learned before, both are one from here on. */
void rf_cluster_add(struct rf_cluster *cluster, uint32_t node, const struct rf_server *server);
/*
 * A node has refused a call. True: for a reason of clusters, so nothing has changed there, and the
 * call is to be sent again by the route as it is now, once that does not rest.
 */
bool rf_cluster_refused(struct rf_cluster *cluster, uint32_t tag, uint32_t node, const char *error,
			uint64_t now);
void rf_cluster_answered(struct rf_cluster *cluster, uint32_t tag, uint32_t node, uint64_t now);
/*
 * A connection cannot be made, or brings no answer. A node that has answered on another one within
 * that time has not failed: heartbeats do not suffer from what reports and questions meet.
 */
void rf_cluster_failed(struct rf_cluster *cluster, uint32_t node, uint64_t patience_ns,
		       uint64_t now);
/* Forgets nodes, and finds what lasts. */
void rf_cluster_turn(struct rf_cluster *cluster, uint64_t now);
/* Is it the route of one of these tags? A bit each. */
bool rf_cluster_uses(const struct rf_cluster *cluster, uint32_t node, uint32_t tags);

#endif /* RINGFENCE_AGENT_CLUSTER_H */
