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
/*
 * Adds the prefixes of a file to `prefixes`: one per line, where `#` begins a comment, or a set as
 * `nft -j list set` prints it. An error names the file, the line and the word.
 */
int rf_file_prefixes(const char *path, struct rf_prefixes *prefixes, struct rf_error *error);
/* The same for all mistakes: they are no error, and the lines that are right are added. */
int rf_file_prefixes_all(const char *path, struct rf_prefixes *prefixes,
			 struct rf_mistakes *mistakes, struct rf_error *error);

#endif /* RINGFENCE_FILE_H */
