/* SPDX-License-Identifier: GPL-2.0 */
/* What the daemon prints in a terminal: how it is called, and the mistakes of its settings. */
#ifndef RINGFENCE_DAEMON_HELP_H
#define RINGFENCE_DAEMON_HELP_H

#include "rules/file.h"

/* One warning for each mistake, with the file and the line. */
void rf_warn_mistakes(const char *file, const struct rf_mistakes *mistakes);
void rf_say_help(void);

#endif /* RINGFENCE_DAEMON_HELP_H */
