// SPDX-License-Identifier: GPL-2.0
/*
 * batch: many commands, one change. First all that can be wrong is looked for: in the lines, then
 * against the rules of the fence. Only then rules and lists change, by one commit, and last the
 * bans end, which cannot be refused.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "cli/files.h"
#include "cli/limit_edit.h"
#include "cli/out.h"
#include "cli/transaction.h"
#include "rules/file.h"
#include "rules/policy.h"

/* ---- a batch: commands that change rules, lists and bans, as its lines have them ---- */

/* A command that changes limits or newcomers. */
struct rf_step {
	enum rf_command_id command;
	size_t line;
	bool is_wrong;			 /* it has a mistake, and is not made */
	bool force;			 /* also if it cuts off an own network */
	struct rf_words words;		 /* after the command; its own copy */
	struct rf_definition definition; /* of 'limit add' and 'limit set' */
	struct rf_change change;	 /* of 'limit change' */
	struct rf_names names;		 /* of the others; as they were typed */
	struct rf_newcomers_text newcomers;
	uint32_t hosts; /* of the fleet */
};

struct rf_batch {
	const char *path;
	struct rf_batch_text options;
	char *text; /* the words are in it */
	size_t commands;
	struct rf_step *step;
	size_t steps, steps_capacity;
	struct rf_list_changes lists;
	struct rf_left_out left_out;	  /* changes of lists that are refused */
	size_t skipped;			  /* invalid lines of files */
	size_t wrong_load[RF_LIST_COUNT]; /* the line of the first 'load' that failed; 0: none */
	struct rf_unban *unban;
	size_t *unban_line;
	size_t unbans, unbans_capacity;
	struct rf_mistakes mistakes;
};

/* ---- a batch ---- */

#define WORDS_MAX 1024 /* in a line; lists of ports may have blanks after their commas */
#define COMMANDS                                                                                  \
	"a batch, which may have 'limit' with 'add', 'set', 'change', 'arm', 'shadow' or 'del', " \
	"'allow' and 'deny' with 'add', 'del', 'load' or 'flush', 'newcomers', 'unban' and "      \
	"'fleet hosts'"

static void batch_free(struct rf_batch *batch)
{
	rf_list_changes_free(&batch->lists);
	for (size_t i = 0; i < batch->steps; i++) {
		rf_definition_free(&batch->step[i].definition);
		free((void *)batch->step[i].words.word);
	}
	free(batch->step);
	free(batch->unban);
	free(batch->unban_line);
	rf_mistakes_free(&batch->mistakes);
	free(batch->text);
}

static int fail_memory(struct rf_error *error)
{
	return rf_error_failed(error, -ENOMEM, "out of memory for the commands");
}

/* Notes a mistake of a line; an error only where there is no memory, even for that. */
static int batch_note(struct rf_batch *batch, size_t line, int err, const struct rf_error *reason,
		      struct rf_error *error)
{
	if (!err)
		return 0;
	if (err != -ENOMEM)
		return rf_mistakes_add(&batch->mistakes, line, reason->text, error);
	*error = *reason;
	return err;
}

static int check_path(const struct rf_batch *batch, const char *path, struct rf_error *error)
{
	if (strcmp(path, "-") == 0 && strcmp(batch->path, "-") == 0)
		return rf_error_failed(error, -EINVAL,
				       "'-': standard input has the commands; name a file");
	return 0;
}

/*
 * Adds the prefixes of a file that a line names. Where the file has mistakes, they become mistakes
 * of the line, and `is_wrong` is set.
 */
static int batch_prefixes(struct rf_batch *batch, size_t line, const char *path,
			  struct rf_prefixes *prefixes, bool *is_wrong, struct rf_error *error)
{
	struct rf_mistakes mistakes = {};
	int err;

	err = check_path(batch, path, error);
	if (!err)
		err = rf_file_prefixes(path, prefixes, &mistakes, error);
	if (!err)
		err = rf_mistakes_add_file(&batch->mistakes, line, rf_file_name(path), &mistakes,
					   error);
	*is_wrong |= mistakes.count > 0;
	if (!err && !mistakes.count)
		rf_rules_note_read(rf_file_name(path), prefixes->cleared, prefixes->mapped);
	rf_mistakes_free(&mistakes);
	return err;
}

/* ---- a batch: lists ---- */

static enum rf_list list_of(enum rf_command_id command)
{
	return command < RF_CMD_DENY_ADD ? RF_ALLOW : RF_DENY;
}

static int add_prefixes(struct rf_batch *batch, struct rf_list_change *change,
			const struct rf_prefixes *prefixes, struct rf_error *error)
{
	int err = 0;

	for (size_t i = 0; i < prefixes->count && !err; i++) {
		change->prefix = prefixes->prefix[i];
		err = rf_list_changes_add(&batch->lists, change, error);
	}
	return err;
}

/* The prefixes of a file, but for its invalid lines. */
static int skip_invalid(struct rf_batch *batch, const char *path, struct rf_prefixes *prefixes,
			struct rf_error *error)
{
	size_t skipped = 0;
	int err = check_path(batch, path, error);

	if (!err)
		err = rf_rules_prefixes(path, prefixes, &skipped, error);
	batch->skipped += skipped;
	return err;
}

static enum rf_on_own on_own_of(const struct rf_batch *batch, const struct rf_list_text *text)
{
	if (text->force)
		return RF_ON_OWN_FORCE;
	return batch->options.skip_refused ? RF_ON_OWN_SKIP : RF_ON_OWN_REFUSE;
}

static int read_load(struct rf_batch *batch, enum rf_command_id command, const char *path,
		     struct rf_list_change *change, struct rf_words *words, struct rf_error *error)
{
	struct rf_prefixes prefixes = {};
	struct rf_owner_set owners = {};
	struct rf_list_text text = {};
	bool is_wrong = false;
	int err = rf_parse_arguments(command, words, &text, error);

	if (!err)
		err = rf_list_text_check_line(&text, true, error);
	change->on_own = text.force ? RF_ON_OWN_FORCE : RF_ON_OWN_SKIP;
	if (!err)
		err = rf_list_changes_by(&batch->lists, text.by, RF_OWNER_LOAD, &change->owner,
					 error);
	if (!err)
		err = text.skip_invalid ? skip_invalid(batch, path, &prefixes, error)
					: batch_prefixes(batch, change->line, path, &prefixes,
							 &is_wrong, error);
	if (!err && !prefixes.count && !is_wrong)
		err = rf_error_failed(error, -EINVAL, "%s: the file has no prefix",
				      rf_file_name(path));
	if (!err && text.replace) {
		rf_owner_set_add(&owners, change->owner);
		err = rf_list_changes_release(&batch->lists, change->list, &owners, error);
		if (!err)
			rf_list_changes_mark_release(&batch->lists, on_own_of(batch, &text),
						     change->line);
	}
	if (!err)
		err = add_prefixes(batch, change, &prefixes, error);
	rf_prefixes_free(&prefixes);
	if ((err || is_wrong) && !batch->wrong_load[change->list])
		batch->wrong_load[change->list] = change->line;
	return err;
}

static int read_flush(struct rf_batch *batch, enum rf_command_id command, size_t line,
		      struct rf_words *words, struct rf_error *error)
{
	const enum rf_list list = list_of(command);
	struct rf_list_text text = {};
	int err = rf_parse_arguments(command, words, &text, error);

	if (!err)
		err = rf_list_changes_release_by(&batch->lists, list, text.by, error);
	if (!err)
		rf_list_changes_mark_release(&batch->lists, on_own_of(batch, &text), line);
	return err;
}

static int read_list(struct rf_batch *batch, enum rf_command_id command, size_t line,
		     struct rf_words *words, struct rf_error *error)
{
	const bool adds = command == RF_CMD_ALLOW_ADD || command == RF_CMD_DENY_ADD;
	const bool dels = command == RF_CMD_ALLOW_DEL || command == RF_CMD_DENY_DEL;
	struct rf_list_change change = {
		.list = list_of(command),
		.until = dels ? 0 : RF_FOREVER,
		.must_be_there = dels,
		.line = line,
	};
	struct rf_list_text text = {};
	const char *operand;
	int err;

	if (command == RF_CMD_ALLOW_FLUSH || command == RF_CMD_DENY_FLUSH)
		return read_flush(batch, command, line, words, error);
	operand = rf_take_operand(command, words, error);
	if (!operand)
		return -EINVAL;
	if (!adds && !dels)
		return read_load(batch, command, operand, &change, words, error);
	err = rf_parse_prefix(operand, &change.prefix, error);
	if (!err)
		err = rf_parse_arguments(command, words, &text, error);
	if (!err)
		err = rf_list_text_check_line(&text, true, error);
	if (!err)
		err = rf_list_changes_by(&batch->lists, text.by,
					 dels ? RF_OWNER_ONLY : RF_OWNER_MANUAL, &change.owner,
					 error);
	if (!err && adds)
		rf_rules_note_mapped(operand, &change.prefix);
	change.time_ns = text.time_ns;
	change.on_own = on_own_of(batch, &text);
	return err ? err : rf_list_changes_add(&batch->lists, &change, error);
}

/* ---- a batch: bans ---- */

static int grow_unbans(struct rf_batch *batch)
{
	const size_t capacity = batch->unbans_capacity ? 2 * batch->unbans_capacity : 16;
	struct rf_unban *unban = reallocarray(batch->unban, capacity, sizeof(*unban));
	size_t *line;

	if (!unban)
		return -ENOMEM;
	batch->unban = unban;
	line = reallocarray(batch->unban_line, capacity, sizeof(*line));
	if (!line)
		return -ENOMEM;
	batch->unban_line = line;
	batch->unbans_capacity = capacity;
	return 0;
}

static int read_unban(struct rf_batch *batch, enum rf_command_id command, size_t line,
		      struct rf_words *words, struct rf_error *error)
{
	struct rf_unban unban = {};
	int err = rf_parse_unban(words, &unban.prefix, &unban.all, error);

	(void)command;
	if (err)
		return err;
	if (batch->unbans == batch->unbans_capacity && grow_unbans(batch))
		return fail_memory(error);
	batch->unban[batch->unbans] = unban;
	batch->unban_line[batch->unbans++] = line;
	return 0;
}

/* ---- a batch: limits and newcomers ---- */

static int check_no_trial(uint64_t trial_ns, struct rf_error *error)
{
	if (!trial_ns)
		return 0;
	return rf_error_failed(error, -EINVAL,
			       "'confirm': it is not for a line of a file; write 'ringfence batch "
			       "FILE confirm TIME'");
}

static int read_definition(struct rf_batch *batch, struct rf_step *step, struct rf_words *words,
			   struct rf_error *error)
{
	struct rf_definition *definition = &step->definition;
	int err = rf_parse_limit(words, definition, error);

	if (!err)
		err = check_no_trial(definition->trial_ns, error);
	step->force = definition->force;
	if (!err)
		rf_rules_note_definition(definition);
	if (!err && definition->from_file)
		err = batch_prefixes(batch, step->line, definition->from_file, &definition->from,
				     &step->is_wrong, error);
	return err;
}

static int read_names(struct rf_batch *batch, struct rf_step *step, struct rf_words *words,
		      struct rf_error *error)
{
	struct rf_arm_text text = {};
	void *filled = step->command == RF_CMD_LIMIT_DEL ? (void *)&text.trial_ns : &text;
	int err = rf_parse_names(step->command, words, &step->names, error);

	(void)batch;

	if (!err && step->command == RF_CMD_LIMIT_DEL && step->names.count > 1)
		err = rf_error_usage(error, "'%s': unexpected word", step->names.name[1]);
	if (!err)
		err = rf_parse_arguments(step->command, words, filled, error);
	step->force = text.force;
	return err ? err : check_no_trial(text.trial_ns, error);
}

static int read_change(struct rf_batch *batch, struct rf_step *step, struct rf_words *words,
		       struct rf_error *error)
{
	int err = rf_parse_change(words, &step->change, error);

	(void)batch;
	step->force = step->change.parts >> RF_OPT_FORCE & 1;
	if (err || !(step->change.parts >> RF_OPT_TRIAL & 1))
		return err;
	return check_no_trial(1, error);
}

static int read_hosts(struct rf_batch *batch, struct rf_step *step, struct rf_words *words,
		      struct rf_error *error)
{
	int err = rf_parse_arguments(step->command, words, &step->hosts, error);

	(void)batch;
	if (!err && !step->hosts)
		err = rf_error_usage(error, "'fleet hosts': the number is missing");
	return err;
}

static int read_newcomers(struct rf_batch *batch, struct rf_step *step, struct rf_words *words,
			  struct rf_error *error)
{
	(void)batch;
	return rf_parse_newcomers(words, &step->newcomers, error);
}

/* sparse: the other commands of a batch change no limit. */
static int (*const step_readers[RF_CMD_COUNT])(struct rf_batch *batch, struct rf_step *step,
					       struct rf_words *words, struct rf_error *error) = {
	[RF_CMD_LIMIT_ADD] = read_definition, [RF_CMD_LIMIT_SET] = read_definition,
	[RF_CMD_LIMIT_CHANGE] = read_change,  [RF_CMD_LIMIT_ARM] = read_names,
	[RF_CMD_LIMIT_SHADOW] = read_names,   [RF_CMD_LIMIT_DEL] = read_names,
	[RF_CMD_NEWCOMERS] = read_newcomers,  [RF_CMD_FLEET_HOSTS] = read_hosts,
};

static struct rf_step *add_step(struct rf_batch *batch, const struct rf_words *words)
{
	const size_t count = words->count - words->at;
	const char **copy = calloc(count + 1, sizeof(*copy));

	if (copy && batch->steps == batch->steps_capacity) {
		const size_t capacity = batch->steps_capacity ? 2 * batch->steps_capacity : 8;
		struct rf_step *grown = reallocarray(batch->step, capacity, sizeof(*grown));

		if (!grown) {
			free(copy);
			return NULL;
		}
		batch->step = grown;
		batch->steps_capacity = capacity;
	}
	if (!copy)
		return NULL;
	memcpy(copy, words->word + words->at, count * sizeof(*copy));
	batch->step[batch->steps] = (struct rf_step){.words = {.word = copy, .count = count}};
	return &batch->step[batch->steps++];
}

static int read_step(struct rf_batch *batch, enum rf_command_id command, size_t line,
		     struct rf_words *words, struct rf_error *error)
{
	struct rf_step *step = add_step(batch, words);
	struct rf_words rest;
	int err;

	if (!step)
		return fail_memory(error);
	step->command = command;
	step->line = line;
	rest = step->words;
	err = step_readers[command](batch, step, &rest, error);
	step->is_wrong |= err != 0;
	return err;
}

/* ---- a batch: all of it ---- */

/* sparse: a batch has no other commands. */
static int (*const readers[RF_CMD_COUNT])(struct rf_batch *batch, enum rf_command_id command,
					  size_t line, struct rf_words *words,
					  struct rf_error *error) = {
	[RF_CMD_LIMIT_ADD] = read_step,	   [RF_CMD_LIMIT_SET] = read_step,
	[RF_CMD_LIMIT_CHANGE] = read_step, [RF_CMD_LIMIT_ARM] = read_step,
	[RF_CMD_LIMIT_SHADOW] = read_step, [RF_CMD_LIMIT_DEL] = read_step,
	[RF_CMD_NEWCOMERS] = read_step,	   [RF_CMD_FLEET_HOSTS] = read_step,
	[RF_CMD_ALLOW_ADD] = read_list,	   [RF_CMD_ALLOW_DEL] = read_list,
	[RF_CMD_ALLOW_LOAD] = read_list,   [RF_CMD_ALLOW_FLUSH] = read_list,
	[RF_CMD_DENY_ADD] = read_list,	   [RF_CMD_DENY_DEL] = read_list,
	[RF_CMD_DENY_LOAD] = read_list,	   [RF_CMD_DENY_FLUSH] = read_list,
	[RF_CMD_UNBAN] = read_unban,
};

static int read_line(struct rf_batch *batch, char *text, size_t line, struct rf_error *error)
{
	const char *array[WORDS_MAX];
	struct rf_words words;
	int command, err;

	/* Saved rules may be a batch. */
	err = rf_rulefile_check_format(rf_rulefile_format(text), error);
	if (!err)
		err = rf_split_line(text, array, WORDS_MAX, &words, error);
	if (err || !rf_words_peek(&words))
		return err;
	batch->commands++;
	command = rf_command_find(&words);
	if (command >= 0 && readers[command])
		return readers[command](batch, command, line, &words, error);
	return rf_refuse_command(&words, command, COMMANDS, error);
}

/* Mistakes are no error: `batch` has them. Free it, whether this succeeded or not. */
static int batch_read(struct rf_batch *batch, const char *path, struct rf_error *error)
{
	char *rest, *at;
	size_t line = 0;
	int err;

	batch->path = path;
	err = rf_file_read(path, &batch->text, error);
	rest = err ? NULL : batch->text;
	while (!err && (at = strsep(&rest, "\n"))) {
		struct rf_error reason = {};

		err = read_line(batch, at, ++line, &reason);
		err = batch_note(batch, line, err, &reason, error);
	}
	return err;
}

/* ---- limits and newcomers ---- */

/* The names of limits that a step has, wrong or not. */
static size_t names_of(const struct rf_step *step, const char *const **names)
{
	const bool has_many =
		step->command == RF_CMD_LIMIT_ARM || step->command == RF_CMD_LIMIT_SHADOW;
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
 * May the mistake of a step follow from one before? A limit that could not be added is not there;
 * one that could not be deleted takes up room, and is one of all.
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
		err = batch_prefixes(batch, step->line, definition->from_file, &definition->from,
				     &step->is_wrong, error);
	if (err || step->is_wrong)
		return err;
	return put_limit(transaction, definition, false, error);
}

static int make_step(struct rf_batch *batch, struct rf_transaction *transaction,
		     struct rf_step *step, struct rf_error *error)
{
	struct rf_newcomers *newcomers = &transaction->rules.bank.newcomers;
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
	case RF_CMD_LIMIT_ARM:
	case RF_CMD_LIMIT_SHADOW:
		return rf_limit_edit_arm(transaction, &step->names,
					 step->command == RF_CMD_LIMIT_SHADOW, &chosen, &changed,
					 error);
	case RF_CMD_FLEET_HOSTS:
		rf_bank_set_hosts(&transaction->rules.bank, step->hosts);
		return 0;
	default:
		newcomers->rate = step->newcomers.rate;
		newcomers->window_ns = step->newcomers.window_ns;
		newcomers->then = step->newcomers.then;
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
		err = batch_note(batch, step->line, err, &reason, error);
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
		err = batch_note(batch, line, err, &reason, error);
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
		return batch_note(batch, change->line, err, &reason, error);
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
		err = batch_note(batch, rf_lockout_line(lists, &found.found[i]), err, &reason,
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
		err = batch_note(batch, batch->unban_line[i], err, &reason, error);
	}
	return err;
}

/* Last: a ban may end by itself at any time, so by now none has to be there. */
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

/* ---- all of it ---- */

/* Must the rules be read? Else few changes can be made in the lists in force. */
static bool is_of_rules(const struct rf_batch *batch)
{
	return batch->steps || batch->options.trial_ns;
}

/* Makes all changes in the rules of the transaction, and notes every mistake. */
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
	const struct rf_trial trial = {.time_ns = batch->options.trial_ns};
	struct rf_error failed = {}, ignored;
	int err = rf_transaction_commit(transaction, trial.time_ns ? &trial : NULL, &failed);

	/* Most failures are limits that do not go together. */
	if (err)
		rf_ruleset_mistakes(&transaction->rules, find_last, batch, &batch->mistakes,
				    &ignored);
	if (err)
		*error = failed;
	return err;
}

/* Where a change is refused, the rules tell which, and with `skip-refused` the others are made. */
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
	/* Where there is no fence, what is wrong with the lines is said all the same. */
	if (batch->mistakes.count)
		return rf_rules_refuse(batch->path, &batch->mistakes, RF_RULES_UNCHANGED, error);
	if (!err && batch->steps && !batch->options.trial_ns)
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
	RF_FIELD("lifted", struct batch_done, lifted, "bans that ended; where it has 'unban'",
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
		.done = {batch->options.trial_ns, batch->steps ? rules : NULL,
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
	err = batch_read(&batch, path, error);
	if (!err)
		err = run(&batch, &transaction, options, error);
	if (!err)
		err = report(&batch, &transaction.rules, options->json, rf_time_awake() - start,
			     error);
	if (!err && (batch.skipped || batch.left_out.count))
		err = RF_EXIT_SKIPPED;
	rf_transaction_end(&transaction);
	batch_free(&batch);
	error->usage = false; /* the file's words were wrong, not the command's */
	return err;
}
