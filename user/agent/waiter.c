// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/waiter.h"
#include "base/thread.h"
#include "kernel/program.h"

/* What is sent to the thread; it answers with 1, or 1 and an errno. */
#define BEGIN 1
#define END 2

static bool tell(int fd, uint64_t what)
{
	return write(fd, &what, sizeof(what)) == sizeof(what);
}

/* 0: nothing was told. */
static uint64_t hear(int fd)
{
	uint64_t what;

	return read(fd, &what, sizeof(what)) == sizeof(what) ? what : 0;
}

static void *run(void *context)
{
	const struct rf_waiter *waiter = context;
	struct rf_error ignored;
	uint64_t what;

	while ((what = hear(waiter->begin_fd)) < END)
		if (what)
			tell(waiter->done.fd, 1 - rf_wait_for_programs(&ignored));
	return NULL;
}

int rf_waiter_start(struct rf_waiter *waiter, struct rf_loop *loop, struct rf_error *error)
{
	int err = 0;

	waiter->begin_fd = eventfd(0, EFD_CLOEXEC);
	waiter->done.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	waiter->loop = loop;
	if (waiter->begin_fd < 0 || waiter->done.fd < 0)
		err = -errno;
	if (!err)
		err = rf_loop_watch(loop, &waiter->done, EPOLLIN);
	if (!err)
		err = rf_thread_start(&waiter->thread, run, waiter);
	waiter->runs = !err;
	if (err)
		return rf_error_failed(error, err, "cannot start: %s", strerror(-err));
	return 0;
}

void rf_waiter_end(struct rf_waiter *waiter)
{
	if (waiter->runs) {
		tell(waiter->begin_fd, END);
		pthread_join(waiter->thread, NULL);
	}
	if (waiter->begin_fd >= 0)
		close(waiter->begin_fd);
	if (waiter->done.fd >= 0) {
		rf_loop_unwatch(waiter->loop, &waiter->done);
		close(waiter->done.fd);
	}
	*waiter = RF_WAITER_NONE;
}

bool rf_waiter_begin(struct rf_waiter *waiter)
{
	return waiter->runs && tell(waiter->begin_fd, BEGIN);
}

int rf_waiter_result(struct rf_waiter *waiter)
{
	const uint64_t what = hear(waiter->done.fd);

	return what ? 1 - (int)what : -EAGAIN;
}
