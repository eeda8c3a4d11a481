/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the user's files, as text or as prefixes. No other code opens them. Prints nothing. */
#ifndef RINGFENCE_FILE_H
#define RINGFENCE_FILE_H

#include "base/error.h"
#include "base/prefix.h"
#include "rules/mistakes.h"

/* The name of a file for messages: `-` is standard input. */
const char *rf_file_name(const char *path);
/* All of a file, with a final NUL; `-` is standard input. The caller frees `text`. */
int rf_file_read(const char *path, char **text, struct rf_error *error);

#define RF_FILE_MISTAKES_MAX 100 /* of a file of prefixes; more are counted */

/*
 * Adds the prefixes of a file to `prefixes`: lines as in list_line.h, or a set as `nft -j list set`
 * prints it. Wrong lines are no error: they are added to `mistakes`.
 */
int rf_file_prefixes(const char *path, struct rf_prefixes *prefixes, struct rf_mistakes *mistakes,
		     struct rf_error *error);

#endif /* RINGFENCE_FILE_H */
