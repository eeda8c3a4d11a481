/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads the daemon's file of events, line by line, including the renamed files: from the oldest to
 * the last line, and later all lines added since. If a file is removed, renamed or truncated
 * concurrently, no line is visited twice. Functions return 0 or a negative errno.
 */
#ifndef RINGFENCE_EVENT_FILE_H
#define RINGFENCE_EVENT_FILE_H

#include <limits.h>

#include "watch/reader.h"

#define RF_EVENT_FILES 4 /* FILE, FILE.1 … */

/* RINGFENCE_EVENTS in the environment, or the setting in watch.conf, or the default. "": off. */
void rf_event_file_path(char path[PATH_MAX]);
/* Does a daemon write the file now? */
bool rf_event_file_is_written(const char *path);

/*
 * The number of the last event of a fence in the file and in those it was renamed to; 0: they have
 * none, or cannot be read.
 */
uint64_t rf_event_file_last(const char *path, const char *fence);

struct rf_event_file;

/* `fence` and `event` are valid during the visit. A nonzero result stops the reading. */
typedef int (*rf_event_line_visit)(void *context, const char *fence,
				   const struct rf_recorded_event *event);

/* The file need not exist yet. -ENOMEM. */
int rf_event_file_open(struct rf_event_file **file, const char *path, struct rf_error *error);
/* NULL is allowed. */
void rf_event_file_close(struct rf_event_file *file);
/* Visits all lines that were not visited yet. On -EACCES and similar: `error` is set. */
int rf_event_file_read(struct rf_event_file *file, rf_event_line_visit visit, void *context,
		       struct rf_error *error);
/* The number of lines read that were no events. */
uint64_t rf_event_file_strange(const struct rf_event_file *file);

#endif /* RINGFENCE_EVENT_FILE_H */
