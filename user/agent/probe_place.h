/* SPDX-License-Identifier: GPL-2.0 */
/* Whether an address leads to the node that the cluster announces there. Pure. */
#ifndef RINGFENCE_AGENT_PROBE_PLACE_H
#define RINGFENCE_AGENT_PROBE_PLACE_H

#include <jansson.h>

/*
 * `nodes`: the facts of each: "host" and "port" as it was asked, "address" of that host, "id" of
 * the node that answered, and "announces", what it says of its cluster: [HOST, PORT] by the id of
 * each node, as MOVED would name it. HOST is null where a port alone is announced: it is one of the
 * host that was asked. What is not known of a node is missing.
 *
 * Where one of the nodes announces another node than the one that answered, its facts get
 * "announced_by", the node that does so, and "leads_to", where that one announces the node that
 * answered; null: nowhere. Removes "announces", which may be long.
 */
void rf_probe_compare_places(json_t *nodes);

#endif /* RINGFENCE_AGENT_PROBE_PLACE_H */
