/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Threads that run an XDP program again and again, each on its CPU. The kernel really sends the
 * frames that the program redirects (BPF_F_TEST_XDP_LIVE_FRAMES, Linux 5.18).
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "traffic.h"

#define FRAMES_A_CALL 8192 /* by default: some milliseconds, for a thread to stop soon */

static sigset_t awaited_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGUSR1);
	return signals;
}

/* Blocks the signals that signal_until() returns, also in threads that are started later. */
void await_signals(void)
{
	sigset_t signals = awaited_signals();

	pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

static void *repeat_on_cpu(void *context)
{
	struct repeat_thread *thread = context;
	struct repeat *repeat = thread->repeat;
	const struct timespec rest = timespec_of(repeat->rest_ns);
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(thread->cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die(1, "CPU %d: cannot run there: %s", thread->cpu, strerror(errno));
	while (!__atomic_load_n(&repeat->stop, __ATOMIC_RELAXED)) {
		LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = repeat->frame,
			    .data_size_in = repeat->frame_bytes,
			    .repeat = repeat->frames_a_call ? repeat->frames_a_call : FRAMES_A_CALL,
			    .flags = BPF_F_TEST_XDP_LIVE_FRAMES);
		int err = bpf_prog_test_run_opts(repeat->program, &run);

		if (err && err != -EINTR) /* stopped and continued: the program counts anyway */
			die(1, "CPU %d: cannot flood: %s", thread->cpu, strerror(-err));
		if (repeat->rest_ns)
			nanosleep(&rest, NULL);
	}
	return NULL;
}

void repeat_add_cpu(struct repeat *repeat, const char *text)
{
	if (repeat->cpus_n == REPEAT_CPUS_MOST)
		die(2, "cpu '%s': too many: at most %d", text, REPEAT_CPUS_MOST);
	repeat->threads[repeat->cpus_n++].cpu = parse_number("cpu", text, 0, CPU_SETSIZE - 1);
}

/* Starts the threads, and reports that. They inherit the mask: signals are blocked in all threads.
 */
void repeat_start(struct repeat *repeat)
{
	await_signals();
	for (size_t i = 0; i < repeat->cpus_n; i++) {
		struct repeat_thread *thread = &repeat->threads[i];

		thread->repeat = repeat;
		if (pthread_create(&thread->id, NULL, repeat_on_cpu, thread))
			die(1, "CPU %d: cannot start a thread", thread->cpu);
	}
	fputs("ready\n", stderr);
}

/* Waits for SIGINT, SIGTERM or SIGUSR1; returns 0 at the time @end_ns. */
int signal_until(uint64_t end_ns)
{
	sigset_t signals = awaited_signals();

	for (uint64_t now; (now = now_ns()) < end_ns;) {
		struct timespec left = timespec_of(end_ns - now);
		int signal = sigtimedwait(&signals, NULL, &left);

		if (signal > 0)
			return signal;
	}
	return 0;
}

void repeat_stop(struct repeat *repeat)
{
	__atomic_store_n(&repeat->stop, true, __ATOMIC_RELAXED);
	for (size_t i = 0; i < repeat->cpus_n; i++)
		pthread_join(repeat->threads[i].id, NULL);
}
