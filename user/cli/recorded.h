/* SPDX-License-Identifier: GPL-2.0 */
/* Commands that read histories instead of fences. */
#ifndef RINGFENCE_CLI_RECORDED_H
#define RINGFENCE_CLI_RECORDED_H

#include <jansson.h>

#include "base/text.h"
#include "cli/command.h"
#include "rules/ruleset.h"
#include "watch/reader.h"

/*
 * Shows one history. Prints it, or, where `json` is not NULL, sets `*json` to its object. `context`
 * is the command's.
 */
typedef int (*rf_show_recorded)(struct rf_reader *reader, const char *fence, const void *context,
				json_t **json, struct rf_error *error);

/*
 * Shows the history of the fence that `dev` names: its object is the whole JSON. Without `dev`, the
 * histories of all fences: {"fences":[…]}; in text each under a heading, unless `show` prints one.
 */
int rf_show_histories(const struct rf_options *options, rf_show_recorded show, bool has_heading,
		      const void *context, struct rf_error *error);
/*
 * Opens the history that `dev` names, or the only one, or the history of the only attached fence.
 * Writes its fence's name.
 */
int rf_recorded_open(const struct rf_options *options, struct rf_reader **reader,
		     char fence[RF_NAME_SIZE], struct rf_error *error);

/* stats at TIME, top at TIME, show ADDRESS at TIME */
int rf_stats_at(const struct rf_options *options, uint64_t at_ns, struct rf_error *error);
int rf_top_at(const struct rf_options *options, const struct rf_top *top, struct rf_error *error);
int rf_show_at(const struct rf_options *options, const struct rf_prefix *source, uint64_t at_ns,
	       struct rf_error *error);

/* ---- of a part of a history ---- */

double rf_recorded_sources_seconds(const struct rf_recorded_sources *sources);
/* A table of the first `count` sources; per second, if `seconds` is not 0. */
void rf_recorded_sources_print(const struct rf_recorded_sources *sources, size_t count,
			       double seconds);
/* Prints it with date and time, indented. */
void rf_recorded_event_print(const struct rf_recorded_event *event);

/* Makes a list of the rows of a question, which have these fields. */
int rf_recorded_list(struct rf_reader *reader, enum rf_question question,
		     const struct rf_asked *asked, const struct rf_field *fields, json_t **list,
		     struct rf_error *error);
#define RF_EVENT_TEXT_SIZE 640
/* An event for people, without its time; with the fence's name, if it is not "". */
void rf_recorded_event_text(const struct rf_recorded_event *event, const char *fence, bool has_id,
			    char text[RF_EVENT_TEXT_SIZE]);

#define RF_DATE_LENGTH 10 /* of a time in the local zone */

/* ---- limits of a history: active at a time, and derived from them ---- */

/*
 * The limits that were active at a time; no lists. `since_ns`: when they became active. Free it
 * anyway.
 */
int rf_recorded_limits(struct rf_reader *reader, uint64_t time_ns, struct rf_ruleset *rules,
		       uint64_t *since_ns, struct rf_error *error);
/*
 * The command that adds the definition as a shadow, under a name that no limit of `rules` has: the
 * first of `name`, name-2, name-3 … The caller frees it; NULL: no memory.
 */
char *rf_shadow_command(const struct rf_ruleset *rules, const struct rf_definition *definition,
			const char *name);
/* The definition of a limit; free it even after an error. */
int rf_limit_definition(const struct rf_ruleset *rules, int slot, struct rf_definition *definition,
			struct rf_error *error);
/*
 * Fails if packets of a limit were counted, but no source of it was recorded: the setting `sources
 * none`, most likely. The range must have no source. 0: nothing was counted either.
 */
int rf_check_sources_kept(struct rf_reader *reader, const char *limit, uint64_t from_ns,
			  uint64_t to_ns, struct rf_error *error);

#endif /* RINGFENCE_CLI_RECORDED_H */
