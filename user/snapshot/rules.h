/* SPDX-License-Identifier: GPL-2.0 */
/* The rules of a fence at one moment, with the time by which their entries expire. */
#ifndef RINGFENCE_SNAPSHOT_RULES_H
#define RINGFENCE_SNAPSHOT_RULES_H

#include "fence/fence.h"
#include "rules/ruleset.h"

struct rf_rules_seen {
	struct rf_ruleset set; /* without entries that have expired */
	struct rf_standing standing;
	uint64_t now;	  /* jiffies; 0: no entry of the lists can have a time */
	uint32_t tick_ns; /* the length of a jiffy; 0: not measured yet */
};

#define RF_RULES_UNSEEN ((struct rf_rules_seen){.set = RF_RULESET_NONE})

/* Which rules: those in force, or those that are in force once a trial has run out. */
enum rf_rules_which {
	RF_RULES_IN_FORCE,
	RF_RULES_CONFIRMED,
};

/* `seen` is RF_RULES_UNSEEN before the call. Free it even after an error. */
int rf_rules_see(const struct rf_fence *fence, enum rf_rules_which which,
		 struct rf_rules_seen *seen, struct rf_error *error);
void rf_rules_unsee(struct rf_rules_seen *seen);

#endif /* RINGFENCE_SNAPSHOT_RULES_H */
