/* SPDX-License-Identifier: GPL-2.0 */
/* All sinks of events in the settings, other than the history: of every fence. */
#ifndef RINGFENCE_DAEMON_OUTLETS_H
#define RINGFENCE_DAEMON_OUTLETS_H

#include "base/say.h"
#include "daemon/settings.h"
#include "daemon/sinks.h"
#include "watch/events.h"
#include "watch/history.h"

struct rf_outlets {
	struct rf_sink_file file;
	bool has_journal;
	char program[RF_SETTING_PATH_SIZE];
	struct rf_sink_exec exec;
	/* The last failure of each: it is said once. */
	struct rf_said said_file, said_journal, said_exec;
};

/* Can be called again, with other settings: no waiting event is lost. */
void rf_outlets_open(struct rf_outlets *outlets, const struct rf_settings *settings);
/* Lets programs continue; whenever the daemon wakes up. */
void rf_outlets_turn(struct rf_outlets *outlets);
void rf_outlets_close(struct rf_outlets *outlets);

/*
 * The output of one fence's events: first into the history, together with the state for a restart,
 * and then to all other sinks. A daemon that is killed in between has therefore not reported
 * anything that it does not know afterwards.
 */

struct rf_telling {
	struct rf_events *events; /* NULL: there was no scan yet */
	char fence[RF_NAME_SIZE];
	enum rf_told told;
	struct rf_event *event; /* of this scan, in their reportable form */
	size_t count, capacity;
	bool is_unsaved; /* there is something that the state on disk does not have */
	bool was_lost;	 /* events were reported that it does not have */
};

/* Takes a scan. `history` can be NULL; the state is then in a file next to the file of events. */
void rf_telling_take(struct rf_telling *telling, const struct rf_settings *settings,
		     struct rf_history *history, const struct rf_snapshot *snapshot);
/* The fence was removed. */
void rf_telling_gone(struct rf_telling *telling, uint64_t time_ns);
/* Within a transaction. */
int rf_telling_record(struct rf_telling *telling, struct rf_history *history,
		      struct rf_error *error);
/* Afterwards. `is_recorded`: the history has them, and the state. */
void rf_telling_give(struct rf_telling *telling, struct rf_outlets *outlets, bool is_recorded);
void rf_telling_end(struct rf_telling *telling);

#endif /* RINGFENCE_DAEMON_OUTLETS_H */
