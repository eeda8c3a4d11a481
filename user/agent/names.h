/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Servers of the settings whose names could not be resolved when the agent started: they are tried
 * again, one after the other, and become nodes of the cluster. Nothing waits for that.
 */
#ifndef RINGFENCE_AGENT_NAMES_H
#define RINGFENCE_AGENT_NAMES_H

#include "agent/cluster.h"

#define RF_NAMES_AGAIN_NS 2000000000ULL /* between two of them */

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

#endif /* RINGFENCE_AGENT_NAMES_H */
