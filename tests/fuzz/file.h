/* SPDX-License-Identifier: GPL-2.0 */
/* The bytes of an input as a file in memory, for parsers that take a path. */
#ifndef RINGFENCE_TESTS_FUZZ_FILE_H
#define RINGFENCE_TESTS_FUZZ_FILE_H

#include <sys/mman.h>
#include <unistd.h>

#include "require.h"

struct fuzz_file {
	char path[32];
	int fd;
};

static inline void fuzz_file_write(struct fuzz_file *file, const void *bytes, size_t size)
{
	if (!*file->path) {
		file->fd = memfd_create("input", MFD_CLOEXEC);
		REQUIRE(file->fd >= 0);
		snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", file->fd);
	}
	REQUIRE(!ftruncate(file->fd, 0));
	REQUIRE(pwrite(file->fd, bytes, size, 0) == (ssize_t)size);
}

static inline void fuzz_file_append(struct fuzz_file *file, const void *bytes, size_t size)
{
	const off_t end = lseek(file->fd, 0, SEEK_END);

	REQUIRE(end >= 0 && pwrite(file->fd, bytes, size, end) == (ssize_t)size);
}

#endif /* RINGFENCE_TESTS_FUZZ_FILE_H */
