// SPDX-License-Identifier: GPL-2.0
/* batch: many commands, one change */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/time.h"
#include "cli/limit_edit.h"
#include "cli/out.h"
#include "cli/rules_file.h"
#include "rules/file.h"

#define WORDS_MAX 64 /* in a line */

/* A command that changes limits or newcomers. */
struct step {
	enum rf_command_id command;
	size_t line;
	struct rf_definition definition;
	char name[RF_NAME_SIZE]; /* of the limit that is deleted */
	struct rf_newcomers_text newcomers;
};

struct batch {
	const char *file; /* for messages */
	bool is_standard_input;
	size_t commands;
	struct rf_list_changes lists;
	struct step *step;
	size_t steps;
	size_t capacity;
};

static void free_batch(struct batch *batch)
{
	rf_list_changes_free(&batch->lists);
	for (size_t i = 0; i < batch->steps; i++)
		rf_definition_free(&batch->step[i].definition);
	free(batch->step);
}

/* ---- lists ---- */

static enum rf_list list_of(enum rf_command_id command)
{
	return command < RF_CMD_DENY_ADD ? RF_ALLOW : RF_DENY;
}

static bool is_of_lists(enum rf_command_id command)
{
	return command >= RF_CMD_ALLOW_ADD && command <= RF_CMD_DENY_FLUSH &&
	       command != RF_CMD_ALLOW_LIST && command != RF_CMD_DENY_LIST;
}

/* What the lines before did to the list no longer matters. */
static void empty_list(struct batch *batch, enum rf_list list)
{
	struct rf_list_changes *lists = &batch->lists;
	size_t kept = 0;

	for (size_t i = 0; i < lists->count; i++)
		if (lists->change[i].list != list)
			lists->change[kept++] = lists->change[i];
	lists->count = kept;
	lists->empty[list] = true;
}

static int read_load(struct batch *batch, const char *path, struct rf_list_change *change,
		     struct rf_words *words, struct rf_error *error)
{
	struct rf_prefixes prefixes = {};
	bool replace = false;
	int err = rf_parse_replace(words, &replace, error);

	if (!err && strcmp(path, "-") == 0 && batch->is_standard_input)
		err = rf_error_failed(error, -EINVAL,
				      "'-': standard input has the commands; name a file");
	if (!err)
		err = rf_words_end(words, error);
	if (!err)
		err = rf_rules_prefixes(path, &prefixes, error);
	if (!err && !prefixes.count)
		err = rf_error_failed(error, -EINVAL, "%s: the file has no prefix",
				      rf_file_name(path));
	if (!err && replace)
		empty_list(batch, change->list);
	for (size_t i = 0; i < prefixes.count && !err; i++) {
		change->prefix = prefixes.prefix[i];
		err = rf_list_changes_add(&batch->lists, change, error);
	}
	rf_prefixes_free(&prefixes);
	return err;
}

static int read_list(struct batch *batch, enum rf_command_id command, size_t line,
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
	const char *operand;
	int err;

	if (command == RF_CMD_ALLOW_FLUSH || command == RF_CMD_DENY_FLUSH) {
		err = rf_words_end(words, error);
		if (!err)
			empty_list(batch, change.list);
		return err;
	}
	operand = rf_take_operand(command, words, error);
	if (!operand)
		return -EINVAL;
	if (!adds && !dels)
		return read_load(batch, operand, &change, words, error);
	err = rf_parse_prefix(operand, &change.prefix, error);
	if (!err && adds)
		err = rf_parse_for(words, &change.time_ns, error);
	if (!err)
		err = rf_words_end(words, error);
	return err ? err : rf_list_changes_add(&batch->lists, &change, error);
}

/* ---- limits and newcomers ---- */

static int refuse_trial(struct rf_error *error)
{
	return rf_error_failed(error, -EINVAL,
			       "'confirm': it is not for a batch; use it with the command itself");
}

static int read_definition(struct step *step, struct rf_words *words, struct rf_error *error)
{
	int err = rf_parse_limit(words, &step->definition, error);

	if (!err && step->definition.trial_ns)
		err = refuse_trial(error);
	if (!err && step->definition.from_file)
		err = rf_rules_prefixes(step->definition.from_file, &step->definition.from, error);
	step->definition.from_file = NULL;
	return err;
}

static int read_del(struct step *step, struct rf_words *words, struct rf_error *error)
{
	const char *name = rf_take_operand(RF_CMD_LIMIT_DEL, words, error);
	uint64_t trial_ns = 0;
	int err = name ? rf_parse_confirm(words, &trial_ns, error) : -EINVAL;

	if (!err && trial_ns)
		err = refuse_trial(error);
	if (!err)
		err = rf_words_end(words, error);
	/* A longer name than a limit may have is not found, cut or whole. */
	for (size_t i = 0; !err && i < sizeof(step->name) - 1 && name[i]; i++)
		step->name[i] = name[i];
	return err;
}

static struct step *add_step(struct batch *batch)
{
	if (batch->steps == batch->capacity) {
		const size_t capacity = batch->capacity ? 2 * batch->capacity : 8;
		struct step *grown = reallocarray(batch->step, capacity, sizeof(*grown));

		if (!grown)
			return NULL;
		batch->step = grown;
		batch->capacity = capacity;
	}
	batch->step[batch->steps] = (struct step){};
	return &batch->step[batch->steps++];
}

static int read_step(struct batch *batch, enum rf_command_id command, size_t line,
		     struct rf_words *words, struct rf_error *error)
{
	struct step *step = add_step(batch);

	if (!step)
		return rf_error_failed(error, -ENOMEM, "out of memory for the commands");
	step->command = command;
	step->line = line;
	if (command == RF_CMD_LIMIT_DEL)
		return read_del(step, words, error);
	if (command == RF_CMD_NEWCOMERS)
		return rf_parse_newcomers(words, &step->newcomers, error);
	return read_definition(step, words, error);
}

static bool is_step(int command)
{
	return command == RF_CMD_LIMIT_ADD || command == RF_CMD_LIMIT_SET ||
	       command == RF_CMD_LIMIT_DEL || command == RF_CMD_NEWCOMERS;
}

/* ---- reading ---- */

static int read_line(struct batch *batch, char *text, size_t line, struct rf_error *error)
{
	const char *array[WORDS_MAX];
	struct rf_words words;
	int command, err = rf_split_line(text, array, WORDS_MAX, &words, error);

	if (err || !rf_words_peek(&words))
		return err;
	batch->commands++;
	command = rf_command_find(&words);
	if (command >= 0 && is_of_lists(command))
		return read_list(batch, command, line, &words, error);
	if (is_step(command))
		return read_step(batch, command, line, &words, error);
	return rf_refuse_command(&words, command,
				 "a batch, which may have 'allow' and 'deny' with 'add', 'del', "
				 "'load' or 'flush', 'limit add', 'limit set', 'limit del' and "
				 "'newcomers'",
				 error);
}

static int fail_line(const struct batch *batch, size_t line, int err, struct rf_error *error)
{
	const struct rf_error reason = *error;

	*error = (struct rf_error){};
	return rf_error_failed(error, err, "%s:%zu: %s; nothing was changed", batch->file, line,
			       reason.text);
}

static int read_batch(struct batch *batch, const char *path, struct rf_error *error)
{
	char *text, *rest, *at;
	size_t line = 0;
	int err = rf_file_read(path, &text, error);

	if (err)
		return err;
	rest = text;
	while (!err && (at = strsep(&rest, "\n"))) {
		err = read_line(batch, at, ++line, error);
		if (err)
			err = fail_line(batch, line, err, error);
	}
	free(text);
	return err;
}

/* ---- doing ---- */

static int make_step(struct rf_transaction *transaction, const struct step *step,
		     struct rf_error *error)
{
	struct rf_newcomers *newcomers = &transaction->rules.bank.newcomers;

	switch (step->command) {
	case RF_CMD_LIMIT_ADD:
		return rf_limit_edit_add(transaction, &step->definition, error);
	case RF_CMD_LIMIT_SET:
		return rf_limit_edit_set(transaction, &step->definition, error);
	case RF_CMD_LIMIT_DEL:
		return rf_limit_edit_del(transaction, step->name, error);
	default:
		newcomers->rate = step->newcomers.rate;
		newcomers->window_ns = step->newcomers.window_ns;
		newcomers->then = step->newcomers.then;
		return 0;
	}
}

/* One commit for limits and lists. */
static int commit_all(const struct batch *batch, struct rf_transaction *transaction,
		      struct rf_error *error)
{
	size_t missing;
	int err;

	rf_transaction_set_times(transaction, &batch->lists);
	err = rf_ruleset_change(&transaction->rules, &batch->lists, &missing, error);
	if (!err && missing < batch->lists.count)
		err = rf_list_fail_missing(&batch->lists, &batch->lists.change[missing], error);
	for (size_t i = 0; i < batch->steps && !err; i++) {
		err = make_step(transaction, &batch->step[i], error);
		if (err)
			err = fail_line(batch, batch->step[i].line, err, error);
	}
	return err ? err : rf_transaction_commit(transaction, NULL, error);
}

static int run_batch(const struct rf_options *options, const struct batch *batch,
		     struct rf_error *error)
{
	struct rf_transaction transaction = RF_TRANSACTION_NONE;
	struct rf_lists_outcome outcome;
	int err;

	if (batch->steps) {
		err = rf_transaction_begin(&transaction, options, error);
		if (!err)
			err = commit_all(batch, &transaction, error);
	} else {
		err = rf_transaction_open(&transaction, options, error);
		if (!err)
			err = rf_transaction_change_lists(&transaction, &batch->lists, &outcome,
							  error);
	}
	rf_transaction_end(&transaction);
	return err;
}

static int print_done(const struct rf_options *options, const struct batch *batch,
		      const struct timespec *start, struct rf_error *error)
{
	char took[RF_DURATION_TEXT_SIZE];
	struct timespec now;
	double seconds;

	clock_gettime(CLOCK_MONOTONIC, &now);
	seconds = (now.tv_sec - start->tv_sec) + (now.tv_nsec - start->tv_nsec) / 1e9;
	if (options->json)
		return rf_out_json(json_pack("{s:I, s:f}", "commands", (json_int_t)batch->commands,
					     "seconds", seconds),
				   false, error);
	rf_format_ms(seconds * 1000, took);
	rf_out("%s: %zu command%s done in %s\n", batch->file, batch->commands,
	       batch->commands == 1 ? "" : "s", took);
	return 0;
}

int rf_cmd_batch(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	const char *path = rf_take_operand(RF_CMD_BATCH, words, error);
	struct batch batch = {};
	struct timespec start;
	int err = path ? rf_words_end(words, error) : -EINVAL;

	if (err)
		return err;
	clock_gettime(CLOCK_MONOTONIC, &start);
	batch.file = batch.lists.file = rf_file_name(path);
	batch.is_standard_input = strcmp(path, "-") == 0;
	err = read_batch(&batch, path, error);
	if (!err)
		err = run_batch(options, &batch, error);
	if (!err)
		err = print_done(options, &batch, &start, error);
	free_batch(&batch);
	error->usage = false; /* the file's words were wrong, not the command's */
	return err;
}
