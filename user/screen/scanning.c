// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/time.h"
#include "screen/job.h"
#include "screen/scanning.h"

/* ---- a thread for a while ---- */

/* Who comes second frees the job: the thread where it was left, else the screen. */
enum state {
	RUNS,
	DONE,
	LEFT,
};

struct rf_job {
	const struct rf_job_kind *kind;
	void *context;
	pthread_t thread;
	int file;
	enum state state;
};

static void free_job(struct rf_job *job)
{
	close(job->file);
	free(job);
}

static void *run(void *context)
{
	struct rf_job *job = context;
	const uint64_t one = 1;

	job->kind->work(job->context);
	if (__atomic_exchange_n(&job->state, DONE, __ATOMIC_ACQ_REL) == LEFT) {
		job->kind->free(job->context);
		free_job(job);
	} else {
		(void)!write(job->file, &one, sizeof(one)); /* it has room for more than one */
	}
	return NULL;
}

struct rf_job *rf_job_start(const struct rf_job_kind *kind, void *context)
{
	struct rf_job *job = malloc(sizeof(*job));

	if (!job)
		return NULL;
	*job = (struct rf_job){.kind = kind, .context = context};
	job->file = eventfd(0, EFD_CLOEXEC);
	if (job->file >= 0 && !rf_thread_start(&job->thread, run, job))
		return job;
	if (job->file >= 0)
		close(job->file);
	free(job);
	return NULL;
}

int rf_job_file(const struct rf_job *job)
{
	return job->file;
}

bool rf_job_is_done(const struct rf_job *job)
{
	return __atomic_load_n(&job->state, __ATOMIC_ACQUIRE) == DONE;
}

void *rf_job_end(struct rf_job *job)
{
	void *context = job->context;

	pthread_join(job->thread, NULL);
	free_job(job);
	return context;
}

/* Lets a job go, with its context. Does not wait. NULL is no job. */
static void leave_job(struct rf_job *job)
{
	pthread_t thread;

	if (!job)
		return;
	thread = job->thread; /* the thread may free the job at once */
	if (__atomic_exchange_n(&job->state, LEFT, __ATOMIC_ACQ_REL) == RUNS) {
		pthread_detach(thread);
		return;
	}
	pthread_join(thread, NULL);
	job->kind->free(job->context);
	free_job(job);
}

/* ---- scans ---- */

/* What a thread works on. */
struct scan {
	struct rf_scanner *scanner;
	struct rf_model model; /* a copy, which gets the scan */
	uint64_t cost_ns;
	int err;
	struct rf_error error;
};

static int fail_memory(struct rf_error *error)
{
	return rf_error_failed(error, -ENOMEM, "cannot scan: %s", strerror(ENOMEM));
}

static void work(void *context)
{
	const uint64_t before = rf_time_used();
	struct scan *scan = context;
	struct rf_snapshot snapshot;

	scan->err = rf_scan(scan->scanner, &snapshot, &scan->error);
	if (!scan->err && rf_model_take(&scan->model, &snapshot))
		scan->err = fail_memory(&scan->error);
	rf_snapshot_free(&snapshot);
	scan->cost_ns = rf_time_used() - before;
}

static void free_scan(void *context)
{
	struct scan *scan = context;

	rf_scanner_close(scan->scanner);
	rf_model_free(&scan->model);
	free(scan);
}

static const struct rf_job_kind kind = {work, free_scan};

int rf_scanning_open(struct rf_scanning *scanning, const char *interface, struct rf_error *error)
{
	*scanning = (struct rf_scanning){.scanner = rf_scanner_open(interface, error)};
	return scanning->scanner ? 0 : -ENODEV;
}

void rf_scanning_close(struct rf_scanning *scanning)
{
	rf_scanner_close(scanning->scanner);
	leave_job(scanning->job);
	*scanning = (struct rf_scanning){};
}

int rf_scanning_begin(struct rf_scanning *scanning, const struct rf_model *model,
		      struct rf_error *error)
{
	struct scan *scan = calloc(1, sizeof(*scan));

	if (!scan || rf_model_copy(&scan->model, model)) {
		free(scan);
		return fail_memory(error);
	}
	scan->scanner = scanning->scanner;
	scanning->job = rf_job_start(&kind, scan);
	if (!scanning->job) {
		rf_model_free(&scan->model);
		free(scan);
		return fail_memory(error);
	}
	scanning->scanner = NULL;
	return 0;
}

bool rf_scanning_is_done(const struct rf_scanning *scanning)
{
	return scanning->job && rf_job_is_done(scanning->job);
}

int rf_scanning_take(struct rf_scanning *scanning, struct rf_model *model, uint64_t *cost_ns,
		     struct rf_error *error)
{
	struct scan *scan = rf_job_end(scanning->job);
	const int err = scan->err;

	scanning->job = NULL;
	scanning->scanner = scan->scanner;
	scan->scanner = NULL;
	*cost_ns = scan->cost_ns;
	if (err)
		*error = scan->error;
	else
		rf_model_adopt(model, &scan->model);
	free_scan(scan);
	return err;
}
