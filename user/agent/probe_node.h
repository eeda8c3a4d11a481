/* SPDX-License-Identifier: GPL-2.0 */
/* One server of the engine, as 'ringfence-fleet probe' sees it: it waits for each answer. */
#ifndef RINGFENCE_AGENT_PROBE_NODE_H
#define RINGFENCE_AGENT_PROBE_NODE_H

#include <hiredis/hiredis.h>
#include <jansson.h>

#include "agent/cluster.h"
#include "agent/guard.h"

#define RF_REPLICAS_MOST 8 /* of a node, that are looked at */

struct rf_probe_node {
	redisContext *redis; /* NULL: not connected */
	struct rf_guard guard;
	json_t *facts; /* NULL: it was not tried yet */
	bool is_loading;
	char trouble[RF_CLUSTER_TEXT_SIZE]; /* "": none */
};

/* Looks at it, at the first time. False: it cannot be asked, and `trouble` or its facts say why. */
bool rf_probe_reach(struct rf_probe_node *node, const struct rf_server *server,
		    const struct rf_engine *engine);
/*
 * Asks it for the keys of a tag, by a call that changes nothing and that each user of a member may
 * make. NULL: it has them; else its error, which lasts until the next call.
 */
const char *rf_probe_ask(struct rf_probe_node *node, uint32_t tag, char error[256]);
/* Ends it, and returns its facts, as JSON. `buckets`: those that it has. */
json_t *rf_probe_tell(struct rf_probe_node *node, int buckets);

#endif /* RINGFENCE_AGENT_PROBE_NODE_H */
