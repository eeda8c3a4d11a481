// SPDX-License-Identifier: GPL-2.0
/* limit add, set, change, del, list, arm and shadow; newcomers */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files.h"
#include "cli/limit_edit.h"
#include "cli/out.h"
#include "cli/transaction.h"
#include "ringfence/fleet.h"
#include "rules/advice.h"
#include "rules/attribute.h"
#include "rules/policy.h"

/* Adds the trial, if there is one, and warnings about the limit in `slot`, and prints. */
static int print_done_json(const struct rf_ruleset *rules, int slot, json_t *root,
			   uint64_t trial_ns, struct rf_error *error)
{
	rf_transaction_add_trial(root, trial_ns);
	rf_shadow_pairs_warn(rules, 1U << slot, root);
	return rf_out_json(root, false, error);
}

static int put_limit(struct rf_transaction *transaction, int slot,
		     const struct rf_definition *definition, struct rf_error *error)
{
	const struct rf_trial trial = {.time_ns = definition->trial_ns};
	const uint32_t bit = 1U << slot, before = rf_own_check_limits(transaction, bit);
	int err = rf_limit_edit_put(transaction, slot, definition, error);

	if (!err && !definition->force)
		err = rf_own_check_new_limits(transaction, bit, before, error);
	if (!err)
		err = rf_transaction_commit(transaction, trial.time_ns ? &trial : NULL, error);
	if (!err && !trial.time_ns && !definition->force)
		rf_own_check_note(transaction, bit);
	return err;
}

/* Beside the first limit: how much of COUNT is safe for a source that sends evenly. */
static void print_steady(const struct rf_limit *limit, uint32_t tick_ns)
{
	const uint32_t steady = rf_policy_steady(limit, tick_ns);

	if (steady < 1000)
		rf_out_text("limit '%s': a source that sends evenly loses nothing up to %u %% of "
			    "COUNT\n",
			    limit->name, steady / 10);
}

static int add_limit(struct rf_transaction *transaction, const struct rf_definition *definition,
		     bool json, struct rf_error *error)
{
	const char *name = definition->limit.name;
	const bool is_first = !rf_bank_count(&transaction->rules.bank);
	const int slot = rf_limit_edit_slot(transaction, name, true, error);
	const int err = slot < 0 ? slot : put_limit(transaction, slot, definition, error);

	if (err)
		return err;
	if (json)
		return print_done_json(&transaction->rules, slot, json_pack("{s:s}", "limit", name),
				       definition->trial_ns, error);
	if (is_first)
		print_steady(&definition->limit, rf_fence_tick_ns(&transaction->fence));
	rf_transaction_print_trial("", definition->trial_ns);
	rf_shadow_pairs_warn(&transaction->rules, 1U << slot, NULL);
	return 0;
}

/* Prints what the new definition changed, since options that are not given get their defaults. */
static int set_limit(struct rf_transaction *transaction, const struct rf_definition *definition,
		     bool json, struct rf_error *error)
{
	const char *name = definition->limit.name;
	const int slot = rf_limit_edit_slot(transaction, name, false, error);
	struct rf_limit_parts before, after;
	int err;

	if (slot < 0)
		return slot;
	rf_limit_parts_read(&transaction->rules, slot, &before);
	err = put_limit(transaction, slot, definition, error);
	if (err)
		return err;
	rf_limit_parts_read(&transaction->rules, slot, &after);
	if (json)
		return print_done_json(&transaction->rules, slot,
				       rf_limit_parts_json(name, &before, &after),
				       definition->trial_ns, error);
	rf_limit_parts_print_change(name, &before, &after);
	rf_transaction_print_trial("", definition->trial_ns);
	rf_shadow_pairs_warn(&transaction->rules, 1U << slot, NULL);
	return 0;
}

static int change_limit(const struct rf_options *options, struct rf_words *words, bool add,
			struct rf_error *error)
{
	struct rf_transaction transaction = RF_TRANSACTION_NONE;
	struct rf_definition definition = {};
	int err = rf_parse_limit(words, &definition, error);

	if (!err)
		err = rf_rules_read_from(&definition, error);
	if (!err)
		err = rf_transaction_begin(&transaction, options, error);
	if (!err)
		err = add ? add_limit(&transaction, &definition, options->json, error)
			  : set_limit(&transaction, &definition, options->json, error);
	rf_transaction_end(&transaction);
	rf_definition_free(&definition);
	return err;
}

int rf_cmd_limit_add(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error)
{
	return change_limit(options, words, true, error);
}

int rf_cmd_limit_set(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error)
{
	return change_limit(options, words, false, error);
}

int rf_cmd_limit_change(const struct rf_options *options, struct rf_words *words,
			struct rf_error *error)
{
	struct rf_transaction transaction = RF_TRANSACTION_NONE;
	struct rf_definition definition = {};
	struct rf_change change;
	int err = rf_parse_change(words, &change, error);

	if (!err)
		err = rf_transaction_begin(&transaction, options, error);
	if (!err)
		err = rf_limit_edit_read(&transaction.rules, &change, &definition, error);
	if (!err)
		err = rf_rules_read_from(&definition, error);
	if (!err)
		err = set_limit(&transaction, &definition, options->json, error);
	rf_transaction_end(&transaction);
	rf_definition_free(&definition);
	return err;
}

static int del_limit(struct rf_transaction *transaction, const char *name, uint64_t trial_ns,
		     struct rf_error *error)
{
	const struct rf_trial trial = {.time_ns = trial_ns};
	const int err = rf_limit_edit_del(transaction, name, error);

	return err ? err : rf_transaction_commit(transaction, trial_ns ? &trial : NULL, error);
}

static int print_deleted(const struct rf_options *options, const char *name, uint64_t trial_ns,
			 struct rf_error *error)
{
	json_t *root;

	if (!options->json) {
		rf_transaction_print_trial("", trial_ns);
		return 0;
	}
	root = json_pack("{s:s}", "limit", name);
	rf_transaction_add_trial(root, trial_ns);
	return rf_out_json(root, false, error);
}

int rf_cmd_limit_del(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error)
{
	struct rf_transaction transaction = RF_TRANSACTION_NONE;
	const char *name = rf_take_operand(RF_CMD_LIMIT_DEL, words, error);
	uint64_t trial_ns = 0;
	int err = name ? rf_parse_confirm(words, &trial_ns, error) : -EINVAL;

	if (!err)
		err = rf_words_end(words, error);
	if (!err)
		err = rf_transaction_begin(&transaction, options, error);
	if (!err)
		err = del_limit(&transaction, name, trial_ns, error);
	if (!err)
		err = print_deleted(options, name, trial_ns, error);
	rf_transaction_end(&transaction);
	return err;
}

/* ---- list ---- */

/* What all hosts together pass; 0: it is not of the fleet, or the number of hosts is not told. */
static uint64_t bound_of(const struct rf_bank *bank, const struct rf_limit *limit)
{
	if (!(limit->flags & RF_FLEET) || !bank->hosts)
		return 0;
	return rf_fleet_bound(limit->rate, bank->hosts, rf_bank_first(bank, limit));
}

/* Behind the command, as a remark of the shell: it can be typed again. */
static void print_bound(const struct rf_bank *bank, const struct rf_limit *limit)
{
	const uint64_t bound = bound_of(bank, limit);
	char text[RF_COUNT_TEXT_SIZE];

	rf_format_count(bound, text);
	if (bound)
		rf_out("  # at most %s over %" PRIu32 " hosts", text, bank->hosts);
}

/* ---- JSON: each attribute under its key ---- */

static void add_number(json_t *object, const char *key, enum rf_limit_option part,
		       const struct rf_ruleset *rules, int slot)
{
	json_object_set_new(object, key,
			    json_integer(rf_attribute_value(part, &rules->bank.limit[slot])));
}

static void add_flag(json_t *object, const char *key, enum rf_limit_option part,
		     const struct rf_ruleset *rules, int slot)
{
	json_object_set_new(object, key,
			    json_boolean(rf_attribute_value(part, &rules->bank.limit[slot])));
}

/* As saved rules have it; null: none. */
static void add_text(json_t *object, const char *key, enum rf_limit_option part,
		     const struct rf_ruleset *rules, int slot)
{
	char *text = rf_attribute_text(part, rules, slot);

	json_object_set_new(object, key, text && *text ? json_string(text) : json_null());
	free(text);
}

static void add_list(json_t *object, const char *key, enum rf_limit_option part,
		     const struct rf_ruleset *rules, int slot)
{
	char *text = rf_attribute_text(part, rules, slot), *rest = text, *item;
	json_t *list = rf_attribute_is_default(part, &rules->bank.limit[slot]) ? json_null()
									       : json_array();

	while (text && *text && (item = strsep(&rest, ",")))
		json_array_append_new(list, json_string(item));
	json_object_set_new(object, key, list);
	free(text);
}

static void add_rate(json_t *object, const char *key, enum rf_limit_option part,
		     const struct rf_ruleset *rules, int slot)
{
	const struct rf_limit *limit = &rules->bank.limit[slot];

	(void)part;
	json_object_set_new(object, key, json_integer(limit->rate));
	json_object_set_new(object, "window_ms", json_integer(limit->window_ns / RF_NS_PER_MS));
	json_object_set_new(object, "unit", json_string(rf_unit_name(limit->unit)));
}

static void add_burst(json_t *object, const char *key, enum rf_limit_option part,
		      const struct rf_ruleset *rules, int slot)
{
	if (rf_has_burst(&rules->bank.limit[slot]))
		add_number(object, key, part, rules, slot);
	else
		json_object_set_new(object, key, json_null());
}

static void add_ban(json_t *object, const char *key, enum rf_limit_option part,
		    const struct rf_ruleset *rules, int slot)
{
	const struct rf_limit *limit = &rules->bank.limit[slot];

	(void)part;
	json_object_set_new(object, key,
			    limit->ban_ns ? json_integer(limit->ban_ns / RF_NS_PER_MS)
					  : json_null());
	json_object_set_new(object, "ban_all", json_boolean(limit->flags & RF_BAN_ALL));
}

/* With `first` and `alone`, whether they were written or not. */
static void add_fleet(json_t *object, const char *key, enum rf_limit_option part,
		      const struct rf_ruleset *rules, int slot)
{
	const struct rf_limit *limit = &rules->bank.limit[slot];
	const uint64_t first = rf_bank_first(&rules->bank, limit);
	const uint64_t alone = limit->alone ? limit->alone : limit->rate;

	(void)part;
	if (!(limit->flags & RF_FLEET)) {
		json_object_set_new(object, key, json_null());
		return;
	}
	json_object_set_new(object, key,
			    json_pack("{s:I, s:I, s:I, s:I}", "first", (json_int_t)first, "alone",
				      (json_int_t)(limit->flags & RF_ALONE_FIRST ? first : alone),
				      "hosts", (json_int_t)rules->bank.hosts, "bound",
				      (json_int_t)bound_of(&rules->bank, limit)));
}

#define JSON(add, key)   \
	{                \
		add, key \
	}
#define IN_FLEET           \
	{                  \
		NULL, NULL \
	}
#define PART(id, word, option, store, no, text, json, ...) [RF_OPT_##id] = json,
#define HEAD(id, word, option, store, text, json, ...) [RF_OPT_##id] = json,
#define WORD(...)

static const struct {
	void (*add)(json_t *object, const char *key, enum rf_limit_option part,
		    const struct rf_ruleset *rules, int slot);
	const char *key;
} keys[RF_LIMIT_OPTIONS] = {
#include "rules/limit.def"
};

static json_t *limit_json(const struct rf_ruleset *rules, int slot)
{
	json_t *object = json_pack("{s:s}", "name", rules->bank.limit[slot].name);

	for (int place = RF_PLACE_FIRST; place <= RF_PLACE_LAST; place++)
		for (int part = 0; part < RF_LIMIT_OPTIONS; part++)
			if (keys[part].add && rf_attributes[part].place == place)
				keys[part].add(object, keys[part].key, part, rules, slot);
	return object;
}

static int print_json(const struct rf_ruleset *rules, struct rf_error *error)
{
	json_t *list = json_array();
	int slots[RF_LIMITS_MAX];
	const int count = rf_bank_slots(&rules->bank, slots);

	for (int i = 0; i < count; i++)
		json_array_append_new(list, limit_json(rules, slots[i]));
	return rf_out_json(json_pack("{s:o}", "limits", list), false, error);
}

/* Prints the limits as commands that can be typed again. */
static int print_limits(const struct rf_ruleset *rules, struct rf_error *error)
{
	int slots[RF_LIMITS_MAX];
	const int count = rf_bank_slots(&rules->bank, slots);

	if (!count)
		rf_out("no limits\n");
	for (int i = 0; i < count; i++) {
		char *text = rf_ruleset_format_limit(rules, slots[i]);

		if (!text)
			return rf_error_failed(error, -ENOMEM, "cannot print the limits");
		rf_out("%s", text);
		print_bound(&rules->bank, &rules->bank.limit[slots[i]]);
		rf_out("\n");
		free(text);
	}
	return 0;
}

int rf_cmd_limit_list(const struct rf_options *options, struct rf_words *words,
		      struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_ruleset rules = RF_RULESET_NONE;
	int err = rf_words_end(words, error);

	if (!err)
		err = rf_fence_open(&fence, options->dev, error);
	if (!err)
		err = rf_fence_ruleset(&fence, &rules, error);
	if (!err)
		err = options->json ? print_json(&rules, error) : print_limits(&rules, error);
	rf_ruleset_free(&rules);
	rf_fence_close(&fence);
	return err;
}

/* ---- arm, shadow ---- */

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
	rf_transaction_add_trial(root, arming->changed ? arming->trial_ns : 0);
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

/* ---- newcomers ---- */

int rf_cmd_newcomers(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error)
{
	struct rf_transaction transaction = RF_TRANSACTION_NONE;
	struct rf_newcomers_text newcomers;
	int err = rf_parse_newcomers(words, &newcomers, error);

	if (!err)
		err = rf_transaction_begin(&transaction, options, error);
	if (!err) {
		transaction.rules.bank.newcomers.rate = newcomers.rate;
		transaction.rules.bank.newcomers.window_ns = newcomers.window_ns;
		transaction.rules.bank.newcomers.then = newcomers.then;
		err = rf_transaction_commit(&transaction, NULL, error);
	}
	rf_transaction_end(&transaction);
	return err;
}
