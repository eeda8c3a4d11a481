// SPDX-License-Identifier: GPL-2.0
/*
 * batch: many commands, one change. Everything is validated first: the lines, then the commands
 * against the rules of the fence. Only then are rules and lists changed, by one commit. Bans are
 * lifted last, because that cannot be rejected.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "cli/batch.h"
#include "cli/out.h"

/* ---- limits and newcomers ---- */

/* The names of limits that a step has, wrong or not. */
static size_t names_of(const struct rf_step *step, const char *const **names)
{
	const bool has_many =
		step->command == RF_CMD_LIMIT_ENFORCE || step->command == RF_CMD_LIMIT_SHADOW;
	const size_t count = step->words.count;

	*names = step->words.word;
	if (step->command == RF_CMD_NEWCOMERS)
		return 0;
	return has_many || !count ? count : 1;
}

static bool share_name(const struct rf_step *one, const struct rf_step *other)
{
	const char *const *left, *const *right;
	const size_t lefts = names_of(one, &left), rights = names_of(other, &right);

	for (size_t i = 0; i < lefts; i++)
		for (size_t j = 0; j < rights; j++)
			if (strcmp(left[i], right[j]) == 0)
				return true;
	return false;
}

/*
 * Can the error of a step be caused by an earlier one? A limit that could not be added does not
 * exist; one that could not be deleted occupies a slot and counts towards the maximum.
 */
static bool may_follow(const struct rf_batch *batch, const struct rf_step *step, int err)
{
	const char *const *names;
	const bool all = names_of(step, &names) == 1 && rf_name_is_all(names[0]);

	for (const struct rf_step *before = batch->step; before < step; before++)
		if (before->is_wrong && (err == -ENOSPC || all || share_name(before, step)))
			return true;
	return false;
}

static int put_limit(struct rf_transaction *transaction, const struct rf_definition *definition,
		     bool is_new, struct rf_error *error)
{
	const int slot = rf_limit_edit_slot(transaction, definition->limit.name, is_new, error);

	return slot < 0 ? slot : rf_limit_edit_put(transaction, slot, definition, error);
}

static int make_change(struct rf_batch *batch, struct rf_transaction *transaction,
		       struct rf_step *step, struct rf_error *error)
{
	struct rf_definition *definition = &step->definition;
	int err = rf_limit_edit_read(&transaction->rules, &step->change, definition, error);

	if (!err)
		rf_rules_note_definition(definition);
	if (!err && definition->from_file)
		err = rf_batch_prefixes(batch, step->line, definition->from_file, &definition->from,
					&step->is_wrong, error);
	if (err || step->is_wrong)
		return err;
	return put_limit(transaction, definition, false, error);
}

static int make_step(struct rf_batch *batch, struct rf_transaction *transaction,
		     struct rf_step *step, struct rf_error *error)
{
	uint32_t chosen, changed;

	switch (step->command) {
	case RF_CMD_LIMIT_ADD:
		return put_limit(transaction, &step->definition, true, error);
	case RF_CMD_LIMIT_SET:
		return put_limit(transaction, &step->definition, false, error);
	case RF_CMD_LIMIT_CHANGE:
		return make_change(batch, transaction, step, error);
	case RF_CMD_LIMIT_DEL:
		return rf_limit_edit_del(transaction, step->names.name[0], error);
	case RF_CMD_LIMIT_ENFORCE:
	case RF_CMD_LIMIT_SHADOW:
		return rf_limit_edit_enforce(transaction, &step->names,
					     step->command == RF_CMD_LIMIT_SHADOW, &chosen,
					     &changed, error);
	case RF_CMD_FLEET_HOSTS:
		rf_bank_set_hosts(&transaction->rules.bank, step->hosts);
		return 0;
	default:
		rf_bank_set_newcomers(&transaction->rules.bank, &step->newcomers);
		return 0;
	}
}

static int make_steps(struct rf_batch *batch, struct rf_transaction *transaction,
		      struct rf_error *error)
{
	int err = 0;

	for (size_t i = 0; i < batch->steps && !err; i++) {
		struct rf_step *step = &batch->step[i];
		struct rf_error reason = {};

		if (step->is_wrong)
			continue;
		err = make_step(batch, transaction, step, &reason);
		step->is_wrong |= err != 0;
		if (err && err != -ENOMEM && may_follow(batch, step, err))
			err = 0;
		err = rf_batch_note(batch, step->line, err, &reason, error);
	}
	return err;
}

/* The limits that a step names and that are there. */
static uint32_t slots_of_step(const struct rf_step *step, const struct rf_bank *bank)
{
	const char *const *names;
	const size_t count = names_of(step, &names);
	uint32_t slots = 0;

	if (count && rf_name_is_all(names[0]))
		return RF_ALL_SLOTS;
	for (size_t i = 0; i < count; i++) {
		const int slot = rf_bank_find(bank, names[i]);

		slots |= slot < 0 ? 0 : 1U << slot;
	}
	return slots;
}

/* The same of all steps. */
static uint32_t slots_of(const struct rf_batch *batch, const struct rf_bank *bank)
{
	uint32_t slots = 0;

	for (size_t i = 0; i < batch->steps; i++)
		slots |= slots_of_step(&batch->step[i], bank);
	return slots;
}

/* The limit in `slots` that the last step has put there. */
static int find_last(const void *context, const struct rf_bank *bank, uint32_t slots, size_t *line)
{
	const struct rf_batch *batch = context;

	for (size_t i = batch->steps; i-- > 0;) {
		const char *const *names;
		const size_t count = names_of(&batch->step[i], &names);

		for (size_t j = 0; j < count; j++) {
			const int slot = rf_bank_find(bank, names[j]);

			if (slot < 0 || !(slots >> slot & 1))
				continue;
			*line = batch->step[i].line;
			return slot;
		}
	}
	return -1;
}

/* The limits of steps without `force`, as they are named after all steps. */
static uint32_t unforced_slots(const struct rf_batch *batch, const struct rf_bank *bank)
{
	uint32_t unforced = 0;

	for (size_t i = 0; i < batch->steps; i++)
		if (!batch->step[i].force)
			unforced |= slots_of_step(&batch->step[i], bank);
	return unforced;
}

/* Notes limits that would lock the host out. */
static int check_own_limits(struct rf_batch *batch, struct rf_transaction *transaction,
			    uint32_t before, struct rf_error *error)
{
	uint32_t left = rf_own_check_limits(
		transaction, unforced_slots(batch, &transaction->rules.bank) & ~before);
	int err = 0;

	for (; left && !err; left &= left - 1) {
		const uint32_t bit = left & -left;
		struct rf_error reason = {};
		size_t line = 0;

		find_last(batch, &transaction->rules.bank, bit, &line);
		err = rf_own_check_new_limits(transaction, bit, 0, &reason);
		err = rf_batch_note(batch, line, err, &reason, error);
	}
	return err;
}

static bool has_wrong_step(const struct rf_batch *batch)
{
	for (size_t i = 0; i < batch->steps; i++)
		if (batch->step[i].is_wrong)
			return true;
	return false;
}

/* ---- lists and bans ---- */

/* Notes a change of a list that is refused, or leaves it out. */
static int refuse_change(struct rf_batch *batch, size_t i, struct rf_error *error)
{
	struct rf_list_change *change = &batch->lists.change[i];
	const size_t wrong = batch->wrong_load[change->list];
	struct rf_error reason = {};
	int err;

	/* A file that could not be loaded might have had it. */
	if (wrong && wrong < change->line)
		return 0;
	err = rf_list_fail(change, &batch->lists.refused[i], &batch->lists.owners, &reason);
	if (!batch->options.skip_refused)
		return rf_batch_note(batch, change->line, err, &reason, error);
	rf_left_out_add(&batch->left_out, change->line, &reason);
	change->is_left_out = true;
	return 0;
}

static int refuse_changes(struct rf_batch *batch, struct rf_error *error)
{
	int err = 0;

	for (size_t i = 0; i < batch->lists.count && !err; i++)
		if (batch->lists.refused[i].why)
			err = refuse_change(batch, i, error);
	rf_list_changes_leave_out(&batch->lists);
	return err;
}

static int edit_lists(struct rf_batch *batch, struct rf_transaction *transaction,
		      struct rf_error *error)
{
	struct rf_list_changes *lists = &batch->lists;
	struct rf_list_refused first;
	size_t change;
	int err = rf_fence_join_changes(&transaction->fence, lists, error);

	if (err)
		return err;
	transaction->rules.owners = transaction->fence.config->owners;
	lists->refused = calloc(lists->count + 1, sizeof(*lists->refused));
	if (!lists->refused)
		return rf_error_failed(error, -ENOMEM, "out of memory for the prefixes");
	err = rf_ruleset_change(&transaction->rules, lists, &change, &first, error);
	if (!err)
		err = refuse_changes(batch, error);
	free(lists->refused);
	lists->refused = NULL;
	return err;
}

/* Notes the changes of lists that would lock the host out, or leaves them out. */
static int check_own(struct rf_batch *batch, struct rf_transaction *transaction,
		     struct rf_error *error)
{
	struct rf_list_changes *lists = &batch->lists;
	struct rf_lockout_lists found = {};
	int err = rf_own_check_find(transaction, lists, &found, error);

	for (size_t i = 0; i < found.count && !err; i++) {
		struct rf_error reason = {};

		if (rf_lockout_action(lists, &found.found[i]) != RF_ON_OWN_REFUSE)
			continue;
		err = rf_lockout_fail(lists, &found.found[i], &reason);
		err = rf_batch_note(batch, rf_lockout_line(lists, &found.found[i]), err, &reason,
				    error);
	}
	if (!err)
		rf_own_check_leave_out(lists, &found, &batch->left_out);
	rf_lockout_free(&found);
	return err;
}

static int check_unbans(struct rf_batch *batch, const struct rf_transaction *transaction,
			struct rf_error *error)
{
	int err = batch->unbans ? rf_fence_unban(&transaction->fence, batch->unban, batch->unbans,
						 false, error)
				: 0;

	for (size_t i = 0; i < batch->unbans && !err; i++) {
		const struct rf_unban *unban = &batch->unban[i];
		struct rf_error reason = {};

		if (unban->all || unban->bans)
			continue;
		err = rf_fail_not_banned(unban, &reason);
		err = rf_batch_note(batch, batch->unban_line[i], err, &reason, error);
	}
	return err;
}

/* Runs last. A ban can expire at any time: a missing one is no error. */
static int end_bans(struct rf_batch *batch, const struct rf_transaction *transaction,
		    struct rf_error *error)
{
	struct rf_error reason;

	if (!batch->unbans ||
	    !rf_fence_unban(&transaction->fence, batch->unban, batch->unbans, true, &reason))
		return 0;
	return rf_error_failed(error, -ENOMEM, "no ban was ended: %s; everything else was changed",
			       reason.text);
}

/* ---- the whole batch ---- */

/* Do the rules have to be read? If not, few changes can be made in the active lists. */
static bool is_of_rules(const struct rf_batch *batch)
{
	return batch->steps || batch->options.confirm_ns;
}

/* Makes all changes in the rules of the transaction, and records every error. */
static int edit_rules(struct rf_batch *batch, struct rf_transaction *transaction,
		      struct rf_error *error)
{
	int err = is_of_rules(batch) ? 0 : rf_transaction_read(transaction, error);
	uint32_t before = 0;

	if (!err && batch->steps)
		before = rf_own_check_limits(transaction, RF_ALL_SLOTS);
	if (!err)
		err = edit_lists(batch, transaction, error);
	if (!err)
		err = make_steps(batch, transaction, error);
	if (!err && batch->steps && !has_wrong_step(batch))
		err = check_own_limits(batch, transaction, before, error);
	if (err || !batch->mistakes.count || !batch->steps || has_wrong_step(batch))
		return err;
	return rf_ruleset_mistakes(&transaction->rules, find_last, batch, &batch->mistakes, error);
}

static int commit_rules(struct rf_batch *batch, struct rf_transaction *transaction,
			struct rf_error *error)
{
	const struct rf_confirm confirm = {.time_ns = batch->options.confirm_ns};
	struct rf_error failed = {}, ignored;
	int err = rf_transaction_commit(transaction, confirm.time_ns ? &confirm : NULL, &failed);

	/* Most failures are limits that do not go together. */
	if (err)
		rf_ruleset_mistakes(&transaction->rules, find_last, batch, &batch->mistakes,
				    &ignored);
	if (err)
		*error = failed;
	return err;
}

/*
 * If a change is rejected, the rules show which one, and with `skip-refused` the others are made.
 */
static int commit_lists(struct rf_batch *batch, struct rf_transaction *transaction,
			struct rf_error *error)
{
	struct rf_lists_outcome outcome;
	int err = rf_transaction_change_lists(transaction, &batch->lists, 0, &outcome, error);
	struct rf_error ignored;

	if (err != -ENOENT && err != -EEXIST && err != -ENOSPC)
		return err;
	if (edit_rules(batch, transaction, &ignored) || !batch->options.skip_refused)
		return err;
	return rf_transaction_change_lists(transaction, &batch->lists, 0, &outcome, error);
}

static int open_fence(struct rf_batch *batch, struct rf_transaction *transaction,
		      const struct rf_options *options, struct rf_error *error)
{
	int err = is_of_rules(batch) ? rf_transaction_begin(transaction, options, error)
				     : rf_transaction_open(transaction, options, error);

	if (!err)
		rf_transaction_set_times(transaction, &batch->lists);
	return err;
}

static int run(struct rf_batch *batch, struct rf_transaction *transaction,
	       const struct rf_options *options, struct rf_error *error)
{
	int err = open_fence(batch, transaction, options, error);

	if (!err)
		err = check_own(batch, transaction, error);
	if (!err)
		err = check_unbans(batch, transaction, error);
	if (!err && (is_of_rules(batch) || batch->mistakes.count))
		err = edit_rules(batch, transaction, error);
	if (!err && !batch->mistakes.count)
		err = is_of_rules(batch) ? commit_rules(batch, transaction, error)
					 : commit_lists(batch, transaction, error);
	rf_left_out_end(&batch->left_out);
	/* Errors in the lines are reported even without a fence. */
	if (batch->mistakes.count)
		return rf_rules_refuse(batch->path, &batch->mistakes, RF_RULES_UNCHANGED, error);
	if (!err && batch->steps && !batch->options.confirm_ns)
		rf_own_check_note(transaction, unforced_slots(batch, &transaction->rules.bank));
	return err ? err : end_bans(batch, transaction, error);
}

static int count_bans(const struct rf_batch *batch)
{
	int bans = 0;

	for (size_t i = 0; i < batch->unbans; i++)
		bans += batch->unban[i].bans;
	return bans;
}

/* A file of commands that were all done. */
struct batch_done {
	size_t commands, skipped, refused;
	uint64_t took_ns;
	int lifted;
	bool has_unbans;
	struct rf_done done;
};

static bool has_unbans(const void *of)
{
	return ((const struct batch_done *)of)->has_unbans;
}

static const struct rf_field batch_fields[] = {
	RF_FIELD("commands", struct batch_done, commands, "in the file"),
	RF_FIELD("skipped", struct batch_done, skipped, "invalid lines of files that were skipped"),
	RF_FIELD("refused", struct batch_done, refused, "changes of lists that were skipped"),
	RF_FIELD_IN_SECONDS("seconds", struct batch_done, took_ns, "that the command took"),
	RF_FIELD("lifted", struct batch_done, lifted, "lifted bans; if the batch has 'unban'",
		 .has = has_unbans),
	RF_FIELDS_OF(struct batch_done, done, rf_done_fields),
	{},
};

RF_RECORD(batch, batch_fields);

static void print_done(const char *path, const struct batch_done *batch)
{
	char took[RF_DURATION_TEXT_SIZE];

	rf_format_ms(batch->took_ns / RF_NS_PER_MS, took);
	rf_out("%s: %zu command%s done in %s\n", rf_file_name(path), batch->commands,
	       batch->commands == 1 ? "" : "s", took);
	if (batch->skipped)
		rf_out("%zu invalid line%s skipped\n", batch->skipped,
		       batch->skipped == 1 ? " was" : "s were");
	if (batch->refused)
		rf_out("%zu refused change%s skipped\n", batch->refused,
		       batch->refused == 1 ? " was" : "s were");
	if (batch->has_unbans)
		rf_out("%d ban%s ended\n", batch->lifted, batch->lifted == 1 ? "" : "s");
	rf_done_print("", &batch->done);
}

static int report(const struct rf_batch *batch, const struct rf_ruleset *rules, bool json,
		  uint64_t took_ns, struct rf_error *error)
{
	const struct batch_done done = {
		.commands = batch->commands,
		.skipped = batch->skipped,
		.refused = batch->left_out.count,
		.took_ns = took_ns,
		.lifted = count_bans(batch),
		.has_unbans = batch->unbans,
		.done = {batch->options.confirm_ns, batch->steps ? rules : NULL,
			 slots_of(batch, &rules->bank)},
	};

	if (json)
		return rf_out_record(batch_fields, &done, error);
	print_done(batch->path, &done);
	return 0;
}

int rf_cmd_batch(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	const char *path = rf_take_operand(RF_CMD_BATCH, words, error);
	struct rf_transaction transaction = RF_TRANSACTION_NONE;
	struct rf_batch batch = {};
	const uint64_t start = rf_time_awake();
	int err = path ? rf_parse_arguments(RF_CMD_BATCH, words, &batch.options, error) : -EINVAL;

	if (err)
		return err;
	batch.left_out.name = rf_file_name(path);
	err = rf_batch_read(&batch, path, error);
	if (!err)
		err = run(&batch, &transaction, options, error);
	if (!err)
		err = report(&batch, &transaction.rules, options->json, rf_time_awake() - start,
			     error);
	if (!err && (batch.skipped || batch.left_out.count))
		err = RF_EXIT_SKIPPED;
	rf_transaction_end(&transaction);
	rf_batch_free(&batch);
	error->usage = false; /* the file's words were wrong, not the command's */
	return err;
}
