/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the settings: those embedded, the file, the environment of a unit, the command line. */
#ifndef RINGFENCE_DAEMON_LOAD_H
#define RINGFENCE_DAEMON_LOAD_H

#include "daemon/settings.h"

/* Takes the settings of a file; prints each mistake in it. */
int rf_settings_load(struct rf_settings *settings, const char *path, struct rf_error *error);
/*
 * Makes the settings anew: for the start, and for SIGHUP. `words` are those of the command line. On
 * failure `settings` stay as they were.
 */
int rf_settings_make(struct rf_settings *settings, const struct rf_words *words,
		     struct rf_error *error);

#endif /* RINGFENCE_DAEMON_LOAD_H */
