// SPDX-License-Identifier: GPL-2.0
/* events: what happened, from the histories, or from the file where there are none */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/events.h"
#include "cli/out.h"

/* ---- where they are ---- */

/* Is there a file of events, and no history? */
static bool has_file_alone(const char *path)
{
	struct rf_recorded_fences *fences = malloc(sizeof(*fences));
	struct rf_error unused;
	const bool has_none = fences && rf_recorded_fences(fences, &unused) == -ENOENT;

	free(fences);
	return has_none && *path && !access(path, R_OK);
}

int rf_events_place(struct rf_events_place *place, struct rf_error *error)
{
	const char *given = getenv("RINGFENCE_EVENTS");

	rf_event_file_path(place->path);
	place->is_file = (given && *given) || rf_history_is_off() || has_file_alone(place->path);
	if (place->is_file && !*place->path)
		return rf_error_failed(error, -ENOENT,
				       "ringfence-watch records no events: both 'history' and "
				       "'events file' are 'off' in /etc/ringfence/watch.conf");
	return 0;
}

/* ---- the list of a history ---- */

struct listing {
	const struct rf_events_asked *asked;
	const char *fence;
	json_t *events; /* NULL: they are printed */
	struct rf_event_lines lines;
	bool has_printed;
};

static int visit(void *context, const struct rf_recorded_event *event)
{
	struct listing *listing = context;
	char text[RF_EVENT_TEXT_SIZE];

	if (!rf_event_is_asked(listing->asked, event))
		return 0;
	listing->has_printed = true;
	if (listing->events)
		return json_array_append_new(listing->events,
					     rf_recorded_event_json(listing->fence, event));
	rf_recorded_event_text(event, "", true, text);
	rf_event_lines_put(&listing->lines, event->time_ns, text);
	return 0;
}

static int show_events(struct rf_reader *reader, const char *fence, const void *context,
		       json_t **json, struct rf_error *error)
{
	const struct rf_events_asked *asked = context;
	struct listing listing = {
		.asked = asked,
		.fence = fence,
		.events = json ? json_array() : NULL,
		.lines.indent = "  ",
	};
	const struct rf_asked range = {
		.from_ns = asked->since_ns,
		.to_ns = asked->until_ns ?: INT64_MAX,
	};
	int err;

	if (!json)
		rf_out("fence %s\n", fence);
	err = rf_reader_events(reader, RF_ASK_EVENTS, &range, visit, &listing, error);
	if (json)
		*json = json_pack("{s:o, s:o}", "fence", rf_json_text(fence), "events",
				  listing.events);
	else if (!err && !listing.has_printed)
		rf_out("  no such events; 'ringfence history list' shows how far the history "
		       "reaches\n");
	return err;
}

int rf_cmd_events(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_events_asked asked;
	struct rf_events_place place;
	int err = rf_parse_events(words, &asked, error);

	if (!err)
		err = rf_events_place(&place, error);
	if (err)
		return err;
	if (asked.is_watch)
		return rf_events_watch(options, &asked, &place, error);
	if (place.is_file)
		return rf_events_list_file(options, &asked, place.path, error);
	return rf_show_histories(options, show_events, true, &asked, error);
}
