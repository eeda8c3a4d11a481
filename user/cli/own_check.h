/* SPDX-License-Identifier: GPL-2.0 */
/* Keeps a command from locking its host out, see lockout.h, and reports what it leaves out. */
#ifndef RINGFENCE_OWN_CHECK_H
#define RINGFENCE_OWN_CHECK_H

#include "cli/left_out.h"
#include "cli/transaction.h"
#include "rules/lockout.h"

/*
 * Finds the changes that cut off an own network; the times of the changes are set. `found` refers
 * to the transaction; free it, even after an error.
 */
int rf_own_check_find(struct rf_transaction *transaction, struct rf_list_changes *changes,
		      struct rf_lockout_lists *found, struct rf_error *error);
/* The error of one of them, with further keys for --json. */
int rf_own_check_fail(const struct rf_list_changes *changes, const struct rf_lockout_list *found,
		      struct rf_error *error);
/* Leaves out those of them that are to be left out, and reports each. */
void rf_own_check_leave_out(struct rf_list_changes *changes, const struct rf_lockout_lists *found,
			    struct rf_left_out *left_out);
/* All of it, for a command: fails at the first change that is refused. */
int rf_own_check_lists(struct rf_transaction *transaction, struct rf_list_changes *changes,
		       struct rf_left_out *left_out, struct rf_error *error);

/* ---- limits ---- */

/* The limits among `slots` of rate 0 that cut off an own network, by the transaction's rules. */
uint32_t rf_own_check_limits(struct rf_transaction *transaction, uint32_t slots);
/* The error of a limit that is one of them and was none of `before`. */
int rf_own_check_new_limits(struct rf_transaction *transaction, uint32_t slots, uint32_t before,
			    struct rf_error *error);
/* Prints a note where an enforced limit among `slots` applies to the SSH connection. */
void rf_own_check_note(struct rf_transaction *transaction, uint32_t slots);

/* ---- all rules ---- */

/* Prints a note where the rules drop an own network, or a limit applies to the SSH connection. */
void rf_own_check_note_rules(struct rf_transaction *transaction);

#endif /* RINGFENCE_OWN_CHECK_H */
