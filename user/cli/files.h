/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The files with rules, commands or prefixes that commands read, and the mistakes in them. No fence
 * is opened.
 */
#ifndef RINGFENCE_CLI_FILES_H
#define RINGFENCE_CLI_FILES_H

#include "cli/transaction.h"
#include "fence/fence.h"
#include "rules/file.h"
#include "rules/grammar_option.h"
#include "rules/list_change.h"
#include "rules/rulefile.h"

#define RF_RULES_UNCHANGED "nothing was changed"
#define RF_RULES_REFUSED "'apply' would change nothing"
#define RF_EXIT_SKIPPED 3 /* done, but for invalid lines that were to be skipped */

/* Reads a rule file, with its mistakes. Free it, whether this succeeded or not. */
int rf_rules_read(const char *path, struct rf_rulefile *file, struct rf_error *error);
/* Prints each mistake of a file, of which there is one at least, and fails; `outcome` ends the
 * message. */
int rf_rules_refuse(const char *path, const struct rf_mistakes *mistakes, const char *outcome,
		    struct rf_error *error);
/*
 * Adds the prefixes of a file, and prints its mistakes. `skipped` is NULL: it fails if there are
 * any; else it counts them.
 */
int rf_rules_prefixes(const char *path, struct rf_prefixes *prefixes, size_t *skipped,
		      struct rf_error *error);
/* Says how many prefixes in the words of a definition are not what their text says literally. */
void rf_rules_note_definition(const struct rf_definition *definition);
/* Adds the prefixes of the file that a definition names, if any, after that note. */
int rf_rules_read_from(struct rf_definition *definition, struct rf_error *error);
/* Says that a prefix was written as an IPv4-mapped address. */
void rf_rules_note_mapped(const char *text, const struct rf_prefix *prefix);
/*
 * Checks all rules of the file together. Where it has mistakes, prints each of them, and fails;
 * `outcome` ends the message.
 */
int rf_rules_check(const char *path, struct rf_rulefile *file, const char *outcome,
		   struct rf_error *error);

/* ---- a batch: commands that change rules, lists and bans, as its lines have them ---- */

/* A command that changes limits or newcomers. */
struct rf_step {
	enum rf_command_id command;
	size_t line;
	bool is_wrong;			 /* it has a mistake, and is not made */
	bool force;			 /* also if it cuts off an own network */
	struct rf_words words;		 /* after the command; its own copy */
	struct rf_definition definition; /* of 'limit add' and 'limit set' */
	struct rf_change change;	 /* of 'limit change' */
	struct rf_names names;		 /* of the others; as they were typed */
	struct rf_newcomers_text newcomers;
	uint32_t hosts; /* of the fleet */
};

struct rf_batch {
	const char *path;
	struct rf_batch_text options;
	char *text; /* the words are in it */
	size_t commands;
	struct rf_step *step;
	size_t steps, steps_capacity;
	struct rf_list_changes lists;
	struct rf_left_out left_out;	  /* changes of lists that are refused */
	size_t skipped;			  /* invalid lines of files */
	size_t wrong_load[RF_LIST_COUNT]; /* the line of the first 'load' that failed; 0: none */
	struct rf_unban *unban;
	size_t *unban_line;
	size_t unbans, unbans_capacity;
	struct rf_mistakes mistakes;
};

/* Mistakes are no error: `batch` has them. Free it, whether this succeeded or not. */
int rf_batch_read(struct rf_batch *batch, const char *path, struct rf_error *error);
void rf_batch_free(struct rf_batch *batch);
/* Notes a mistake of a line; an error only where there is no memory, even for that. */
int rf_batch_note(struct rf_batch *batch, size_t line, int err, const struct rf_error *reason,
		  struct rf_error *error);
/*
 * Adds the prefixes of a file that a line names. Where the file has mistakes, they become mistakes
 * of the line, and `is_wrong` is set.
 */
int rf_batch_prefixes(struct rf_batch *batch, size_t line, const char *path,
		      struct rf_prefixes *prefixes, bool *is_wrong, struct rf_error *error);

#endif /* RINGFENCE_CLI_FILES_H */
