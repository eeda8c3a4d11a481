// SPDX-License-Identifier: GPL-2.0
/* allow, deny, bans, unban */
#include <errno.h>

#include "base/time.h"
#include "cli/files.h"
#include "cli/fleet_agent.h"
#include "cli/out.h"
#include "cli/transaction.h"
#include "cli/view.h"
#include "rules/file.h"
#include "snapshot/records.h"

/* The command of `list` that matches `of_allow`: both lists have their commands in one order. */
static enum rf_command_id command_of(enum rf_list list, enum rf_command_id of_allow)
{
	return list == RF_ALLOW ? of_allow : of_allow - RF_CMD_ALLOW_ADD + RF_CMD_DENY_ADD;
}

static int parse_prefix(struct rf_words *words, enum rf_command_id command,
			struct rf_prefix *prefix, struct rf_error *error)
{
	const char *text = rf_take_operand(command, words, error);
	const int err = text ? rf_parse_prefix(text, prefix, error) : -EINVAL;

	if (!err)
		rf_rules_note_mapped(text, prefix);
	return err;
}

/* The changes of a command, and their results. */
struct changing {
	struct rf_list_changes changes;
	struct rf_left_out left_out;
	bool in_fleet;	     /* the change is reported to the fleet */
	uint64_t confirm_ns; /* 0: for good */
	struct rf_lists_outcome outcome;
};

/*
 * Reports a change to the fleet, once this host has found that it can make the change. A prefix
 * that is not on the deny list of this host is no reason to leave its ban in the fleet.
 */
static int tell_fleet(struct rf_transaction *transaction, struct rf_list_changes *changes,
		      struct rf_error *error)
{
	struct rf_list_change *change = changes->change;
	struct rf_list_refused refused;
	int err = rf_transaction_check_lists(transaction, changes, &refused, error);

	if (err == -ENOENT && refused.why == RF_LIST_MISSING && !refused.owners) {
		change->must_be_there = false;
		err = 0;
	}
	return err ? err
		   : rf_fleet_ban_tell(transaction->fence.name, &change->prefix, change->time_ns,
				       error);
}

static int fail_after_fleet(int err, struct rf_error *error)
{
	const struct rf_error reason = *error;

	return rf_error_failed(error, err,
			       "the fleet has the change, but this host does not: %s; repeat the "
			       "command",
			       reason.text);
}

static int make_changes(struct rf_transaction *transaction, struct changing *changing,
			struct rf_error *error)
{
	bool told = false;
	int err;

	rf_transaction_set_times(transaction, &changing->changes);
	err = rf_own_check_lists(transaction, &changing->changes, &changing->left_out, error);
	if (!err && changing->in_fleet) {
		err = tell_fleet(transaction, &changing->changes, error);
		told = !err;
	}
	if (!err)
		err = rf_transaction_change_lists(transaction, &changing->changes,
						  changing->confirm_ns, &changing->outcome, error);
	return err && told ? fail_after_fleet(err, error) : err;
}

/* Changes lists, and frees the changes. */
static int change_lists(const struct rf_options *options, struct changing *changing,
			struct rf_error *error)
{
	struct rf_transaction transaction = RF_TRANSACTION_NONE;
	int err = changing->confirm_ns ? rf_transaction_begin(&transaction, options, error)
				       : rf_transaction_open(&transaction, options, error);

	if (!err)
		err = make_changes(&transaction, changing, error);
	rf_transaction_end(&transaction);
	rf_list_changes_free(&changing->changes);
	return err;
}

static enum rf_on_own on_own_of(const struct rf_list_text *text)
{
	return text->force ? RF_ON_OWN_FORCE : RF_ON_OWN_REFUSE;
}

/* Without a name in `text`, of the owner `by_default`. */
static int change_one(const struct rf_options *options, struct rf_list_change *change,
		      const struct rf_list_text *text, uint8_t by_default, struct rf_error *error)
{
	struct changing changing = {.in_fleet = text->in_fleet, .confirm_ns = text->confirm_ns};
	int err =
		rf_list_changes_by(&changing.changes, text->by, by_default, &change->owner, error);

	change->on_own = on_own_of(text);
	if (!err)
		err = rf_list_changes_add(&changing.changes, change, error);
	return err ? err : change_lists(options, &changing, error);
}

struct unconfirmed {
	const char *list;
	struct rf_done done;
};

static const struct rf_field unconfirmed_fields[] = {
	RF_FIELD("list", struct unconfirmed, list, "deny"),
	RF_FIELDS_OF(struct unconfirmed, done, rf_unconfirmed_fields),
	{},
};

RF_RECORD(deny_add, unconfirmed_fields);

static int print_unconfirmed(const struct rf_options *options, enum rf_list list,
			     uint64_t confirm_ns, struct rf_error *error)
{
	const struct unconfirmed unconfirmed = {rf_view_list_names[list],
						{.confirm_ns = confirm_ns}};

	if (confirm_ns && options->json)
		return rf_out_record(unconfirmed_fields, &unconfirmed, error);
	rf_done_print("", &unconfirmed.done);
	return 0;
}

static int add_prefix(const struct rf_options *options, struct rf_words *words, enum rf_list list,
		      struct rf_error *error)
{
	const enum rf_command_id command = command_of(list, RF_CMD_ALLOW_ADD);
	struct rf_list_change change = {.list = list, .until = RF_FOREVER};
	struct rf_list_text text = {};
	int err = parse_prefix(words, command, &change.prefix, error);

	if (!err)
		err = rf_parse_arguments(command, words, &text, error);
	change.time_ns = text.time_ns;
	if (!err && text.in_fleet)
		err = rf_check_fleet_ban(&change.prefix, change.time_ns, error);
	if (!err)
		err = change_one(options, &change, &text, RF_OWNER_MANUAL, error);
	return err ? err : print_unconfirmed(options, list, text.confirm_ns, error);
}

/* Does another host of the fleet deny the prefix? */
static bool is_of_fleet(const struct rf_options *options, const struct rf_prefix *prefix)
{
	struct rf_view view = RF_VIEW_NONE;
	const struct rf_listed *listed = NULL;
	struct rf_error ignored = {};
	bool found;

	if (!rf_view_open(&view, options->dev, RF_RULES_IN_FORCE, &ignored))
		listed = rf_ruleset_find(&view.rules.set, prefix);
	found = listed && rf_listed_until_by(listed, RF_DENY, RF_OWNER_FLEET);
	rf_view_close(&view);
	return found;
}

static int fail_missing(const struct rf_options *options, const struct rf_prefix *prefix, int err,
			struct rf_error *error)
{
	char text[RF_PREFIX_TEXT_SIZE];

	if (err != -ENOENT || !is_of_fleet(options, prefix))
		return err;
	rf_format_prefix(prefix, text);
	return rf_error_failed(
		error, err,
		"'%s': another host of the fleet denies it, not this one; 'ringfence allow add %s' "
		"lets it pass, 'ringfence fleet bans flush' lifts all bans of other hosts",
		text, text);
}

static int del_prefix(const struct rf_options *options, struct rf_words *words, enum rf_list list,
		      struct rf_error *error)
{
	const enum rf_command_id command = command_of(list, RF_CMD_ALLOW_DEL);
	struct rf_list_change change = {.list = list, .must_be_there = true};
	struct rf_list_text text = {};
	int err = parse_prefix(words, command, &change.prefix, error);

	if (!err)
		err = rf_parse_arguments(command, words, &text, error);
	if (err)
		return err;
	err = change_one(options, &change, &text, RF_OWNER_ONLY, error);
	return list == RF_DENY ? fail_missing(options, &change.prefix, err, error) : err;
}

static int flush_list(const struct rf_options *options, struct rf_words *words, enum rf_list list,
		      struct rf_error *error)
{
	struct changing changing = {};
	struct rf_list_text text = {};
	int err = rf_parse_arguments(command_of(list, RF_CMD_ALLOW_FLUSH), words, &text, error);

	if (!err)
		err = rf_list_changes_release_by(&changing.changes, list, text.by, error);
	if (err)
		return err;
	rf_list_changes_mark_release(&changing.changes, on_own_of(&text), 0);
	return change_lists(options, &changing, error);
}

/* ---- load ---- */

struct loaded {
	const char *list;
	size_t added;
	size_t skipped; /* lines */
	size_t refused; /* prefixes that cover own networks */
	size_t all;	/* on the list */
	uint64_t took_ns;
	struct rf_done done;
};

static const struct rf_field loaded_fields[] = {
	RF_FIELD("list", struct loaded, list, "allow or deny"),
	RF_FIELD("loaded", struct loaded, added, "prefixes in the file"),
	RF_FIELD("skipped", struct loaded, skipped, "invalid lines that were skipped"),
	RF_FIELD("refused", struct loaded, refused,
		 "prefixes that were skipped, since they cover own networks"),
	RF_FIELD("prefixes", struct loaded, all, "prefixes on the list now"),
	RF_FIELD_IN_SECONDS("seconds", struct loaded, took_ns, "that the command took"),
	RF_FIELDS_OF(struct loaded, done, rf_unconfirmed_fields),
	{},
};

RF_RECORD(load, loaded_fields);

static int print_loaded(const struct rf_options *options, const struct loaded *loaded,
			struct rf_error *error)
{
	if (options->json)
		return rf_out_record(loaded_fields, loaded, error);
	rf_out_text("%s: %zu prefixes loaded in %.1f s; %zu are on the list", loaded->list,
		    loaded->added, loaded->took_ns / 1e9, loaded->all);
	if (loaded->skipped)
		rf_out_text("; %zu invalid line%s skipped", loaded->skipped,
			    loaded->skipped == 1 ? " was" : "s were");
	rf_out_text("\n");
	rf_done_print("", &loaded->done);
	return 0;
}

/* Without this, a pipe whose writer has failed would empty the list. */
static int fail_no_prefix(const char *path, enum rf_list list, struct rf_error *error)
{
	return rf_error_failed(error, -EINVAL,
			       "%s: the file has no prefix; '%s flush' empties the list",
			       rf_file_name(path), rf_view_list_names[list]);
}

static int read_prefixes(const char *path, struct rf_list_change change, size_t *skipped,
			 struct rf_list_changes *changes, struct rf_error *error)
{
	struct rf_prefixes prefixes = {};
	int err = rf_rules_prefixes(path, &prefixes, skipped, error);

	if (!err && !prefixes.count)
		err = fail_no_prefix(path, change.list, error);
	for (size_t i = 0; i < prefixes.count && !err; i++) {
		change.prefix = prefixes.prefix[i];
		err = rf_list_changes_add(changes, &change, error);
	}
	rf_prefixes_free(&prefixes);
	if (err)
		rf_list_changes_free(changes);
	return err;
}

/* The request of `load`: the changes of the file's prefixes. */
static int read_load(const char *path, enum rf_list list, const struct rf_list_text *text,
		     struct loaded *loaded, struct changing *changing, struct rf_error *error)
{
	struct rf_list_changes *changes = &changing->changes;
	struct rf_list_change change = {
		.list = list,
		.until = RF_FOREVER,
		.on_own = text->force ? RF_ON_OWN_FORCE : RF_ON_OWN_SKIP,
	};
	int err = rf_list_changes_by(changes, text->by, RF_OWNER_LOAD, &change.owner, error);

	if (!err && text->replace)
		err = rf_list_changes_release_by(
			changes, list, rf_owner_name(&changes->owners, change.owner), error);
	if (!err && text->replace)
		rf_list_changes_mark_release(changes, on_own_of(text), 0);
	if (!err)
		err = read_prefixes(path, change, text->skip_invalid ? &loaded->skipped : NULL,
				    changes, error);
	changing->left_out.name = rf_file_name(path);
	changing->confirm_ns = loaded->done.confirm_ns = text->confirm_ns;
	return err;
}

static int load_prefixes(const struct rf_options *options, struct rf_words *words,
			 enum rf_list list, struct rf_error *error)
{
	const enum rf_command_id command = command_of(list, RF_CMD_ALLOW_LOAD);
	const char *path = rf_take_operand(command, words, error);
	struct changing changing = {};
	struct rf_list_text text;
	struct loaded loaded = {.list = rf_view_list_names[list]};
	const uint64_t began_ns = rf_time_awake();
	int err;

	if (!path)
		return -EINVAL;
	err = rf_parse_arguments(command, words, &text, error);
	if (!err)
		err = read_load(path, list, &text, &loaded, &changing, error);
	if (err)
		return err;
	loaded.added = changing.changes.count;
	err = change_lists(options, &changing, error);
	if (err)
		return err;
	loaded.refused = changing.left_out.count;
	loaded.added -= loaded.refused;
	loaded.all = changing.outcome.listed[list];
	loaded.took_ns = rf_time_awake() - began_ns;
	err = print_loaded(options, &loaded, error);
	return !err && (loaded.skipped || loaded.refused) ? RF_EXIT_SKIPPED : err;
}

/* ---- list ---- */

static const struct rf_field owner_fields[] = {
	RF_FIELD("by", struct rf_entry_owner, name,
		 "the name of the owner; \"fleet\": another host"),
	RF_FIELD_LEFT_OF("left_ms", struct rf_entry_owner, left_ns, "its time; null: permanent",
			 .or_null = true),
	{},
};

static const struct rf_field entry_fields[] = {
	RF_FIELD_OF_PREFIX("prefix", struct rf_list_entry, prefix, "as it was added"),
	RF_FIELD_LEFT_OF("left_ms", struct rf_list_entry, left_ns,
			 "left of its time; null: for good", .or_null = true),
	RF_FIELD_OBJECTS("owners", struct rf_list_entry, owner, owners, owner_fields,
			 "who has added it"),
	{},
};

struct printed_list {
	const char *list;
	json_t *prefixes;
};

static const struct rf_field list_fields[] = {
	RF_FIELD("list", struct printed_list, list, "allow or deny"),
	RF_FIELD_READ("prefixes", struct printed_list, prefixes, RF_FIELD_LIST, entry_fields,
		      "in the order of addresses"),
	{},
};

RF_RECORD(list, list_fields);

/* "192.0.2.1 for another 9m by fail2ban-sshd, by load" */
static void print_entry(const struct rf_list_entry *entry)
{
	char prefix[RF_PREFIX_TEXT_SIZE], left[RF_DURATION_TEXT_SIZE];

	rf_format_prefix(&entry->prefix, prefix);
	rf_out("%s", prefix);
	for (int i = 0; i < entry->owners; i++) {
		const struct rf_entry_owner *owner = &entry->owner[i];

		rf_out("%s", i ? "," : "");
		if (owner->left_ns != RF_FOREVER) {
			rf_format_left(owner->left_ns, left);
			rf_out(" for another %s", left);
		}
		if (entry->owners > 1 || owner->number != RF_OWNER_MANUAL)
			rf_out(" by %s", owner->name);
	}
	rf_out("\n");
}

/* A list can have a million entries: each is printed, or made JSON, and forgotten. */
static int print_entries(const struct rf_fence_rules *rules, enum rf_list list, bool json,
			 struct rf_error *error)
{
	struct printed_list printed = {.list = rf_view_list_names[list],
				       .prefixes = json ? json_array() : NULL};
	size_t count = 0;
	int err = 0;

	for (size_t i = 0; i < rules->set.listed_count; i++) {
		struct rf_list_entry entry;

		if (!rf_list_entry_of(rules, &rules->set.listed[i], list, &RF_OWNERS_ALL, &entry))
			continue;
		count++;
		if (json)
			json_array_append_new(printed.prefixes,
					      rf_record_json(entry_fields, &entry));
		else
			print_entry(&entry);
	}
	if (json)
		err = rf_out_record(list_fields, &printed, error);
	else if (!count)
		rf_out("the %s list is empty\n", printed.list);
	json_decref(printed.prefixes);
	return err;
}

static int print_list(const struct rf_options *options, struct rf_words *words, enum rf_list list,
		      struct rf_error *error)
{
	struct rf_view view = RF_VIEW_NONE;
	int err = rf_words_end(words, error);

	if (!err)
		err = rf_view_open(&view, options->dev, RF_RULES_IN_FORCE, error);
	if (!err)
		err = print_entries(&view.rules, list, options->json, error);
	rf_view_close(&view);
	return err;
}

/* ---- the commands ---- */

#define LIST_COMMANDS(name, list)                                                           \
	int rf_cmd_##name##_add(const struct rf_options *options, struct rf_words *words,   \
				struct rf_error *error)                                     \
	{                                                                                   \
		return add_prefix(options, words, list, error);                             \
	}                                                                                   \
	int rf_cmd_##name##_del(const struct rf_options *options, struct rf_words *words,   \
				struct rf_error *error)                                     \
	{                                                                                   \
		return del_prefix(options, words, list, error);                             \
	}                                                                                   \
	int rf_cmd_##name##_load(const struct rf_options *options, struct rf_words *words,  \
				 struct rf_error *error)                                    \
	{                                                                                   \
		return load_prefixes(options, words, list, error);                          \
	}                                                                                   \
	int rf_cmd_##name##_flush(const struct rf_options *options, struct rf_words *words, \
				  struct rf_error *error)                                   \
	{                                                                                   \
		return flush_list(options, words, list, error);                             \
	}                                                                                   \
	int rf_cmd_##name##_list(const struct rf_options *options, struct rf_words *words,  \
				 struct rf_error *error)                                    \
	{                                                                                   \
		return print_list(options, words, list, error);                             \
	}

LIST_COMMANDS(allow, RF_ALLOW)
LIST_COMMANDS(deny, RF_DENY)

/* ---- bans ---- */

static void fill_ban(const void *context, size_t i, struct rf_cells *cells)
{
	const struct rf_ban_row *row = &((const struct rf_bans *)context)->row[i];
	char lasted[RF_DURATION_TEXT_SIZE];

	rf_format_source(&row->source, row->limit, cells->text[0]);
	snprintf(cells->text[1], RF_CELL_SIZE, "%s", row->limit->name);
	rf_format_left(row->left_ns, cells->text[2]);
	rf_format_left(row->lasted_ns, lasted);
	snprintf(cells->text[3], RF_CELL_SIZE, "%s%s", lasted,
		 row->limit->flags & RF_BAN_ALL ? "  (all its packets)" : "");
}

static void print_bans(const struct rf_bans *bans)
{
	static const struct rf_column columns[] = {
		{"source", false, 0}, {"limit", false, 0}, {"left", false, 8}, {"since", false, 0}};
	const struct rf_table table = {columns, ARRAY_SIZE(columns), 2, bans->count, bans,
				       fill_ban};

	if (bans->count)
		rf_table_print(&table);
	else
		rf_out("no source is banned\n");
}

RF_RECORD(bans, rf_bans_fields);

int rf_cmd_bans(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_bans bans = {};
	int err;

	rf_words_take(words, "list");
	err = rf_words_end(words, error);
	if (!err)
		err = rf_fence_open(&fence, options->dev, error);
	if (!err)
		err = rf_fence_bans(&fence, &bans, error);
	if (!err && options->json)
		err = rf_out_json(rf_record_json(rf_bans_fields, &bans), false, error);
	else if (!err)
		print_bans(&bans);
	rf_bans_free(&bans);
	rf_fence_close(&fence);
	return err;
}

/* ---- unban ---- */

static const struct rf_field unban_fields[] = {
	RF_FIELD("lifted", struct rf_unban, bans, "bans that ended"),
	{},
};

RF_RECORD(unban, unban_fields);

static int print_lifted(const struct rf_options *options, const struct rf_unban *unban,
			struct rf_error *error)
{
	if (!unban->bans && !unban->all)
		return rf_fail_not_banned(unban, error);
	if (options->json)
		return rf_out_record(unban_fields, unban, error);
	rf_out("%d ban%s ended\n", unban->bans, unban->bans == 1 ? "" : "s");
	return 0;
}

int rf_cmd_unban(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_unban unban = {};
	int err = rf_parse_unban(words, &unban.prefix, &unban.all, error);

	if (!err)
		err = rf_fence_open_to_change(&fence, options->dev, error);
	if (!err)
		err = rf_fence_unban(&fence, &unban, 1, true, error);
	if (!err)
		err = print_lifted(options, &unban, error);
	rf_fence_close(&fence);
	return err;
}
