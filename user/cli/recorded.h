/* SPDX-License-Identifier: GPL-2.0 */
/* Commands that read histories instead of fences. */
#ifndef RINGFENCE_CLI_RECORDED_H
#define RINGFENCE_CLI_RECORDED_H

#include <jansson.h>

#include "base/number.h"
#include "cli/command.h"
#include "watch/reader.h"

/*
 * Shows one history. Prints it, or, where `json` is not NULL, sets `*json` to its object. `context`
 * is the command's.
 */
typedef int (*rf_show_recorded)(struct rf_reader *reader, const char *fence, const void *context,
				json_t **json, struct rf_error *error);

/*
 * Shows the history of the fence that `dev` names: its object is the whole JSON. Without `dev`,
 * those of all fences: {"fences":[…]}; in text each under a heading, unless `show` prints one.
 */
int rf_show_histories(const struct rf_options *options, rf_show_recorded show, bool has_heading,
		      const void *context, struct rf_error *error);
/*
 * Opens the history that `dev` names, or the only one, or that of the only fence that is attached.
 * Writes its fence's name.
 */
int rf_recorded_open(const struct rf_options *options, struct rf_reader **reader,
		     char fence[RF_NAME_SIZE], struct rf_error *error);

/* stats at TIME, top at TIME, show ADDRESS at TIME */
int rf_stats_at(const struct rf_options *options, uint64_t at_ns, struct rf_error *error);
int rf_top_at(const struct rf_options *options, const struct rf_top *top, struct rf_error *error);
int rf_show_at(const struct rf_options *options, const struct rf_prefix *source, uint64_t at_ns,
	       struct rf_error *error);

/* "2026-11-22T14:02:11.204Z" */
json_t *rf_json_time(uint64_t time_ns);
/* {"reasons":{…},"limits":[…],"packets":{…},"bytes":{…}} of an interval. */
json_t *rf_recorded_json(const struct rf_recorded *recorded);
/* The reasons and limits of an interval; per second, if `seconds` is not 0. */
void rf_recorded_print(const struct rf_recorded *recorded, double seconds);
/* A table of the first `count` sources; per second, if `seconds` is not 0. */
void rf_recorded_sources_print(const struct rf_recorded_sources *sources, size_t count,
			       double seconds);
json_t *rf_recorded_sources_json(const struct rf_recorded_sources *sources, size_t count);
/* Puts the rows of a question into an object, as a list of objects. */
int rf_recorded_list(json_t *json, const char *key, struct rf_reader *reader,
		     enum rf_question question, const struct rf_asked *asked,
		     struct rf_error *error);
json_t *rf_recorded_event_json(const char *fence, const struct rf_recorded_event *event);
#define RF_EVENT_TEXT_SIZE 640
/* An event for people, without its time; with the fence's name, if it is not "". */
void rf_recorded_event_text(const struct rf_recorded_event *event, const char *fence, bool has_id,
			    char text[RF_EVENT_TEXT_SIZE]);
/* Prints it with date and time, indented. */
void rf_recorded_event_print(const struct rf_recorded_event *event);

/* Lines of events, each with its time; a day has a line of its own. */
#define RF_DATE_LENGTH 10
struct rf_event_lines {
	const char *indent;
	char day[RF_DATE_LENGTH + 1]; /* of the line before */
};

void rf_event_lines_put(struct rf_event_lines *lines, uint64_t time_ns, const char *text);

#endif /* RINGFENCE_CLI_RECORDED_H */
