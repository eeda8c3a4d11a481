// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/fleet_file.h"
#include "rules/fleet_settings.h"

void rf_fleet_file_path(const char *fence, char path[RF_FLEET_FILE_SIZE])
{
	snprintf(path, RF_FLEET_FILE_SIZE, RF_FLEET_FILE, fence);
}

/* The text of the file; the caller frees it. NULL: no memory. */
static char *format(const struct rf_join *join)
{
	char *text = NULL;
	size_t size;
	char line[64];
	FILE *stream = open_memstream(&text, &size);
	const char *const lines[][3] = {
		{"# written by 'ringfence fleet join'; the agent reads it when it starts", "", ""},
		{"redis ", join->engine, ""},
		{"user ", join->user, ""},
		{"password file ", join->password_file, ""},
		{"key file ", join->key_file, ""},
		{"", line, ""},
	};
	bool failed;

	if (!stream)
		return NULL;
	snprintf(line, sizeof(line), "hosts %" PRIu32, join->hosts);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		if (!lines[i][1])
			continue;
		fputs(lines[i][0], stream);
		fputs(lines[i][1], stream);
		fputs("\n", stream);
	}
	snprintf(line, sizeof(line), "grace %" PRIu64 "ms\n",
		 (uint64_t)(join->grace_ns / RF_NS_PER_MS));
	if (join->grace_ns)
		fputs(line, stream);
	if (join->takes_bans)
		fputs("bans take\n", stream);
	snprintf(line, sizeof(line), "asks %" PRIu32 "/s\n", join->asks);
	if (join->asks)
		fputs(line, stream);
	failed = ferror(stream);
	if (fclose(stream) || failed) {
		free(text);
		return NULL;
	}
	return text;
}

static int write_all(int fd, const char *text)
{
	const size_t size = strlen(text);
	const ssize_t written = write(fd, text, size);

	if (written < 0)
		return -errno;
	if ((size_t)written < size)
		return -ENOSPC;
	return fsync(fd) ? -errno : 0;
}

/* Over what an earlier command may have left. */
static int write_new(const char *path, const char *text)
{
	int fd, err;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	err = write_all(fd, text);
	return close(fd) && !err ? -errno : err;
}

int rf_fleet_file_write(const struct rf_join *join, const char *path, struct rf_error *error)
{
	char new[RF_FLEET_FILE_SIZE + 8];
	char *text = format(join);
	int err = text ? 0 : -ENOMEM;

	snprintf(new, sizeof(new), "%s.new", path);
	if (!err && mkdir(RF_FLEET_DIRECTORY, 0755) && errno != EEXIST)
		err = -errno;
	if (!err)
		err = write_new(new, text);
	if (!err && rename(new, path))
		err = -errno;
	free(text);
	if (!err)
		return 0;
	unlink(new);
	return rf_error_failed(error, err, "%s: cannot write the settings: %s", path,
			       strerror(-err));
}

int rf_fleet_file_remove(const char *path, struct rf_error *error)
{
	if (!unlink(path))
		return 0;
	return rf_error_failed(error, -errno, "%s: cannot remove the settings: %s", path,
			       strerror(errno));
}
