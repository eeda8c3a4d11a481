/* SPDX-License-Identifier: GPL-2.0 */
/* The one way to change rules: read the active ones, change them, commit them. */
#ifndef RINGFENCE_TRANSACTION_H
#define RINGFENCE_TRANSACTION_H

#include "base/own_networks.h"
#include "cli/command.h"
#include "fence/fence.h"
#include "fence/lists.h"
#include "rules/lockout.h"
#include "rules/ruleset.h"
#include "schema/record.h"

struct rf_transaction {
	struct rf_fence fence;
	struct rf_ruleset rules;
	struct rf_bank present;	    /* the active one */
	struct rf_bank before;	    /* the other bank */
	uint64_t now;		    /* jiffies */
	uint32_t next_id;	    /* of the next new limit */
	struct rf_own_networks own; /* where rf_own_check has read them */
	bool has_own, has_gateways;
};

#define RF_TRANSACTION_NONE ((struct rf_transaction){.fence = RF_FENCE_NONE})

/* Acquires the lock, and opens the fence. End the transaction even if this fails. */
int rf_transaction_open(struct rf_transaction *transaction, const struct rf_options *options,
			struct rf_error *error);
/* Reads the active rules, without expired entries, even while rules are unconfirmed. */
int rf_transaction_read(struct rf_transaction *transaction, struct rf_error *error);
/* Sets when the entries of lists expire, from their durations. */
void rf_transaction_set_times(const struct rf_transaction *transaction,
			      const struct rf_list_changes *changes);
/* Checks whether the fence accepts changes of lists, as rf_fence_check_lists(). */
int rf_transaction_check_lists(struct rf_transaction *transaction, struct rf_list_changes *changes,
			       struct rf_list_refused *refused, struct rf_error *error);
/*
 * Changes lists only, after rf_transaction_set_times(). `confirm_ns` 0: for good, also while rules
 * are unconfirmed, and no rules need to be read; else they must be.
 */
int rf_transaction_change_lists(struct rf_transaction *transaction, struct rf_list_changes *changes,
				uint64_t confirm_ns, struct rf_lists_outcome *outcome,
				struct rf_error *error);
/*
 * Acquires the lock, opens the fence and reads its rules, without expired entries. Fails while
 * rules are unconfirmed. End the transaction even if this fails.
 */
int rf_transaction_begin(struct rf_transaction *transaction, const struct rf_options *options,
			 struct rf_error *error);
/* Activates `rules`. `confirm` can be NULL. Shows its progress on a terminal. */
int rf_transaction_commit(struct rf_transaction *transaction, const struct rf_confirm *confirm,
			  struct rf_error *error);
void rf_transaction_end(struct rf_transaction *transaction);

/* ---- changes that a command leaves out ---- */

/* Of the changes that are left out, the first ones are reported each, of the others the number. */
struct rf_left_out {
	const char *name; /* of the file that has the changes */
	size_t count;
};

/* Counts a change, and prints why it is left out; `line` 0: of no line. */
void rf_left_out_add(struct rf_left_out *left_out, size_t line, const struct rf_error *reason);
/* Prints how many were not printed. */
void rf_left_out_end(const struct rf_left_out *left_out);

/* ---- no command locks its host out, see lockout.h ---- */

/*
 * Finds the changes that cut off an own network; the times of the changes are set. `found` refers
 * to the transaction; free it, even after an error.
 */
int rf_own_check_find(struct rf_transaction *transaction, struct rf_list_changes *changes,
		      struct rf_lockout_lists *found, struct rf_error *error);
/* Leaves out the found changes that must not be made, and reports each. */
void rf_own_check_leave_out(struct rf_list_changes *changes, const struct rf_lockout_lists *found,
			    struct rf_left_out *left_out);
/* The whole check, for a command: fails at the first rejected change. */
int rf_own_check_lists(struct rf_transaction *transaction, struct rf_list_changes *changes,
		       struct rf_left_out *left_out, struct rf_error *error);

/* The limits among `slots` of rate 0 that cut off an own network, by the transaction's rules. */
uint32_t rf_own_check_limits(struct rf_transaction *transaction, uint32_t slots);
/* The error of a limit that is one of them and was none of `before`. */
int rf_own_check_new_limits(struct rf_transaction *transaction, uint32_t slots, uint32_t before,
			    struct rf_error *error);
/* Prints a note if an enforced limit among `slots` applies to the SSH connection. */
void rf_own_check_note(struct rf_transaction *transaction, uint32_t slots);

/* Prints a note where the rules drop an own network, or a limit applies to the SSH connection. */
void rf_own_check_note_rules(struct rf_transaction *transaction);

/* ---- the report of a change about the new rules ---- */

#define RF_ALL_SLOTS UINT32_MAX

struct rf_done {
	uint64_t confirm_ns;		/* until the new rules are taken back; 0: they are not */
	const struct rf_ruleset *rules; /* NULL: no limit was changed */
	uint32_t slots;			/* warnings are about these limits */
};

extern const struct rf_field rf_unconfirmed_fields[]; /* "unconfirmed_ms" */
/* "warnings": of shadows whose sources a wider limit of their group has, or lost */
extern const struct rf_field rf_warnings_fields[];
extern const struct rf_field rf_done_fields[]; /* both */
/* Prints `before` and the time to confirm, if given, and the warnings on standard error. */
void rf_done_print(const char *before, const struct rf_done *done);

#endif /* RINGFENCE_TRANSACTION_H */
