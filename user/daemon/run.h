/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_DAEMON_RUN_H
#define RINGFENCE_DAEMON_RUN_H

#include "base/error.h"
#include "rules/grammar.h"

/* Watches until a signal stops it. `words` are the settings of the command line. */
int rf_daemon_run(const struct rf_words *words, struct rf_error *error);

#endif /* RINGFENCE_DAEMON_RUN_H */
