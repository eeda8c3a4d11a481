// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "rules/grammar_option.h"
#include "rules/policy.h"
#include "rules/rulefile.h"
#include "rules/ruleset.h"

#define WORDS_MAX 1024 /* in a line; lists of ports can have blanks after their commas */

/* A rule file that is being parsed. */
struct parser {
	struct rf_rulefile *file;
	rf_prefixes_reader read;
	size_t line;
};

static int fail_memory(struct rf_error *error)
{
	return rf_error_failed(error, -ENOMEM, "out of memory for the rules");
}

static int add_mistake(struct parser *parser, const char *text, struct rf_error *error)
{
	return rf_mistakes_add(&parser->file->mistakes, parser->line, text, error);
}

/*
 * Records an error of a line, after which parsing continues with the next line; any other error is
 * returned.
 */
static int note_mistake(struct parser *parser, int err, const struct rf_error *reason,
			struct rf_error *error)
{
	if (!err)
		return 0;
	if (err != -ENOMEM)
		return add_mistake(parser, reason->text, error);
	*error = *reason;
	return err;
}

/*
 * Reads a file that a line names, as far as its lines are valid. Refuses standard input, which can
 * be the rule file itself.
 */
static int read_file(struct parser *parser, const char *path, struct rf_prefixes *prefixes,
		     struct rf_error *error)
{
	struct rf_mistakes mistakes = {};
	int err;

	if (strcmp(path, "-") == 0)
		return rf_error_failed(error, -EINVAL,
				       "'-': a rule file cannot read from standard input; name a "
				       "file");
	err = parser->read(path, prefixes, &mistakes, error);
	if (!err)
		err = rf_mistakes_add_file(&parser->file->mistakes, parser->line, path, &mistakes,
					   error);
	rf_mistakes_free(&mistakes);
	return err;
}

static void count_read(struct rf_rulefile *file, const struct rf_prefixes *prefixes)
{
	file->cleared += prefixes->cleared;
	file->mapped += prefixes->mapped;
}

/* ---- lines ---- */

static int check_name(const struct rf_rulefile *file, const char *name, struct rf_error *error)
{
	for (int i = 0; i < file->limits; i++)
		if (strcmp(file->limit[i].limit.name, name) == 0)
			return rf_error_failed(error, -EEXIST,
					       "limit '%s': given twice, first in line %zu", name,
					       file->limit_line[i]);
	return 0;
}

/* Adopts `limit` on success. Reports the first limit above the maximum, and no later one. */
static int keep_limit(struct parser *parser, struct rf_definition *limit, struct rf_error *error)
{
	struct rf_rulefile *file = parser->file;
	int err = check_name(file, limit->limit.name, error);

	if (err)
		return err;
	if (file->limits == RF_LIMITS_MAX && !file->has_too_many) {
		file->has_too_many = true;
		return rf_error_failed(error, -ENOSPC, "there are more than %d limits",
				       RF_LIMITS_MAX);
	}
	if (file->limits == RF_LIMITS_MAX)
		return 0;
	file->limit_line[file->limits] = parser->line;
	file->limit[file->limits++] = *limit;
	*limit = (struct rf_definition){};
	return 0;
}

static int parse_limit(struct parser *parser, struct rf_words *words, enum rf_command_id command,
		       struct rf_error *error)
{
	const size_t mistakes = parser->file->mistakes.count;
	struct rf_definition limit = {};
	int err = rf_parse_limit(words, &limit, error);

	(void)command; /* the only one of limits */
	if (!err && limit.confirm_ns)
		err = rf_error_usage(error,
				     "'confirm': it is not for a rule file; write 'ringfence "
				     "apply FILE confirm TIME'");
	if (!err && limit.force)
		err = rf_error_usage(error, "'force': 'apply' does not check for own networks; "
					    "leave it out here");
	if (!err && limit.from_file)
		err = read_file(parser, limit.from_file, &limit.from, error);
	limit.from_file = NULL; /* that word does not outlive the text */
	if (!err && mistakes == parser->file->mistakes.count)
		err = rf_definition_check_from(&limit, error);
	count_read(parser->file, &limit.from);
	count_read(parser->file, &limit.to);
	if (!err)
		err = keep_limit(parser, &limit, error);
	rf_definition_free(&limit);
	return err;
}

static int add_entry(struct rf_rulefile *file, const struct rf_rulefile_entry *entry,
		     struct rf_error *error)
{
	if (file->entries == file->capacity) {
		size_t capacity = file->capacity ? file->capacity * 2 : 1024;
		struct rf_rulefile_entry *grown =
			reallocarray(file->entry, capacity, sizeof(*grown));

		if (!grown)
			return fail_memory(error);
		file->entry = grown;
		file->capacity = capacity;
	}
	file->entry[file->entries] = *entry;
	file->entry[file->entries].order = file->entries;
	file->entries++;
	return 0;
}

static enum rf_list list_of(enum rf_command_id command)
{
	return command == RF_CMD_ALLOW_ADD || command == RF_CMD_ALLOW_LOAD ? RF_ALLOW : RF_DENY;
}

static int take_owner(struct rf_rulefile *file, const struct rf_list_text *text,
		      enum rf_owner by_default, uint8_t *owner, struct rf_error *error)
{
	const int number =
		*text->by ? rf_owner_add(&file->owners, text->by, error) : (int)by_default;

	if (number < 0)
		return number;
	*owner = number;
	return 0;
}

static int parse_add(struct parser *parser, struct rf_words *words, enum rf_command_id command,
		     struct rf_error *error)
{
	const char *operand = rf_take_operand(command, words, error);
	struct rf_rulefile_entry entry = {.list = list_of(command)};
	struct rf_list_text text;
	int err;

	if (!operand)
		return -EINVAL;
	err = rf_parse_prefix(operand, &entry.prefix, error);
	if (!err)
		parser->file->mapped += rf_prefix_was_mapped(operand, &entry.prefix);
	if (!err)
		err = rf_parse_arguments(command, words, &text, error);
	if (!err)
		err = rf_list_text_check_line(&text, false, error);
	if (!err)
		err = take_owner(parser->file, &text, RF_OWNER_MANUAL, &entry.owner, error);
	entry.time_ns = err ? 0 : text.time_ns;
	return err ? err : add_entry(parser->file, &entry, error);
}

/* A rules file as a whole replaces all rules, and is refused where any line is wrong. */
static int parse_load_words(struct rf_words *words, enum rf_command_id command,
			    struct rf_list_text *text, struct rf_error *error)
{
	int err = rf_parse_arguments(command, words, text, error);

	if (!err && (text->replace || text->skip_invalid))
		err = rf_error_usage(error,
				     "'%s': it is not for a rule file; use it with the "
				     "command itself",
				     text->replace ? "replace" : "skip-invalid");
	return err ? err : rf_list_text_check_line(text, false, error);
}

static int parse_load(struct parser *parser, struct rf_words *words, enum rf_command_id command,
		      struct rf_error *error)
{
	const char *path = rf_take_operand(command, words, error);
	struct rf_rulefile_entry entry = {.list = list_of(command)};
	struct rf_prefixes prefixes = {};
	struct rf_list_text text;
	int err;

	if (!path)
		return -EINVAL;
	err = parse_load_words(words, command, &text, error);
	if (!err)
		err = take_owner(parser->file, &text, RF_OWNER_LOAD, &entry.owner, error);
	if (!err)
		err = read_file(parser, path, &prefixes, error);
	for (size_t i = 0; i < prefixes.count && !err; i++) {
		entry.prefix = prefixes.prefix[i];
		err = add_entry(parser->file, &entry, error);
	}
	count_read(parser->file, &prefixes);
	rf_prefixes_free(&prefixes);
	return err;
}

static int parse_newcomers(struct parser *parser, struct rf_words *words,
			   enum rf_command_id command, struct rf_error *error)
{
	(void)command;
	if (parser->file->has_newcomers)
		return rf_error_failed(error, -EEXIST, "'newcomers': given twice");
	parser->file->has_newcomers = true;
	return rf_parse_newcomers(words, &parser->file->newcomers, error);
}

static int parse_hosts(struct parser *parser, struct rf_words *words, enum rf_command_id command,
		       struct rf_error *error)
{
	uint32_t hosts;
	int err = rf_parse_arguments(command, words, &hosts, error);

	if (err)
		return err;
	if (!hosts)
		return rf_error_usage(error, "'fleet hosts': the number is missing");
	if (parser->file->hosts)
		return rf_error_failed(error, -EEXIST, "'fleet hosts': given twice");
	parser->file->hosts = hosts;
	return 0;
}

/* sparse: a rule file has no other commands. */
static int (*const parsers[RF_CMD_COUNT])(struct parser *parser, struct rf_words *words,
					  enum rf_command_id command, struct rf_error *error) = {
	[RF_CMD_LIMIT_ADD] = parse_limit,   [RF_CMD_ALLOW_ADD] = parse_add,
	[RF_CMD_DENY_ADD] = parse_add,	    [RF_CMD_ALLOW_LOAD] = parse_load,
	[RF_CMD_DENY_LOAD] = parse_load,    [RF_CMD_NEWCOMERS] = parse_newcomers,
	[RF_CMD_FLEET_HOSTS] = parse_hosts,
};

static int parse_command(struct parser *parser, struct rf_words *words, struct rf_error *error)
{
	const int command = rf_command_find(words);

	if (command >= 0 && parsers[command])
		return parsers[command](parser, words, command, error);
	return rf_refuse_command(words, command,
				 "a rule file, which can have 'limit add', 'allow' and 'deny' with "
				 "'add' or 'load', 'newcomers' and 'fleet hosts'",
				 error);
}

static int parse_line(struct parser *parser, char *line, struct rf_error *error)
{
	const char *array[WORDS_MAX];
	struct rf_words words;
	int err = rf_split_line(line, array, WORDS_MAX, &words, error);

	if (err || !rf_words_peek(&words))
		return err;
	return parse_command(parser, &words, error);
}

unsigned int rf_rulefile_format(const char *line)
{
	unsigned long format;
	char *end;

	if (strncmp(line, RF_RULEFILE_START, strlen(RF_RULEFILE_START)) != 0)
		return 0;
	line += strlen(RF_RULEFILE_START);
	format = *line >= '1' && *line <= '9' ? strtoul(line, &end, 10) : 0;
	if (!format || *end != ')')
		return 0;
	return format < UINT_MAX ? format : UINT_MAX;
}

int rf_rulefile_check_format(unsigned int format, struct rf_error *error)
{
	if (format <= RF_RULEFILE_FORMAT)
		return 0;
	return rf_error_failed(error, -EINVAL,
			       "the rules have format %u, and this version reads formats up to %u; "
			       "upgrade ringfence, or save them with this version",
			       format, RF_RULEFILE_FORMAT);
}

/* Searches the whole text for the line, because users add remarks and rules above it. */
static int find_format(struct parser *parser, const char *text, bool *is_saved,
		       struct rf_error *error)
{
	struct rf_rulefile *file = parser->file;
	struct rf_error reason;
	unsigned int format;

	do {
		parser->line++;
		format = rf_rulefile_format(text);
		text = strchrnul(text, '\n');
	} while (!format && *text++);
	*is_saved = format;
	file->format = format ? format : RF_RULEFILE_FORMAT;
	if (rf_rulefile_check_format(file->format, &reason))
		return add_mistake(parser, reason.text, error);
	parser->line = 0;
	return 0;
}

static int parse_lines(struct parser *parser, char *text, struct rf_error *error)
{
	char *line;
	int err = 0;

	while (!err && (line = strsep(&text, "\n"))) {
		struct rf_error reason = {};

		parser->line++;
		err = parse_line(parser, line, &reason);
		err = note_mistake(parser, err, &reason, error);
	}
	return err;
}

/* Checks that are only possible after the last line. */
static int check_end(struct parser *parser, bool is_saved, struct rf_error *error)
{
	const struct rf_rulefile *file = parser->file;

	parser->line = 0;
	if (is_saved && !file->has_newcomers)
		return add_mistake(
			parser,
			"this output of 'save' is cut short: its last line, 'newcomers …', is "
			"missing; save it again, or add 'newcomers off' if the rest is complete",
			error);
	/* Without this, a pipe whose writer has failed would delete all rules. */
	if (!file->limits && !file->entries && !file->has_newcomers && !file->hosts &&
	    !file->mistakes.count)
		return add_mistake(
			parser,
			"the file contains no rule; write 'newcomers off' to delete all rules",
			error);
	return 0;
}

int rf_rulefile_parse(char *text, rf_prefixes_reader read, struct rf_rulefile *file,
		      struct rf_error *error)
{
	struct parser parser = {.file = file, .read = read};
	bool is_saved = false;
	int err;

	*file = (struct rf_rulefile){};
	err = find_format(&parser, text, &is_saved, error);
	if (err || file->mistakes.count)
		return err; /* the other lines cannot be interpreted */
	err = parse_lines(&parser, text, error);
	return err ? err : check_end(&parser, is_saved, error);
}

void rf_rulefile_free(struct rf_rulefile *file)
{
	for (int i = 0; i < file->limits; i++)
		rf_definition_free(&file->limit[i]);
	free(file->entry);
	rf_mistakes_free(&file->mistakes);
	*file = (struct rf_rulefile){};
}

/* ---- lists ---- */

static int compare_entries(const void *a, const void *b)
{
	const struct rf_rulefile_entry *left = a, *right = b;
	int order = rf_prefix_compare(&left->prefix, &right->prefix);

	return order ? order : left->order < right->order ? -1 : left->order > right->order;
}

static int fail_full(const struct rf_rulefile_entry *entry, struct rf_error *error)
{
	char text[RF_PREFIX_TEXT_SIZE];

	rf_format_prefix(&entry->prefix, text);
	return rf_error_failed(error, -ENOSPC,
			       "'%s': it has more than %d entries with different owners; leave out "
			       "one",
			       text, RF_LIST_CLAIMS);
}

/* Makes all entries by one sort. A sort for each time could be a sort for each prefix. */
static int make_listed(const struct rf_rulefile *file, const struct rf_rulefile_place *place,
		       struct rf_ruleset *ruleset, struct rf_error *error)
{
	struct rf_listed *listed = calloc(file->entries + 1, sizeof(*listed));
	size_t count = 0;

	if (!listed)
		return fail_memory(error);
	if (file->entries)
		rf_sort(file->entry, file->entries, sizeof(*file->entry), compare_entries);
	for (size_t i = 0; i < file->entries; i++) {
		const struct rf_rulefile_entry *entry = &file->entry[i];

		if (!count || rf_prefix_compare(&listed[count - 1].prefix, &entry->prefix) != 0)
			listed[count++].prefix = entry->prefix;
		if (rf_listed_claim(&listed[count - 1], entry->list, entry->owner,
				    entry->time_ns ? rf_ticks_after(place->now, entry->time_ns,
								    place->tick_ns)
						   : RF_FOREVER)) {
			free(listed);
			return fail_full(entry, error);
		}
	}
	ruleset->listed = listed;
	ruleset->listed_count = count;
	ruleset->owners = file->owners;
	return 0;
}

/* ---- limits ---- */

int rf_rulefile_slot(const struct rf_bank *present, const struct rf_bank *other)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (!present->policy[slot].id && (!other || !other->policy[slot].id))
			return slot;
	return rf_bank_free_slot(present);
}

/* A slot for a new limit: free in the new rules and, with `confirm`, in the present rules, too. */
static int find_slot(const struct rf_bank *bank, const struct rf_rulefile_place *place)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (!bank->policy[slot].id && !place->present->policy[slot].id &&
		    (!place->other || !place->other->policy[slot].id))
			return slot;
	return place->unconfirmed ? rf_rulefile_slot(bank, place->present)
				  : rf_bank_free_slot(bank);
}

static int put_limit(const struct rf_definition *definition, struct rf_rulefile_place *place,
		     struct rf_ruleset *ruleset, int slot, struct rf_error *error)
{
	return rf_ruleset_put_limit(ruleset, slot, definition, place->present, place->tick_ns,
				    &place->next_id, error);
}

static int put_new(const struct rf_definition *definition, struct rf_rulefile_place *place,
		   struct rf_ruleset *ruleset, struct rf_error *error)
{
	int slot = find_slot(&ruleset->bank, place);

	if (slot < 0 || (place->unconfirmed && place->present->policy[slot].id))
		return rf_error_failed(error, -ENOSPC,
				       "limit '%s': no room for 'confirm': the old and the "
				       "new limits together are more than %d; apply without it",
				       definition->limit.name, RF_LIMITS_MAX);
	return put_limit(definition, place, ruleset, slot, error);
}

static bool has_limit(const struct rf_rulefile *file, const char *name)
{
	for (int i = 0; i < file->limits; i++)
		if (strcmp(file->limit[i].limit.name, name) == 0)
			return true;
	return false;
}

/*
 * First the remaining limits, in their slots; then the new limits, in the slots that are free then.
 */
static int put_limits(const struct rf_rulefile *file, struct rf_rulefile_place *place,
		      struct rf_ruleset *ruleset, struct rf_error *error)
{
	int err = 0;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (ruleset->bank.policy[slot].id &&
		    !has_limit(file, ruleset->bank.limit[slot].name))
			rf_ruleset_del_limit(ruleset, slot);
	for (int i = 0; i < file->limits && !err; i++) {
		int slot = rf_bank_find(place->present, file->limit[i].limit.name);

		if (slot >= 0)
			err = put_limit(&file->limit[i], place, ruleset, slot, error);
	}
	for (int i = 0; i < file->limits && !err; i++)
		if (rf_bank_find(place->present, file->limit[i].limit.name) < 0)
			err = put_new(&file->limit[i], place, ruleset, error);
	for (int i = 0; i < file->limits && !err; i++)
		ruleset->bank.limit[rf_bank_find(&ruleset->bank, file->limit[i].limit.name)].order =
			i;
	return err;
}

int rf_rulefile_rules(const struct rf_rulefile *file, struct rf_rulefile_place *place,
		      struct rf_ruleset *ruleset, struct rf_error *error)
{
	int err;

	*ruleset = (struct rf_ruleset){.bank = *place->present};
	/*
	 * The file has the complete rules: a later limit in it must not retain its old
	 * destinations.
	 */
	memset(ruleset->bank.shapes.to4, 0, sizeof(ruleset->bank.shapes.to4));
	memset(ruleset->bank.shapes.to6, 0, sizeof(ruleset->bank.shapes.to6));
	err = make_listed(file, place, ruleset, error);
	if (err)
		return err;
	if (file->hosts)
		ruleset->bank.hosts = file->hosts; /* before its limits are put */
	rf_bank_set_newcomers(&ruleset->bank, &file->newcomers);
	return put_limits(file, place, ruleset, error);
}

/* ---- the whole ---- */

/* The last limit of the file among those in `slots`. */
static int find_last(const void *context, const struct rf_bank *bank, uint32_t slots, size_t *line)
{
	const struct rf_rulefile *file = context;
	int last = -1;

	(void)line; /* they are of the file as a whole */
	for (int i = 0; i < file->limits; i++) {
		const int slot = rf_bank_find(bank, file->limit[i].limit.name);

		if (slot >= 0 && slots >> slot & 1)
			last = slot;
	}
	return last;
}

int rf_rulefile_check(struct rf_rulefile *file, struct rf_error *error)
{
	const struct rf_bank nothing = {};
	struct rf_rulefile_place place = RF_RULEFILE_NOWHERE(&nothing);
	struct rf_ruleset rules = RF_RULESET_NONE;
	int err = rf_rulefile_rules(file, &place, &rules, error);

	if (!err)
		err = rf_ruleset_mistakes(&rules, find_last, file, &file->mistakes, error);
	rf_ruleset_free(&rules);
	return err;
}
