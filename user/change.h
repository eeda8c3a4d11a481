/* SPDX-License-Identifier: GPL-2.0 */
/* The one way to change rules: read those in force, change them, put them in force. */
#ifndef RINGFENCE_CHANGE_H
#define RINGFENCE_CHANGE_H

#include "command.h"
#include "fence.h"
#include "ruleset.h"

struct rf_change {
	struct rf_fence fence;
	struct rf_ruleset rules;
	struct rf_bank present; /* in force */
	struct rf_bank before;	/* the other bank */
	uint64_t now;		/* jiffies */
	uint32_t next_id;	/* of a limit */
};

#define RF_CHANGE_NONE ((struct rf_change){.fence = RF_FENCE_NONE})

/*
 * Takes the lock, opens the fence and reads its rules, with what has expired left out. An error
 * while rules are on trial. End it in any case.
 */
int rf_change_begin(struct rf_change *change, const struct rf_options *options,
		    struct rf_error *error);
/* Puts `rules` in force. `trial` may be NULL; how far it is appears on a terminal. */
int rf_change_commit(struct rf_change *change, const struct rf_trial *trial,
		     struct rf_error *error);
void rf_change_end(struct rf_change *change);

#endif /* RINGFENCE_CHANGE_H */
