// SPDX-License-Identifier: GPL-2.0
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/thread.h"
#include "screen/job.h"

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

void rf_job_leave(struct rf_job *job)
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
