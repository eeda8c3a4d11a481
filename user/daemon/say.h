/* SPDX-License-Identifier: GPL-2.0 */
/* The only code of the daemon that prints, one line at a time: for a terminal and for the journal.
 */
#ifndef RINGFENCE_SAY_H
#define RINGFENCE_SAY_H

#include "base/error.h"
#include "rules/mistakes.h"

/* What it does, on standard output. */
__attribute__((format(printf, 1, 2))) void rf_say(const char *format, ...);
/* What went wrong, on standard error, with the program's name before it. */
__attribute__((format(printf, 1, 2))) void rf_warn(const char *format, ...);
/* One warning for each mistake, with the file and the line. */
void rf_warn_mistakes(const char *file, const struct rf_mistakes *mistakes);
void rf_say_help(void);

#endif /* RINGFENCE_SAY_H */
