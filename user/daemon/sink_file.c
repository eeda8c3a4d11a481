// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own_file.h"
#include "daemon/sinks.h"

#define MODE 0640

static int fail(const struct rf_sink_file *file, const char *what, int err, struct rf_error *error)
{
	return rf_error_failed(error, err, "events file %.200s: %s: %s", file->path, what,
			       strerror(-err));
}

/* A line that was not finished, since the machine went down, gets its end. */
static void finish_line(int fd, off_t size)
{
	char last;

	if (size && pread(fd, &last, 1, size - 1) == 1 && last != '\n')
		(void)!write(fd, "\n", 1);
}

/* A mark for readers alone: whoever else writes the file, both go on. */
static void mark_as_written(int fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	(void)fcntl(fd, F_OFD_SETLK, &lock);
}

/* Nothing but a file of its own: a pipe could hold up the daemon, a link lead to another file. */
static int open_file(struct rf_sink_file *file, struct rf_error *error)
{
	struct stat status;
	const char *why;
	const int fd = rf_own_file_open(file->path, O_RDWR | O_APPEND | O_NOCTTY, MODE, &why);

	if (fd < 0)
		return rf_error_failed(error, fd, "events file %.200s: cannot open it: %s",
				       file->path, why);
	file->fd = fd;
	if (fstat(file->fd, &status))
		return fail(file, "cannot be read", -errno, error);
	finish_line(file->fd, status.st_size);
	mark_as_written(file->fd);
	return 0;
}

void rf_sink_file_open(struct rf_sink_file *file)
{
	struct rf_error unused;

	if (*file->path && file->fd < 0)
		open_file(file, &unused);
}

void rf_sink_file_close(struct rf_sink_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

/* Somebody may have removed or renamed it. */
static bool is_other(const struct rf_sink_file *file, const struct stat *mine)
{
	struct stat named;

	return lstat(file->path, &named) || named.st_ino != mine->st_ino ||
	       named.st_dev != mine->st_dev;
}

static int rotate(struct rf_sink_file *file, struct rf_error *error)
{
	char from[RF_EVENT_PATH_SIZE + 4], to[RF_EVENT_PATH_SIZE + 4];

	rf_sink_file_close(file);
	for (int i = RF_EVENT_FILES - 1; i > 0; i--) {
		snprintf(from, sizeof(from), i > 1 ? "%s.%d" : "%s", file->path, i - 1);
		snprintf(to, sizeof(to), "%s.%d", file->path, i);
		if (rename(from, to) && errno != ENOENT)
			return fail(file, "cannot be renamed", -errno, error);
	}
	return open_file(file, error);
}

/* The open file, with room for `length` bytes; its size. */
static int prepare(struct rf_sink_file *file, size_t length, off_t *size, struct rf_error *error)
{
	struct stat status;
	int err = 0;

	if (file->fd >= 0 && (fstat(file->fd, &status) || is_other(file, &status)))
		rf_sink_file_close(file);
	if (file->fd < 0)
		err = open_file(file, error);
	if (!err && fstat(file->fd, &status))
		err = fail(file, "cannot be read", -errno, error);
	if (err)
		return err;
	*size = status.st_size;
	if (!status.st_size || status.st_size + length <= file->most)
		return 0;
	*size = 0;
	return rotate(file, error);
}

int rf_sink_file_write(struct rf_sink_file *file, const char *line, struct rf_error *error)
{
	const size_t length = strlen(line);
	ssize_t written;
	off_t size;
	int err;

	if (!*file->path)
		return 0;
	err = prepare(file, length, &size, error);
	if (err)
		return err;
	written = write(file->fd, line, length);
	if (written == (ssize_t)length)
		return 0;
	err = written < 0 ? -errno : -ENOSPC;
	if (written > 0 && ftruncate(file->fd, size))
		err = -EIO;
	return fail(file, "cannot be written", err, error);
}
