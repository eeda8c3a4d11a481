/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the user's files, as text or as prefixes. No other code opens them. Prints nothing. */
#ifndef RINGFENCE_FILE_H
#define RINGFENCE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/prefix.h"
#include "rules/ruleset.h"

/* ---- errors ---- */

/* All errors of a file, which allows correcting them in one pass. */
struct rf_mistake {
	size_t line; /* 0: of the file as a whole */
	char *text;
};

/*
 * In the order of their lines, then as they were found; errors of the file as a whole are last. The
 * caller frees them.
 */
struct rf_mistakes {
	struct rf_mistake *mistake;
	size_t count;
	size_t capacity;
	size_t left_out; /* further errors, without their text */
};

/* Copies `text`. Returns -ENOMEM if out of memory. */
int rf_mistakes_add(struct rf_mistakes *mistakes, size_t line, const char *text,
		    struct rf_error *error);
/* Adds the errors of a file that `line` names, each with its line in that file. */
int rf_mistakes_add_file(struct rf_mistakes *mistakes, size_t line, const char *path,
			 const struct rf_mistakes *file, struct rf_error *error);
/* Which of the limits in `slots` to leave out, and the line that it is from; -1: none. */
typedef int (*rf_mistakes_blame)(const void *context, const struct rf_bank *bank, uint32_t slots,
				 size_t *line);
/*
 * Adds the errors that only the complete rules show: without the limit of one, the next compilation
 * finds the next. `rules` lack those limits then.
 */
int rf_ruleset_mistakes(struct rf_ruleset *rules, rf_mistakes_blame blame, const void *context,
			struct rf_mistakes *mistakes, struct rf_error *error);
void rf_mistakes_free(struct rf_mistakes *mistakes);

/* ---- files ---- */

/* The name of a file for messages: `-` is standard input. */
const char *rf_file_name(const char *path);
/* All of a file, with a final NUL; `-` is standard input. The caller frees `text`. */
int rf_file_read(const char *path, char **text, struct rf_error *error);

#define RF_FILE_MISTAKES_MAX 100 /* of a file of prefixes; more are counted */

/*
 * Adds the prefixes of a file to `prefixes`: lines as below, or a set as `nft -j list set` prints
 * it. Invalid lines are not a failure: they are added to `mistakes`.
 */
int rf_file_prefixes(const char *path, struct rf_prefixes *prefixes, struct rf_mistakes *mistakes,
		     struct rf_error *error);

/* ---- lines of lists ---- */

/*
 * One line of a list of addresses, in the formats in which such lists are published.
 *
 *   192.0.2.0/24              a prefix, or an address
 *   192.0.2.5/24              the same network
 *   192.0.2.0 - 192.0.2.255   a range, with or without blanks
 *   192.0.2.7<TAB>12          the first of several columns, after which are blanks, ',' or '|'
 *   "192.0.2.7","2026-01-01"  the same in quotes
 *   192.0.2.0 192.0.2.255 24  a range and its length, as DShield writes it
 *   {"cidr":"192.0.2.0/24"}   a JSON object, as Spamhaus writes it
 *
 * '#' and ';' start a comment, also within a word.
 *
 * Adds the prefixes of a line, which it changes. An empty line adds none. -ENOMEM, or -EINVAL.
 */
int rf_list_line_parse(char *line, struct rf_prefixes *prefixes, struct rf_error *error);

/* ---- sets of nftables ---- */

/* Does the text start like JSON? No list of prefixes does. */
bool rf_nft_set_is(const char *text);
/*
 * Adds the elements of the one set in `text`: addresses, prefixes, and ranges, which become the
 * fewest prefixes. An element with a timeout is an error, because a prefix has none. `name` names
 * the text in errors. On failure `prefixes` can contain some of them.
 */
int rf_nft_set_prefixes(const char *name, const char *text, struct rf_prefixes *prefixes,
			struct rf_error *error);

#endif /* RINGFENCE_FILE_H */
