// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/time.h"
#include "base/units.h"
#include "rules/grammar.h"
#include "schema/events.h"
#include "watch/event_file.h"

#define LINE_SIZE (64 << 10) /* longer lines are none of the daemon's */

struct rf_event_file {
	char path[PATH_MAX];
	int fd; /* -1: none is open */
	char line[LINE_SIZE];
	size_t length; /* of the line, as far as it is written */
	bool is_long;  /* the line goes on behind its end */
	uint64_t strange;
};

int rf_event_file_open(struct rf_event_file **file, const char *path, struct rf_error *error)
{
	*file = calloc(1, sizeof(**file));
	if (!*file)
		return rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
	snprintf((*file)->path, sizeof((*file)->path), "%s", path);
	(*file)->fd = -1;
	return 0;
}

void rf_event_file_close(struct rf_event_file *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	free(file);
}

uint64_t rf_event_file_strange(const struct rf_event_file *file)
{
	return file->strange;
}

bool rf_event_file_is_written(const char *path)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const bool is_locked = fd >= 0 && !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;

	if (fd >= 0)
		close(fd);
	return is_locked;
}

/* ---- a line ---- */

static const char *text_of(const json_t *json, const char *key)
{
	return json_string_value(json_object_get(json, key)) ?: "";
}

static uint64_t number_of(const json_t *json, const char *key)
{
	return json_integer_value(json_object_get(json, key));
}

static uint64_t time_of(const json_t *json, const char *key)
{
	struct rf_error unused;
	uint64_t time_ns = 0;

	rf_parse_moment(text_of(json, key), rf_time_wall(), &time_ns, &unused);
	return time_ns;
}

/* As a history writes it: a whole address has no length. */
static const char *source_of(const json_t *json, char text[RF_PREFIX_TEXT_SIZE])
{
	const char *source = text_of(json, "source");
	struct rf_prefix prefix;
	struct rf_error unused;

	*text = '\0';
	if (*source && !rf_parse_prefix(source, &prefix, &unused))
		rf_format_prefix(&prefix, text);
	return text;
}

#define RECORDED_FIELD(key, kind, when, member, help) \
	{#key, RF_EVENT_IS_##kind, offsetof(struct rf_recorded_event, member)},
static const struct {
	const char *key;
	enum rf_event_kind kind;
	size_t at;
} fields[] = {
#include "schema/events.def"
};

static void read_fields(const json_t *json, struct rf_recorded_event *event,
			char source[RF_PREFIX_TEXT_SIZE])
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const char *key = fields[i].key;
		void *into = (char *)event + fields[i].at;

		if (fields[i].kind == RF_EVENT_IS_COUNT)
			*(uint64_t *)into = number_of(json, key);
		else if (fields[i].kind == RF_EVENT_IS_TIME)
			*(uint64_t *)into = time_of(json, key);
		else if (fields[i].kind == RF_EVENT_IS_SOURCE)
			*(const char **)into = source_of(json, source);
		else
			*(const char **)into = text_of(json, key);
	}
}

static int visit_line(struct rf_event_file *file, rf_event_line_visit visit, void *context)
{
	json_t *json = json_loadb(file->line, file->length, 0, NULL);
	char source[RF_PREFIX_TEXT_SIZE];
	struct rf_recorded_event event = {};
	int result = 0;
	const char *fence = text_of(json, "fence");

	read_fields(json, &event, source);
	if (event.time_ns && *event.type && *fence)
		result = visit(context, fence, &event);
	else if (file->length)
		file->strange++;
	json_decref(json);
	return result;
}

/* Adds to the line, up to its end. Returns how many bytes were taken. */
static size_t take(struct rf_event_file *file, const char *text, size_t length, bool *is_whole)
{
	const char *end = memchr(text, '\n', length);
	const size_t taken = end ? (size_t)(end - text) : length;

	*is_whole = end;
	file->is_long |= file->length + taken > LINE_SIZE;
	if (!file->is_long) {
		memcpy(file->line + file->length, text, taken);
		file->length += taken;
	}
	return taken + *is_whole;
}

static int visit_lines(struct rf_event_file *file, const char *text, size_t length,
		       rf_event_line_visit visit, void *context)
{
	int result = 0;

	while (length && !result) {
		bool is_whole;
		const size_t taken = take(file, text, length, &is_whole);

		text += taken;
		length -= taken;
		if (!is_whole)
			break;
		if (file->is_long)
			file->strange++;
		else
			result = visit_line(file, visit, context);
		file->length = 0;
		file->is_long = false;
	}
	return result;
}

/* ---- a file ---- */

/* Somebody may have emptied it: then its lines begin anew. */
static void note_size(struct rf_event_file *file)
{
	struct stat status;

	if (fstat(file->fd, &status) || lseek(file->fd, 0, SEEK_CUR) <= status.st_size)
		return;
	lseek(file->fd, 0, SEEK_SET);
	file->length = 0;
}

static int read_rest(struct rf_event_file *file, rf_event_line_visit visit, void *context)
{
	char text[16 << 10];
	ssize_t got;
	int result = 0;

	note_size(file);
	while (!result && (got = read(file->fd, text, sizeof(text))) > 0)
		result = visit_lines(file, text, got, visit, context);
	return result;
}

/* A pipe or a device could hold up its reader for ever. */
static int open_file(const char *path, struct stat *status)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int err = fd < 0 ? -errno : 0;

	if (!err && fstat(fd, status))
		err = -errno;
	if (!err && !S_ISREG(status->st_mode))
		err = -EINVAL;
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

static void path_of(const struct rf_event_file *file, int i, char path[PATH_MAX + 16])
{
	snprintf(path, PATH_MAX + 16, i ? "%s.%d" : "%s", file->path, i);
}

/* Where the open file is now: 0 for FILE, 1 for FILE.1 …; RF_EVENT_FILES: it is gone. */
static int place_of(const struct rf_event_file *file, const struct stat *mine)
{
	char path[PATH_MAX + 16];
	struct stat status;
	int i = 0;

	for (; i < RF_EVENT_FILES; i++) {
		path_of(file, i, path);
		if (!stat(path, &status) && status.st_ino == mine->st_ino &&
		    status.st_dev == mine->st_dev)
			break;
	}
	return i;
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/*
 * The descriptor of the file that follows the open one: of those that were renamed, the next newer
 * one. Where the open one is gone, the oldest that was written later. -ENOENT: none.
 */
static int open_next(const struct rf_event_file *file, struct rf_error *error)
{
	struct stat mine = {}, other;
	int i = RF_EVENT_FILES, place;

	if (file->fd >= 0 && !fstat(file->fd, &mine))
		i = place_of(file, &mine);
	for (place = i; i-- > 0;) {
		char path[PATH_MAX + 16];
		int fd;

		path_of(file, i, path);
		fd = open_file(path, &other);
		if (fd == -ENOENT)
			continue;
		if (fd < 0)
			return rf_error_failed(
				error, fd == -EINVAL ? fd : -EACCES, "cannot read %.300s: %s", path,
				fd == -EINVAL ? "it is no regular file" : strerror(-fd));
		if (place < RF_EVENT_FILES || is_later(&other.st_mtim, &mine.st_mtim))
			return fd;
		close(fd);
	}
	return -ENOENT;
}

int rf_event_file_read(struct rf_event_file *file, rf_event_line_visit visit, void *context,
		       struct rf_error *error)
{
	int result = 0, next;

	do {
		if (file->fd >= 0)
			result = read_rest(file, visit, context);
		if (result)
			return result;
		next = open_next(file, error);
		if (next < 0)
			break;
		/* What was added before the file was renamed: nothing is added any more. */
		if (file->fd >= 0) {
			result = read_rest(file, visit, context);
			close(file->fd);
		}
		file->fd = next;
		file->length = 0;
		file->is_long = false;
	} while (!result);
	return result ? result : next == -ENOENT ? 0 : next;
}
