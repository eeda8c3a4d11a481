// SPDX-License-Identifier: GPL-2.0
/* events, from the daemon's file: the same output as from the histories */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/events.h"
#include "cli/out.h"

/* A pass over the file for each fence: it has 32 MiB at most, and its lines are mixed. */
struct listing {
	const struct rf_events_asked *asked;
	const char *path;
	char fence[RF_NAME_SIZE]; /* those of this one */
	json_t *events;		  /* NULL: they are printed */
	struct rf_event_lines lines;
	bool has_printed;
	uint64_t strange;
};

struct names {
	char name[RF_FENCES_RECORDED_MAX][RF_NAME_SIZE];
	int count;
};

static int note_name(void *context, const char *fence, const struct rf_recorded_event *event)
{
	struct names *names = context;

	(void)event;
	for (int i = 0; i < names->count; i++)
		if (!strcmp(names->name[i], fence))
			return 0;
	if (names->count < RF_FENCES_RECORDED_MAX)
		snprintf(names->name[names->count++], RF_NAME_SIZE, "%s", fence);
	return 0;
}

static int visit(void *context, const char *fence, const struct rf_recorded_event *event)
{
	struct listing *listing = context;
	const struct rf_events_asked *asked = listing->asked;
	char text[RF_EVENT_TEXT_SIZE];

	if (strcmp(fence, listing->fence) != 0 || event->time_ns < asked->since_ns ||
	    (asked->until_ns && event->time_ns > asked->until_ns) ||
	    !rf_event_is_asked(asked, event))
		return 0;
	listing->has_printed = true;
	if (listing->events)
		return json_array_append_new(listing->events, rf_recorded_event_json(fence, event));
	rf_recorded_event_text(event, "", true, text);
	rf_event_lines_put(&listing->lines, event->time_ns, text);
	return 0;
}

static int pass(struct listing *listing, rf_event_line_visit visit, void *context,
		struct rf_error *error)
{
	struct rf_event_file *file;
	int err = rf_event_file_open(&file, listing->path, error);

	if (!err)
		err = rf_event_file_read(file, visit, context, error);
	if (file)
		listing->strange = rf_event_file_strange(file);
	rf_event_file_close(file);
	return err;
}

static int list_one(struct listing *listing, const char *fence, json_t **json,
		    struct rf_error *error)
{
	int err;

	snprintf(listing->fence, sizeof(listing->fence), "%s", fence);
	listing->events = json ? json_array() : NULL;
	listing->lines = (struct rf_event_lines){.indent = "  "};
	listing->has_printed = false;
	if (!json)
		rf_out("fence %s\n", fence);
	err = pass(listing, visit, listing, error);
	if (json)
		*json = json_pack("{s:o, s:o}", "fence", rf_json_text(fence), "events",
				  listing->events);
	else if (!err && !listing->has_printed)
		rf_out("  no such events in %s\n", listing->path);
	return err;
}

static int list_all(struct listing *listing, const struct names *names, bool is_json,
		    struct rf_error *error)
{
	json_t *list = is_json ? json_array() : NULL;
	int err = 0;

	for (int i = 0; i < names->count && !err; i++) {
		json_t *json = NULL;

		err = list_one(listing, names->name[i], is_json ? &json : NULL, error);
		if (json)
			json_array_append_new(list, json);
	}
	if (is_json && !err)
		err = rf_out_json(json_pack("{s:O}", "fences", list), false, error);
	json_decref(list);
	return err;
}

static bool has_name(const struct names *names, const char *fence)
{
	for (int i = 0; i < names->count; i++)
		if (!strcmp(names->name[i], fence))
			return true;
	return false;
}

static int list_dev(struct listing *listing, const struct names *names, const char *dev,
		    bool is_json, struct rf_error *error)
{
	char fence[RF_NAME_SIZE];
	json_t *json = NULL;
	int err;

	rf_events_fence(dev, fence);
	if (!has_name(names, fence))
		return rf_error_failed(error, -ENOENT, "'%.64s': no event of this fence is in %s",
				       dev, listing->path);
	err = list_one(listing, fence, is_json ? &json : NULL, error);
	if (!err && is_json)
		return rf_out_json(json, false, error);
	json_decref(json);
	return err;
}

static int fail_missing(const char *path, struct rf_error *error)
{
	const int err = -errno;

	if (err == -ENOENT)
		return rf_error_failed(error, err,
				       "no events in %s; ringfence-watch writes them: 'systemctl "
				       "enable --now ringfence-watch'",
				       path);
	return rf_error_failed(error, err,
			       "cannot read %s: %s; root and members of the file's group may", path,
			       strerror(-err));
}

int rf_events_list_file(const struct rf_options *options, const struct rf_events_asked *asked,
			const char *path, struct rf_error *error)
{
	struct listing listing = {.asked = asked, .path = path};
	struct names names = {.count = 0};
	char note[PATH_MAX + 128];
	int err;

	if (access(path, R_OK))
		return fail_missing(path, error);
	err = pass(&listing, note_name, &names, error);
	if (!err && options->dev)
		err = list_dev(&listing, &names, options->dev, options->json, error);
	else if (!err)
		err = list_all(&listing, &names, options->json, error);
	if (err || !listing.strange)
		return err;
	snprintf(note, sizeof(note), "%s: %" PRIu64 " lines are no events, and were left out", path,
		 listing.strange);
	rf_out_note(note);
	return 0;
}
