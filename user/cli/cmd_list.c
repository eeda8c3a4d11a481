// SPDX-License-Identifier: GPL-2.0
/* allow, deny: add, del, list, load */
#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "base/time.h"
#include "cli/fleet_ban.h"
#include "cli/out.h"
#include "cli/rules_file.h"
#include "cli/transaction.h"
#include "cli/view.h"
#include "rules/file.h"

static const char *const list_names[RF_LIST_COUNT] = {
	[RF_ALLOW] = "allow",
	[RF_DENY] = "deny",
};

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

/* Changes lists, and frees the changes. `text`: with `fleet`, they are one change. */
static int change_lists(const struct rf_options *options, struct rf_list_changes *changes,
			const struct rf_list_text *text, struct rf_lists_outcome *outcome,
			struct rf_error *error)
{
	struct rf_transaction transaction = RF_TRANSACTION_NONE;
	int err = rf_transaction_open(&transaction, options, error);
	bool told = false;

	if (!err && text->in_fleet) {
		err = tell_fleet(&transaction, changes, error);
		told = !err;
	}
	if (!err)
		err = rf_transaction_change_lists(&transaction, changes, outcome, error);
	if (err && told)
		err = fail_after_fleet(err, error);
	rf_transaction_end(&transaction);
	rf_list_changes_free(changes);
	return err;
}

/* Without a name in `text`, of the owner `by_default`. */
static int change_one(const struct rf_options *options, struct rf_list_change *change,
		      const struct rf_list_text *text, uint8_t by_default, struct rf_error *error)
{
	struct rf_list_changes changes = {};
	struct rf_lists_outcome outcome;
	int err = rf_list_changes_by(&changes, text->by, by_default, &change->owner, error);

	if (!err)
		err = rf_list_changes_add(&changes, change, error);
	return err ? err : change_lists(options, &changes, text, &outcome, error);
}

static int add_prefix(const struct rf_options *options, struct rf_words *words, enum rf_list list,
		      struct rf_error *error)
{
	const enum rf_command_id command = command_of(list, RF_CMD_ALLOW_ADD);
	struct rf_list_change change = {.list = list, .until = RF_FOREVER};
	struct rf_list_text text = {};
	int err = parse_prefix(words, command, &change.prefix, error);

	if (!err)
		err = list == RF_ALLOW ? rf_parse_allow(words, &text, error)
				       : rf_parse_deny(words, &text, error);
	if (!err)
		err = rf_words_end(words, error);
	change.time_ns = text.time_ns;
	if (!err && text.in_fleet)
		err = rf_check_fleet_ban(&change.prefix, change.time_ns, error);
	return err ? err : change_one(options, &change, &text, RF_OWNER_MANUAL, error);
}

/* Does another host of the fleet deny the prefix? */
static bool is_of_fleet(const struct rf_options *options, const struct rf_prefix *prefix)
{
	struct rf_ruleset rules = RF_RULESET_NONE;
	struct rf_fence fence = RF_FENCE_NONE;
	const struct rf_listed *listed = NULL;
	struct rf_error ignored = {};
	bool found;

	if (!rf_fence_open(&fence, options->dev, &ignored) &&
	    !rf_fence_ruleset(&fence, &rules, &ignored))
		listed = rf_ruleset_find(&rules, prefix);
	found = listed && rf_listed_until_by(listed, RF_DENY, RF_OWNER_FLEET);
	rf_ruleset_free(&rules);
	rf_fence_close(&fence);
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
		"'%s': another host of the fleet denies it, not this one; "
		"'ringfence allow add %s' lets it pass, 'ringfence fleet bans flush' "
		"ends all bans of others",
		text, text);
}

static int del_prefix(const struct rf_options *options, struct rf_words *words, enum rf_list list,
		      struct rf_error *error)
{
	struct rf_list_change change = {.list = list, .must_be_there = true};
	struct rf_list_text text = {};
	int err = parse_prefix(words, command_of(list, RF_CMD_ALLOW_DEL), &change.prefix, error);

	if (!err)
		err = list == RF_ALLOW ? rf_parse_unallow(words, &text, error)
				       : rf_parse_undeny(words, &text, error);
	if (!err)
		err = rf_words_end(words, error);
	if (err)
		return err;
	err = change_one(options, &change, &text, RF_OWNER_ONLY, error);
	return list == RF_DENY ? fail_missing(options, &change.prefix, err, error) : err;
}

static int flush_list(const struct rf_options *options, struct rf_words *words, enum rf_list list,
		      struct rf_error *error)
{
	struct rf_list_changes changes = {};
	struct rf_lists_outcome outcome;
	struct rf_list_text text = {};
	int err = rf_parse_flush(words, &text, error);

	if (!err)
		err = rf_words_end(words, error);
	if (!err)
		err = rf_list_changes_release_by(&changes, list, text.by, error);
	return err ? err : change_lists(options, &changes, &text, &outcome, error);
}

/* ---- load ---- */

static double seconds_since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - then->tv_sec) + (now.tv_nsec - then->tv_nsec) / 1e9;
}

struct loaded {
	size_t added;
	size_t skipped; /* lines */
	size_t all;	/* on the list */
	size_t unknown; /* of these, by the owner of older entries; counted with 'replace' */
	double seconds;
};

static int print_loaded(const struct rf_options *options, enum rf_list list,
			const struct loaded *loaded, struct rf_error *error)
{
	if (options->json)
		return rf_out_json(json_pack("{s:s, s:I, s:I, s:I, s:I, s:f}", "list",
					     list_names[list], "loaded", (json_int_t)loaded->added,
					     "skipped", (json_int_t)loaded->skipped, "prefixes",
					     (json_int_t)loaded->all, "unknown",
					     (json_int_t)loaded->unknown, "seconds",
					     loaded->seconds),
				   false, error);
	rf_out_text("%s: %zu prefixes loaded in %.1f s; %zu are on the list", list_names[list],
		    loaded->added, loaded->seconds, loaded->all);
	if (loaded->skipped)
		rf_out_text("; %zu invalid line%s skipped", loaded->skipped,
			    loaded->skipped == 1 ? " was" : "s were");
	rf_out_text("\n");
	rf_view_print_unknown(list, loaded->unknown);
	return 0;
}

/* A list that an older version loaded stays beside the one that replaces it. */
static size_t count_unknown(const struct rf_options *options, enum rf_list list)
{
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_error ignored = {};
	size_t count = 0;

	if (!rf_fence_open(&fence, options->dev, &ignored))
		count = rf_view_count_unknown(&fence, list);
	rf_fence_close(&fence);
	return count;
}

/* Without this, a pipe whose writer has failed would empty the list. */
static int fail_no_prefix(const char *path, enum rf_list list, struct rf_error *error)
{
	return rf_error_failed(error, -EINVAL,
			       "%s: the file has no prefix; '%s flush' empties the list",
			       rf_file_name(path), list_names[list]);
}

static int read_prefixes(const char *path, enum rf_list list, uint8_t owner, size_t *skipped,
			 struct rf_list_changes *changes, struct rf_error *error)
{
	struct rf_list_change change = {.list = list, .owner = owner, .until = RF_FOREVER};
	struct rf_prefixes prefixes = {};
	int err = rf_rules_prefixes(path, &prefixes, skipped, error);

	if (!err && !prefixes.count)
		err = fail_no_prefix(path, list, error);
	for (size_t i = 0; i < prefixes.count && !err; i++) {
		change.prefix = prefixes.prefix[i];
		err = rf_list_changes_add(changes, &change, error);
	}
	rf_prefixes_free(&prefixes);
	if (err)
		rf_list_changes_free(changes);
	return err;
}

static int load_prefixes(const struct rf_options *options, struct rf_words *words,
			 enum rf_list list, struct rf_error *error)
{
	const char *path = rf_take_operand(command_of(list, RF_CMD_ALLOW_LOAD), words, error);
	struct rf_list_changes changes = {};
	struct rf_lists_outcome outcome;
	struct rf_list_text text;
	struct loaded loaded = {};
	struct timespec start;
	uint8_t owner;
	int err;

	clock_gettime(CLOCK_MONOTONIC, &start);
	if (!path)
		return -EINVAL;
	err = rf_parse_load(words, &text, error);
	if (!err)
		err = rf_words_end(words, error);
	if (!err)
		err = rf_list_changes_by(&changes, text.by, RF_OWNER_LOAD, &owner, error);
	if (!err && text.replace)
		err = rf_list_changes_release_by(&changes, list,
						 rf_owner_name(&changes.owners, owner), error);
	if (!err)
		err = read_prefixes(path, list, owner, text.skip_invalid ? &loaded.skipped : NULL,
				    &changes, error);
	if (err)
		return err;
	loaded.added = changes.count;
	err = change_lists(options, &changes, &text, &outcome, error);
	if (err)
		return err;
	loaded.all = outcome.listed[list];
	loaded.unknown = text.replace ? count_unknown(options, list) : 0;
	loaded.seconds = seconds_since(&start);
	err = print_loaded(options, list, &loaded, error);
	return !err && loaded.skipped ? RF_EXIT_SKIPPED : err;
}

/* ---- list ---- */

static json_t *left_json(const struct rf_fence *fence, uint64_t now, uint64_t until)
{
	return until == RF_FOREVER
		       ? json_null()
		       : json_integer(rf_fence_left_ns(fence, now, until) / RF_NS_PER_MS);
}

static json_t *entry_json(const struct rf_fence *fence, const struct rf_ruleset *rules,
			  const struct rf_listed *listed, enum rf_list list, uint64_t now)
{
	uint8_t owner[RF_LIST_CLAIMS];
	const int owners = rf_listed_owners(listed, list, &RF_OWNERS_ALL, owner);
	char prefix[RF_PREFIX_TEXT_SIZE];
	json_t *by = json_array();

	for (int i = 0; i < owners; i++)
		json_array_append_new(
			by, json_pack("{s:s, s:o}", "by", rf_owner_name(&rules->owners, owner[i]),
				      "left_ms",
				      left_json(fence, now,
						rf_listed_until_by(listed, list, owner[i]))));
	rf_format_prefix(&listed->prefix, prefix);
	return json_pack("{s:s, s:o, s:o}", "prefix", prefix, "left_ms",
			 left_json(fence, now, rf_listed_until(listed, list)), "owners", by);
}

#define LIST_SCHEMA 2 /* `owners` took the place of `of_fleet` */

static int print_json(const struct rf_fence *fence, const struct rf_ruleset *rules,
		      enum rf_list list, uint64_t now, struct rf_error *error)
{
	json_t *prefixes = json_array();

	for (size_t i = 0; i < rules->listed_count; i++)
		if (rf_listed_until(&rules->listed[i], list))
			json_array_append_new(
				prefixes, entry_json(fence, rules, &rules->listed[i], list, now));
	return rf_out_json(json_pack("{s:i, s:s, s:o}", "schema", LIST_SCHEMA, "list",
				     list_names[list], "prefixes", prefixes),
			   false, error);
}

/* "192.0.2.1 for another 9m by fail2ban-sshd, by load" */
static void print_entry(const struct rf_fence *fence, const struct rf_ruleset *rules,
			const struct rf_listed *listed, enum rf_list list, uint64_t now)
{
	uint8_t owner[RF_LIST_CLAIMS];
	const int owners = rf_listed_owners(listed, list, &RF_OWNERS_ALL, owner);
	char prefix[RF_PREFIX_TEXT_SIZE], left[RF_DURATION_TEXT_SIZE];

	rf_format_prefix(&listed->prefix, prefix);
	rf_out("%s", prefix);
	for (int i = 0; i < owners; i++) {
		const uint64_t until = rf_listed_until_by(listed, list, owner[i]);

		rf_out("%s", i ? "," : "");
		if (until != RF_FOREVER) {
			rf_format_left(rf_fence_left_ns(fence, now, until), left);
			rf_out(" for another %s", left);
		}
		if (owners > 1 || owner[i] != RF_OWNER_MANUAL)
			rf_out(" by %s", rf_owner_name(&rules->owners, owner[i]));
	}
	rf_out("\n");
}

static void print_text(const struct rf_fence *fence, const struct rf_ruleset *rules,
		       enum rf_list list, uint64_t now)
{
	size_t printed = 0;

	for (size_t i = 0; i < rules->listed_count; i++) {
		if (!rf_listed_until(&rules->listed[i], list))
			continue;
		print_entry(fence, rules, &rules->listed[i], list, now);
		printed++;
	}
	if (!printed)
		rf_out("the %s list is empty\n", list_names[list]);
}

static int print_list(const struct rf_options *options, struct rf_words *words, enum rf_list list,
		      struct rf_error *error)
{
	struct rf_ruleset rules = RF_RULESET_NONE;
	struct rf_fence fence = RF_FENCE_NONE;
	uint64_t now = 0;
	int err = rf_words_end(words, error);

	if (!err)
		err = rf_fence_open(&fence, options->dev, error);
	if (!err)
		err = rf_fence_ruleset(&fence, &rules, error);
	if (!err && rules.listed_count)
		now = rf_fence_jiffies(&fence);
	rf_ruleset_expire(&rules, now);
	if (!err && options->json)
		err = print_json(&fence, &rules, list, now, error);
	else if (!err)
		print_text(&fence, &rules, list, now);
	rf_ruleset_free(&rules);
	rf_fence_close(&fence);
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
