// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own_file.h"

static int fail(int err, const char *text, const char **why)
{
	*why = text ? text : strerror(-err);
	return err;
}

/* The directory, open, and the name in it. Later steps cannot be led to another directory. */
static int open_directory(const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	char directory[4096];
	int fd;

	*name = slash ? slash + 1 : path;
	if (snprintf(directory, sizeof(directory), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		     slash ? path : ".") >= (int)sizeof(directory))
		return -ENAMETOOLONG;
	fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Readers are in the directory's group. A process outside of it leaves the group as it is. */
static int share(int fd, int directory_fd, mode_t mode, const char **why)
{
	struct stat directory;

	if (fstat(directory_fd, &directory) || (fchown(fd, -1, directory.st_gid) && errno != EPERM))
		return fail(-errno, NULL, why);
	return fchmod(fd, mode) ? fail(-errno, NULL, why) : 0;
}

static int check(const struct stat *file, const char **why)
{
	if (S_ISLNK(file->st_mode))
		return fail(-ELOOP, "it is a symbolic link; name the file itself", why);
	if (!S_ISREG(file->st_mode))
		return fail(-EINVAL, "it is no regular file", why);
	if (file->st_nlink > 1)
		return fail(-EMLINK, "it is a hard link; remove it", why);
	return 0;
}

/* Its own, of root, or of the directory's owner, who could replace it anyway. */
static int check_owner(const struct stat *file, int directory_fd, const char **why)
{
	struct stat directory;

	if (file->st_uid == geteuid() || !file->st_uid ||
	    (!fstat(directory_fd, &directory) && file->st_uid == directory.st_uid))
		return 0;
	return fail(-EPERM, "it belongs to another user; remove it", why);
}

static int open_existing(int directory_fd, const char *name, int flags, const char **why)
{
	const int fd = openat(directory_fd, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat file;
	int err;

	if (fd < 0)
		return errno == ELOOP
			       ? fail(-ELOOP, "it is a symbolic link; name the file itself", why)
			       : fail(-errno, NULL, why);
	err = fstat(fd, &file) ? fail(-errno, NULL, why) : check(&file, why);
	if (!err)
		err = check_owner(&file, directory_fd, why);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int open_in(int directory_fd, const char *name, int flags, mode_t mode, const char **why)
{
	const int fd = openat(directory_fd, name,
			      flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	int err;

	if (fd < 0)
		return errno == EEXIST ? open_existing(directory_fd, name, flags, why)
				       : fail(-errno, NULL, why);
	err = share(fd, directory_fd, mode, why);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int rf_own_file_open(const char *path, int flags, mode_t mode, const char **why)
{
	const char *name;
	const int directory_fd = open_directory(path, &name);
	int fd;

	if (directory_fd < 0)
		return fail(directory_fd, NULL, why);
	fd = open_in(directory_fd, name, flags, mode, why);
	close(directory_fd);
	return fd;
}

int rf_own_file_check(const char *path, const char **why)
{
	struct stat file;

	if (lstat(path, &file))
		return errno == ENOENT ? 0 : fail(-errno, NULL, why);
	return check(&file, why);
}
