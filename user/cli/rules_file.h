/* SPDX-License-Identifier: GPL-2.0 */
/* The files with rules, commands or prefixes that commands read, and the mistakes in them. */
#ifndef RINGFENCE_RULES_FILE_H
#define RINGFENCE_RULES_FILE_H

#include "rules/rulefile.h"

#define RF_RULES_UNCHANGED "nothing was changed"
#define RF_RULES_REFUSED "'apply' would change nothing"

/* Reads a rule file, with its mistakes. Free it, whether this succeeded or not. */
int rf_rules_read(const char *path, struct rf_rulefile *file, struct rf_error *error);
/* Prints each mistake of a file, of which there is one at least, and fails; `outcome` ends the
 * message. */
int rf_rules_refuse(const char *path, const struct rf_mistakes *mistakes, const char *outcome,
		    struct rf_error *error);
/* Adds the prefixes of a file. Where it has mistakes, prints each of them, and fails. */
int rf_rules_prefixes(const char *path, struct rf_prefixes *prefixes, struct rf_error *error);
/*
 * Checks all rules of the file together. Where it has mistakes, prints each of them, and fails;
 * `outcome` ends the message.
 */
int rf_rules_check(const char *path, struct rf_rulefile *file, const char *outcome,
		   struct rf_error *error);

#endif /* RINGFENCE_RULES_FILE_H */
