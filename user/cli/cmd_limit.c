// SPDX-License-Identifier: GPL-2.0
/* limit add, set, change, del, list, enforce and shadow; newcomers */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files.h"
#include "cli/limit_edit.h"
#include "cli/out.h"
#include "cli/transaction.h"
#include "cli/view.h"
#include "ringfence/fleet.h"
#include "rules/advice.h"
#include "rules/attribute.h"
#include "rules/policy.h"
#include "snapshot/records.h"

/* A limit that was added or deleted. */
struct one_limit {
	const char *limit;
	struct rf_done done;
};

static const struct rf_field one_limit_fields[] = {
	RF_FIELD("limit", struct one_limit, limit, "its name"),
	RF_FIELDS_OF(struct one_limit, done, rf_done_fields),
	{},
};

RF_RECORD(limit_add, one_limit_fields);

/* A limit that has a new definition. */
struct set_limit {
	struct rf_limit_changes changes;
	struct rf_done done;
};

static const struct rf_field set_limit_fields[] = {
	RF_FIELDS_OF(struct set_limit, changes, rf_limit_changes_fields),
	RF_FIELDS_OF(struct set_limit, done, rf_done_fields),
	{},
};

RF_RECORD(limit_set, set_limit_fields);

static int put_limit(struct rf_transaction *transaction, int slot,
		     const struct rf_definition *definition, struct rf_error *error)
{
	const struct rf_confirm confirm = {.time_ns = definition->confirm_ns};
	const uint32_t bit = 1U << slot, before = rf_own_check_limits(transaction, bit);
	int err = rf_limit_edit_put(transaction, slot, definition, error);

	if (!err && !definition->force)
		err = rf_own_check_new_limits(transaction, bit, before, error);
	if (!err)
		err = rf_transaction_commit(transaction, confirm.time_ns ? &confirm : NULL, error);
	if (!err && !confirm.time_ns && !definition->force)
		rf_own_check_note(transaction, bit);
	return err;
}

/* Printed with the first limit: the part of COUNT that is safe for a source that sends evenly. */
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
	const struct one_limit added = {
		name, {definition->confirm_ns, &transaction->rules, 1U << (slot & 31)}};

	if (err)
		return err;
	if (json)
		return rf_out_record(one_limit_fields, &added, error);
	if (is_first)
		print_steady(&definition->limit, rf_fence_tick_ns(&transaction->fence));
	rf_done_print("", &added.done);
	return 0;
}

/* Prints how the new definition differs, because options that are not given get their defaults. */
static int set_limit(struct rf_transaction *transaction, const struct rf_definition *definition,
		     bool json, struct rf_error *error)
{
	struct set_limit set = {.changes.limit = definition->limit.name};
	const int slot = rf_limit_edit_slot(transaction, set.changes.limit, false, error);
	int err;

	if (slot < 0)
		return slot;
	rf_limit_parts_read(&transaction->rules, slot, &set.changes.before);
	err = put_limit(transaction, slot, definition, error);
	if (err)
		return err;
	rf_limit_parts_read(&transaction->rules, slot, &set.changes.after);
	rf_limit_parts_compare(&set.changes);
	set.done = (struct rf_done){definition->confirm_ns, &transaction->rules, 1U << slot};
	if (json)
		return rf_out_record(set_limit_fields, &set, error);
	rf_limit_changes_print(&set.changes);
	rf_done_print("", &set.done);
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

static int del_limit(struct rf_transaction *transaction, const char *name, uint64_t confirm_ns,
		     struct rf_error *error)
{
	const struct rf_confirm confirm = {.time_ns = confirm_ns};
	const int err = rf_limit_edit_del(transaction, name, error);

	return err ? err : rf_transaction_commit(transaction, confirm_ns ? &confirm : NULL, error);
}

static const struct rf_field deleted_fields[] = {
	RF_FIELD("limit", struct one_limit, limit, "its name"),
	RF_FIELDS_OF(struct one_limit, done, rf_unconfirmed_fields),
	{},
};

RF_RECORD(limit_del, deleted_fields);

static int print_deleted(const struct rf_options *options, const char *name, uint64_t confirm_ns,
			 struct rf_error *error)
{
	const struct one_limit deleted = {name, {.confirm_ns = confirm_ns}};

	if (options->json)
		return rf_out_record(deleted_fields, &deleted, error);
	rf_done_print("", &deleted.done);
	return 0;
}

int rf_cmd_limit_del(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error)
{
	struct rf_transaction transaction = RF_TRANSACTION_NONE;
	const char *name = rf_take_operand(RF_CMD_LIMIT_DEL, words, error);
	uint64_t confirm_ns = 0;
	int err = name ? rf_parse_arguments(RF_CMD_LIMIT_DEL, words, &confirm_ns, error) : -EINVAL;

	if (!err)
		err = rf_transaction_begin(&transaction, options, error);
	if (!err)
		err = del_limit(&transaction, name, confirm_ns, error);
	if (!err)
		err = print_deleted(options, name, confirm_ns, error);
	rf_transaction_end(&transaction);
	return err;
}

/* ---- list ---- */

/* The total that all hosts pass; 0: not a fleet limit, or the number of hosts is unknown. */
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

/* ---- for programs: the attributes, by the rows of limit.def ---- */

static const struct rf_limit_view *view_of(const void *of)
{
	return of;
}

static json_t *number_json(const struct rf_limit_view *view, enum rf_limit_option part)
{
	return json_integer(rf_attribute_value(part, view->limit));
}

static json_t *flag_json(const struct rf_limit_view *view, enum rf_limit_option part)
{
	return json_boolean(rf_attribute_value(part, view->limit));
}

/* As saved rules have it; null: none. */
static json_t *text_json(const struct rf_limit_view *view, enum rf_limit_option part)
{
	char *text = rf_attribute_text(part, view->rules, view->slot);
	json_t *json = text && *text ? json_string(text) : json_null();

	free(text);
	return json;
}

static json_t *list_json(const struct rf_limit_view *view, enum rf_limit_option part)
{
	char *text = rf_attribute_text(part, view->rules, view->slot), *rest = text, *item;
	json_t *list = rf_attribute_is_default(part, view->limit) ? json_null() : json_array();

	while (text && *text && (item = strsep(&rest, ",")))
		json_array_append_new(list, json_string(item));
	free(text);
	return list;
}

#define number_kind RF_FIELD_U64
#define flag_kind RF_FIELD_BOOL
#define text_kind RF_FIELD_TEXT
#define list_kind RF_FIELD_LIST

static const struct rf_field rate_fields[] = {
	RF_FIELDS_VIA(struct rf_limit_view, limit, rf_limit_rate_fields),
	{},
};

static json_t *make_ban_all(const void *of)
{
	return json_boolean(view_of(of)->limit->flags & RF_BAN_ALL);
}

static const struct rf_field ban_time_fields[] = {
	RF_FIELD_OF_NS("ban_ms", struct rf_limit, ban_ns, "TIME of the ban; null: none",
		       .if_any = true, .or_null = true),
	{},
};

static const struct rf_field ban_fields[] = {
	RF_FIELDS_VIA(struct rf_limit_view, limit, ban_time_fields),
	RF_FIELD_MADE("ban_all", RF_FIELD_BOOL, make_ban_all, "the ban is on all packets"),
	{},
};

static bool is_of_fleet(const void *of)
{
	return view_of(of)->limit->flags & RF_FLEET;
}

static json_t *make_initial(const void *of)
{
	return json_integer(rf_bank_first(&view_of(of)->rules->bank, view_of(of)->limit));
}

static json_t *make_offline(const void *of)
{
	const struct rf_limit *limit = view_of(of)->limit;

	if (limit->flags & RF_OFFLINE_INITIAL)
		return make_initial(of);
	return json_integer(limit->alone ? limit->alone : limit->rate);
}

static json_t *make_hosts(const void *of)
{
	return json_integer(view_of(of)->rules->bank.hosts);
}

static json_t *make_bound(const void *of)
{
	return json_integer(bound_of(&view_of(of)->rules->bank, view_of(of)->limit));
}

/* `initial` and `offline` whether they were written or not. */
static const struct rf_field of_fleet_fields[] = {
	RF_FIELD_MADE("initial", RF_FIELD_U64, make_initial, "what a host passes by default"),
	RF_FIELD_MADE("offline", RF_FIELD_U64, make_offline,
		      "what passes while the host is offline"),
	RF_FIELD_MADE("hosts", RF_FIELD_U32, make_hosts, "hosts of the fleet; 0: not set"),
	RF_FIELD_MADE("bound", RF_FIELD_U64, make_bound, "what all hosts pass; 0: unknown"),
	{},
};

static const struct rf_field fleet_fields[] = {
	RF_FIELD_GROUP("fleet", of_fleet_fields, "null: a limit of this host only",
		       .has = is_of_fleet, .or_null = true),
	{},
};

/* A key has a function of its row; several keys are a table. */
#define JSON(kind, key, meaning) KEY, kind, key, meaning, false
#define JSON_OR_NULL(kind, key, meaning) KEY, kind, key, meaning, true
#define JSON_OF(fields) KEYS, fields
#define IN_FLEET NONE,
#define IN_RATE NONE,
#define WORD(...)

#define PART(id, word, option, store, no, text, json, ...) MAKE(id, json)
#define HEAD(id, word, option, store, text, json, ...) MAKE(id, json)
#define MAKE(id, ...) MAKE_ROW(id, __VA_ARGS__)
#define MAKE_ROW(id, row, ...) MAKE_##row(id, __VA_ARGS__)
#define MAKE_KEY(id, kind, ...)                      \
	static json_t *make_##id(const void *of)     \
	{                                            \
		return kind##_json(of, RF_OPT_##id); \
	}
#define MAKE_KEYS(...)
#define MAKE_NONE(...)
#include "schema/limit.def"
#undef PART
#undef HEAD

#define PART(id, word, option, store, no, text, json, ...) FIELD(id, json)
#define HEAD(id, word, option, store, text, json, ...) FIELD(id, json)
#define FIELD(id, ...) FIELD_ROW(id, __VA_ARGS__)
#define FIELD_ROW(id, row, ...) FIELD_##row(id, __VA_ARGS__)
#define FIELD_KEY(id, kind, key, meaning, is_null) \
	RF_FIELD_MADE(key, kind##_kind, make_##id, meaning, .or_null = is_null),
#define FIELD_KEYS(id, fields) RF_FIELDS_ALSO(fields),
#define FIELD_NONE(...)

static const struct rf_field name_fields[] = {
	RF_FIELD("name", struct rf_limit, name, "its name"),
	{},
};

static const struct rf_field limit_fields[] = {
	RF_FIELDS_VIA(struct rf_limit_view, limit, name_fields),
#include "schema/limit.def"
	{},
};

/* The limits in the order in which they were given. */
struct listing {
	struct rf_limit_view limit[RF_LIMITS_MAX];
	int count;
};

static const struct rf_field listing_fields[] = {
	RF_FIELD_OBJECTS("limits", struct listing, limit, count, limit_fields,
			 "in the order of their definition"),
	{},
};

RF_RECORD(limit_list, listing_fields);

/* Prints the limits as commands that can be typed again. */
static int print_limits(const struct rf_ruleset *rules, const struct listing *listing,
			struct rf_error *error)
{
	if (!listing->count)
		rf_out("no limits\n");
	for (int i = 0; i < listing->count; i++) {
		char *text = rf_ruleset_format_limit(rules, listing->limit[i].slot);

		if (!text)
			return rf_error_failed(error, -ENOMEM, "cannot print the limits");
		rf_out("%s", text);
		print_bound(&rules->bank, listing->limit[i].limit);
		rf_out("\n");
		free(text);
	}
	return 0;
}

static int list_limits(const struct rf_ruleset *rules, bool json, struct rf_error *error)
{
	struct listing listing = {};
	int slots[RF_LIMITS_MAX];

	listing.count = rf_bank_slots(&rules->bank, slots);
	for (int i = 0; i < listing.count; i++)
		listing.limit[i] = rf_limit_view(rules, slots[i]);
	return json ? rf_out_record(listing_fields, &listing, error)
		    : print_limits(rules, &listing, error);
}

int rf_cmd_limit_list(const struct rf_options *options, struct rf_words *words,
		      struct rf_error *error)
{
	struct rf_view view = RF_VIEW_NONE;
	int err = rf_words_end(words, error);

	if (!err)
		err = rf_view_open(&view, options->dev, RF_RULES_IN_FORCE, error);
	if (!err)
		err = list_limits(&view.rules.set, options->json, error);
	rf_view_close(&view);
	return err;
}

/* ---- enforce, shadow ---- */

struct enforced {
	const char *name;
	bool is_shadow, was_changed;
};

/* The requested changes and their result. */
struct enforcing {
	bool to_shadow;
	uint32_t chosen, changed; /* bit sets of slots */
	uint64_t confirm_ns;
	bool force;
	struct enforced limit[RF_LIMITS_MAX];
	int limits;
	struct rf_done done;
};

static const struct rf_field enforced_fields[] = {
	RF_FIELD("name", struct enforced, name, "of the limit"),
	RF_FIELD("shadow", struct enforced, is_shadow, "drops nothing from now on"),
	RF_FIELD("changed", struct enforced, was_changed, "false: it was so before"),
	{},
};

static const struct rf_field enforcing_fields[] = {
	RF_FIELD_OBJECTS("limits", struct enforcing, limit, limits, enforced_fields,
			 "the named limits"),
	RF_FIELDS_OF(struct enforcing, done, rf_done_fields),
	{},
};

RF_RECORD(limit_enforce, enforcing_fields);

static void finish_enforcing(const struct rf_ruleset *rules, struct enforcing *enforcing)
{
	int slots[RF_LIMITS_MAX];
	const int count = rf_bank_slots(&rules->bank, slots);

	for (int i = 0; i < count; i++)
		if (enforcing->chosen >> slots[i] & 1)
			enforcing->limit[enforcing->limits++] = (struct enforced){
				rules->bank.limit[slots[i]].name, enforcing->to_shadow,
				enforcing->changed >> slots[i] & 1};
	enforcing->done = (struct rf_done){enforcing->changed ? enforcing->confirm_ns : 0, rules,
					   enforcing->chosen};
}

static void print_enforcing(const struct enforcing *enforcing)
{
	for (int i = 0; i < enforcing->limits; i++) {
		const struct enforced *limit = &enforcing->limit[i];

		if (!limit->was_changed)
			rf_out_text("limit '%s': %s already\n", limit->name,
				    limit->is_shadow ? "a shadow" : "enforced");
		else
			rf_out_text("limit '%s': %s\n", limit->name,
				    limit->is_shadow ? "enforced → shadow" : "shadow → enforced");
	}
	rf_done_print("", &enforcing->done);
}

static int run(const struct rf_options *options, const struct rf_names *names,
	       struct enforcing *enforcing, struct rf_error *error)
{
	const struct rf_confirm confirm = {.time_ns = enforcing->confirm_ns};
	struct rf_transaction transaction = RF_TRANSACTION_NONE;
	int err = rf_transaction_begin(&transaction, options, error);

	if (!err)
		err = rf_limit_edit_enforce(&transaction, names, enforcing->to_shadow,
					    &enforcing->chosen, &enforcing->changed, error);
	if (!err && enforcing->changed && !enforcing->force)
		err = rf_own_check_new_limits(&transaction, enforcing->changed, 0, error);
	if (!err && enforcing->changed)
		err = rf_transaction_commit(&transaction, enforcing->confirm_ns ? &confirm : NULL,
					    error);
	if (!err && !enforcing->confirm_ns && !enforcing->force)
		rf_own_check_note(&transaction, enforcing->changed);
	if (!err)
		finish_enforcing(&transaction.rules, enforcing);
	if (!err && options->json)
		err = rf_out_record(enforcing_fields, enforcing, error);
	else if (!err)
		print_enforcing(enforcing);
	rf_transaction_end(&transaction);
	return err;
}

int rf_cmd_limit_enforce(const struct rf_options *options, struct rf_words *words,
			 struct rf_error *error)
{
	struct enforcing enforcing = {};
	struct rf_enforce_text text;
	struct rf_names names;
	int err = rf_parse_names(RF_CMD_LIMIT_ENFORCE, words, &names, error);

	if (!err)
		err = rf_parse_arguments(RF_CMD_LIMIT_ENFORCE, words, &text, error);
	if (!err) {
		enforcing.confirm_ns = text.confirm_ns;
		enforcing.force = text.force;
	}
	return err ? err : run(options, &names, &enforcing, error);
}

int rf_cmd_limit_shadow(const struct rf_options *options, struct rf_words *words,
			struct rf_error *error)
{
	struct enforcing enforcing = {.to_shadow = true};
	struct rf_names names;
	int err = rf_parse_names(RF_CMD_LIMIT_SHADOW, words, &names, error);

	if (!err)
		err = rf_words_end(words, error);
	return err ? err : run(options, &names, &enforcing, error);
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
		rf_bank_set_newcomers(&transaction.rules.bank, &newcomers);
		err = rf_transaction_commit(&transaction, NULL, error);
	}
	rf_transaction_end(&transaction);
	return err;
}
