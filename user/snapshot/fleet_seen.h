/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a scan sees of the fleet that a fence is in. Whether the fence hears it is read from the
 * fence itself, so it is true also where the agent is dead or stuck. All else is what the agent
 * tells in its file, which members of the group may read.
 */
#ifndef RINGFENCE_FLEET_SEEN_H
#define RINGFENCE_FLEET_SEEN_H

#include "fence/fence.h"
#include "ringfence/fleet.h"

#define RF_AGENT_STALE_NS 5000000000ULL /* an agent that has told nothing for so long is none */
#define RF_TROUBLE_SIZE 160

struct rf_agent_seen {
	bool is_up;	      /* it has told this lately */
	bool is_settled;      /* it hears the engine, which has learned: it knows all members */
	uint64_t started_ns;  /* by rf_time_awake(): another one is another agent */
	uint64_t grace_ns;    /* silence after which the host is alone */
	uint32_t hosts, slot; /* of the fleet; of this host */
	uint64_t member[RF_FLEET_HOSTS_MAX / 64]; /* a bit for each slot */
	uint64_t shares, contested;		  /* sources */
	uint64_t asks_sent, asks_put_off;
	uint64_t alone_times, alone_ns;
	char trouble[RF_TROUBLE_SIZE]; /* with the engine; "": none */
};

struct rf_fleet_seen {
	uint32_t limits; /* of the fleet, in force; 0: all below means nothing */
	struct rf_fleet_standing standing;
	struct rf_agent_seen agent;
};

/* `text`, anybody's, is what the agent has told. Where it makes no sense, it is not up. Pure. */
void rf_agent_read(struct rf_agent_seen *agent, const char *text, uint64_t now_ns);
uint32_t rf_agent_members(const struct rf_agent_seen *agent);
/* The same of its file. `rules` are those in force. */
void rf_fleet_look(struct rf_fleet_seen *seen, const struct rf_fence *fence,
		   const struct rf_bank *rules, uint64_t now_ns);

#endif /* RINGFENCE_FLEET_SEEN_H */
