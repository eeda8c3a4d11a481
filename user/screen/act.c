// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "base/units.h"
#include "rules/policy.h"
#include "screen/act.h"

#define LISTED_FOR "1h"
#define TRIAL "60s"

void rf_act_free(struct rf_act *act)
{
	free(act->command);
	free(act->undo);
	*act = (struct rf_act){};
}

static int fail_memory(struct rf_act *act, struct rf_error *error)
{
	rf_act_free(act);
	return rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
}

/* Of a limit that puts all sources together, a row is everybody. */
static int check_source(const struct rf_prefix *source, struct rf_error *error)
{
	if (source->length)
		return 0;
	return rf_error_failed(error, -EINVAL, "this row is of all sources together, not of one");
}

/* What a list had before: it is put back, or the prefix is taken off the list. */
static int write_undo(struct rf_act *act, const char *word, const char *text,
		      const struct rf_act_listed *before, const char *dev)
{
	char left[RF_DURATION_TEXT_SIZE];

	if (!before->is_listed)
		return asprintf(&act->undo, "%s del %s dev %s", word, text, dev);
	if (before->left_ns == RF_FOREVER)
		return asprintf(&act->undo, "%s add %s dev %s", word, text, dev);
	rf_format_for(before->left_ns, left);
	return asprintf(&act->undo, "%s add %s for %s dev %s", word, text, left, dev);
}

int rf_act_list(struct rf_act *act, enum rf_list list, const struct rf_prefix *source,
		const struct rf_act_listed *before, const char *dev, struct rf_error *error)
{
	const char *word = list == RF_DENY ? "deny" : "allow";
	char text[RF_PREFIX_TEXT_SIZE];
	const int err = check_source(source, error);

	*act = (struct rf_act){};
	if (err)
		return err;
	rf_format_prefix(source, text);
	snprintf(act->title, sizeof(act->title), "%s %s for " LISTED_FOR,
		 list == RF_DENY ? "Deny" : "Allow", text);
	if (before->is_listed)
		snprintf(act->warning, sizeof(act->warning), "It is on the %s list already%s.",
			 word, before->left_ns == RF_FOREVER ? ", for good" : "");
	if (asprintf(&act->command, "%s add %s for " LISTED_FOR " dev %s", word, text, dev) < 0)
		act->command = NULL;
	if (!act->command || write_undo(act, word, text, before, dev) < 0)
		return fail_memory(act, error);
	return 0;
}

/* raise1, raise2, …: the first one that no limit has. */
static void find_name(const struct rf_bank *bank, char name[RF_NAME_SIZE])
{
	int number = 0;

	do
		snprintf(name, RF_NAME_SIZE, "raise%d", ++number);
	while (rf_bank_find(bank, name) >= 0);
}

/* "limit add raise1 …": the limit in `slot`, with another name and COUNT, and without `from`. */
static char *format_raised(struct rf_ruleset *rules, int slot, unsigned int times, const char *name)
{
	struct rf_limit *limit = &rules->bank.limit[slot];
	const struct rf_limit kept = *limit;
	char *text;

	snprintf(limit->name, sizeof(limit->name), "%s", name);
	limit->rate *= times;
	limit->burst *= times;
	if (limit->burst > RF_LIMIT_MAX)
		limit->burst = RF_LIMIT_MAX;
	limit->has_from = 0;
	text = rf_ruleset_format_limit(rules, slot);
	*limit = kept;
	return text;
}

int rf_act_raise(struct rf_act *act, struct rf_ruleset *rules, int slot,
		 const struct rf_prefix *source, unsigned int times, const char *dev,
		 struct rf_error *error)
{
	char name[RF_NAME_SIZE], text[RF_PREFIX_TEXT_SIZE];
	const int err = check_source(source, error);
	char *limit;

	*act = (struct rf_act){};
	if (err)
		return err;
	find_name(&rules->bank, name);
	memcpy(act->limit, name, sizeof(act->limit));
	rf_format_prefix(source, text);
	snprintf(act->title, sizeof(act->title), "Raise %s to %u times the limit '%s'", text, times,
		 rules->bank.limit[slot].name);
	limit = format_raised(rules, slot, times, name);
	if (!limit ||
	    asprintf(&act->command, "%s from %s confirm " TRIAL " dev %s", limit, text, dev) < 0)
		act->command = NULL;
	free(limit);
	if (!act->command || asprintf(&act->undo, "limit del %s dev %s", name, dev) < 0)
		return fail_memory(act, error);
	return 0;
}

int rf_act_try(char **command, const struct rf_bank *bank, const char *limit, const char *dev,
	       struct rf_error *error)
{
	const int slot = rf_bank_find(bank, limit);
	char rate[RF_RATE_TEXT_SIZE];
	struct rf_limit raised;

	if (slot < 0)
		return rf_error_failed(error, slot, "limit '%s' is gone", limit);
	raised = bank->limit[slot];
	raised.rate *= 2;
	rf_format_limit_rate(&raised, rate);
	if (asprintf(command, "limit try %s rate %s since -10m dev %s", limit, rate, dev) < 0)
		return rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
	return 0;
}

static void add_force(struct rf_act *act)
{
	char *forced;

	if (!act->command || asprintf(&forced, "%s force", act->command) < 0)
		return; /* then the command refuses it */
	free(act->command);
	act->command = forced;
}

bool rf_act_warn(struct rf_act *act, const struct rf_prefix *source, const struct rf_prefix *peer)
{
	char text[RF_PREFIX_TEXT_SIZE];

	if (!peer || !rf_prefix_contains(source, peer))
		return false;
	rf_format_prefix(peer, text);
	snprintf(act->warning, sizeof(act->warning),
		 "%s is where your own SSH session comes from: it would end.", text);
	add_force(act);
	return true;
}
