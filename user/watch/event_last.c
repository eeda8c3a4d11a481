// SPDX-License-Identifier: GPL-2.0
/* The last number that a fence's events have in the files of the daemon. */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "watch/event.h"
#include "watch/event_file.h"

#define BYTES_MAX (64 << 20) /* of a file; the daemon's own are 8 MiB */

/* The whole file; NULL: it is none of the daemon's, or there is none. The caller frees it. */
static char *read_whole(const char *path, size_t *length)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	char *text = NULL;
	ssize_t got;

	*length = 0;
	if (fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode) &&
	    status.st_size <= BYTES_MAX)
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

/* From the end on, since the last line is the one that counts. */
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

		snprintf(name, sizeof(name), i ? "%s.%d" : "%s", path, i);
		text = read_whole(name, &length);
		if (text)
			number = last_of(text, length, fence);
		free(text);
	}
	return number;
}
