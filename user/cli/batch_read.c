// SPDX-License-Identifier: GPL-2.0
/* Reads the lines of a batch: everything that can be found wrong without a fence is found here. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/batch.h"

#define WORDS_MAX 1024 /* in a line; blanks are allowed after the commas of a port list */
#define COMMANDS                                                                                \
	"a batch, which can have 'limit' with 'add', 'set', 'change', 'enforce', 'shadow' or "  \
	"'del', 'allow' and 'deny' with 'add', 'del', 'load' or 'flush', 'newcomers', 'unban' " \
	"and 'fleet hosts'"

void rf_batch_free(struct rf_batch *batch)
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

int rf_batch_note(struct rf_batch *batch, size_t line, int err, const struct rf_error *reason,
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

int rf_batch_prefixes(struct rf_batch *batch, size_t line, const char *path,
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

/* ---- lists ---- */

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
					: rf_batch_prefixes(batch, change->line, path, &prefixes,
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

/* ---- bans ---- */

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

/* ---- limits and newcomers ---- */

static int check_no_confirm(uint64_t confirm_ns, struct rf_error *error)
{
	if (!confirm_ns)
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
		err = check_no_confirm(definition->confirm_ns, error);
	step->force = definition->force;
	if (!err)
		rf_rules_note_definition(definition);
	if (!err && definition->from_file)
		err = rf_batch_prefixes(batch, step->line, definition->from_file, &definition->from,
					&step->is_wrong, error);
	return err;
}

static int read_names(struct rf_batch *batch, struct rf_step *step, struct rf_words *words,
		      struct rf_error *error)
{
	struct rf_enforce_text text = {};
	void *filled = step->command == RF_CMD_LIMIT_DEL ? (void *)&text.confirm_ns : &text;
	int err = rf_parse_names(step->command, words, &step->names, error);

	(void)batch;

	if (!err && step->command == RF_CMD_LIMIT_DEL && step->names.count > 1)
		err = rf_error_usage(error, "'%s': unexpected word", step->names.name[1]);
	if (!err)
		err = rf_parse_arguments(step->command, words, filled, error);
	step->force = text.force;
	return err ? err : check_no_confirm(text.confirm_ns, error);
}

static int read_change(struct rf_batch *batch, struct rf_step *step, struct rf_words *words,
		       struct rf_error *error)
{
	int err = rf_parse_change(words, &step->change, error);

	(void)batch;
	step->force = step->change.parts >> RF_OPT_FORCE & 1;
	if (err || !(step->change.parts >> RF_OPT_CONFIRM & 1))
		return err;
	return check_no_confirm(1, error);
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
	[RF_CMD_LIMIT_CHANGE] = read_change,  [RF_CMD_LIMIT_ENFORCE] = read_names,
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

/* ---- lines ---- */

/* sparse: a batch accepts no other commands */
static int (*const readers[RF_CMD_COUNT])(struct rf_batch *batch, enum rf_command_id command,
					  size_t line, struct rf_words *words,
					  struct rf_error *error) = {
	[RF_CMD_LIMIT_ADD] = read_step,	   [RF_CMD_LIMIT_SET] = read_step,
	[RF_CMD_LIMIT_CHANGE] = read_step, [RF_CMD_LIMIT_ENFORCE] = read_step,
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

	/* Rejects saved rules given as a batch. */
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

int rf_batch_read(struct rf_batch *batch, const char *path, struct rf_error *error)
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
		err = rf_batch_note(batch, line, err, &reason, error);
	}
	return err;
}
