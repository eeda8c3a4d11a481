// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/capture_file.h"

static int fail_file(struct rf_capture_file *to, int err, struct rf_error *error)
{
	__fpurge(to->file);  /* half of a packet, which closing would write */
	if (err == -EPIPE) { /* as head does: no error */
		to->has_reader = false;
		return 0;
	}
	if (to->whole > 0 && !ftruncate(fileno(to->file), to->whole))
		return rf_error_failed(error, err,
				       "cannot write to %.300s: %s; the packets before are in it",
				       to->path, strerror(-err));
	return rf_error_failed(error, err, "cannot write to %.300s: %s", to->path, strerror(-err));
}

static int open_stream(struct rf_capture_file *to, int fd, struct rf_error *error)
{
	to->file = fdopen(fd, "w");
	if (to->file)
		return 0;
	close(fd);
	return rf_error_failed(error, -ENOMEM, "cannot write to %.300s: %s", to->path,
			       strerror(ENOMEM));
}

/* Not the stream that all commands print to: that nobody reads it any longer is no error here. */
static int open_output(struct rf_capture_file *to, struct rf_error *error)
{
	int fd;

	to->path = "standard output";
	if (isatty(STDOUT_FILENO))
		return rf_error_usage(error,
				      "'write -': packets are no text for a terminal; name a "
				      "file, or write | tcpdump -r -");
	fd = dup(STDOUT_FILENO);
	if (fd < 0)
		return rf_error_failed(error, -errno, "%s: %s", to->path, strerror(errno));
	return open_stream(to, fd, error);
}

/* The file has addresses: only the user may read it. A device or a named pipe may be there. */
static int open_file(struct rf_capture_file *to, struct rf_error *error)
{
	int fd = open(to->path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	struct stat stat;

	to->is_made = fd >= 0;
	if (fd < 0 && errno == EEXIST && !lstat(to->path, &stat) && !S_ISREG(stat.st_mode))
		fd = open(to->path, O_WRONLY | O_CLOEXEC);
	else if (fd < 0 && errno == EEXIST)
		return rf_error_failed(error, -EEXIST,
				       "%.300s: the file exists; remove it, or name another one",
				       to->path);
	if (fd < 0)
		return rf_error_failed(error, -errno, "cannot make %.300s: %s", to->path,
				       strerror(errno));
	return open_stream(to, fd, error);
}

int rf_capture_file_open(struct rf_capture_file *to, const char *path, struct rf_error *error)
{
	int err;

	*to = (struct rf_capture_file){.path = path, .has_reader = true};
	err = strcmp(path, "-") == 0 ? open_output(to, error) : open_file(to, error);
	if (err)
		return err;
	err = rf_pcapng_begin(&to->pcapng, to->file);
	return err ? fail_file(to, err, error) : 0;
}

int rf_capture_file_interface(struct rf_capture_file *to, uint32_t index, const char *name,
			      struct rf_error *error)
{
	int err = rf_pcapng_add_interface(&to->pcapng, index, name);

	return err ? fail_file(to, err, error) : 0;
}

int rf_capture_file_add(struct rf_capture_file *to, const struct rf_pcapng_packet *packet,
			struct rf_error *error)
{
	int err = rf_pcapng_add(&to->pcapng, packet);

	return err ? fail_file(to, err, error) : 0;
}

int rf_capture_file_flush(struct rf_capture_file *to, struct rf_error *error)
{
	if (fflush(to->file))
		return fail_file(to, -errno, error);
	if (to->is_made)
		to->whole = ftello(to->file);
	return 0;
}

void rf_capture_file_close(struct rf_capture_file *to, bool keeps)
{
	if (to->file)
		fclose(to->file);
	if (to->is_made && !keeps)
		unlink(to->path);
	to->file = NULL;
}
