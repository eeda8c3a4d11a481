// SPDX-License-Identifier: GPL-2.0
/* save, apply, confirm, revert, check */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/time.h"
#include "cli/files.h"
#include "cli/out.h"
#include "cli/transaction.h"
#include "cli/view.h"
#include "rules/file.h"
#include "rules/policy.h"

/* The number of rules in a file or in the kernel. */
struct counts {
	int limits;
	size_t allowed, denied, both; /* prefixes; `both`: on both lists */
	const char *newcomers;
	struct rf_done done;
};

static const struct rf_field counts_fields[] = {
	RF_FIELD("limits", struct counts, limits, "number of limits"),
	RF_FIELD("allow", struct counts, allowed, "prefixes on the allow list"),
	RF_FIELD("deny", struct counts, denied, "prefixes on the deny list"),
	RF_FIELD("newcomers", struct counts, newcomers, "off, pass, drop, aggregate or challenge"),
	{},
};

static const struct rf_field applied_fields[] = {
	RF_FIELDS_ALSO(counts_fields),
	RF_FIELDS_OF(struct counts, done, rf_done_fields),
	{},
};

RF_RECORD(apply, applied_fields);

static const struct rf_field check_fields[] = {
	RF_FIELDS_ALSO(counts_fields),
	RF_FIELD("on_both_lists", struct counts, both, "prefixes that both lists have"),
	RF_FIELDS_OF(struct counts, done, rf_warnings_fields),
	{},
};

RF_RECORD(check, check_fields);

static size_t count_both(const struct rf_ruleset *rules)
{
	size_t count = 0;

	for (size_t i = 0; i < rules->listed_count; i++)
		count += rf_listed_until(&rules->listed[i], RF_ALLOW) &&
			 rf_listed_until(&rules->listed[i], RF_DENY);
	return count;
}

static struct counts count_rules(const struct rf_ruleset *rules, uint64_t confirm_ns)
{
	return (struct counts){
		.limits = rf_bank_count(&rules->bank),
		.allowed = rf_ruleset_count_listed(rules, RF_ALLOW, &RF_OWNERS_LOCAL),
		.denied = rf_ruleset_count_listed(rules, RF_DENY, &RF_OWNERS_LOCAL),
		.both = count_both(rules),
		.newcomers = rf_newcomers_then_name(rules->bank.newcomers.then),
		.done = {confirm_ns, rules, RF_ALL_SLOTS},
	};
}

static void print_counts(const struct counts *counts)
{
	rf_out_text("%d limit%s, %zu allowed and %zu denied prefixes, newcomers %s", counts->limits,
		    counts->limits == 1 ? "" : "s", counts->allowed, counts->denied,
		    counts->newcomers);
}

/* ---- check ---- */

static int print_fine(const char *path, const struct rf_ruleset *rules, bool json,
		      struct rf_error *error)
{
	const struct counts counts = count_rules(rules, 0);

	if (json)
		return rf_out_record(check_fields, &counts, error);
	rf_out_text("%s: fine: ", rf_file_name(path));
	print_counts(&counts);
	rf_out_text("\n");
	if (counts.both)
		rf_out_text("%zu prefix%s on both lists; while %s, 'allow' wins\n", counts.both,
			    counts.both == 1 ? " is" : "es are",
			    counts.both == 1 ? "it is" : "they are");
	rf_done_print("", &counts.done);
	return 0;
}

static int check_rules(const char *path, bool json, struct rf_error *error)
{
	const struct rf_bank nothing = {};
	struct rf_rulefile_place place = RF_RULEFILE_NOWHERE(&nothing);
	struct rf_ruleset rules = RF_RULESET_NONE;
	struct rf_rulefile file = {};
	int err = rf_rules_read(path, &file, error);

	if (!err)
		err = rf_rules_check(path, &file, RF_RULES_REFUSED, error);
	if (!err)
		err = rf_rulefile_rules(&file, &place, &rules, error);
	if (!err)
		err = print_fine(path, &rules, json, error);
	rf_ruleset_free(&rules);
	rf_rulefile_free(&file);
	return err;
}

int rf_cmd_check(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	const char *path = rf_take_operand(RF_CMD_CHECK, words, error);
	int err = path ? rf_words_end(words, error) : -EINVAL;

	if (err)
		return err;
	err = check_rules(path, options->json, error);
	error->usage = false; /* the file's words were wrong, not the command's */
	return err;
}

/* ---- apply ---- */

static int print_applied(const struct rf_ruleset *rules, uint64_t confirm_ns, bool json,
			 struct rf_error *error)
{
	const struct counts counts = count_rules(rules, confirm_ns);

	if (json)
		return rf_out_record(applied_fields, &counts, error);
	rf_out_text("applied: ");
	print_counts(&counts);
	if (!confirm_ns)
		rf_out_text("\n");
	rf_done_print("; ", &counts.done);
	return 0;
}

/*
 * A file of many prefixes is compiled only once, by the commit. If that fails, the file is checked
 * for all its errors; a failure with a different cause retains its message.
 */
static int commit_file(struct rf_transaction *transaction, const char *path,
		       struct rf_rulefile *file, const struct rf_confirm *confirm,
		       struct rf_error *error)
{
	struct rf_error failed = {};
	int err = rf_transaction_commit(transaction, confirm, &failed);
	int checked = err ? rf_rules_check(path, file, RF_RULES_UNCHANGED, error) : 0;

	if (err && !checked)
		*error = failed;
	return checked ? checked : err;
}

static int apply_file(struct rf_transaction *transaction, const char *path,
		      struct rf_rulefile *file, const struct rf_confirm *confirm,
		      struct rf_error *error)
{
	struct rf_rulefile_place place = {
		.present = &transaction->present,
		.other = &transaction->before,
		.unconfirmed = confirm != NULL,
		.now = transaction->now,
		.tick_ns = rf_fence_tick_ns(&transaction->fence),
		.next_id = transaction->next_id,
	};
	struct rf_ruleset before = transaction->rules;
	int err;

	transaction->rules = RF_RULESET_NONE;
	err = rf_rulefile_rules(file, &place, &transaction->rules, error);
	if (!err)
		err = rf_ruleset_keep_fleet(&transaction->rules, &before, error);
	rf_ruleset_free(&before);
	transaction->next_id = place.next_id;
	return err ? err : commit_file(transaction, path, file, confirm, error);
}

static int apply_rules(const struct rf_options *options, const char *path, uint64_t confirm_ns,
		       struct rf_error *error)
{
	const struct rf_confirm confirm = {.time_ns = confirm_ns};
	struct rf_transaction transaction = RF_TRANSACTION_NONE;
	struct rf_rulefile file = {};
	int err = rf_rules_read(path, &file, error);

	if (!err && file.mistakes.count)
		err = rf_rules_check(path, &file, RF_RULES_UNCHANGED, error);
	if (!err)
		err = rf_transaction_begin(&transaction, options, error);
	if (!err)
		err = apply_file(&transaction, path, &file, confirm_ns ? &confirm : NULL, error);
	if (!err && !confirm_ns)
		rf_own_check_note_rules(&transaction);
	if (!err)
		err = print_applied(&transaction.rules, confirm_ns, options->json, error);
	rf_rulefile_free(&file);
	rf_transaction_end(&transaction);
	return err;
}

int rf_cmd_apply(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	const char *path = rf_take_operand(RF_CMD_APPLY, words, error);
	uint64_t confirm_ns = 0;
	int err = path ? rf_parse_arguments(RF_CMD_APPLY, words, &confirm_ns, error) : -EINVAL;

	if (err)
		return err;
	err = apply_rules(options, path, confirm_ns, error);
	error->usage = false; /* the file's words were wrong, not the command's */
	return err;
}

/* ---- confirm ---- */

struct confirmed {
	bool done, was_late;
};

static const struct rf_field confirmed_fields[] = {
	RF_FIELD("confirmed", struct confirmed, done, "true"),
	RF_FIELD("was_late", struct confirmed, was_late,
		 "of an attach: all had passed for a while"),
	{},
};

RF_RECORD(confirm, confirmed_fields);

int rf_cmd_confirm(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_standing before = {};
	struct confirmed confirmed = {.done = true};
	int err = rf_words_end(words, error);

	if (!err)
		err = rf_fence_open_to_change(&fence, options->dev, error);
	if (!err)
		err = rf_fence_confirm(&fence, &before, error);
	rf_fence_close(&fence);
	if (err)
		return err;
	confirmed.was_late = before.state == RF_EXPIRED;
	if (options->json)
		return rf_out_record(confirmed_fields, &confirmed, error);
	rf_out_text(confirmed.was_late ? "confirmed late: until now everything passed; from now on "
					 "the rules are active\n"
				       : "confirmed: the rules remain active\n");
	return 0;
}

static const struct rf_field reverted_fields[] = {
	{.key = "reverted", .kind = RF_FIELD_BOOL, .meaning = "true"},
	{},
};

RF_RECORD(revert, reverted_fields);

int rf_cmd_revert(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	int err = rf_words_end(words, error);

	if (!err)
		err = rf_fence_open_to_change(&fence, options->dev, error);
	if (!err)
		err = rf_fence_revert(&fence, error);
	rf_fence_close(&fence);
	if (err)
		return err;
	if (options->json)
		return rf_out_record(reverted_fields, &(bool){true}, error);
	rf_out_text("reverted: the previous rules are active\n");
	return 0;
}

/* ---- save ---- */

static int save_limits(const struct rf_ruleset *rules)
{
	int slots[RF_LIMITS_MAX];
	const int count = rf_bank_slots(&rules->bank, slots);

	for (int i = 0; i < count; i++) {
		char *text = rf_ruleset_format_limit(rules, slots[i]);

		if (!text)
			return -ENOMEM;
		rf_out("%s\n", text);
		free(text);
	}
	return 0;
}

/* A line for each owner; the bans of the fleet are not this host's. */
static void save_entry(const struct rf_list_entry *entry, const struct rf_owners *owners,
		       const char *command)
{
	char prefix[RF_PREFIX_TEXT_SIZE], time[RF_DURATION_TEXT_SIZE], by[RF_BY_TEXT_SIZE];

	rf_format_prefix(&entry->prefix, prefix);
	for (int i = 0; i < entry->owners; i++) {
		const struct rf_entry_owner *owner = &entry->owner[i];

		rf_format_by(owners, owner->number, by);
		rf_format_for(owner->left_ns, time);
		if (owner->left_ns == RF_FOREVER)
			rf_out("%s %s%s\n", command, prefix, by);
		else
			rf_out("%s %s for %s%s\n", command, prefix, time, by);
	}
}

static void save_list(const struct rf_fence_rules *rules, enum rf_list list)
{
	const char *command = list == RF_ALLOW ? "allow add" : "deny add";

	for (size_t i = 0; i < rules->set.listed_count; i++) {
		struct rf_list_entry entry;

		if (rf_list_entry_of(rules, &rules->set.listed[i], list, &RF_OWNERS_LOCAL, &entry))
			save_entry(&entry, &rules->set.owners, command);
	}
}

/* Names the rules that are printed, if different rules are active or pending, or none. */
static const char *confirm_text(const struct rf_standing *standing, bool confirmed)
{
	const bool returns = standing->fallback == RF_FALL_BACK;

	if (standing->state == RF_PENDING && confirmed)
		return returns ? "unconfirmed for another %s: these are the previous rules, which "
				 "return without 'confirm'"
			       : "the fence is unconfirmed for another %s: without 'confirm' "
				 "everything passes then, so there are no rules";
	if (standing->state == RF_PENDING)
		return returns ? "unconfirmed for another %s: these are the new rules, not those "
				 "that return without 'confirm'"
			       : "the fence is unconfirmed for another %s: without 'confirm' "
				 "everything passes then";
	if (standing->state == RF_REVERTED)
		return "the new rules were not confirmed: these are the old rules, which returned "
		       "%s ago";
	return confirmed
		       ? "the attach was not confirmed: everything has passed for %s, so there are "
			 "no rules"
		       : "the attach was not confirmed: everything has passed for %s, and these "
			 "rules are not active";
}

static void save_confirm_state(const struct rf_standing *standing, bool confirmed)
{
	char time[RF_DURATION_TEXT_SIZE], text[160];

	if (standing->state == RF_CONFIRMED)
		return;
	rf_format_left(standing->confirm_ns, time);
	snprintf(text, sizeof(text), confirm_text(standing, confirmed), time);
	rf_out("# %s\n", text);
}

static int save_rules(const struct rf_view *view, bool confirmed, struct rf_error *error)
{
	const struct rf_ruleset *set = &view->rules.set;
	char newcomers[RF_NEWCOMERS_TEXT_SIZE];
	time_t wall = time(NULL);
	char date[32];
	int err;

	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", localtime(&wall));
	rf_out(RF_RULEFILE_SAVED "%s' on %s; 'ringfence apply FILE' activates them\n",
	       view->fence.name, date);
	save_confirm_state(&view->rules.standing, confirmed);
	if (set->bank.hosts)
		rf_out("fleet hosts %" PRIu32 "\n", set->bank.hosts);
	err = save_limits(set);
	if (err)
		return rf_error_failed(error, err, "cannot print the rules: %s", strerror(-err));
	save_list(&view->rules, RF_ALLOW);
	save_list(&view->rules, RF_DENY);
	rf_format_newcomers(&set->bank.newcomers, newcomers);
	rf_out("%s\n", newcomers); /* last: its presence shows that the output is complete */
	return 0;
}

int rf_cmd_save(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_view view = RF_VIEW_NONE;
	bool confirmed = false;
	int err = rf_parse_arguments(RF_CMD_SAVE, words, &confirmed, error);

	if (!err)
		err = rf_view_open(&view, options->dev,
				   confirmed ? RF_RULES_CONFIRMED : RF_RULES_IN_FORCE, error);
	if (!err)
		err = save_rules(&view, confirmed, error);
	rf_view_close(&view);
	return err;
}
