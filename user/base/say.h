/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a program that stays says, one line at a time, each written at once: for a terminal and for
 * the journal.
 */
#ifndef RINGFENCE_SAY_H
#define RINGFENCE_SAY_H

#include "base/error.h"

/* The name before what went wrong; it is kept as it is. */
void rf_say_as(const char *program);
/* What it does, on standard output. */
__attribute__((format(printf, 1, 2))) void rf_say(const char *format, ...);
/* The same: a text of its own, of several lines. */
void rf_say_text(const char *text);
/* What went wrong, on standard error, with the program's name before it. */
__attribute__((format(printf, 1, 2))) void rf_warn(const char *format, ...);

/*
 * Warns of a failure that may last, once: not while its text stays that of `said`, which it then
 * is.
 * "": the failure is over.
 */
void rf_say_once(struct rf_error *said, const char *before, const char *text);

#endif /* RINGFENCE_SAY_H */
