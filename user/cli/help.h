/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command line's additions to the table of commands: their functions, and the prose of their
 * help, from which usage and help are printed. Words are exact, never abbreviated: a typing error
 * never runs a different command.
 */
#ifndef RINGFENCE_HELP_H
#define RINGFENCE_HELP_H

#include "cli/command.h"

struct rf_command_row {
	rf_command run;
	const char *help;	  /* before the options, in paragraphs; help wraps it */
	const char *heading;	  /* of its group, before the first command of the group */
	const char *notes;	  /* after the options; NULL: nothing */
	const char *no_json;	  /* why it refuses --json; NULL: it does not */
	const char *examples[12]; /* without `ringfence` */
};

extern const struct rf_command_row rf_commands[RF_CMD_COUNT];

/* Returns an error that names the unknown command and the words that can follow its first word. */
int rf_fail_unknown(struct rf_words *words, struct rf_error *error);

/* ---- the requests of a shell's completion script ---- */

/* Are the words `completion words --` and at least one more? Then takes the first three. */
bool rf_completion_is_asked(struct rf_words *words);
/* Prints the words that can replace the last word. */
void rf_completion_words(struct rf_words *words);

#endif /* RINGFENCE_HELP_H */
