/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Destinations of events, other than the history: a file, the system's journal, a program. None of
 * them ever blocks a scan: events that a reader does not accept are dropped, counted, and logged.
 */
#ifndef RINGFENCE_SINKS_H
#define RINGFENCE_SINKS_H

#include <sys/types.h>

#include "base/error.h"
#include "watch/event.h"
#include "watch/event_file.h"

/* ---- a file of JSON lines ---- */

#define RF_EVENT_FILE_BYTES (8ULL << 20) /* the most in each */
#define RF_EVENT_PATH_SIZE 256

struct rf_sink_file {
	char path[RF_EVENT_PATH_SIZE]; /* "": none */
	uint64_t most;		       /* bytes */
	int fd;			       /* -1: not open */
};

#define RF_SINK_FILE_NONE ((struct rf_sink_file){.most = RF_EVENT_FILE_BYTES, .fd = -1})

/* Opens it before there is a line: who reads it sees that a daemon writes it. May fail. */
void rf_sink_file_open(struct rf_sink_file *file);
/* Adds a line, whole or not at all. */
int rf_sink_file_write(struct rf_sink_file *file, const char *line, struct rf_error *error);
void rf_sink_file_close(struct rf_sink_file *file);

/* ---- the journal ---- */

#define RF_JOURNAL_SOCKET "/run/systemd/journal/socket"

/* `socket` is RF_JOURNAL_SOCKET but for tests. -ENOENT: no journal runs. */
int rf_sink_journal_write(const char *socket, const struct rf_event *event, struct rf_error *error);

/* ---- a program ---- */

#define RF_EXEC_QUEUE 64
#define RF_EXEC_SECONDS 10
/* ringfence-notify.socket listens there; its program runs outside of the daemon's sandbox. */
#define RF_NOTIFY_SOCKET "/run/ringfence-notify.sock"
#define RF_EXEC_UNIT "unit" /* in place of a program: hand events over to that socket */

/* One run at a time, the others wait. */
struct rf_sink_exec {
	const char *program; /* "": none */
	const char *socket;
	char *waiting[RF_EXEC_QUEUE];
	int count;
	uint64_t dropped; /* that found no room; the caller logs it, and sets it to 0 */
	pid_t pid;	  /* 0: none runs */
	int fd;		  /* of a run behind the socket; -1: none */
	uint64_t started_ns;
};

#define RF_SINK_EXEC_NONE ((struct rf_sink_exec){"", RF_NOTIFY_SOCKET, {NULL}, .fd = -1})

void rf_sink_exec_put(struct rf_sink_exec *exec, const char *line);
/* Reaps programs that exited or are late, and starts the next. */
int rf_sink_exec_turn(struct rf_sink_exec *exec, struct rf_error *error);
/* Drops what waits, and kills what runs. */
void rf_sink_exec_close(struct rf_sink_exec *exec);

#endif /* RINGFENCE_SINKS_H */
