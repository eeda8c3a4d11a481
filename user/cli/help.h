/* SPDX-License-Identifier: GPL-2.0 */
/* Usage and help, printed from the tables. */
#ifndef RINGFENCE_HELP_H
#define RINGFENCE_HELP_H

#include "cli/commands.h"

/* An error that says which command is unknown, and what may follow its first word. */
int rf_fail_unknown(struct rf_words *words, struct rf_error *error);
/* Runs `help` with the words after it. */
int rf_help(struct rf_words *words, struct rf_error *error);

#endif /* RINGFENCE_HELP_H */
