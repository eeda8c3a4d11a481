/* SPDX-License-Identifier: GPL-2.0 */
/* The state of a fence at one moment: rules, counters, bans, interfaces and memory. */
#ifndef RINGFENCE_SNAPSHOT_STATE_H
#define RINGFENCE_SNAPSHOT_STATE_H

#include "fence/bypass.h"
#include "snapshot/rules.h"
#include "snapshot/totals.h"

struct rf_fence_state {
	const struct rf_fence *fence;
	struct rf_fence_rules rules;
	struct rf_totals totals;
	struct rf_bans bans;
	struct rf_memory memory;
	/* Of each of the fence's interfaces: do its packets meet the program? */
	struct rf_bypass *bypass;
};

#define RF_FENCE_STATE_NONE ((struct rf_fence_state){.rules = RF_FENCE_RULES_NONE})

/*
 * `state` is RF_FENCE_STATE_NONE before the call. Free it even after an error. It refers to the
 * fence and its interfaces. An interface that might have lost the program is watched for up to
 * RF_BYPASS_WATCH_NS.
 */
int rf_fence_state_read(const struct rf_fence *fence, struct rf_fence_state *state,
			struct rf_error *error);
void rf_fence_state_free(struct rf_fence_state *state);

#endif /* RINGFENCE_SNAPSHOT_STATE_H */
