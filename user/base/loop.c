// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/time.h"
#include "base/units.h"

/* ---- signals ---- */

static void take_signals(void *context, uint32_t events)
{
	struct rf_loop *loop = context;
	struct signalfd_siginfo came;

	(void)events;
	while (read(loop->signals.fd, &came, sizeof(came)) == sizeof(came))
		loop->came |= 1ULL << came.ssi_signo;
}

bool rf_loop_took(struct rf_loop *loop, int signal)
{
	const uint64_t bit = 1ULL << signal;
	const bool took = loop->came & bit;

	loop->came &= ~bit;
	return took;
}

int rf_loop_open(struct rf_loop *loop, const int *signals)
{
	sigset_t set;

	*loop = RF_LOOP_NONE;
	sigemptyset(&set);
	for (; *signals; signals++)
		sigaddset(&set, *signals);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	loop->signals.ready = take_signals;
	loop->signals.context = loop;
	loop->signals.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->signals.fd < 0 || loop->epoll_fd < 0)
		return -errno;
	return rf_loop_watch(loop, &loop->signals, EPOLLIN);
}

void rf_loop_close(struct rf_loop *loop)
{
	if (loop->signals.fd >= 0)
		close(loop->signals.fd);
	if (loop->epoll_fd >= 0)
		close(loop->epoll_fd);
	*loop = RF_LOOP_NONE;
}

/* ---- sources ---- */

/* epoll forgets a descriptor that is closed, so it knows best whether it has this one. */
int rf_loop_watch(struct rf_loop *loop, struct rf_loop_source *source, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = source};

	if (!epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, source->fd, &event))
		return 0;
	if (errno == ENOENT && !epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, source->fd, &event))
		return 0;
	return -errno;
}

void rf_loop_unwatch(struct rf_loop *loop, struct rf_loop_source *source)
{
	epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, source->fd, NULL);
	for (int i = 0; i < loop->count; i++)
		if (loop->event[i].data.ptr == source)
			loop->event[i].data.ptr = NULL;
}

/* ---- turns ---- */

static int wait_ms(uint64_t until_ns)
{
	const uint64_t now = rf_time_awake();
	uint64_t ms;

	if (until_ns <= now)
		return 0;
	ms = (until_ns - now - 1) / RF_NS_PER_MS + 1;
	return ms < INT_MAX ? ms : INT_MAX;
}

void rf_loop_wait(struct rf_loop *loop, uint64_t until_ns)
{
	const int count =
		epoll_wait(loop->epoll_fd, loop->event, RF_LOOP_EVENTS, wait_ms(until_ns));

	loop->count = count > 0 ? count : 0;
}

/* A callback can unwatch other sources. */
static bool serve(struct rf_loop *loop, bool urgent_only)
{
	bool any = false;

	for (int i = 0; i < loop->count; i++) {
		const struct rf_loop_source *source = loop->event[i].data.ptr;

		if (!source || (urgent_only && !source->is_urgent))
			continue;
		loop->event[i].data.ptr = NULL;
		any = true;
		if (source->ready)
			source->ready(source->context, loop->event[i].events);
	}
	return any;
}

bool rf_loop_serve_urgent(struct rf_loop *loop)
{
	return serve(loop, true);
}

void rf_loop_serve(struct rf_loop *loop)
{
	serve(loop, false);
	loop->count = 0;
}

/* ---- threads ---- */

int rf_thread_start(pthread_t *thread, void *(*run)(void *), void *context)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	err = pthread_create(thread, NULL, run, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}
