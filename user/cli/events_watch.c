// SPDX-License-Identifier: GPL-2.0
/* events watch: each event as it is recorded, from all histories or the file */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/time.h"
#include "base/units.h"
#include "cli/event_queue.h"
#include "cli/events.h"
#include "cli/out.h"

#define TURN_MS 100
#define LOOK_TURNS 10	/* between two looks for new histories, and whether any is written */
#define LAST 10		/* events to begin with, */
#define LAST_OF 1000	/* chosen from so many of each history */
#define QUEUE_MOST 1000 /* of a file, whose events are in their order */
#define SLICE_NS (3600 * RF_NS_PER_S)
#define LATE_NS (10 * RF_NS_PER_S)

/* A history that is followed. */
struct followed {
	char fence[RF_NAME_SIZE];
	struct rf_reader *reader; /* NULL: it cannot be read now */
	ino_t inode;		  /* of its file; 0: none was open yet */
	uint64_t seq;		  /* of the last event that was seen */
	uint64_t since_ns;	  /* a file that comes late may have old events */
};

struct watch {
	const struct rf_options *options;
	const struct rf_events_asked *asked;
	const struct rf_events_place *place;
	char fence[RF_NAME_SIZE]; /* only this one; "": all */
	struct followed *of;
	int count;
	struct rf_event_file *file;
	struct rf_event_queue queue;
	struct rf_event_lines lines;
	uint64_t began_ns; /* 0: the first events are read yet */
	bool is_quiet;	   /* it was said that nothing is recorded */
	struct rf_error said;
};

static volatile sig_atomic_t interrupted;

static void note_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

static int fail_memory(struct rf_error *error)
{
	return rf_error_failed(error, -ENOMEM, "cannot watch: %s", strerror(ENOMEM));
}

/* ---- output ---- */

static int print(void *context, const struct rf_queued_event *queued)
{
	struct watch *watch = context;
	struct rf_error unused;

	if (queued->json)
		return rf_out_json(json_incref(queued->json), true, &unused);
	rf_event_lines_put(&watch->lines, queued->time_ns, queued->text);
	return 0;
}

/* Prints what waits. -EPIPE and the like: main prints the error of the output. */
static int print_all(struct watch *watch)
{
	const int err = rf_event_queue_drain(&watch->queue, print, watch);

	return err ? err : rf_out_flush();
}

static int take(struct watch *watch, const char *fence, const struct rf_recorded_event *event)
{
	char text[RF_EVENT_TEXT_SIZE];

	if (!rf_event_is_asked(watch->asked, event))
		return 0;
	if (watch->options->json)
		return rf_event_queue_put(&watch->queue, event->time_ns, NULL,
					  rf_recorded_event_json(fence, event));
	rf_recorded_event_text(event, *watch->fence ? "" : fence, true, text);
	return rf_event_queue_put(&watch->queue, event->time_ns, text, NULL);
}

/* ---- a history ---- */

struct visit {
	struct watch *watch;
	struct followed *one;
	bool is_past; /* the numbers behind the one that was seen come later */
};

static int visit(void *context, const struct rf_recorded_event *event)
{
	struct visit *visit = context;
	struct followed *one = visit->one;

	if (visit->is_past && event->seq > one->seq)
		return 0;
	if (event->seq > one->seq)
		one->seq = event->seq;
	return event->time_ns < one->since_ns ? 0 : take(visit->watch, one->fence, event);
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
	struct visit context = {watch, one, false};
	const struct rf_asked asked = {.after = one->seq};
	int err = 0;

	if (one->reader)
		err = rf_reader_events(one->reader, RF_ASK_EVENTS_AFTER, &asked, visit, &context,
				       error);
	return err && err != -ENOMEM ? lose(watch, one, error) : err;
}

/* Another file has numbers of its own. */
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

/* ---- all histories ---- */

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

/* Where there is none, there may be one later. */
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
	rf_event_queue_trim(&watch->queue, LAST);
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

/* Those of all fences, an hour at a time: so they are in the order of time, and few at once. */
static int read_since(struct watch *watch, struct rf_error *error)
{
	const uint64_t first_ns = first_event(watch), now_ns = rf_time_wall();
	uint64_t from_ns = watch->asked->since_ns;
	int err = 0;

	if (from_ns < first_ns)
		from_ns = first_ns;
	for (; !err && from_ns <= now_ns && !interrupted; from_ns += SLICE_NS) {
		/* What a clock that was ahead has recorded is in the last slice. */
		const bool is_last = now_ns - from_ns < SLICE_NS;
		const struct rf_asked slice = {
			.from_ns = from_ns,
			.to_ns = is_last ? INT64_MAX : from_ns + SLICE_NS - RF_NS_PER_MS,
		};

		for (int i = 0; !err && i < watch->count; i++) {
			struct visit context = {watch, &watch->of[i], true};

			if (watch->of[i].reader)
				err = rf_reader_events(watch->of[i].reader, RF_ASK_EVENTS, &slice,
						       visit, &context, error);
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

/* ---- the file ---- */

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
	rf_event_queue_trim(&watch->queue, LAST);
	return 0;
}

static int read_file(struct watch *watch, struct rf_error *error)
{
	int err = rf_event_file_read(watch->file, visit_line, watch, error);

	if (!watch->began_ns && !watch->asked->since_ns)
		rf_event_queue_trim(&watch->queue, LAST);
	return rf_out_flush() ? 0 : err;
}

/* ---- both ---- */

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
		rf_out_note("nothing is recorded now: ringfence-watch does not run ('systemctl "
			    "enable --now ringfence-watch'), or no fence is attached; waiting");
	else if (!is_quiet && watch->is_quiet)
		rf_out_note("ringfence-watch records again");
	watch->is_quiet = is_quiet;
}

/* A fence without a history may get one, but a name that nothing has is a mistake. */
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
	const bool is_attached = rf_events_fence(watch->options->dev, watch->fence);
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

	for (unsigned int turns = 0; !err && !interrupted; turns++) {
		/* main prints the error of the output */
		if (print_all(watch) || interrupted)
			return 0;
		if (turns % LOOK_TURNS == 0)
			say_whether_recorded(watch);
		if (!rest() || interrupted)
			return 0;
		err = turn(watch, turns % LOOK_TURNS == LOOK_TURNS - 1, error);
	}
	return err;
}

int rf_events_watch(const struct rf_options *options, const struct rf_events_asked *asked,
		    const struct rf_events_place *place, struct rf_error *error)
{
	struct sigaction action = {.sa_handler = note_interrupt};
	struct watch watch = {
		.options = options, .asked = asked, .place = place, .lines.indent = ""};
	int err;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	err = run(&watch, error);
	for (int i = 0; i < watch.count; i++)
		rf_reader_close(watch.of[i].reader);
	free(watch.of);
	rf_event_queue_free(&watch.queue);
	rf_event_file_close(watch.file);
	return err;
}
