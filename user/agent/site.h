/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fence of the agent: waits for it, opens it, detects its removal and changes of its limits.
 * Passes requests of sources to the claims, and writes shares and deadlines.
 */
#ifndef RINGFENCE_AGENT_SITE_H
#define RINGFENCE_AGENT_SITE_H

#include <bpf/libbpf.h>

#include "base/loop.h"
#include "base/say.h"
#include "fence/fence.h"
#include "fence/shares.h"
#include "fleet/alone.h"
#include "fleet/claims.h"

#define RF_SITE_LOOK_NS 500000000ULL /* for a fence that is attached, removed or replaced */
#define RF_SITE_RULES_NS 50000000ULL /* for changed rules */
#define RF_SITE_ASKS 1024	     /* per turn, so a flood does not delay other work */

struct rf_site {
	char name[RF_NAME_SIZE];
	struct rf_claims *claims;
	bool is_open;
	struct rf_fence fence;
	struct rf_shares shares;
	struct ring_buffer *ring;
	struct rf_loop *loop;
	struct rf_loop_source asks; /* waiting in the ring */
	bool has_asks;		    /* some not read yet */
	uint64_t look_at_ns, rules_at_ns;
	uint64_t in_force; /* the generation of the limits in the claims */
	bool rules_are_old;
	uint32_t limits;	      /* of the fleet */
	uint32_t hosts;		      /* of the fleet, stored in the fence; 0: not set */
	uint64_t told_ns[RF_BUCKETS]; /* the deadlines in the fence */
	struct rf_alone alone;	      /* as of the last check */
	int asks_left;		      /* in this turn */
	bool is_waiting;	      /* for the fence, as logged */
	/* Errors of opening the fence, of writing shares, and of reading its limits. */
	struct rf_said said_open, said_write, said_limits;
};

void rf_site_start(struct rf_site *site, const char *name, struct rf_claims *claims,
		   struct rf_loop *loop);
void rf_site_end(struct rf_site *site);
/* Checks the fence and its rules for changes. */
void rf_site_turn(struct rf_site *site, uint64_t now);
uint64_t rf_site_due_ns(const struct rf_site *site);
/* Reads requests of sources. False: some are left. */
bool rf_site_take_asks(struct rf_site *site);
/* Updates the deadlines of the fence, if changed. */
void rf_site_tell(struct rf_site *site);
/* Updates the offline counters. */
void rf_site_look_whether_alone(struct rf_site *site);
/* A port of rf_claims. */
int rf_site_windows(struct rf_site *site, struct rf_fleet_record *record, uint32_t count);

#endif /* RINGFENCE_AGENT_SITE_H */
