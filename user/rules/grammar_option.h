/* SPDX-License-Identifier: GPL-2.0 */
/* Commands and their options, found by the table. Prints nothing, like all of the grammar. */
#ifndef RINGFENCE_GRAMMAR_OPTION_H
#define RINGFENCE_GRAMMAR_OPTION_H

#include "rules/grammar.h"
#include "rules/grammar_table.h"

/* How usage and help write an option with its value: ban TIME. */
#define RF_OPTION_TEXT_SIZE 160
void rf_option_format(const struct rf_option *option, char text[RF_OPTION_TEXT_SIZE]);
/* The arguments of a command, as its usage line shows them: NAME rate COUNT/TIME [OPTION…]. */
#define RF_USAGE_TEXT_SIZE 256
void rf_syntax_format(const struct rf_syntax *command, char text[RF_USAGE_TEXT_SIZE]);

/* An error: `where`, a kind of file, has no such command. `words` are as before the search. */
int rf_refuse_command(struct rf_words *words, int command, const char *where,
		      struct rf_error *error);
#define RF_ARGUMENTS_SIZE 4096 /* no command fills more */

/*
 * Parses the words after a command into the struct that its row names, which remains unchanged
 * after an error. The caller handles an operand whose row has no field.
 */
int rf_parse_arguments(enum rf_command_id command, struct rf_words *words, void *into,
		       struct rf_error *error);
/* The operand's word; NULL with an error that shows the usage. */
const char *rf_take_operand(enum rf_command_id command, struct rf_words *words,
			    struct rf_error *error);

/* The names of limits that a command takes, as they were typed. */
struct rf_names {
	const char *name[RF_LIMITS_MAX];
	int count;
};

/* NAME…: the operands of a command, up to its first option. */
int rf_parse_names(enum rf_command_id command, struct rf_words *words, struct rf_names *names,
		   struct rf_error *error);

#endif /* RINGFENCE_GRAMMAR_OPTION_H */
