// SPDX-License-Identifier: GPL-2.0
/* Reads the pinned iterators, each of which prints records of one size. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "fence/private.h"

#define READ_SIZE 65536	  /* the kernel gives 32 KiB at most */
#define IN_VAIN_MAX 10000 /* reads that looked at a million entries each, and printed none */

static int open_iterator(const struct rf_fence *fence, enum rf_iterator iterator)
{
	const struct rf_pin_path pins = rf_fence_pins(fence);
	int fd;

	if (!*pins.text)
		return -ENOENT;
	fd = open(rf_pins_entry(&pins, rf_iterator_pins[iterator]).text, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -ENOENT : fd;
}

bool rf_fence_lacks_iterators(const struct rf_fence *fence)
{
	const struct rf_pin_path pins = rf_fence_pins(fence);
	int found = 0;

	for (int i = 0; i < RF_ITERATOR_COUNT && *pins.text; i++)
		found += !access(rf_pins_entry(&pins, rf_iterator_pins[i]).text, F_OK);
	return found && found < RF_ITERATOR_COUNT;
}

/* A read gives up after a million entries of which it printed none: then it is read on. */
static ssize_t read_on(int fd, void *buffer, size_t size)
{
	ssize_t got = -1;

	for (int i = 0; i < IN_VAIN_MAX && got < 0; i++) {
		got = read(fd, buffer, size);
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			break;
	}
	return got < 0 ? -errno : got;
}

static int read_records(int fd, size_t size, rf_record_visit visit, void *context)
{
	char buffer[READ_SIZE] __attribute__((aligned(8)));
	size_t filled = 0;
	int err = 0;

	while (!err) {
		const ssize_t got = read_on(fd, buffer + filled, sizeof(buffer) - filled);
		size_t at = 0;

		if (got <= 0)
			return got < 0 ? got : filled ? -EPROTO : 0;
		filled += got;
		for (; filled - at >= size && !err; at += size)
			err = visit(buffer + at, context);
		filled -= at;
		memmove(buffer, buffer + at, filled);
	}
	return err;
}

int rf_iterator_each(const struct rf_fence *fence, enum rf_iterator iterator, size_t size,
		     rf_record_visit visit, void *context)
{
	const int fd = open_iterator(fence, iterator);
	int err;

	if (fd < 0)
		return fd;
	err = read_records(fd, size, visit, context);
	close(fd);
	return err;
}
