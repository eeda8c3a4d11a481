/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes of limits in the rules of a transaction. Nothing is committed: a command does that for
 * itself, and 'batch' once for many.
 */
#ifndef RINGFENCE_LIMIT_EDIT_H
#define RINGFENCE_LIMIT_EDIT_H

#include "cli/transaction.h"

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

#endif /* RINGFENCE_LIMIT_EDIT_H */
