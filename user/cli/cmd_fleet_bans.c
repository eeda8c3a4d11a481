// SPDX-License-Identifier: GPL-2.0
/* fleet bans: the bans of other hosts that this one has taken, and those that it tells them */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/fleet_agent.h"
#include "cli/out.h"
#include "cli/transaction.h"
#include "cli/view.h"

/* ---- telling ---- */

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
	return rf_error_failed(error, -EIO,
			       "fence '%s': its agent cannot tell the fleet, so nothing is "
			       "changed: %s",
			       fence, text);
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
					  "fence '%s': its agent is busy with bans; try again in a "
					  "moment",
					  fence);
}

/* ---- list ---- */

/* What the list is made of. The agent, which may not be there, knows whose a ban is. */
struct listing {
	const struct rf_fence *fence;
	const struct rf_ruleset *rules;
	json_t *agent; /* its answer; NULL: none */
	uint64_t now;
};

/* 0: the fleet does not ban it. */
static uint64_t ban_until(const struct rf_listed *listed)
{
	return rf_listed_until_by(listed, RF_DENY, RF_OWNER_FLEET);
}

static uint64_t left_ns(const struct listing *listing, const struct rf_listed *listed)
{
	return rf_fence_left_ns(listing->fence, listing->now, ban_until(listed));
}

static int print_json(const struct listing *listing, struct rf_error *error)
{
	const json_t *takes = json_object_get(listing->agent, "takes");
	json_t *bans = json_array();

	for (size_t i = 0; i < listing->rules->listed_count; i++) {
		const struct rf_listed *listed = &listing->rules->listed[i];
		char text[RF_PREFIX_TEXT_SIZE];
		json_int_t host;

		if (!ban_until(listed))
			continue;
		rf_format_prefix(&listed->prefix, text);
		host = rf_fleet_ban_host(listing->agent, text);
		json_array_append_new(
			bans, json_pack("{s:s, s:I, s:o}", "prefix", text, "left_ms",
					(json_int_t)(left_ns(listing, listed) / RF_NS_PER_MS),
					"host", host < 0 ? json_null() : json_integer(host)));
	}
	return rf_out_json(json_pack("{s:o, s:o}", "takes",
				     takes ? json_boolean(json_is_true(takes)) : json_null(),
				     "bans", bans),
			   false, error);
}

static void print_one(const struct listing *listing, const struct rf_listed *listed)
{
	char text[RF_PREFIX_TEXT_SIZE], left[RF_DURATION_TEXT_SIZE];
	json_int_t host;

	rf_format_prefix(&listed->prefix, text);
	rf_format_left(left_ns(listing, listed), left);
	host = rf_fleet_ban_host(listing->agent, text);
	if (host < 0)
		rf_out("%s for another %s, by another host\n", text, left);
	else
		rf_out("%s for another %s, by host %lld\n", text, left, (long long)host);
}

static void print_text(const struct listing *listing)
{
	const json_t *takes = json_object_get(listing->agent, "takes");

	for (size_t i = 0; i < listing->rules->listed_count; i++)
		if (ban_until(&listing->rules->listed[i]))
			print_one(listing, &listing->rules->listed[i]);
	if (rf_view_count_fleet(listing->rules))
		return;
	rf_out("no ban of another host is here%s\n",
	       json_is_false(takes) ? ": the agent takes none; 'ringfence fleet join' with the "
				      "words 'bans take' makes it"
				    : "");
}

static int list_bans(const struct rf_options *options, struct rf_error *error)
{
	struct rf_ruleset rules = RF_RULESET_NONE;
	struct rf_fence fence = RF_FENCE_NONE;
	struct listing listing = {.fence = &fence, .rules = &rules};
	struct rf_error ignored = {};
	int err = rf_fence_open(&fence, options->dev, error);

	if (!err)
		err = rf_fence_ruleset(&fence, &rules, error);
	if (!err && rules.listed_count)
		listing.now = rf_fence_jiffies(&fence);
	rf_ruleset_expire(&rules, listing.now);
	if (!err && rf_agent_ask(fence.name, "bans", &listing.agent, &ignored))
		listing.agent = NULL;
	if (!err && options->json)
		err = print_json(&listing, error);
	else if (!err)
		print_text(&listing);
	json_decref(listing.agent);
	rf_ruleset_free(&rules);
	rf_fence_close(&fence);
	return err;
}

/* ---- flush ---- */

static int print_ended(const struct rf_options *options, size_t count, bool has_agent,
		       struct rf_error *error)
{
	if (options->json)
		return rf_out_json(json_pack("{s:I}", "ended", (json_int_t)count), false, error);
	rf_out_text("%zu ban%s of other hosts ended\n", count, count == 1 ? "" : "s");
	if (!has_agent)
		rf_out_note("no agent serves the fence; one that is started takes the bans that "
			    "the engine still has");
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
	const struct rf_owner_set fleet = {.bits = {1ULL << RF_OWNER_FLEET}};
	struct rf_transaction transaction = RF_TRANSACTION_NONE;
	struct rf_list_changes changes = {};
	struct rf_lists_outcome outcome;
	int err = rf_list_changes_release(&changes, RF_DENY, &fleet, error);

	if (!err)
		err = rf_transaction_open(&transaction, options, error);
	if (!err)
		err = rf_transaction_read(&transaction, error);
	if (!err)
		*count = rf_view_count_fleet(&transaction.rules);
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
