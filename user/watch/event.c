// SPDX-License-Identifier: GPL-2.0
/* Events outside of the daemon: as JSON, and read back from its file. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/time.h"
#include "base/units.h"
#include "rules/grammar.h"
#include "schema/events.h"
#include "schema/record.h"
#include "watch/event.h"
#include "watch/event_file.h"

const char *rf_event_type_name(enum rf_event_type type)
{
	return rf_event_rows[type].name;
}

/* RF_EVENT_TYPES: there is no such type. */
static enum rf_event_type find_type(const char *name)
{
	int type = 0;

	while (type < RF_EVENT_TYPES && strcmp(rf_event_rows[type].name, name) != 0)
		type++;
	return type;
}

bool rf_event_is_end(const char *name)
{
	const enum rf_event_type type = find_type(name);

	return type < RF_EVENT_TYPES && rf_event_rows[type].part == RF_EVENT_END;
}

/* ---- which part of its sources is disclosed ---- */

/* Adds to a text that is truncated if too long. */
__attribute__((format(printf, 2, 3))) static void add(char text[RF_EVENT_DETAIL_SIZE],
						      const char *format, ...)
{
	const size_t length = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + length, RF_EVENT_DETAIL_SIZE - length, format, args);
	va_end(args);
}

static void describe_left_out(struct rf_event *event)
{
	char source[RF_PREFIX_TEXT_SIZE];
	const char *before = "";

	*event->detail = '\0';
	for (int type = 0; type < RF_EVENT_TYPES; type++) {
		if (!event->left_out[type])
			continue;
		add(event->detail, "%s%" PRIu64 " %s", before, event->left_out[type],
		    rf_event_rows[type].name);
		before = ", ";
	}
	before = "; worst: ";
	for (unsigned int i = 0; i < event->worst_count; i++) {
		if (!event->worst[i].has_source)
			continue;
		rf_format_prefix(&event->worst[i].source, source);
		add(event->detail, "%s%s", before, source);
		before = ", ";
	}
}

void rf_event_tell(enum rf_told told, const struct rf_event *event, struct rf_event *result)
{
	*result = *event;
	result->has_source = event->has_source && rf_tell(told, &event->source, &result->source);
	if (!result->has_source)
		result->source = (struct rf_prefix){};
	for (unsigned int i = 0; i < event->worst_count; i++) {
		struct rf_event_worst *worst = &result->worst[i];

		worst->has_source =
			worst->has_source && rf_tell(told, &event->worst[i].source, &worst->source);
		if (!worst->has_source)
			worst->source = (struct rf_prefix){};
	}
	if (event->type == RF_EVENT_SUPPRESSED)
		describe_left_out(result);
}

/* ---- JSON ---- */

/* ADDRESS/LENGTH, also of a whole address. */
static json_t *prefix_json(const struct rf_prefix *prefix)
{
	char text[RF_PREFIX_TEXT_SIZE], full[RF_PREFIX_TEXT_SIZE + 8];

	rf_format_prefix(prefix, text);
	if (strchr(text, '/'))
		return json_string(text);
	snprintf(full, sizeof(full), "%s/%u", text, prefix->length);
	return json_string(full);
}

static json_t *make_schema(const void *of)
{
	(void)of;
	return json_integer(RF_EVENT_SCHEMA);
}

static json_t *make_type(const void *of)
{
	return json_string(rf_event_type_name(((const struct rf_event *)of)->type));
}

static json_t *make_source(const void *of)
{
	return prefix_json(&((const struct rf_event *)of)->source);
}

static bool has_source(const void *of)
{
	return ((const struct rf_event *)of)->has_source;
}

/* To a millisecond. */
static json_t *make_interval(const void *of)
{
	return json_real((double)(((const struct rf_event *)of)->interval_ns / RF_NS_PER_MS) /
			 1000);
}

static bool has_interval(const void *of)
{
	return ((const struct rf_event *)of)->interval_ns;
}

static json_t *make_sum(const void *of)
{
	uint64_t sum = 0;

	for (int type = 0; type < RF_EVENT_TYPES; type++)
		sum += ((const struct rf_event *)of)->left_out[type];
	return json_integer(sum);
}

static json_t *make_counts(const void *of)
{
	const struct rf_event *event = of;
	json_t *counts = json_object();

	for (int type = 0; type < RF_EVENT_TYPES; type++)
		if (event->left_out[type])
			json_object_set_new(counts, rf_event_type_name(type),
					    json_integer(event->left_out[type]));
	return counts;
}

static json_t *make_worst_source(const void *of)
{
	return prefix_json(&((const struct rf_event_worst *)of)->source);
}

static bool has_worst_source(const void *of)
{
	return ((const struct rf_event_worst *)of)->has_source;
}

static const struct rf_field worst_fields[] = {
	RF_FIELD_MADE("source", RF_FIELD_TEXT, make_worst_source, "", .has = has_worst_source),
	RF_FIELD("limit", struct rf_event_worst, limit, "", .if_any = true),
	RF_FIELD("dropped", struct rf_event_worst, dropped, ""),
	{},
};

static bool is_seen(const void *of)
{
	return ((const struct rf_event *)of)->first_seen_ns;
}

static bool is_suppressed(const void *of)
{
	return ((const struct rf_event *)of)->type == RF_EVENT_SUPPRESSED;
}

/* clang-format off */
#define ROW_IF_ALWAYS
#define ROW_IF_GIVEN
#define ROW_IF_SEEN , .has = is_seen
#define ROW_IF_SUPPRESSED_ONLY , .has = is_suppressed

#define ROW_OF_SCHEMA(key, member, ...) RF_FIELD_MADE(key, RF_FIELD_INT, make_schema, ##__VA_ARGS__)
#define ROW_OF_TYPE(key, member, ...) RF_FIELD_MADE(key, RF_FIELD_TEXT, make_type, ##__VA_ARGS__)
#define ROW_OF_TEXT(key, member, ...) \
	RF_FIELD(key, struct rf_event, member, ##__VA_ARGS__, .if_any = true)
#define ROW_OF_LIMIT ROW_OF_TEXT
#define ROW_OF_FENCE ROW_OF_TEXT
#define ROW_OF_COUNT(key, member, ...) RF_FIELD(key, struct rf_event, member, ##__VA_ARGS__)
#define ROW_OF_NUMBER ROW_OF_COUNT
#define ROW_OF_TIME(key, member, ...) RF_FIELD_OF_TIME(key, struct rf_event, member, ##__VA_ARGS__)
#define ROW_OF_SECONDS(key, member, ...) \
	RF_FIELD_MADE(key, RF_FIELD_REAL, make_interval, ##__VA_ARGS__, .has = has_interval)
#define ROW_OF_SOURCE(key, member, ...) \
	RF_FIELD_MADE(key, RF_FIELD_TEXT, make_source, ##__VA_ARGS__, .has = has_source)
#define ROW_OF_SUM(key, member, ...) RF_FIELD_MADE(key, RF_FIELD_U64, make_sum, ##__VA_ARGS__)
#define ROW_OF_COUNTS(key, member, ...) \
	RF_FIELD_MADE(key, RF_FIELD_OBJECT, make_counts, ##__VA_ARGS__)
#define ROW_OF_WORST(key, member, ...) \
	RF_FIELD_OBJECTS(key, struct rf_event, member, worst_count, worst_fields, ##__VA_ARGS__)

#define EVENT_FIELD(key, kind, when, member, help) \
	ROW_OF_##kind(#key, member, help ROW_IF_##when),
#define RECORDED_FIELD EVENT_FIELD
/* clang-format on */

static const struct rf_field fields[] = {
#include "schema/events.def"
	{},
};

json_t *rf_event_json(const struct rf_event *event)
{
	return rf_record_json(fields, event);
}

/* ---- the file: opening ---- */

#define LINE_SIZE (64 << 10) /* longer lines are none of the daemon's */

struct rf_event_file {
	char path[PATH_MAX];
	int fd; /* -1: none is open */
	char line[LINE_SIZE];
	size_t length; /* of the line, as far as it is written */
	bool is_long;  /* the line continues beyond the buffer */
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

/* ---- the file: a line ---- */

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

/* As a history has it: a whole address without its length. */
static const char *source_of(const json_t *json, const char *key, char text[RF_PREFIX_TEXT_SIZE])
{
	const char *source = text_of(json, key);
	struct rf_prefix prefix;
	struct rf_error unused;

	*text = '\0';
	if (*source && !rf_parse_prefix(source, &prefix, &unused))
		rf_format_prefix(&prefix, text);
	return text;
}

#define READ_NUMBER(key) number_of(json, key)
#define READ_COUNT(key) number_of(json, key)
#define READ_TIME(key) time_of(json, key)
#define READ_TYPE(key) text_of(json, key)
#define READ_TEXT(key) text_of(json, key)
#define READ_LIMIT(key) text_of(json, key)
#define READ_FENCE(key) text_of(json, key)
#define READ_SOURCE(key) source_of(json, key, source)

static void read_fields(const json_t *json, struct rf_recorded_event *event,
			char source[RF_PREFIX_TEXT_SIZE])
{
#define RECORDED_FIELD(key, kind, when, member, help) event->member = READ_##kind(#key);
#include "schema/events.def"
}

static int visit_line(struct rf_event_file *file, rf_event_line_visit visit, void *context)
{
	json_t *json = json_loadb(file->line, file->length, 0, NULL);
	char source[RF_PREFIX_TEXT_SIZE];
	struct rf_recorded_event event;
	int result = 0;

	read_fields(json, &event, source);
	if (event.time_ns && *event.type && *event.fence)
		result = visit(context, event.fence, &event);
	else if (file->length)
		file->strange++;
	json_decref(json);
	return result;
}

/* Adds to the line, up to its newline. Returns the number of bytes consumed. */
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

/* ---- the file: renamed files, and added lines ---- */

/* The file can be truncated by an administrator: then reading restarts at its first line. */
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

static void path_of(const char *file, int i, char path[PATH_MAX + 16])
{
	snprintf(path, PATH_MAX + 16, i ? "%s.%d" : "%s", file, i);
}

/* The present place of the open file: 0 for FILE, 1 for FILE.1 …; RF_EVENT_FILES: not found. */
static int place_of(const struct rf_event_file *file, const struct stat *mine)
{
	char path[PATH_MAX + 16];
	struct stat status;
	int i = 0;

	for (; i < RF_EVENT_FILES; i++) {
		path_of(file->path, i, path);
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
 * The descriptor of the file that follows the open one: of the renamed files, the next newer one.
 * If the open file was removed, the oldest that was written later. -ENOENT: none.
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

		path_of(file->path, i, path);
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
		/* Lines that were added before the file was renamed; there will be no more. */
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

/* ---- the last number of a fence in its files ---- */

#define BYTES_MAX (64 << 20) /* of a file; the daemon's own are 8 MiB */

/* The whole file; NULL: not found, or not written by the daemon. The caller frees it. */
static char *read_whole(const char *path, size_t *length)
{
	struct stat status;
	const int fd = open_file(path, &status);
	char *text = NULL;
	ssize_t got;

	*length = 0;
	if (fd >= 0 && status.st_size <= BYTES_MAX)
		text = malloc(status.st_size + 1);
	while (text && *length < (size_t)status.st_size &&
	       (got = read(fd, text + *length, status.st_size - *length)) > 0)
		*length += got;
	if (fd >= 0)
		close(fd);
	return text;
}

/* Can the name be found as it is, without the escapes of JSON? */
static bool is_plain(const char *fence)
{
	for (; *fence; fence++)
		if (*fence <= ' ' || *fence > '~' || strchr("\"\\/", *fence))
			return false;
	return true;
}

/* The number in a line, if it is an event of that fence; else 0. */
static uint64_t number_in(const char *line, size_t length, const char *fence)
{
	json_t *json = json_loadb(line, length, 0, NULL), *name = rf_json_text(fence);
	const json_int_t number = json_integer_value(json_object_get(json, "seq"));
	const bool is_it = json_equal(json_object_get(json, "fence"), name) && number > 0 &&
			   number <= RF_EVENT_SEQ_MAX;

	json_decref(name);
	json_decref(json);
	return is_it ? number : 0;
}

/* Searches backward, because the last line is decisive. */
static uint64_t last_of(const char *text, size_t length, const char *fence)
{
	const bool may_skip = is_plain(fence);
	uint64_t number = 0;

	while (length && !number) {
		const char *end = memrchr(text, '\n', length - 1);
		const char *line = end ? end + 1 : text;

		if (!may_skip || memmem(line, text + length - line, fence, strlen(fence)))
			number = number_in(line, text + length - line, fence);
		length = line - text;
	}
	return number;
}

uint64_t rf_event_file_last(const char *path, const char *fence)
{
	uint64_t number = 0;

	for (int i = 0; i < RF_EVENT_FILES && !number; i++) {
		char name[PATH_MAX + 16], *text;
		size_t length;

		path_of(path, i, name);
		text = read_whole(name, &length);
		if (text)
			number = last_of(text, length, fence);
		free(text);
	}
	return number;
}
