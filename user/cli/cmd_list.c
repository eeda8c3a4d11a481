// SPDX-License-Identifier: GPL-2.0
/* allow, deny: add, del, list, load */
#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "cli/out.h"
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

	return text ? rf_parse_prefix(text, prefix, error) : -EINVAL;
}

static int list_prefixes(struct rf_transaction *transaction, enum rf_list list,
			 const struct rf_prefixes *prefixes, uint64_t time_ns,
			 struct rf_error *error)
{
	uint64_t until = time_ns ? rf_fence_deadline(&transaction->fence, transaction->now, time_ns)
				 : RF_FOREVER;
	int err = rf_ruleset_list(&transaction->rules, list, prefixes, until, error);

	return err ? err : rf_transaction_commit(transaction, NULL, error);
}

static int add_prefix(const struct rf_options *options, struct rf_words *words, enum rf_list list,
		      struct rf_error *error)
{
	struct rf_transaction transaction = RF_TRANSACTION_NONE;
	struct rf_prefix prefix;
	const struct rf_prefixes one = {.prefix = &prefix, .count = 1, .capacity = 1};
	uint64_t time_ns = 0;
	int err = parse_prefix(words, command_of(list, RF_CMD_ALLOW_ADD), &prefix, error);

	if (!err)
		err = rf_parse_for(words, &time_ns, error);
	if (!err)
		err = rf_words_end(words, error);
	if (!err)
		err = rf_transaction_begin(&transaction, options, error);
	if (!err)
		err = list_prefixes(&transaction, list, &one, time_ns, error);
	rf_transaction_end(&transaction);
	return err;
}

static int fail_unlisted(const struct rf_prefix *prefix, enum rf_list list, struct rf_error *error)
{
	char text[RF_PREFIX_TEXT_SIZE];

	rf_format_prefix(prefix, text);
	return rf_error_failed(
		error, -ENOENT,
		"'%s': not on the %s list; '%s list' shows its prefixes as they were "
		"added",
		text, list_names[list], list_names[list]);
}

static int del_prefix(const struct rf_options *options, struct rf_words *words, enum rf_list list,
		      struct rf_error *error)
{
	struct rf_transaction transaction = RF_TRANSACTION_NONE;
	struct rf_prefix prefix;
	int err = parse_prefix(words, command_of(list, RF_CMD_ALLOW_DEL), &prefix, error);

	if (!err)
		err = rf_words_end(words, error);
	if (!err)
		err = rf_transaction_begin(&transaction, options, error);
	if (!err && rf_ruleset_unlist(&transaction.rules, list, &prefix))
		err = fail_unlisted(&prefix, list, error);
	if (!err)
		err = rf_transaction_commit(&transaction, NULL, error);
	rf_transaction_end(&transaction);
	return err;
}

/* ---- load ---- */

static double seconds_since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - then->tv_sec) + (now.tv_nsec - then->tv_nsec) / 1e9;
}

static int print_loaded(const struct rf_options *options, enum rf_list list, size_t added,
			size_t all, double seconds, struct rf_error *error)
{
	if (options->json)
		return rf_out_json(json_pack("{s:s, s:I, s:I, s:f}", "list", list_names[list],
					     "loaded", (json_int_t)added, "prefixes",
					     (json_int_t)all, "seconds", seconds),
				   false, error);
	rf_out_text("%s: %zu prefixes loaded in %.1f s; %zu are on the list\n", list_names[list],
		    added, seconds, all);
	return 0;
}

static int load_prefixes(const struct rf_options *options, struct rf_words *words,
			 enum rf_list list, struct rf_error *error)
{
	struct rf_transaction transaction = RF_TRANSACTION_NONE;
	struct rf_prefixes prefixes = {};
	const char *path = rf_take_operand(command_of(list, RF_CMD_ALLOW_LOAD), words, error);
	struct timespec start;
	int err;

	clock_gettime(CLOCK_MONOTONIC, &start);
	if (!path)
		return -EINVAL;
	err = rf_words_end(words, error);
	if (!err)
		err = rf_file_prefixes(path, &prefixes, error);
	if (!err && !prefixes.count)
		err = rf_error_failed(error, -EINVAL, "%s: the file has no prefix", path);
	if (!err)
		err = rf_transaction_begin(&transaction, options, error);
	if (!err)
		err = list_prefixes(&transaction, list, &prefixes, 0, error);
	if (!err)
		err = print_loaded(options, list, prefixes.count,
				   rf_view_count_list(&transaction.rules, list),
				   seconds_since(&start), error);
	rf_prefixes_free(&prefixes);
	rf_transaction_end(&transaction);
	return err;
}

/* ---- list ---- */

static int print_json(const struct rf_fence *fence, const struct rf_ruleset *rules,
		      enum rf_list list, uint64_t now, struct rf_error *error)
{
	json_t *prefixes = json_array();

	for (size_t i = 0; i < rules->listed_count; i++) {
		const struct rf_listed *listed = &rules->listed[i];
		const uint64_t until = listed->until[list];
		char text[RF_PREFIX_TEXT_SIZE];

		if (!until)
			continue;
		rf_format_prefix(&listed->prefix, text);
		json_array_append_new(
			prefixes,
			json_pack("{s:s, s:o}", "prefix", text, "left_ms",
				  until == RF_FOREVER
					  ? json_null()
					  : json_integer(rf_fence_left_ns(fence, now, until) /
							 RF_NS_PER_MS)));
	}
	return rf_out_json(json_pack("{s:s, s:o}", "list", list_names[list], "prefixes", prefixes),
			   false, error);
}

static void print_text(const struct rf_fence *fence, const struct rf_ruleset *rules,
		       enum rf_list list, uint64_t now)
{
	if (!rf_view_count_list(rules, list))
		rf_out("the %s list is empty\n", list_names[list]);
	for (size_t i = 0; i < rules->listed_count; i++) {
		const uint64_t until = rules->listed[i].until[list];
		char text[RF_PREFIX_TEXT_SIZE], left[RF_DURATION_TEXT_SIZE];

		if (!until)
			continue;
		rf_format_prefix(&rules->listed[i].prefix, text);
		if (until == RF_FOREVER) {
			rf_out("%s\n", text);
			continue;
		}
		rf_format_left(rf_fence_left_ns(fence, now, until), left);
		rf_out("%s for another %s\n", text, left);
	}
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

#define LIST_COMMANDS(name, list)                                                          \
	int rf_cmd_##name##_add(const struct rf_options *options, struct rf_words *words,  \
				struct rf_error *error)                                    \
	{                                                                                  \
		return add_prefix(options, words, list, error);                            \
	}                                                                                  \
	int rf_cmd_##name##_del(const struct rf_options *options, struct rf_words *words,  \
				struct rf_error *error)                                    \
	{                                                                                  \
		return del_prefix(options, words, list, error);                            \
	}                                                                                  \
	int rf_cmd_##name##_load(const struct rf_options *options, struct rf_words *words, \
				 struct rf_error *error)                                   \
	{                                                                                  \
		return load_prefixes(options, words, list, error);                         \
	}                                                                                  \
	int rf_cmd_##name##_list(const struct rf_options *options, struct rf_words *words, \
				 struct rf_error *error)                                   \
	{                                                                                  \
		return print_list(options, words, list, error);                            \
	}

LIST_COMMANDS(allow, RF_ALLOW)
LIST_COMMANDS(deny, RF_DENY)
