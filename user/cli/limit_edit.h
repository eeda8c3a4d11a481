/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes of limits in the rules of a transaction. Nothing is committed: a command commits its
 * change, and 'batch' commits many together.
 */
#ifndef RINGFENCE_LIMIT_EDIT_H
#define RINGFENCE_LIMIT_EDIT_H

#include "cli/transaction.h"
#include "rules/grammar_option.h"
#include "rules/grammar_table.h"
#include "rules/ruleset.h"

/*
 * The slot of a limit: a free one for a new limit, which must not exist, or the slot of an existing
 * limit. A negative errno otherwise.
 */
int rf_limit_edit_slot(const struct rf_transaction *transaction, const char *name, bool is_new,
		       struct rf_error *error);
int rf_limit_edit_put(struct rf_transaction *transaction, int slot,
		      const struct rf_definition *definition, struct rf_error *error);
int rf_limit_edit_del(struct rf_transaction *transaction, const char *name, struct rf_error *error);
/* The definition of a limit after a change of some of its parts. */
int rf_limit_edit_read(const struct rf_ruleset *rules, const struct rf_change *change,
		       struct rf_definition *definition, struct rf_error *error);
/*
 * Enforces the named limits, or makes them shadows. `chosen` and `changed` get bit sets of their
 * slots; a limit that was already in that state is not changed.
 */
int rf_limit_edit_enforce(struct rf_transaction *transaction, const struct rf_names *names,
			  bool to_shadow, uint32_t *chosen, uint32_t *changed,
			  struct rf_error *error);

/* ---- how a new definition changes a limit ---- */

#define RF_LIMIT_PART_SIZE 128

/* A limit in words: its attributes, by their rows. */
struct rf_limit_parts {
	uint32_t id;			 /* of its windows */
	uint32_t is_default;		 /* bit set of rows whose default goes with the algorithm */
	uint64_t hash[RF_LIMIT_OPTIONS]; /* of the whole text, which can be truncated when shown */
	char text[RF_LIMIT_OPTIONS][RF_LIMIT_PART_SIZE];
};

/* The attributes of a limit that differ. */
struct rf_limit_changes {
	const char *limit;
	struct rf_limit_parts before, after;
	struct rf_part_change {
		const char *part, *before, *after;
		bool is_clear; /* its text is, without the name of the part */
	} change[RF_LIMIT_OPTIONS];
	int count;
	bool keeps_windows;
};

void rf_limit_parts_read(const struct rf_ruleset *rules, int slot, struct rf_limit_parts *parts);
/* Compares `before` and `after`. Returns whether the limits differ. */
bool rf_limit_parts_compare(struct rf_limit_changes *changes);
/*
 * Prints "limit 'dns': rate 100/1s → 200/1s; from 192.0.2.0/24 → any", and whether windows start
 * afresh.
 */
void rf_limit_changes_print(const struct rf_limit_changes *changes);
extern const struct rf_field rf_limit_changes_fields[];

#endif /* RINGFENCE_LIMIT_EDIT_H */
