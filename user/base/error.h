/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The message of an error, from code that must not print. One line: the subject, what failed, the
 * reason, and what to type next. cli/out puts the program's name before it.
 */
#ifndef RINGFENCE_ERROR_H
#define RINGFENCE_ERROR_H

#include <stdbool.h>

struct rf_error {
	bool usage; /* the command's words were wrong: exit status 2, not 1 */
	char text[512];
};

/* Both return a negative errno, for callers that `return rf_error_…(…)`. */
__attribute__((format(printf, 3, 4))) int
rf_error_failed(struct rf_error *error, int negative_errno, const char *format, ...);
__attribute__((format(printf, 2, 3))) int rf_error_usage(struct rf_error *error, const char *format,
							 ...);

#endif /* RINGFENCE_ERROR_H */
