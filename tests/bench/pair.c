// SPDX-License-Identifier: GPL-2.0
/*
 * Runs one call inside another CPU's call: the other call starts earlier, with more packets than it
 * can ever send, and is stopped by a signal. The whole measured call therefore runs concurrently
 * with it, regardless of how long the two calls wait when they start and end.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "bench.h"

#define ENDLESS 4000000000U
#define UNDER_WAY_NS 10000000 /* CPU time by which the other's call has certainly begun */
#define PATIENCE_MS 5000
#define APART_FIRST (1U << 31) /* source; the sets of the bench are smaller */

struct company {
	const struct target *target;
	struct frame frame;
	pthread_t thread;
	int err;
};

static void ignore(int signal)
{
	(void)signal;
}

static void *keep_company(void *context)
{
	struct company *company = context;
	const int fd = company->target->fd[company->frame.family];
	uint32_t size;
	void *bytes = frame_bytes(&company->frame, &size);
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = bytes, .data_size_in = size,
		    .repeat = ENDLESS);

	if (!run_on_cpu(1))
		company->err = -ENODEV;
	else
		company->err = bpf_prog_test_run_opts(fd, &run);
	return NULL;
}

static int64_t thread_time_ns(pthread_t thread)
{
	struct timespec time = {};
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock) || clock_gettime(clock, &time))
		return 0;
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void begin_company(struct company *company)
{
	const struct timespec ms = {.tv_nsec = 1000000};
	int err = pthread_create(&company->thread, NULL, keep_company, company);

	if (err)
		die("cannot start a thread: %s", strerror(err));
	for (int i = 0; thread_time_ns(company->thread) < UNDER_WAY_NS; i++) {
		if (i == PATIENCE_MS)
			die("the other CPU does not run");
		nanosleep(&ms, NULL);
	}
}

/* The signal may come before the call, so it is sent until the thread has ended. */
static void end_company(struct company *company)
{
	const struct timespec ms = {.tv_nsec = 1000000};

	do {
		pthread_kill(company->thread, SIGUSR1);
		nanosleep(&ms, NULL);
	} while (pthread_tryjoin_np(company->thread, NULL) == EBUSY);
	if (company->err != -EINTR)
		die("the other CPU ended by itself: %s", strerror(-company->err));
}

double pair_call(struct row *row, int *verdict)
{
	const struct sigaction quiet = {.sa_handler = ignore}; /* no SA_RESTART: it ends the call */
	struct company company = {.target = row->target, .frame = row->frame};
	double ns;

	sigaction(SIGUSR1, &quiet, NULL);
	if (row->beside == APART)
		frame_walk(&company.frame)->first = APART_FIRST;
	begin_company(&company);
	ns = run_call(row->target, &row->frame, row->repeat, verdict);
	end_company(&company);
	return ns;
}
