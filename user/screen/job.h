/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work that takes long, in a thread of its own, so that keys need not wait for it. The thread alone
 * uses what the work is about until the work is done; then the screen alone does. A screen that
 * ends, or shows something else, does not wait either: it leaves the job, which then ends by
 * itself.
 */
#ifndef RINGFENCE_JOB_H
#define RINGFENCE_JOB_H

#include <stdbool.h>

struct rf_job;

struct rf_job_kind {
	void (*work)(void *context);
	void (*free)(void *context); /* of a job that was left */
};

/* NULL: there is no memory or no thread; the context is the caller's as before. */
struct rf_job *rf_job_start(const struct rf_job_kind *kind, void *context);
/* A descriptor that is readable once the work is done. */
int rf_job_file(const struct rf_job *job);
bool rf_job_is_done(const struct rf_job *job);
/* Ends a job, and returns its context. Waits until the work is done. */
void *rf_job_end(struct rf_job *job);

#endif /* RINGFENCE_JOB_H */
