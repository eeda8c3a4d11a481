/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The log messages of a long-running program, one line at a time, each written immediately: for a
 * terminal and for the journal.
 */
#ifndef RINGFENCE_SAY_H
#define RINGFENCE_SAY_H

#include "base/error.h"

/* The prefix of error messages; the string must remain valid. */
void rf_say_as(const char *program);
/* Logs progress, on standard output. */
__attribute__((format(printf, 1, 2))) void rf_say(const char *format, ...);
/* The same: a text of several lines. */
void rf_say_text(const char *text);
/* What went wrong, on standard error, with the program's name before it. */
__attribute__((format(printf, 1, 2))) void rf_warn(const char *format, ...);

/* The last message about a condition that can persist; all zeros: none. */
struct rf_said {
	char text[1024];
};

/*
 * Logs an error once, while it stays the same, and its end once. `error` "": no error; then
 * `recovered` is logged if there was one; NULL: nothing is.
 */
void rf_say_once(struct rf_said *said, const char *before, const char *error,
		 const char *recovered);

#endif /* RINGFENCE_SAY_H */
