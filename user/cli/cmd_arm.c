// SPDX-License-Identifier: GPL-2.0
/* limit arm, limit shadow */
#include "cli/limit_edit.h"
#include "cli/out.h"
#include "cli/own_check.h"
#include "cli/shadow_pairs.h"
#include "rules/policy.h"

/* What to change, and what has changed. */
struct arming {
	bool to_shadow;
	uint32_t chosen, changed; /* bit sets of slots */
	uint64_t trial_ns;
	bool force;
};

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
	const struct rf_trial trial = {.time_ns = arming->trial_ns};
	struct rf_transaction transaction = RF_TRANSACTION_NONE;
	int err = rf_transaction_begin(&transaction, options, error);

	if (!err)
		err = rf_limit_edit_arm(&transaction, names, arming->to_shadow, &arming->chosen,
					&arming->changed, error);
	if (!err && arming->changed && !arming->force)
		err = rf_own_check_new_limits(&transaction, arming->changed, 0, error);
	if (!err && arming->changed)
		err = rf_transaction_commit(&transaction, arming->trial_ns ? &trial : NULL, error);
	if (!err && !arming->trial_ns && !arming->force)
		rf_own_check_note(&transaction, arming->changed);
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
	struct rf_arm_text text;
	struct rf_names names;
	int err = rf_parse_names(RF_CMD_LIMIT_ARM, words, &names, error);

	if (!err)
		err = rf_parse_arm(words, &text, error);
	if (!err)
		err = rf_words_end(words, error);
	if (!err) {
		arming.trial_ns = text.trial_ns;
		arming.force = text.force;
	}
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
