// SPDX-License-Identifier: GPL-2.0
#include "rules/secret.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rules/file.h"

static const struct {
	const char *name;
	size_t least; /* characters */
} kinds[] = {
	[RF_PASSWORD] = {"password", 1},
	[RF_BUCKET_KEY] = {"key", 16},
};

static int check_file(const char *path, const char *name, struct rf_error *error)
{
	struct stat status;

	if (stat(path, &status))
		return rf_error_failed(error, -errno, "%s: cannot read the %s: %s", path, name,
				       strerror(errno));
	if (!S_ISREG(status.st_mode) || !status.st_size)
		return rf_error_failed(error, -EINVAL,
				       "%s: it is no file with a %s; write one into its "
				       "first line",
				       path, name);
	if (status.st_mode & (S_IRWXG | S_IRWXO))
		return rf_error_failed(error, -EACCES,
				       "%s: others may read the %s; run 'chmod 600 %s'", path, name,
				       path);
	return 0;
}

static int check_length(enum rf_secret_kind kind, const char *path, size_t length,
			struct rf_error *error)
{
	const char *name = kinds[kind].name;

	if (!length)
		return rf_error_failed(error, -EINVAL,
				       "%s: no %s is in its first line; write one there", path,
				       name);
	if (length >= RF_SECRET_SIZE)
		return rf_error_failed(error, -EINVAL, "%s: the %s is too long", path, name);
	if (length < kinds[kind].least)
		return rf_error_failed(error, -EINVAL,
				       "%s: the %s is too short: it must have %zu characters; "
				       "'openssl rand -hex 16' makes one",
				       path, name, kinds[kind].least);
	return 0;
}

int rf_secret_read(enum rf_secret_kind kind, const char *path, char text[RF_SECRET_SIZE],
		   struct rf_error *error)
{
	int err = check_file(path, kinds[kind].name, error);
	size_t length;
	char *read;

	if (!err)
		err = rf_file_read(path, &read, error);
	if (err)
		return err;
	length = strcspn(read, "\r\n");
	err = check_length(kind, path, length, error);
	if (!err) {
		memcpy(text, read, length);
		text[length] = '\0';
	}
	explicit_bzero(read, strlen(read));
	free(read);
	return err;
}

int rf_secret_check(enum rf_secret_kind kind, const char *path, struct rf_error *error)
{
	char text[RF_SECRET_SIZE] = "";
	const int err = rf_secret_read(kind, path, text, error);

	explicit_bzero(text, sizeof(text));
	return err;
}
