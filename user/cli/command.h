/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands. Each command reads the rest of its words, acts, and prints once. It returns 0, or a
 * negative errno with the reason in `error`, which main prints. `diff` may also return 1, which is
 * then the exit status.
 */
#ifndef RINGFENCE_COMMAND_H
#define RINGFENCE_COMMAND_H

#include "base/error.h"
#include "rules/grammar.h"
#include "rules/grammar_option.h"

/* The options of every command. */
struct rf_options {
	const char *dev; /* NULL: the only fence */
	bool json;
};

typedef int (*rf_command)(const struct rf_options *options, struct rf_words *words,
			  struct rf_error *error);

/* rf_cmd_attach() and so on: a function for each command. */
#define COMMAND(id, function, ...)                                                      \
	int rf_cmd_##function(const struct rf_options *options, struct rf_words *words, \
			      struct rf_error *error);
#include "schema/commands.def"
#undef COMMAND

#endif /* RINGFENCE_COMMAND_H */
