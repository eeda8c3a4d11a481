/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes of limits in the rules of a transaction. Nothing is committed: a command does that for
 * itself, and 'batch' once for many.
 */
#ifndef RINGFENCE_LIMIT_EDIT_H
#define RINGFENCE_LIMIT_EDIT_H

#include "cli/transaction.h"
#include "rules/grammar_option.h"

/* An error unless a limit of that name may be added; unless there is one. */
int rf_limit_edit_check_new(const struct rf_bank *rules, const char *name, struct rf_error *error);
int rf_limit_edit_check_there(const struct rf_bank *rules, const char *name,
			      struct rf_error *error);
int rf_limit_edit_put(struct rf_transaction *transaction, int slot,
		      const struct rf_definition *definition, struct rf_error *error);

int rf_limit_edit_add(struct rf_transaction *transaction, const struct rf_definition *definition,
		      struct rf_error *error);
int rf_limit_edit_set(struct rf_transaction *transaction, const struct rf_definition *definition,
		      struct rf_error *error);
int rf_limit_edit_del(struct rf_transaction *transaction, const char *name, struct rf_error *error);

/* The definition of a limit after a change of some of its parts. */
int rf_limit_edit_read(const struct rf_ruleset *rules, const struct rf_change *change,
		       struct rf_definition *definition, struct rf_error *error);
/*
 * Arms the limits of those names, or makes them shadows. `chosen` and `changed` get bit sets of
 * their slots; one that was so already is not changed.
 */
int rf_limit_edit_arm(struct rf_transaction *transaction, const struct rf_names *names,
		      bool to_shadow, uint32_t *chosen, uint32_t *changed, struct rf_error *error);

#endif /* RINGFENCE_LIMIT_EDIT_H */
