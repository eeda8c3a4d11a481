// SPDX-License-Identifier: GPL-2.0
/* fleet bans: bans accepted from other hosts, and bans reported to them */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/fleet_agent.h"
#include "cli/out.h"
#include "cli/transaction.h"
#include "cli/view.h"

/* ---- reporting ---- */

#define QUESTION_SIZE 128
#define PAUSE_NS 20000000
#define PAUSES_MAX 250 /* 5 s */

int rf_fleet_ban_tell(const char *fence, const struct rf_prefix *prefix, uint64_t time_ns,
		      struct rf_error *error)
{
	char prefix_text[RF_PREFIX_TEXT_SIZE], question[QUESTION_SIZE], text[RF_FLEET_TROUBLE_SIZE];
	json_t *answer = NULL;
	int err;

	rf_format_prefix(prefix, prefix_text);
	snprintf(question, sizeof(question), "ban %llu %s",
		 (unsigned long long)(time_ns / RF_NS_PER_MS), prefix_text);
	err = rf_agent_ask(fence, question, &answer, error);
	if (err)
		return err;
	rf_fleet_text(answer, "error", text, sizeof(text));
	json_decref(answer);
	if (!*text)
		return 0;
	return rf_error_failed(
		error, -EIO,
		"fence '%s': its agent cannot report to the fleet; no changes were made: %s", fence,
		text);
}

/* Waits while a process of the agent changes the deny list. */
static int fleet_ban_flush(const char *fence, struct rf_error *error)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	bool is_busy = true;

	for (int i = 0; i < PAUSES_MAX && is_busy; i++) {
		json_t *answer = NULL;
		const int err = rf_agent_ask(fence, "flush", &answer, error);

		if (err)
			return err;
		is_busy = json_is_true(json_object_get(answer, "busy"));
		json_decref(answer);
		if (is_busy)
			nanosleep(&pause, NULL);
	}
	return !is_busy ? 0
			: rf_error_failed(error, -EBUSY,
					  "fence '%s': its agent is busy with bans; try again "
					  "soon",
					  fence);
}

/* ---- list ---- */

/* A ban of another host. */
struct ban {
	struct rf_prefix prefix;
	uint64_t left_ns;
	int64_t host; /* below 0: not known */
};

struct bans {
	struct ban *ban;
	size_t count;
	bool has_agent, takes;
};

static bool knows_host(const void *of)
{
	return ((const struct ban *)of)->host >= 0;
}

static bool has_agent(const void *of)
{
	return ((const struct bans *)of)->has_agent;
}

static const struct rf_field ban_fields[] = {
	RF_FIELD_OF_PREFIX("prefix", struct ban, prefix, "that is dropped"),
	RF_FIELD_OF_NS("left_ms", struct ban, left_ns, "left of its time"),
	RF_FIELD("host", struct ban, host, "its slot; null: unknown", .has = knows_host,
		 .or_null = true),
	{},
};

static const struct rf_field bans_fields[] = {
	RF_FIELD("accepts", struct bans, takes, "the agent accepts bans; null: no agent",
		 .has = has_agent, .or_null = true),
	RF_FIELD_OBJECTS("bans", struct bans, ban, count, ban_fields,
			 "of other hosts, in the order of addresses"),
	{},
};

RF_RECORD(fleet_bans, bans_fields);

/* `answer`: the reply of the agent, with the host of each ban; NULL: no agent. */
static int read_bans(const struct rf_fence_rules *rules, const json_t *answer, struct bans *bans,
		     struct rf_error *error)
{
	const json_t *takes = json_object_get(answer, "accepts");

	bans->has_agent = takes;
	bans->takes = json_is_true(takes);
	bans->ban = calloc(rf_ruleset_count_listed(&rules->set, RF_DENY, &RF_OWNERS_FLEET) + 1,
			   sizeof(*bans->ban));
	if (!bans->ban)
		return rf_error_failed(error, -ENOMEM, "out of memory for the bans");
	for (size_t i = 0; i < rules->set.listed_count; i++) {
		const struct rf_listed *listed = &rules->set.listed[i];
		char text[RF_PREFIX_TEXT_SIZE];
		struct rf_list_entry entry;

		if (!rf_list_entry_of(rules, listed, RF_DENY, &RF_OWNERS_FLEET, &entry))
			continue;
		rf_format_prefix(&entry.prefix, text);
		bans->ban[bans->count++] = (struct ban){entry.prefix, entry.owner[0].left_ns,
							rf_fleet_ban_host(answer, text)};
	}
	return 0;
}

static void print_bans(const struct bans *bans)
{
	for (size_t i = 0; i < bans->count; i++) {
		const struct ban *ban = &bans->ban[i];
		char text[RF_PREFIX_TEXT_SIZE], left[RF_DURATION_TEXT_SIZE];

		rf_format_prefix(&ban->prefix, text);
		rf_format_left(ban->left_ns, left);
		if (ban->host < 0)
			rf_out("%s for another %s, by another host\n", text, left);
		else
			rf_out("%s for another %s, by host %lld\n", text, left,
			       (long long)ban->host);
	}
	if (!bans->count)
		rf_out("no bans of other hosts%s\n",
		       bans->has_agent && !bans->takes
			       ? ": the agent does not accept bans; 'ringfence fleet join' "
				 "with the words 'bans take' enables it"
			       : "");
}

static int list_bans(const struct rf_options *options, struct rf_error *error)
{
	struct rf_view view = RF_VIEW_NONE;
	struct rf_error ignored = {};
	json_t *answer = NULL;
	struct bans bans = {};
	int err = rf_view_open(&view, options->dev, RF_RULES_IN_FORCE, error);

	if (!err && rf_agent_ask(view.fence.name, "bans", &answer, &ignored))
		answer = NULL;
	if (!err)
		err = read_bans(&view.rules, answer, &bans, error);
	if (!err && options->json)
		err = rf_out_record(bans_fields, &bans, error);
	else if (!err)
		print_bans(&bans);
	free(bans.ban);
	json_decref(answer);
	rf_view_close(&view);
	return err;
}

/* ---- flush ---- */

struct flushed {
	size_t count;
};

static const struct rf_field flushed_fields[] = {
	RF_FIELD("removed", struct flushed, count, "bans of other hosts"),
	{},
};

RF_RECORD(fleet_bans_flush, flushed_fields);

static int print_ended(const struct rf_options *options, size_t count, bool has_agent,
		       struct rf_error *error)
{
	if (options->json)
		return rf_out_record(flushed_fields, &(struct flushed){count}, error);
	rf_out_text("%zu ban%s of other hosts ended\n", count, count == 1 ? "" : "s");
	if (!has_agent)
		rf_out_note("no agent serves the fence; once started, it accepts the bans that "
			    "the fleet server still has");
	return 0;
}

/* Checks, before the agent forgets the bans, that this process can remove them from the list. */
static int check_fence(const struct rf_fence *fence, const char *dev, struct rf_error *error)
{
	struct rf_ruleset rules = RF_RULESET_NONE;
	int err = rf_fence_check_may_change(fence, dev, error);

	if (!err)
		err = rf_fence_ruleset(fence, &rules, error);
	rf_ruleset_free(&rules);
	return err;
}

/* The agent forgets them first: then it does not put them back. */
static int flush_agent(const struct rf_options *options, bool *has_agent, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	int err = rf_fence_open(&fence, options->dev, error);

	if (!err)
		err = check_fence(&fence, options->dev, error);
	if (!err) {
		err = fleet_ban_flush(fence.name, error);
		*has_agent = !err;
		if (err == -ENOENT || err == -ECONNREFUSED)
			err = 0;
	}
	rf_fence_close(&fence);
	return err;
}

static int remove_bans(const struct rf_options *options, size_t *count, struct rf_error *error)
{
	struct rf_transaction transaction = RF_TRANSACTION_NONE;
	struct rf_list_changes changes = {};
	struct rf_lists_outcome outcome;
	int err = rf_list_changes_release(&changes, RF_DENY, &RF_OWNERS_FLEET, error);

	if (!err)
		err = rf_transaction_open(&transaction, options, error);
	if (!err)
		err = rf_transaction_read(&transaction, error);
	if (!err)
		*count = rf_ruleset_count_listed(&transaction.rules, RF_DENY, &RF_OWNERS_FLEET);
	if (!err && *count)
		err = rf_transaction_change_lists(&transaction, &changes, 0, &outcome, error);
	rf_list_changes_free(&changes);
	rf_transaction_end(&transaction);
	return err;
}

static int fail_after_agent(int err, struct rf_error *error)
{
	const struct rf_error reason = *error;

	return rf_error_failed(
		error, err,
		"the agent has forgotten the bans of other hosts, but they are still "
		"on the deny list: %s; repeat the command",
		reason.text);
}

static int flush_bans(const struct rf_options *options, struct rf_error *error)
{
	bool has_agent = false;
	size_t count = 0;
	int err = flush_agent(options, &has_agent, error);

	if (err)
		return err;
	err = remove_bans(options, &count, error);
	if (err)
		return has_agent ? fail_after_agent(err, error) : err;
	return print_ended(options, count, has_agent, error);
}

int rf_cmd_fleet_bans(const struct rf_options *options, struct rf_words *words,
		      struct rf_error *error)
{
	const bool flushes = rf_words_take(words, "flush");
	int err;

	if (!flushes)
		rf_words_take(words, "list");
	err = rf_words_end(words, error);
	if (err)
		return err;
	return flushes ? flush_bans(options, error) : list_bans(options, error);
}
