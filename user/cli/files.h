/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The files with rules or prefixes that commands read, and the errors in them. No fence is opened.
 */
#ifndef RINGFENCE_CLI_FILES_H
#define RINGFENCE_CLI_FILES_H

#include "cli/transaction.h"
#include "fence/fence.h"
#include "rules/file.h"
#include "rules/grammar_option.h"
#include "rules/list_change.h"
#include "rules/rulefile.h"

#define RF_RULES_UNCHANGED "no changes were made"
#define RF_RULES_REFUSED "'apply' would change nothing"
#define RF_EXIT_SKIPPED 3 /* done, but for invalid lines that were to be skipped */

/* Reads a rule file, with its errors. Free it, even after an error. */
int rf_rules_read(const char *path, struct rf_rulefile *file, struct rf_error *error);
/*
 * Prints each error in a file, which must have at least one, and fails; the message closes with
 * `outcome`.
 */
int rf_rules_refuse(const char *path, const struct rf_mistakes *mistakes, const char *outcome,
		    struct rf_error *error);
/*
 * Adds the prefixes of a file, and prints its errors. `skipped` NULL: fails if there are any; else
 * counts them.
 */
int rf_rules_prefixes(const char *path, struct rf_prefixes *prefixes, size_t *skipped,
		      struct rf_error *error);
/* Prints how many prefixes of a definition differ from their literal text. */
void rf_rules_note_definition(const struct rf_definition *definition);
/* Adds the prefixes of the file that a definition names, if any, after that note. */
int rf_rules_read_from(struct rf_definition *definition, struct rf_error *error);
/* Prints a note of how many prefixes of a file were read differently from their text. */
void rf_rules_note_read(const char *name, size_t cleared, size_t mapped);
/* Notes that a prefix was written as an IPv4-mapped address. */
void rf_rules_note_mapped(const char *text, const struct rf_prefix *prefix);
/*
 * Checks all rules of the file together. If it has errors, prints each of them and fails; the
 * message closes with `outcome`.
 */
int rf_rules_check(const char *path, struct rf_rulefile *file, const char *outcome,
		   struct rf_error *error);

#endif /* RINGFENCE_CLI_FILES_H */
