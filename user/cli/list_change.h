/* SPDX-License-Identifier: GPL-2.0 */
/* What becomes of a list when other rules replace the present ones. */
#ifndef RINGFENCE_LIST_CHANGE_H
#define RINGFENCE_LIST_CHANGE_H

#include <jansson.h>

#include "rules/ruleset.h"

struct rf_list_clock {
	uint64_t now; /* jiffies */
	uint32_t tick_ns;
	uint64_t slack_ns; /* times that differ by less are equal */
};

enum rf_entry_change {
	RF_ENTRY_ADDED,
	RF_ENTRY_DELETED,
	RF_ENTRY_CHANGED,
	RF_ENTRY_CHANGES,
};

struct rf_list_row {
	struct rf_prefix prefix;
	unsigned int owner;
	enum rf_entry_change change;
	uint64_t left_ns[2]; /* before and after; 0: not on the list; RF_FOREVER */
};

struct rf_list_change {
	enum rf_list list;
	const struct rf_owners *owners; /* of both rule sets */
	struct rf_list_row *row;	/* sorted by prefix */
	size_t count;
	size_t count_of[RF_ENTRY_CHANGES];
};

/*
 * Finds the entries of this host in which two rule sets differ. Their owners must be numbered
 * alike, as in those of `after`. Free the change, even after an error.
 */
int rf_list_change_find(const struct rf_ruleset *before, const struct rf_ruleset *after,
			enum rf_list list, const struct rf_list_clock *clock,
			struct rf_list_change *change, struct rf_error *error);
/* Prints nothing where nothing changes. */
void rf_list_change_print(const struct rf_list_change *change, bool all);
json_t *rf_list_change_json(const struct rf_list_change *change);
void rf_list_change_free(struct rf_list_change *change);

#endif /* RINGFENCE_LIST_CHANGE_H */
