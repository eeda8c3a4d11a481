/* SPDX-License-Identifier: GPL-2.0 */
/* What listing and watching events share. */
#ifndef RINGFENCE_CLI_EVENTS_H
#define RINGFENCE_CLI_EVENTS_H

#include "cli/recorded.h"
#include "watch/event_file.h"

/* Do the words choose it by its type and its source? Its time is not looked at. */
bool rf_event_is_asked(const struct rf_events_asked *asked, const struct rf_recorded_event *event);

/* Where events are read from. */
struct rf_events_place {
	bool is_file; /* else the histories */
	char path[PATH_MAX];
};

/* An error where ringfence-watch is told to record neither. */
int rf_events_place(struct rf_events_place *place, struct rf_error *error);
/* The fence that `dev` means: the one on this interface, or of this name. Is it attached? */
bool rf_events_fence(const char *dev, char fence[RF_NAME_SIZE]);

/* events, from the file */
int rf_events_list_file(const struct rf_options *options, const struct rf_events_asked *asked,
			const char *path, struct rf_error *error);
/* events watch */
int rf_events_watch(const struct rf_options *options, const struct rf_events_asked *asked,
		    const struct rf_events_place *place, struct rf_error *error);

#endif /* RINGFENCE_CLI_EVENTS_H */
