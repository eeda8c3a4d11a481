// SPDX-License-Identifier: GPL-2.0
#include <errno.h>

#include "cli/limit_edit.h"
#include "rules/near.h"
#include "rules/policy.h"
#include "rules/rulefile.h"

int rf_limit_edit_check_new(const struct rf_bank *rules, const char *name, struct rf_error *error)
{
	if (rf_bank_find(rules, name) >= 0)
		return rf_error_failed(
			error, -EEXIST,
			"limit '%s': it exists already; to replace it, use 'limit set %s …'", name,
			name);
	if (rf_bank_count(rules) < RF_LIMITS_MAX)
		return 0;
	return rf_error_failed(error, -ENOSPC,
			       "limit '%s': a fence has %d limits at most; 'limit del NAME' makes "
			       "room",
			       name, RF_LIMITS_MAX);
}

int rf_limit_edit_check_there(const struct rf_bank *rules, const char *name, struct rf_error *error)
{
	if (rf_bank_find(rules, name) >= 0)
		return 0;
	return rf_fail_no_limit(rules, name, ", 'limit add' makes one", error);
}

int rf_limit_edit_put(struct rf_transaction *transaction, int slot,
		      const struct rf_definition *definition, struct rf_error *error)
{
	return rf_ruleset_put_limit(&transaction->rules, slot, definition, &transaction->before,
				    rf_fence_tick_ns(&transaction->fence), &transaction->next_id,
				    error);
}

int rf_limit_edit_add(struct rf_transaction *transaction, const struct rf_definition *definition,
		      struct rf_error *error)
{
	const struct rf_bank *rules = &transaction->rules.bank;
	int err = rf_limit_edit_check_new(rules, definition->limit.name, error);

	return err ? err
		   : rf_limit_edit_put(transaction, rf_rulefile_slot(rules, &transaction->before),
				       definition, error);
}

int rf_limit_edit_set(struct rf_transaction *transaction, const struct rf_definition *definition,
		      struct rf_error *error)
{
	const struct rf_bank *rules = &transaction->rules.bank;
	int err = rf_limit_edit_check_there(rules, definition->limit.name, error);

	return err ? err
		   : rf_limit_edit_put(transaction, rf_bank_find(rules, definition->limit.name),
				       definition, error);
}

int rf_limit_edit_del(struct rf_transaction *transaction, const char *name, struct rf_error *error)
{
	const struct rf_bank *rules = &transaction->rules.bank;
	int err = rf_limit_edit_check_there(rules, name, error);

	if (!err)
		rf_ruleset_del_limit(&transaction->rules, rf_bank_find(rules, name));
	return err;
}
