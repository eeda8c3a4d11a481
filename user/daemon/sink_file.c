// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/sinks.h"

#define MODE 0640

void rf_share_file(int fd, const char *path)
{
	char directory[RF_EVENT_PATH_SIZE];
	struct stat status;
	char *slash;

	snprintf(directory, sizeof(directory), "%s", path);
	slash = strrchr(directory, '/');
	if (!slash)
		return;
	slash[slash == directory] = '\0';
	/* Where that fails, only their owner reads them. */
	if (!stat(directory, &status) && fchown(fd, -1, status.st_gid))
		return;
	fchmod(fd, MODE);
}

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

/* Nothing but a file: a pipe could hold up the daemon, and has no size. */
static int open_file(struct rf_sink_file *file, struct rf_error *error)
{
	struct stat status;

	file->fd = open(file->path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
			MODE);
	if (file->fd < 0)
		return fail(file, "cannot be opened", -errno, error);
	if (fstat(file->fd, &status) || !S_ISREG(status.st_mode)) {
		rf_sink_file_close(file);
		return rf_error_failed(error, -EINVAL, "events file %.200s: it is no regular file",
				       file->path);
	}
	rf_share_file(file->fd, file->path);
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

	return stat(file->path, &named) || named.st_ino != mine->st_ino ||
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
