// SPDX-License-Identifier: GPL-2.0
#include "cli/transaction.h"
#include "base/time.h"
#include "cli/out.h"

int rf_transaction_read(struct rf_transaction *transaction, struct rf_error *error)
{
	struct rf_standing standing;
	int err = rf_fence_ruleset(&transaction->fence, &transaction->rules, error);

	if (err)
		return err;
	standing = rf_fence_standing(&transaction->fence);
	transaction->present = transaction->rules.bank;
	rf_fence_other_bank(&transaction->fence, standing.in_force, &transaction->before);
	err = rf_bank_check(&transaction->before, error);
	if (err)
		return err;
	transaction->next_id = rf_fence_next_limit_id(&transaction->fence);
	rf_ruleset_expire(&transaction->rules, transaction->now);
	return 0;
}

int rf_transaction_open(struct rf_transaction *transaction, const struct rf_options *options,
			struct rf_error *error)
{
	int err = rf_fence_open_to_change(&transaction->fence, options->dev, error);

	if (!err)
		err = rf_fence_measure_clock(&transaction->fence, error);
	if (!err)
		err = rf_fence_make_leases(&transaction->fence, error);
	if (!err)
		transaction->now = rf_fence_jiffies(&transaction->fence);
	return err;
}

int rf_transaction_begin(struct rf_transaction *transaction, const struct rf_options *options,
			 struct rf_error *error)
{
	int err = rf_transaction_open(transaction, options, error);

	if (!err)
		err = rf_fence_check_settled(&transaction->fence, error);
	return err ? err : rf_transaction_read(transaction, error);
}

static void report(void *context, size_t done, size_t total)
{
	(void)context;
	rf_out_progress(done, total);
}

static void note_open(const struct rf_fence *fence)
{
	if (rf_fence_standing(fence).state == RF_FELL_OPEN)
		rf_out_note("the attach was not confirmed, so everything passes; 'ringfence "
			    "confirm' puts the rules in force");
}

void rf_transaction_set_times(const struct rf_transaction *transaction,
			      const struct rf_list_changes *changes)
{
	for (size_t i = 0; i < changes->count; i++) {
		struct rf_list_change *change = &changes->change[i];

		if (change->time_ns)
			change->until = rf_fence_deadline(&transaction->fence, transaction->now,
							  change->time_ns);
	}
}

int rf_transaction_check_lists(struct rf_transaction *transaction, struct rf_list_changes *changes,
			       struct rf_list_refused *refused, struct rf_error *error)
{
	rf_transaction_set_times(transaction, changes);
	return rf_fence_check_lists(&transaction->fence, changes, refused, error);
}

static int commit_lists(struct rf_transaction *transaction, struct rf_list_changes *changes,
			uint64_t trial_ns, struct rf_lists_outcome *outcome, struct rf_error *error)
{
	const struct rf_trial trial = {.time_ns = trial_ns};
	struct rf_list_refused refused;
	size_t first;
	int err = rf_fence_join_changes(&transaction->fence, changes, error);

	transaction->rules.owners = transaction->fence.config->owners;
	if (!err)
		err = rf_ruleset_change(&transaction->rules, changes, &first, &refused, error);
	if (!err && first < changes->count)
		err = rf_list_fail(&changes->change[first], &refused, &changes->owners, error);
	if (!err)
		err = rf_transaction_commit(transaction, &trial, error);
	*outcome = (struct rf_lists_outcome){};
	for (int list = 0; list < RF_LIST_COUNT; list++)
		outcome->listed[list] = transaction->rules.bank.listed[list];
	return err;
}

int rf_transaction_change_lists(struct rf_transaction *transaction, struct rf_list_changes *changes,
				uint64_t trial_ns, struct rf_lists_outcome *outcome,
				struct rf_error *error)
{
	const struct rf_progress progress = {.report = report};
	int err;

	if (trial_ns)
		return commit_lists(transaction, changes, trial_ns, outcome, error);
	err = rf_fence_change_lists(&transaction->fence, changes, &progress, outcome, error);
	if (!err)
		note_open(&transaction->fence);
	return err;
}

int rf_transaction_commit(struct rf_transaction *transaction, const struct rf_trial *trial,
			  struct rf_error *error)
{
	const struct rf_progress progress = {.report = report};
	int err;

	/* Stored first, so that no id is given twice, even if this process is killed here. */
	rf_fence_keep_limit_id(&transaction->fence, transaction->next_id);
	err = rf_fence_commit(&transaction->fence, &transaction->rules, trial, &progress, error);
	if (!err)
		note_open(&transaction->fence);
	return err;
}

void rf_transaction_print_trial(const char *before, uint64_t trial_ns)
{
	char time[RF_DURATION_TEXT_SIZE];

	rf_format_left(trial_ns, time);
	if (trial_ns)
		rf_out_text("%son trial for %s: 'ringfence confirm' keeps it\n", before, time);
}

void rf_transaction_end(struct rf_transaction *transaction)
{
	rf_own_networks_free(&transaction->own);
	rf_ruleset_free(&transaction->rules);
	rf_fence_close(&transaction->fence);
}
