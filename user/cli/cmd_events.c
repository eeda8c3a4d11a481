// SPDX-License-Identifier: GPL-2.0
/* events: what happened, from the histories */
#include "cli/out.h"
#include "cli/recorded.h"

/* The events of a history, on their way to the reader. */
struct listing {
	const struct rf_events_asked *asked;
	const char *fence;
	json_t *events; /* NULL: they are printed */
	bool has_printed;
};

/* Is the source in the network? One that was recorded as a network may also be around it. */
static bool is_from(const struct rf_prefix *from, const char *text)
{
	struct rf_prefix source;
	struct rf_error unused;

	return *text && !rf_parse_prefix(text, &source, &unused) &&
	       (rf_prefix_contains(from, &source) || rf_prefix_contains(&source, from));
}

static bool is_asked(const struct rf_events_asked *asked, const struct rf_recorded_event *event)
{
	const int row = rf_option_find(rf_event_words, event->type);

	if (asked->types && (row < 0 || !(asked->types & 1U << row)))
		return false;
	return !asked->is_from || is_from(&asked->from, event->source);
}

static int visit(void *context, const struct rf_recorded_event *event)
{
	struct listing *listing = context;

	if (!is_asked(listing->asked, event))
		return 0;
	if (listing->events)
		json_array_append_new(listing->events,
				      rf_recorded_event_json(listing->fence, event));
	else
		rf_recorded_event_print(event, true);
	listing->has_printed = true;
	return 0;
}

static int show_events(struct rf_reader *reader, const char *fence, const void *context,
		       json_t **json, struct rf_error *error)
{
	const struct rf_events_asked *asked = context;
	struct listing listing = {asked, fence, json ? json_array() : NULL, false};
	int err;

	if (!json)
		rf_out("fence %s\n", fence);
	err = rf_reader_events(reader, asked->since_ns, asked->until_ns ?: INT64_MAX, NULL, visit,
			       &listing, error);
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
	int err = rf_parse_events(words, &asked, error);

	return err ? err : rf_show_histories(options, show_events, true, &asked, error);
}
