/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the command line adds to the table of the grammar: the function of each command, and the
 * prose of its help. Words are exact, never abbreviated, so that a typing error never runs another
 * command.
 */
#ifndef RINGFENCE_COMMANDS_H
#define RINGFENCE_COMMANDS_H

#include "cli/command.h"

struct rf_command_row {
	const char *help;	  /* before the options, in paragraphs; help wraps it */
	const char *notes;	  /* after the options; NULL: nothing */
	const char *examples[12]; /* without `ringfence` */
	rf_command run;		  /* NULL: main runs it itself */
};

extern const struct rf_command_row rf_commands[RF_CMD_COUNT];
/* Why a command refuses --json; sparse: the others accept it. */
extern const char *const rf_no_json[RF_CMD_COUNT];

#endif /* RINGFENCE_COMMANDS_H */
