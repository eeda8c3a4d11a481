/* SPDX-License-Identifier: GPL-2.0 */
/* The command table. Words are exact: nothing is abbreviated, so that a slip never runs another
 * command. */
#ifndef RINGFENCE_COMMANDS_H
#define RINGFENCE_COMMANDS_H

#include <stddef.h>

#include "cli/command.h"

struct rf_command_row {
	const char *words; /* one or two */
	const char *arguments;
	const char *summary;
	const char *help; /* ends with examples, a line each: "Example: ringfence …" */
	rf_command run;
};

struct rf_command_table {
	const struct rf_command_row *row;
	size_t count;
};

extern const struct rf_command_table rf_commands;

#endif /* RINGFENCE_COMMANDS_H */
