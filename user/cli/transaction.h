/* SPDX-License-Identifier: GPL-2.0 */
/* The one way to change rules: read those in force, change them, put them in force. */
#ifndef RINGFENCE_TRANSACTION_H
#define RINGFENCE_TRANSACTION_H

#include "base/own_networks.h"
#include "cli/command.h"
#include "fence/fence.h"
#include "fence/lists.h"
#include "rules/ruleset.h"

struct rf_transaction {
	struct rf_fence fence;
	struct rf_ruleset rules;
	struct rf_bank present;	    /* in force */
	struct rf_bank before;	    /* the other bank */
	uint64_t now;		    /* jiffies */
	uint32_t next_id;	    /* of the next new limit */
	struct rf_own_networks own; /* where own_check.h has read them */
	bool has_own, has_gateways;
};

#define RF_TRANSACTION_NONE ((struct rf_transaction){.fence = RF_FENCE_NONE})

/* Takes the lock, and opens the fence. End the transaction even if this fails. */
int rf_transaction_open(struct rf_transaction *transaction, const struct rf_options *options,
			struct rf_error *error);
/* Reads the rules in force, without expired entries, also while rules are on trial. */
int rf_transaction_read(struct rf_transaction *transaction, struct rf_error *error);
/* Sets when the entries of lists end, from the time that each is to stay. */
void rf_transaction_set_times(const struct rf_transaction *transaction,
			      const struct rf_list_changes *changes);
/* Checks whether the fence accepts changes of lists, as rf_fence_check_lists(). */
int rf_transaction_check_lists(struct rf_transaction *transaction, struct rf_list_changes *changes,
			       struct rf_list_refused *refused, struct rf_error *error);
/*
 * Changes lists only, after rf_transaction_set_times(). `trial_ns` 0: for good, also while rules
 * are on trial, and no rules need to be read; else they must be.
 */
int rf_transaction_change_lists(struct rf_transaction *transaction, struct rf_list_changes *changes,
				uint64_t trial_ns, struct rf_lists_outcome *outcome,
				struct rf_error *error);
/*
 * Takes the lock, opens the fence and reads its rules, without expired entries. Fails while rules
 * are on trial. End the transaction even if this fails.
 */
int rf_transaction_begin(struct rf_transaction *transaction, const struct rf_options *options,
			 struct rf_error *error);
/* Puts `rules` in force. `trial` may be NULL. Shows its progress on a terminal. */
int rf_transaction_commit(struct rf_transaction *transaction, const struct rf_trial *trial,
			  struct rf_error *error);
/* Prints, for people, `before` and how long the new rules are on trial; nothing where they are not.
 */
void rf_transaction_print_trial(const char *before, uint64_t trial_ns);
void rf_transaction_end(struct rf_transaction *transaction);

#endif /* RINGFENCE_TRANSACTION_H */
