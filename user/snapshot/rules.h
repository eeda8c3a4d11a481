/* SPDX-License-Identifier: GPL-2.0 */
/* The rules of a fence at one moment, with the time by which their entries expire. */
#ifndef RINGFENCE_SNAPSHOT_RULES_H
#define RINGFENCE_SNAPSHOT_RULES_H

#include "fence/fence.h"
#include "rules/ruleset.h"

struct rf_fence_rules {
	struct rf_ruleset set; /* without entries that have expired */
	struct rf_standing standing;
	uint64_t now;	  /* jiffies; 0: no entry of the lists can have a time */
	uint32_t tick_ns; /* the length of a jiffy; 0: not measured yet */
};

#define RF_FENCE_RULES_NONE ((struct rf_fence_rules){.set = RF_RULESET_NONE})

/* Which rules: the active ones, or the rules that apply if no `confirm` comes. */
enum rf_rules_which {
	RF_RULES_IN_FORCE,
	RF_RULES_CONFIRMED,
};

/* `rules` is RF_FENCE_RULES_NONE before the call. Free it even after an error. */
int rf_fence_rules_read(const struct rf_fence *fence, enum rf_rules_which which,
			struct rf_fence_rules *rules, struct rf_error *error);
void rf_fence_rules_free(struct rf_fence_rules *rules);

/* ---- entries of the lists ---- */

/* An entry of a list, by its owners. */
struct rf_list_entry {
	struct rf_prefix prefix;
	uint64_t left_ns; /* RF_FOREVER: permanent */
	struct rf_entry_owner {
		uint8_t number;
		const char *name;
		uint64_t left_ns;
	} owner[RF_LIST_CLAIMS];
	int owners;
};

/* The entry of the owners `of`; false: they have no entry of this prefix on the list. */
bool rf_list_entry_of(const struct rf_fence_rules *rules, const struct rf_listed *listed,
		      enum rf_list list, const struct rf_owner_set *of,
		      struct rf_list_entry *entry);

#endif /* RINGFENCE_SNAPSHOT_RULES_H */
