// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

int rf_limit_edit_read(const struct rf_ruleset *rules, const struct rf_change *change,
		       struct rf_definition *definition, struct rf_error *error)
{
	int err = rf_limit_edit_check_there(&rules->bank, change->name, error);
	const int slot = err ? -1 : rf_bank_find(&rules->bank, change->name);
	char *text = err ? NULL : rf_ruleset_format_limit(rules, slot);

	if (!err && !text)
		err = rf_error_failed(error, -ENOMEM, "limit '%s': out of memory", change->name);
	if (!err)
		err = rf_change_limit(change, &rules->bank.limit[slot], text, definition, error);
	free(text);
	return err;
}

/* ---- shadows ---- */

static int choose_all(const struct rf_bank *rules, uint32_t *chosen, struct rf_error *error)
{
	if (!rf_bank_count(rules))
		return rf_error_failed(error, -ENOENT, "no limits; 'limit add' makes one");
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		*chosen |= (uint32_t)(rules->policy[slot].id != 0) << slot;
	return 0;
}

static int choose(const struct rf_bank *rules, const struct rf_names *names, uint32_t *chosen,
		  struct rf_error *error)
{
	if (names->count == 1 && rf_name_is_all(names->name[0]))
		return choose_all(rules, chosen, error);
	for (int i = 0; i < names->count; i++) {
		const int slot = rf_bank_find(rules, names->name[i]);

		if (rf_name_is_all(names->name[i]))
			return rf_error_usage(
				error, "'all': it means every limit; write it without names");
		if (slot < 0 && rf_word_is_reserved(names->name[i]))
			return rf_error_usage(error,
					      "'%s': unexpected word; names of limits come here",
					      names->name[i]);
		if (slot < 0)
			return rf_fail_no_limit(rules, names->name[i], "", error);
		*chosen |= 1U << slot;
	}
	return 0;
}

/* Changes the limit in `slot`; its windows and counters go on. */
static int turn(struct rf_transaction *transaction, int slot, bool to_shadow,
		struct rf_error *error)
{
	struct rf_limit limit = transaction->rules.bank.limit[slot];

	if (to_shadow && limit.ban_ns)
		return rf_error_failed(error, -EINVAL,
				       "limit '%s': it bans, and a shadow limit bans nobody; "
				       "first run 'ringfence limit change %s no ban'",
				       limit.name, limit.name);
	limit.flags ^= RF_SHADOW;
	rf_bank_put(&transaction->rules.bank, slot, &limit, rf_fence_tick_ns(&transaction->fence),
		    &transaction->next_id);
	return 0;
}

int rf_limit_edit_arm(struct rf_transaction *transaction, const struct rf_names *names,
		      bool to_shadow, uint32_t *chosen, uint32_t *changed, struct rf_error *error)
{
	int err;

	*chosen = *changed = 0;
	err = choose(&transaction->rules.bank, names, chosen, error);
	for (int slot = 0; slot < RF_LIMITS_MAX && !err; slot++) {
		const struct rf_limit *limit = &transaction->rules.bank.limit[slot];
		const bool is_shadow = limit->flags & RF_SHADOW;

		if (!(*chosen >> slot & 1) || is_shadow == to_shadow)
			continue;
		err = turn(transaction, slot, to_shadow, error);
		*changed |= 1U << slot;
	}
	return err;
}
