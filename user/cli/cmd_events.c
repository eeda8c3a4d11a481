// SPDX-License-Identifier: GPL-2.0
/* events: reads past events from the histories, or from the file if there is no history */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sort.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/out.h"
#include "cli/recorded.h"
#include "cli/view.h"
#include "fence/fence.h"
#include "schema/settings.h"
#include "watch/event_file.h"

/* ---- one event ---- */

/* Lines of events, each with its time; each day has a heading line. */
struct event_lines {
	const char *indent;
	char day[RF_DATE_LENGTH + 1]; /* of the line before */
};

/* Is the source in the network? A source that was recorded as a network can also contain it. */
static bool is_from(const struct rf_prefix *from, const char *text)
{
	struct rf_prefix source;
	struct rf_error unused;

	return *text && !rf_parse_prefix(text, &source, &unused) &&
	       (rf_prefix_contains(from, &source) || rf_prefix_contains(&source, from));
}

/* Do the words choose it by its type and its source? Its time is not looked at. */
static bool event_is_asked(const struct rf_events_asked *asked,
			   const struct rf_recorded_event *event)
{
	const int row = rf_option_find(rf_event_words, event->type);

	if (asked->types && (row < 0 || !(asked->types & 1U << row)))
		return false;
	return !asked->from.version || is_from(&asked->from, event->source);
}

/* The fence that `dev` means: the one on this interface, or of this name. Is it attached? */
static bool events_fence(const char *dev, char fence[RF_NAME_SIZE])
{
	struct rf_fence open = RF_FENCE_NONE;
	struct rf_error unused;
	const bool is_attached = dev && !rf_fence_open(&open, dev, &unused);

	snprintf(fence, RF_NAME_SIZE, "%s", is_attached ? open.name : dev ?: "");
	rf_fence_close(&open);
	return is_attached;
}

static json_t *recorded_event_json(const char *fence, const struct rf_recorded_event *event)
{
	struct rf_recorded_event row = *event;

	row.fence = fence;
	return rf_record_json(rf_recorded_event_fields, &row);
}

RF_RECORD(events_watch, rf_recorded_event_fields);

static void event_lines_put(struct event_lines *lines, uint64_t time_ns, const char *text)
{
	char time[RF_TIME_TEXT_SIZE];

	rf_format_local(time_ns, time);
	if (strncmp(lines->day, time, RF_DATE_LENGTH) != 0) {
		snprintf(lines->day, sizeof(lines->day), "%.*s", RF_DATE_LENGTH, time);
		rf_out("%s%s\n", lines->indent, lines->day);
	}
	/* In a pipe, a line is an event. */
	if (isatty(STDOUT_FILENO))
		rf_out_text("%s%s %s\n", lines->indent, time + RF_DATE_LENGTH + 1, text);
	else
		rf_out("%s%s %s\n", lines->indent, time + RF_DATE_LENGTH + 1, text);
}

/* ---- the queue: events of several fences, in the order of their times ---- */

struct queued_event {
	uint64_t time_ns;
	size_t number; /* preserves the order of events with the same time */
	char *text;    /* NULL: `json` */
	json_t *json;
};

/* Empty if it is all zero. */
struct event_queue {
	struct queued_event *event;
	size_t count, capacity, puts;
};

/* A result other than 0 stops the visit. */
typedef int (*queue_visit)(void *context, const struct queued_event *event);

static void drop(struct queued_event *event)
{
	free(event->text);
	json_decref(event->json);
}

static int grow(struct event_queue *queue)
{
	const size_t capacity = queue->capacity ? 2 * queue->capacity : 16;
	struct queued_event *event = reallocarray(queue->event, capacity, sizeof(*event));

	if (!event)
		return -ENOMEM;
	queue->event = event;
	queue->capacity = capacity;
	return 0;
}

/* Copies `text`, or takes `json` over. -ENOMEM. */
static int event_queue_put(struct event_queue *queue, uint64_t time_ns, const char *text,
			   json_t *json)
{
	struct queued_event event = {time_ns, queue->puts++, text ? strdup(text) : NULL, json};

	if ((!event.text && !json) || (queue->count == queue->capacity && grow(queue))) {
		drop(&event);
		return -ENOMEM;
	}
	queue->event[queue->count++] = event;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct queued_event *one = a, *other = b;

	if (one->time_ns != other->time_ns)
		return one->time_ns < other->time_ns ? -1 : 1;
	return one->number < other->number ? -1 : one->number > other->number;
}

static void sort(struct event_queue *queue)
{
	if (queue->count)
		rf_sort(queue->event, queue->count, sizeof(queue->event[0]), by_time);
}

/* Drops all but the last ones. */
static void event_queue_trim(struct event_queue *queue, size_t most)
{
	const size_t over = queue->count > most ? queue->count - most : 0;

	if (!over)
		return;
	sort(queue);
	for (size_t i = 0; i < over; i++)
		drop(&queue->event[i]);
	queue->count -= over;
	memmove(queue->event, queue->event + over, queue->count * sizeof(queue->event[0]));
}

/* Visits the events, and empties the queue, even if the visit stops early. */
static int event_queue_drain(struct event_queue *queue, queue_visit visit, void *context)
{
	int result = 0;

	sort(queue);
	for (size_t i = 0; i < queue->count; i++) {
		if (!result)
			result = visit(context, &queue->event[i]);
		drop(&queue->event[i]);
	}
	queue->count = 0;
	return result;
}

static void event_queue_free(struct event_queue *queue)
{
	event_queue_trim(queue, 0);
	free(queue->event);
	*queue = (struct event_queue){};
}

/* ---- a list of events ---- */

struct listing {
	const struct rf_events_asked *asked;
	const char *path;	  /* of the file; NULL: a history */
	char fence[RF_NAME_SIZE]; /* whose events are listed */
	json_t *events;		  /* NULL: they are printed */
	struct event_lines lines;
	bool has_printed;
	uint64_t strange; /* lines of the file that are no events */
};

static void begin_list(struct listing *listing, const char *fence, bool is_json)
{
	snprintf(listing->fence, sizeof(listing->fence), "%s", fence);
	listing->events = is_json ? json_array() : NULL;
	listing->lines = (struct event_lines){.indent = "  "};
	listing->has_printed = false;
	if (!is_json)
		rf_out("fence %s\n", fence);
}

static int list_event(struct listing *listing, const struct rf_recorded_event *event)
{
	char text[RF_EVENT_TEXT_SIZE];

	if (!event_is_asked(listing->asked, event))
		return 0;
	listing->has_printed = true;
	if (listing->events)
		return json_array_append_new(listing->events,
					     recorded_event_json(listing->fence, event));
	rf_recorded_event_text(event, "", true, text);
	event_lines_put(&listing->lines, event->time_ns, text);
	return 0;
}

static const struct rf_field listing_fields[] = {
	RF_FIELD("fence", struct listing, fence, "its name"),
	RF_FIELD_READ("events", struct listing, events, RF_FIELD_LIST, rf_recorded_event_fields,
		      "in their order"),
	{},
};

RF_RECORD(events, listing_fields);

/* Returns whether the list was empty, which only the text output mentions. */
static bool end_list(struct listing *listing, json_t **json)
{
	if (json)
		*json = rf_record_json(listing_fields, listing);
	json_decref(listing->events);
	return !json && !listing->has_printed;
}

/* ---- the list of a file, which has the events of all fences ---- */

struct names {
	char name[RF_FENCES_RECORDED_MAX][RF_NAME_SIZE];
	int count;
};

static bool has_name(const struct names *names, const char *fence)
{
	for (int i = 0; i < names->count; i++)
		if (!strcmp(names->name[i], fence))
			return true;
	return false;
}

static int note_name(void *context, const char *fence, const struct rf_recorded_event *event)
{
	struct names *names = context;

	(void)event;
	if (!has_name(names, fence) && names->count < RF_FENCES_RECORDED_MAX)
		snprintf(names->name[names->count++], RF_NAME_SIZE, "%s", fence);
	return 0;
}

static int visit_file(void *context, const char *fence, const struct rf_recorded_event *event)
{
	struct listing *listing = context;
	const struct rf_events_asked *asked = listing->asked;

	if (strcmp(fence, listing->fence) != 0 || event->time_ns < asked->since_ns ||
	    (asked->until_ns && event->time_ns > asked->until_ns))
		return 0;
	return list_event(listing, event);
}

/* One for each fence: the file has 32 MiB at most, and its lines are mixed. */
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

	begin_list(listing, fence, json);
	err = pass(listing, visit_file, listing, error);
	if (end_list(listing, json) && !err)
		rf_out("  no such events in %s\n", listing->path);
	return err;
}

static int list_all(struct listing *listing, const struct names *names, bool is_json,
		    struct rf_error *error)
{
	struct rf_each each = {.list = is_json ? json_array() : NULL, .error = error};

	for (int i = 0; i < names->count && !each.result; i++) {
		struct rf_error failure = {};
		json_t *json = NULL;
		const int err = list_one(listing, names->name[i], is_json ? &json : NULL, &failure);

		rf_each_add(&each, names->name[i], json, err, &failure);
	}
	return rf_each_end(&each, NULL);
}

static int list_dev(struct listing *listing, const struct names *names, const char *dev,
		    bool is_json, struct rf_error *error)
{
	char fence[RF_NAME_SIZE];
	json_t *json = NULL;
	int err;

	events_fence(dev, fence);
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

/* events, from the file */
static int events_list_file(const struct rf_options *options, const struct rf_events_asked *asked,
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

/* ---- watch: each event as it is recorded ---- */

#define TURN_MS 100
#define LOOK_TURNS 10	/* between two scans for new histories, and for whether any is written */
#define LAST 10		/* events at the start, */
#define LAST_OF 1000	/* chosen from this many of each history */
#define QUEUE_MOST 1000 /* of a file, whose events are in their order */
#define SLICE_NS (3600 * RF_NS_PER_S)
#define LATE_NS (10 * RF_NS_PER_S)

/* A history that is followed. */
struct followed {
	char fence[RF_NAME_SIZE];
	struct rf_reader *reader; /* NULL: it cannot be read now */
	ino_t inode;		  /* of its file; 0: none was open yet */
	uint64_t seq;		  /* of the last event that was seen */
	uint64_t since_ns;	  /* a file that appears late can have old events */
};

/* Where events are read from. */
struct events_place {
	bool is_file; /* else the histories */
	char path[PATH_MAX];
};

struct watch {
	const struct rf_options *options;
	const struct rf_events_asked *asked;
	const struct events_place *place;
	char fence[RF_NAME_SIZE]; /* only this one; "": all */
	struct followed *of;
	int count;
	struct rf_event_file *file;
	struct event_queue queue;
	struct event_lines lines;
	uint64_t began_ns; /* 0: the first events are read yet */
	bool is_quiet;	   /* that nothing is recorded was already logged */
	struct rf_error said;
};

static int fail_memory(struct rf_error *error)
{
	return rf_error_failed(error, -ENOMEM, "cannot watch: %s", strerror(ENOMEM));
}

/* ---- watch: output ---- */

static int print(void *context, const struct queued_event *queued)
{
	struct watch *watch = context;
	struct rf_error unused;

	if (queued->json)
		return rf_out_json(json_incref(queued->json), true, &unused);
	event_lines_put(&watch->lines, queued->time_ns, queued->text);
	return 0;
}

/* Prints what waits. -EPIPE and the like: main prints the error of the output. */
static int print_all(struct watch *watch)
{
	const int err = event_queue_drain(&watch->queue, print, watch);

	return err ? err : rf_out_flush();
}

static int take(struct watch *watch, const char *fence, const struct rf_recorded_event *event)
{
	char text[RF_EVENT_TEXT_SIZE];

	if (!event_is_asked(watch->asked, event))
		return 0;
	if (watch->options->json)
		return event_queue_put(&watch->queue, event->time_ns, NULL,
				       recorded_event_json(fence, event));
	rf_recorded_event_text(event, *watch->fence ? "" : fence, true, text);
	return event_queue_put(&watch->queue, event->time_ns, text, NULL);
}

/* ---- watch: a history ---- */

struct following {
	struct watch *watch;
	struct followed *one;
	bool is_past; /* the numbers after the one that was seen appear later */
};

static int visit_event(void *context, const struct rf_recorded_event *event)
{
	struct following *following = context;
	struct followed *one = following->one;

	if (following->is_past && event->seq > one->seq)
		return 0;
	if (event->seq > one->seq)
		one->seq = event->seq;
	return event->time_ns < one->since_ns ? 0 : take(following->watch, one->fence, event);
}

/* A history that cannot be read is said once, and opened again. */
static int lose(struct watch *watch, struct followed *one, const struct rf_error *error)
{
	rf_reader_close(one->reader);
	one->reader = NULL;
	if (strcmp(watch->said.text, error->text) != 0)
		rf_out_error(error);
	watch->said = *error;
	return 0;
}

static int follow(struct watch *watch, struct followed *one, struct rf_error *error)
{
	struct following context = {watch, one, false};
	const struct rf_asked asked = {.after = one->seq};
	int err = 0;

	if (one->reader)
		err = rf_reader_events(one->reader, RF_ASK_EVENTS_AFTER, &asked, visit_event,
				       &context, error);
	return err && err != -ENOMEM ? lose(watch, one, error) : err;
}

/* Each file has separate numbers. */
static void note_file(struct watch *watch, struct followed *one, ino_t inode)
{
	if (one->inode == inode)
		return;
	one->inode = inode;
	one->seq = 0;
	one->since_ns = watch->began_ns ? watch->began_ns - LATE_NS : 0;
	if (!watch->began_ns)
		one->seq = rf_ask_number(one->reader, RF_ASK_LAST_SEQ, 0);
}

static void open_again(struct watch *watch, struct followed *one)
{
	char path[PATH_MAX + RF_NAME_SIZE + 8], directory[PATH_MAX];
	struct rf_error error;
	struct stat status;
	int err;

	rf_history_directory(directory);
	snprintf(path, sizeof(path), "%s/%s.db", directory, one->fence);
	if (stat(path, &status) || (one->reader && status.st_ino == one->inode))
		return;
	rf_reader_close(one->reader);
	err = rf_reader_open(&one->reader, directory, one->fence, &error);
	if (!err)
		note_file(watch, one, status.st_ino);
	else if (err != -ENODATA) /* the daemon makes it at this moment */
		lose(watch, one, &error);
}

/* ---- watch: all histories ---- */

static bool is_followed(const struct watch *watch, const char *fence)
{
	for (int i = 0; i < watch->count; i++)
		if (!strcmp(watch->of[i].fence, fence))
			return true;
	return false;
}

static int add(struct watch *watch, const char *fence)
{
	struct followed *of;

	if ((*watch->fence && strcmp(watch->fence, fence) != 0) || is_followed(watch, fence))
		return 0;
	of = reallocarray(watch->of, watch->count + 1, sizeof(*of));
	if (!of)
		return -ENOMEM;
	watch->of = of;
	of[watch->count] = (struct followed){.reader = NULL};
	snprintf(of[watch->count++].fence, RF_NAME_SIZE, "%s", fence);
	return 0;
}

/* If there is no history, one can appear later. */
static int look_for_histories(struct watch *watch, struct rf_error *error)
{
	struct rf_recorded_fences *fences = malloc(sizeof(*fences));
	int err = fences ? rf_recorded_fences(fences, error) : fail_memory(error);

	for (int i = 0; !err && i < fences->count; i++)
		if (add(watch, fences->name[i]))
			err = fail_memory(error);
	free(fences);
	for (int i = 0; i < watch->count; i++)
		open_again(watch, &watch->of[i]);
	return err == -ENOENT ? 0 : err;
}

static int read_last(struct watch *watch, struct followed *one, struct rf_error *error)
{
	const uint64_t seq = one->seq;
	int err;

	one->seq = rf_ask_number(one->reader, RF_ASK_LAST_SEQ, LAST_OF);
	err = follow(watch, one, error);
	if (one->seq < seq)
		one->seq = seq;
	event_queue_trim(&watch->queue, LAST);
	return err;
}

static uint64_t first_event(const struct watch *watch)
{
	uint64_t first_ns = UINT64_MAX;

	for (int i = 0; i < watch->count; i++) {
		struct rf_reader *reader = watch->of[i].reader;
		const uint64_t time_ns =
			reader ? rf_ask_number(reader, RF_ASK_FIRST_EVENT, 0) * RF_NS_PER_MS : 0;

		if (time_ns && time_ns < first_ns)
			first_ns = time_ns;
	}
	return first_ns;
}

/*
 * Reads the events of all fences, an hour at a time: they are in chronological order, and only a
 * few are in memory.
 */
static int read_since(struct watch *watch, struct rf_error *error)
{
	const uint64_t first_ns = first_event(watch), now_ns = rf_time_wall();
	uint64_t from_ns = watch->asked->since_ns;
	int err = 0;

	if (from_ns < first_ns)
		from_ns = first_ns;
	for (; !err && from_ns <= now_ns && !rf_out_is_interrupted(); from_ns += SLICE_NS) {
		/* The last slice includes records of a clock that was ahead. */
		const bool is_last = now_ns - from_ns < SLICE_NS;
		const struct rf_asked slice = {
			.from_ns = from_ns,
			.to_ns = is_last ? INT64_MAX : from_ns + SLICE_NS - RF_NS_PER_MS,
		};

		for (int i = 0; !err && i < watch->count; i++) {
			struct following context = {watch, &watch->of[i], true};

			if (watch->of[i].reader)
				err = rf_reader_events(watch->of[i].reader, RF_ASK_EVENTS, &slice,
						       visit_event, &context, error);
		}
		if (!err && print_all(watch))
			break;
	}
	return err;
}

static int begin_histories(struct watch *watch, struct rf_error *error)
{
	int err = look_for_histories(watch, error);

	if (!err && watch->asked->since_ns)
		return read_since(watch, error);
	for (int i = 0; !err && i < watch->count; i++)
		if (watch->of[i].reader)
			err = read_last(watch, &watch->of[i], error);
	return err;
}

static int follow_histories(struct watch *watch, struct rf_error *error)
{
	int err = 0;

	for (int i = 0; !err && i < watch->count; i++)
		err = follow(watch, &watch->of[i], error);
	return err;
}

/* ---- watch: the file ---- */

static int visit_line(void *context, const char *fence, const struct rf_recorded_event *event)
{
	struct watch *watch = context;
	int err = 0;

	if ((*watch->fence && strcmp(watch->fence, fence) != 0) ||
	    (!watch->began_ns && event->time_ns < watch->asked->since_ns))
		return 0;
	err = take(watch, fence, event);
	if (err || watch->queue.count <= QUEUE_MOST)
		return err;
	if (watch->began_ns || watch->asked->since_ns)
		return print_all(watch);
	event_queue_trim(&watch->queue, LAST);
	return 0;
}

static int read_file(struct watch *watch, struct rf_error *error)
{
	int err = rf_event_file_read(watch->file, visit_line, watch, error);

	if (!watch->began_ns && !watch->asked->since_ns)
		event_queue_trim(&watch->queue, LAST);
	return rf_out_flush() ? 0 : err;
}

/* ---- watch: both ---- */

static bool is_recorded(const struct watch *watch)
{
	if (watch->place->is_file)
		return rf_event_file_is_written(watch->place->path);
	for (int i = 0; i < watch->count; i++)
		if (watch->of[i].reader && rf_reader_is_written(watch->of[i].reader))
			return true;
	return false;
}

static void say_whether_recorded(struct watch *watch)
{
	const bool is_quiet = !is_recorded(watch);

	if (is_quiet && !watch->is_quiet)
		rf_out_note("no events are recorded now: ringfence-watch does not run ('systemctl "
			    "enable --now ringfence-watch'), or no fence is attached; waiting");
	else if (!is_quiet && watch->is_quiet)
		rf_out_note("ringfence-watch records again");
	watch->is_quiet = is_quiet;
}

/* A fence without a history can get one later, but a name that matches nothing is an error. */
static int check_dev(const struct watch *watch, bool is_attached, struct rf_error *error)
{
	const char *dev = watch->options->dev;

	if (!dev || is_attached || watch->place->is_file || watch->count)
		return 0;
	return rf_error_failed(error, -ENOENT,
			       "'%.64s': no fence of that name is attached or has a history", dev);
}

static int begin(struct watch *watch, struct rf_error *error)
{
	const bool is_attached = events_fence(watch->options->dev, watch->fence);
	int err;

	if (watch->place->is_file) {
		err = rf_event_file_open(&watch->file, watch->place->path, error);
		if (!err)
			err = read_file(watch, error);
	} else {
		err = begin_histories(watch, error);
		if (!err)
			err = check_dev(watch, is_attached, error);
	}
	watch->began_ns = rf_time_wall();
	return err;
}

static int turn(struct watch *watch, bool is_look, struct rf_error *error)
{
	int err = 0;

	if (is_look && !watch->place->is_file)
		err = look_for_histories(watch, error);
	if (!err)
		err = watch->place->is_file ? read_file(watch, error)
					    : follow_histories(watch, error);
	return err;
}

/* False where the output's reader has gone. */
static bool rest(void)
{
	struct pollfd output = {.fd = STDOUT_FILENO};

	return poll(&output, 1, TURN_MS) <= 0;
}

static int run(struct watch *watch, struct rf_error *error)
{
	int err = begin(watch, error);

	for (unsigned int turns = 0; !err && !rf_out_is_interrupted(); turns++) {
		/* main prints the error of the output */
		if (print_all(watch) || rf_out_is_interrupted())
			return 0;
		if (turns % LOOK_TURNS == 0)
			say_whether_recorded(watch);
		if (!rest() || rf_out_is_interrupted())
			return 0;
		err = turn(watch, turns % LOOK_TURNS == LOOK_TURNS - 1, error);
	}
	return err;
}

/* events watch */
static int events_watch(const struct rf_options *options, const struct rf_events_asked *asked,
			const struct events_place *place, struct rf_error *error)
{
	struct watch watch = {
		.options = options, .asked = asked, .place = place, .lines.indent = ""};
	int err;

	rf_out_until_interrupt(false);
	err = run(&watch, error);
	for (int i = 0; i < watch.count; i++)
		rf_reader_close(watch.of[i].reader);
	free(watch.of);
	event_queue_free(&watch.queue);
	rf_event_file_close(watch.file);
	return err;
}

/* ---- where the events are ---- */

/* Is there a file of events, and no history? */
static bool has_file_alone(const char *path)
{
	struct rf_recorded_fences *fences = malloc(sizeof(*fences));
	struct rf_error unused;
	const bool has_none = fences && rf_recorded_fences(fences, &unused) == -ENOENT;

	free(fences);
	return has_none && *path && !access(path, R_OK);
}

/* An error if ringfence-watch is configured to record neither. */
static int events_place(struct events_place *place, struct rf_error *error)
{
	const char *given = getenv("RINGFENCE_EVENTS");

	rf_event_file_path(place->path);
	place->is_file = (given && *given) || rf_history_is_off() || has_file_alone(place->path);
	if (place->is_file && !*place->path)
		return rf_error_failed(error, -ENOENT,
				       "ringfence-watch records no events: both 'history' and "
				       "'events file' are 'off' in " RF_SETTINGS_FILE);
	return 0;
}

/* ---- the list of a history ---- */

static int visit_history(void *context, const struct rf_recorded_event *event)
{
	return list_event(context, event);
}

static int show_events(struct rf_reader *reader, const char *fence, const void *context,
		       json_t **json, struct rf_error *error)
{
	const struct rf_events_asked *asked = context;
	const struct rf_asked range = {
		.from_ns = asked->since_ns,
		.to_ns = asked->until_ns ?: INT64_MAX,
	};
	struct listing listing = {.asked = asked};
	int err;

	begin_list(&listing, fence, json);
	err = rf_reader_events(reader, RF_ASK_EVENTS, &range, visit_history, &listing, error);
	if (end_list(&listing, json) && !err)
		rf_out("  no such events; 'ringfence history list' shows how far the history "
		       "reaches\n");
	return err;
}

int rf_cmd_events(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_events_asked asked;
	struct events_place place;
	int err = rf_parse_arguments(RF_CMD_EVENTS, words, &asked, error);

	if (!err)
		err = events_place(&place, error);
	if (err)
		return err;
	if (asked.is_watch)
		return events_watch(options, &asked, &place, error);
	if (place.is_file)
		return events_list_file(options, &asked, place.path, error);
	return rf_show_histories(options, show_events, true, &asked, error);
}
