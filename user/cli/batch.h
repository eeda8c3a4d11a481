/* SPDX-License-Identifier: GPL-2.0 */
/* A batch: commands that change rules, lists and bans, as the lines of a file have them. */
#ifndef RINGFENCE_BATCH_H
#define RINGFENCE_BATCH_H

#include "cli/files.h"
#include "cli/limit_edit.h"
#include "cli/transaction.h"
#include "rules/file.h"
#include "rules/policy.h"

/* A command that changes limits or newcomers. */
struct rf_step {
	enum rf_command_id command;
	size_t line;
	bool is_wrong;			 /* it has an error, and is not applied */
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

/*
 * Reads the lines. Errors in them are not returned: they are recorded in `batch`. Free it after
 * success and failure.
 */
int rf_batch_read(struct rf_batch *batch, const char *path, struct rf_error *error);
void rf_batch_free(struct rf_batch *batch);

/* Records an error of a line. Fails only if memory runs out. */
int rf_batch_note(struct rf_batch *batch, size_t line, int err, const struct rf_error *reason,
		  struct rf_error *error);

/*
 * Adds the prefixes of a file that a line names. Errors in the file become errors of the line, and
 * set `is_wrong`.
 */
int rf_batch_prefixes(struct rf_batch *batch, size_t line, const char *path,
		      struct rf_prefixes *prefixes, bool *is_wrong, struct rf_error *error);

#endif /* RINGFENCE_BATCH_H */
