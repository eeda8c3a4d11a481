/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the command line adds to the table of commands: their functions, and the prose of their
 * help, from which usage and help are printed. Words are exact, never abbreviated, so that a typing
 * error never runs another command.
 */
#ifndef RINGFENCE_HELP_H
#define RINGFENCE_HELP_H

#include "cli/command.h"

struct rf_command_row {
	rf_command run;
	const char *help;	  /* before the options, in paragraphs; help wraps it */
	const char *notes;	  /* after the options; NULL: nothing */
	const char *no_json;	  /* why it refuses --json; NULL: it does not */
	const char *examples[12]; /* without `ringfence` */
};

extern const struct rf_command_row rf_commands[RF_CMD_COUNT];

/* An error that says which command is unknown, and what may follow its first word. */
int rf_fail_unknown(struct rf_words *words, struct rf_error *error);

/* ---- the question that the completion script of a shell asks ---- */

/* Are the words `completion words --` and at least one more? Then takes the first three. */
bool rf_completion_is_asked(struct rf_words *words);
/* Prints the words that may stand in the place of the last word. */
void rf_completion_words(struct rf_words *words);

#endif /* RINGFENCE_HELP_H */
