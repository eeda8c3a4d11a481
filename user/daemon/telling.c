// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own_file.h"
#include "daemon/telling.h"

#define STATE "events"
#define STATE_MAX (1 << 20)

/* ---- the state, where there is no history ---- */

struct state_path {
	char text[RF_EVENT_PATH_SIZE + RF_NAME_SIZE + 16];
};

/* FILE.FENCE.state */
static struct state_path state_path(const char *events_file, const char *fence)
{
	struct state_path path = {""};

	if (*events_file && !strchr(fence, '/'))
		snprintf(path.text, sizeof(path.text), "%s.%s.state", events_file, fence);
	return path;
}

static char *read_state(const char *path)
{
	char *text = *path ? calloc(1, STATE_MAX) : NULL;
	int fd = text ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;

	if (fd < 0 || read(fd, text, STATE_MAX - 1) <= 0) {
		free(text);
		text = NULL;
	}
	if (fd >= 0)
		close(fd);
	return text;
}

/* All of it or nothing, also for who is killed. */
static bool write_state(const char *path, const char *text)
{
	const size_t length = strlen(text);
	char new[sizeof(struct state_path) + 8];
	bool is_written;
	const char *why;
	int fd;

	snprintf(new, sizeof(new), "%s.new", path);
	unlink(new); /* left by a daemon that was killed, or a link: it is made again */
	fd = rf_own_file_open(new, O_WRONLY, 0640, &why);
	if (fd < 0)
		return false;
	is_written = write(fd, text, length) == (ssize_t)length;
	return !close(fd) && is_written && !rename(new, path);
}

static void save(struct rf_telling *telling, const char *events_file)
{
	const struct state_path path = state_path(events_file, telling->fence);
	char *text = *path.text ? rf_events_state(telling->events, telling->told) : NULL;

	if (text && write_state(path.text, text))
		telling->is_unsaved = false;
	free(text);
}

/* ---- a scan ---- */

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * A file is newer than the history: it goes as soon as the history has the state. Numbers go on
 * after the greatest that anything has, since each of them may be damaged, removed or too old.
 */
static void begin(struct rf_telling *telling, const struct rf_settings *settings,
		  struct rf_history *history, const char *fence, uint64_t time_ns)
{
	char *file = read_state(state_path(settings->events_file, fence).text);
	char *text = history ? rf_history_get_state(history, STATE) : NULL;
	uint64_t last = later(rf_events_state_last(file), rf_events_state_last(text));

	if (*settings->events_file)
		last = later(last, rf_event_file_last(settings->events_file, fence));
	if (history)
		last = later(last, rf_history_last_seq(history));
	telling->events = rf_events_open(file ?: text);
	snprintf(telling->fence, sizeof(telling->fence), "%s", fence);
	if (telling->events)
		rf_events_number_after(telling->events, last, time_ns);
	free(file);
	free(text);
}

static void keep(void *context, const struct rf_event *event)
{
	struct rf_telling *telling = context;

	if (telling->count == telling->capacity) {
		const size_t capacity = telling->capacity ? 2 * telling->capacity : 16;
		struct rf_event *more =
			reallocarray(telling->event, capacity, sizeof(*telling->event));

		if (!more)
			return;
		telling->event = more;
		telling->capacity = capacity;
	}
	rf_event_tell(telling->told, event, &telling->event[telling->count++]);
}

void rf_telling_take(struct rf_telling *telling, const struct rf_settings *settings,
		     struct rf_history *history, const struct rf_snapshot *snapshot)
{
	telling->told = settings->sources;
	if (!telling->events)
		begin(telling, settings, history, snapshot->fence, snapshot->time_ns);
	if (!telling->events)
		return; /* no memory; the next scan tries again */
	if (history)	/* it may have been opened only now */
		rf_events_number_after(telling->events, rf_history_last_seq(history),
				       snapshot->time_ns);
	rf_events_feed(telling->events, snapshot, keep, telling);
	telling->is_unsaved |= rf_events_changed(telling->events);
}

void rf_telling_gone(struct rf_telling *telling, uint64_t time_ns)
{
	if (!telling->events)
		return;
	rf_events_gone(telling->events, time_ns, keep, telling);
	telling->is_unsaved |= rf_events_changed(telling->events);
}

int rf_telling_record(struct rf_telling *telling, struct rf_history *history,
		      struct rf_error *error)
{
	char *text;
	int err = 0;

	for (size_t i = 0; i < telling->count && !err; i++)
		err = rf_history_add_event(history, &telling->event[i], error);
	if (err || !telling->events || !telling->is_unsaved)
		return err;
	text = rf_events_state(telling->events, telling->told);
	if (text)
		err = rf_history_put_state(history, STATE, text, error);
	free(text);
	return err;
}

/*
 * Where nothing can be written, the next start finds the same numbers again. So what is told has at
 * least the milliseconds since 1970, as what that start tells: no number is given twice.
 */
static void number_by_clock(struct rf_telling *telling)
{
	const struct rf_event *first = telling->event;
	const uint64_t least = first->time_ns / RF_NS_PER_MS + 1;
	const uint64_t shift = first->seq < least ? least - first->seq : 0;

	for (size_t i = 0; i < telling->count; i++)
		telling->event[i].seq += shift;
	rf_events_number_after(telling->events, telling->event[telling->count - 1].seq, 0);
}

void rf_telling_give(struct rf_telling *telling, struct rf_outlets *outlets, bool is_recorded)
{
	const struct state_path path = state_path(outlets->file.path, telling->fence);

	if (telling->is_unsaved && is_recorded && *path.text)
		unlink(path.text);
	if (is_recorded)
		telling->is_unsaved = false;
	if (telling->is_unsaved && telling->events)
		save(telling, outlets->file.path);
	if (telling->is_unsaved && telling->count && !telling->was_lost)
		number_by_clock(telling);
	telling->was_lost = telling->is_unsaved && (telling->count || telling->was_lost);
	for (size_t i = 0; i < telling->count; i++)
		rf_outlets_give(outlets, &telling->event[i]);
	telling->count = 0;
}

void rf_telling_end(struct rf_telling *telling)
{
	rf_events_close(telling->events);
	free(telling->event);
	*telling = (struct rf_telling){};
}
