/* SPDX-License-Identifier: GPL-2.0 */
/* All sinks of events that the settings name, beside the history: those of every fence. */
#ifndef RINGFENCE_DAEMON_OUTLETS_H
#define RINGFENCE_DAEMON_OUTLETS_H

#include "daemon/settings.h"
#include "daemon/sinks.h"

struct rf_outlets {
	struct rf_sink_file file;
	bool has_journal;
	char program[RF_SETTING_PATH_SIZE];
	struct rf_sink_exec exec;
	/* The last failure of each: it is said once. */
	struct rf_error said_file, said_journal, said_exec;
};

/* May be called again, with other settings: then nothing that waits is lost. */
void rf_outlets_open(struct rf_outlets *outlets, const struct rf_settings *settings);
/* `event` is as it may be told. */
void rf_outlets_give(struct rf_outlets *outlets, const struct rf_event *event);
/* Lets programs go on; whenever the daemon wakes up. */
void rf_outlets_turn(struct rf_outlets *outlets);
void rf_outlets_close(struct rf_outlets *outlets);

#endif /* RINGFENCE_DAEMON_OUTLETS_H */
