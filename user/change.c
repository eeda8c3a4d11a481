// SPDX-License-Identifier: GPL-2.0
#include "change.h"
#include "out.h"

static int read_rules(struct rf_change *change, struct rf_error *error)
{
	const struct rf_config *config = change->fence.config;
	struct rf_standing standing;
	int err = rf_fence_read_rules(&change->fence, &change->rules, error);

	if (err)
		return err;
	standing = rf_fence_standing(&change->fence);
	change->present = change->rules.bank;
	change->before = config->bank[~standing.in_force & 1];
	err = rf_bank_check(&change->before, error);
	if (err)
		return err;
	change->now = rf_fence_jiffies(&change->fence);
	change->next_id = config->next_limit_id ? config->next_limit_id : 1;
	rf_ruleset_expire(&change->rules, change->now);
	return 0;
}

int rf_change_begin(struct rf_change *change, const struct rf_options *options,
		    struct rf_error *error)
{
	int err = rf_fence_lock(error);

	if (!err)
		err = rf_fence_open(&change->fence, options->dev, error);
	if (!err)
		err = rf_fence_check_may_change(&change->fence, options->dev, error);
	if (!err)
		err = rf_fence_check_settled(&change->fence, error);
	if (!err)
		err = rf_fence_measure_clock(&change->fence, error);
	if (!err)
		err = rf_fence_make_leases(&change->fence, error);
	return err ? err : read_rules(change, error);
}

static void report(void *context, size_t done, size_t total)
{
	(void)context;
	rf_out_progress(done, total);
}

int rf_change_commit(struct rf_change *change, const struct rf_trial *trial, struct rf_error *error)
{
	const struct rf_progress progress = {.report = report};
	int err;

	/* First, so that an id is not given twice even if this process is killed here. */
	change->fence.config->next_limit_id = change->next_id;
	err = rf_fence_commit(&change->fence, &change->rules, trial, &progress, error);
	if (!err && rf_fence_standing(&change->fence).state == RF_FELL_OPEN)
		rf_out_note("the attach was not confirmed, so everything passes; 'ringfence "
			    "confirm' puts the rules in force");
	return err;
}

void rf_change_end(struct rf_change *change)
{
	rf_ruleset_free(&change->rules);
	rf_fence_close(&change->fence);
}
