/* SPDX-License-Identifier: GPL-2.0 */
/* Checks whether an address reaches the node that the cluster announces there. Pure. */
#ifndef RINGFENCE_AGENT_PROBE_PLACE_H
#define RINGFENCE_AGENT_PROBE_PLACE_H

#include <jansson.h>

/*
 * `nodes`: the facts of each: "host" and "port" as probed, "address" of that host, "id" of the node
 * that replied, and "announces", its view of the cluster: [HOST, PORT] by the id of each node, as
 * MOVED would name it. HOST is null if only a port is announced: then it is the probed host.
 * Unknown facts are missing.
 *
 * If a node announces a different node than the one that replied, its facts get "announced_by", the
 * announcing node, and "leads_to", where it announces the node that replied; null: nowhere. Removes
 * "announces", which can be long.
 */
void rf_probe_compare_places(json_t *nodes);

#endif /* RINGFENCE_AGENT_PROBE_PLACE_H */
