// SPDX-License-Identifier: GPL-2.0
/* limit arm, limit shadow */
#include <errno.h>
#include <string.h>

#include "cli/out.h"
#include "cli/shadow_pairs.h"
#include "cli/transaction.h"
#include "rules/near.h"
#include "rules/policy.h"

/* What to change, and what has changed. */
struct arming {
	bool to_shadow;
	uint32_t chosen, changed; /* bit sets of slots */
	uint64_t trial_ns;
};

static int fail_ambiguous(struct rf_error *error)
{
	return rf_error_usage(error,
			      "'all': it means every limit, and one limit has that name; name the "
			      "limits instead, or write 'all all' for that one alone");
}

/* "all", alone, is every limit. It must not mean more than a user of a limit of that name wants. */
static int choose_all(const struct rf_bank *rules, uint32_t *chosen, struct rf_error *error)
{
	if (!rf_bank_count(rules))
		return rf_error_failed(error, -ENOENT, "no limits; 'limit add' makes one");
	if (rf_bank_find(rules, "all") >= 0 && rf_bank_count(rules) > 1)
		return fail_ambiguous(error);
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		*chosen |= (uint32_t)(rules->policy[slot].id != 0) << slot;
	return 0;
}

static int choose(const struct rf_bank *rules, const struct rf_names *names, uint32_t *chosen,
		  struct rf_error *error)
{
	if (names->count == 1 && strcmp(names->name[0], "all") == 0)
		return choose_all(rules, chosen, error);
	for (int i = 0; i < names->count; i++) {
		const int slot = rf_bank_find(rules, names->name[i]);

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

static int change(struct rf_transaction *transaction, struct arming *arming, struct rf_error *error)
{
	const struct rf_trial trial = {.time_ns = arming->trial_ns};

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		const struct rf_limit *limit = &transaction->rules.bank.limit[slot];
		const bool is_shadow = limit->flags & RF_SHADOW;
		int err;

		if (!(arming->chosen >> slot & 1) || is_shadow == arming->to_shadow)
			continue;
		err = turn(transaction, slot, arming->to_shadow, error);
		if (err)
			return err;
		arming->changed |= 1U << slot;
	}
	if (!arming->changed)
		return 0;
	return rf_transaction_commit(transaction, arming->trial_ns ? &trial : NULL, error);
}

/* ---- what is said ---- */

static json_t *arming_json(const struct rf_ruleset *rules, const struct arming *arming)
{
	json_t *limits = json_array(), *root = json_pack("{s:o}", "limits", limits);
	int slots[RF_LIMITS_MAX];
	const int count = rf_bank_slots(&rules->bank, slots);

	for (int i = 0; i < count; i++)
		if (arming->chosen >> slots[i] & 1)
			json_array_append_new(limits,
					      json_pack("{s:s, s:b, s:b}", "name",
							rules->bank.limit[slots[i]].name, "shadow",
							arming->to_shadow, "changed",
							(int)(arming->changed >> slots[i] & 1)));
	if (arming->trial_ns && arming->changed)
		json_object_set_new(root, "trial_ms",
				    json_integer(arming->trial_ns / RF_NS_PER_MS));
	rf_shadow_pairs_warn(rules, arming->chosen, root);
	return root;
}

static void print_arming(const struct rf_ruleset *rules, const struct arming *arming)
{
	int slots[RF_LIMITS_MAX];
	const int count = rf_bank_slots(&rules->bank, slots);

	for (int i = 0; i < count; i++) {
		const char *name = rules->bank.limit[slots[i]].name;

		if (!(arming->chosen >> slots[i] & 1))
			continue;
		if (!(arming->changed >> slots[i] & 1))
			rf_out_text("limit '%s': %s already\n", name,
				    arming->to_shadow ? "a shadow" : "in force");
		else
			rf_out_text("limit '%s': %s\n", name,
				    arming->to_shadow ? "in force → shadow" : "shadow → in force");
	}
	if (arming->changed)
		rf_transaction_print_trial("", arming->trial_ns);
	rf_shadow_pairs_warn(rules, arming->chosen, NULL);
}

static int run(const struct rf_options *options, const struct rf_names *names,
	       struct arming *arming, struct rf_error *error)
{
	struct rf_transaction transaction = RF_TRANSACTION_NONE;
	int err = rf_transaction_begin(&transaction, options, error);

	if (!err)
		err = choose(&transaction.rules.bank, names, &arming->chosen, error);
	if (!err)
		err = change(&transaction, arming, error);
	if (!err && options->json)
		err = rf_out_json(arming_json(&transaction.rules, arming), false, error);
	else if (!err)
		print_arming(&transaction.rules, arming);
	rf_transaction_end(&transaction);
	return err;
}

int rf_cmd_limit_arm(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error)
{
	struct arming arming = {};
	struct rf_names names;
	int err = rf_parse_names(RF_CMD_LIMIT_ARM, words, &names, error);

	if (!err)
		err = rf_parse_confirm(words, &arming.trial_ns, error);
	if (!err)
		err = rf_words_end(words, error);
	return err ? err : run(options, &names, &arming, error);
}

int rf_cmd_limit_shadow(const struct rf_options *options, struct rf_words *words,
			struct rf_error *error)
{
	struct arming arming = {.to_shadow = true};
	struct rf_names names;
	int err = rf_parse_names(RF_CMD_LIMIT_SHADOW, words, &names, error);

	if (!err)
		err = rf_words_end(words, error);
	return err ? err : run(options, &names, &arming, error);
}
