/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Opening a file that a root process writes to a configured path: no link is followed elsewhere,
 * and only a file that it created itself gets a group and a mode.
 */
#ifndef RINGFENCE_OWN_FILE_H
#define RINGFENCE_OWN_FILE_H

#include <sys/types.h>

/*
 * Creates the file with `mode`, for the group of its directory, or opens an existing one; `flags`
 * are as for open(). Returns the descriptor or a negative errno; then `*why` describes the failure.
 */
int rf_own_file_open(const char *path, int flags, mode_t mode, const char **why);
/* Is `path` free, or a regular file that no link leads to? 0, or a negative errno and `*why`. */
int rf_own_file_check(const char *path, const char **why);

#endif /* RINGFENCE_OWN_FILE_H */
