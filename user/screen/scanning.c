// SPDX-License-Identifier: GPL-2.0
/* Work in threads next to the screen: scans of the fence, and samples of its packets. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/time.h"
#include "screen/session.h"

/*
 * ---- jobs ----
 *
 * Long work, in a separate thread: keys do not wait for it. Only the thread uses the context of the
 * job until the work is done; then only the screen does. A screen that exits, or shows something
 * else, does not wait either: it abandons the job, which frees itself.
 */

struct job_kind {
	void (*work)(void *context);
	void (*free)(void *context); /* of a job that was left */
};

/* The second one frees the job: the thread if it was abandoned, else the screen. */
enum state {
	RUNS,
	DONE,
	LEFT,
};

struct rf_job {
	const struct job_kind *kind;
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

/* NULL: no memory or no thread; the context still belongs to the caller. */
static struct rf_job *start_job(const struct job_kind *kind, void *context)
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
	return job ? job->file : -1;
}

static bool job_is_done(const struct rf_job *job)
{
	return __atomic_load_n(&job->state, __ATOMIC_ACQUIRE) == DONE;
}

/* Waits until the work is done, and returns its context. */
static void *end_job(struct rf_job *job)
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
	thread = job->thread; /* the thread can free the job immediately */
	if (__atomic_exchange_n(&job->state, LEFT, __ATOMIC_ACQ_REL) == RUNS) {
		pthread_detach(thread);
		return;
	}
	pthread_join(thread, NULL);
	job->kind->free(job->context);
	free_job(job);
}

/* ---- scans ---- */

/* The context of a thread. */
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

static const struct job_kind scan_kind = {work, free_scan};

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
	scanning->job = start_job(&scan_kind, scan);
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
	return scanning->job && job_is_done(scanning->job);
}

int rf_scanning_take(struct rf_scanning *scanning, struct rf_model *model, uint64_t *cost_ns,
		     struct rf_error *error)
{
	struct scan *scan = end_job(scanning->job);
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

/* ---- estimates by a thread ---- */

#define SAMPLED_NS RF_NS_PER_S

/* The context of a thread, except `ends`, which tells it to hurry. */
struct rf_estimate_work {
	struct rf_fence fence;
	struct rf_prefix within;
	bool has_within, ends;
	struct rf_unseen unseen;
	int err;
	struct rf_error error;
};

static void take_samples(void *context)
{
	struct rf_estimate_work *work = context;
	const struct rf_unseen_asked asked = {SAMPLED_NS, work->has_within ? &work->within : NULL,
					      &work->ends};

	work->err = rf_unseen_read(&work->fence, &asked, &work->unseen, &work->error);
}

static void free_work(void *context)
{
	struct rf_estimate_work *work = context;

	if (!work)
		return;
	rf_unseen_free(&work->unseen);
	rf_fence_close(&work->fence);
	free(work);
}

static const struct job_kind estimate_kind = {take_samples, free_work};

static int fail_samples(struct rf_error *error)
{
	return rf_error_failed(error, -ENOMEM, "cannot take samples: %s", strerror(ENOMEM));
}

static int open_work(struct rf_estimating *estimating, const char *interface,
		     const struct rf_prefix *within, struct rf_error *error)
{
	struct rf_estimate_work *work = calloc(1, sizeof(*work));
	int err;

	if (!work)
		return fail_samples(error);
	work->fence = RF_FENCE_NONE;
	work->has_within = within;
	if (within)
		work->within = *within;
	err = rf_fence_open_on(&work->fence, interface, error);
	if (err)
		free_work(work);
	else
		estimating->work = work;
	return err;
}

/* Starts a second of samples from the fence on that interface, of sources in `within` or NULL. */
static int begin_estimate(struct rf_estimating *estimating, const char *interface,
			  const struct rf_prefix *within, struct rf_error *error)
{
	int err = estimating->work ? 0 : open_work(estimating, interface, within, error);

	if (err)
		return err;
	estimating->job = start_job(&estimate_kind, estimating->work);
	return estimating->job ? 0 : fail_samples(error);
}

static bool estimate_is_done(const struct rf_estimating *estimating)
{
	return estimating->job && job_is_done(estimating->job);
}

/* Takes the second into the model. After an error, no more samples are wanted. */
static int take_estimate(struct rf_estimating *estimating, struct rf_model *model,
			 struct rf_error *error)
{
	struct rf_estimate_work *work = end_job(estimating->job);
	int err = work->err;

	estimating->job = NULL;
	if (err)
		*error = work->error;
	else if (rf_model_estimate(model, &work->unseen, rf_time_awake()))
		err = fail_samples(error);
	rf_unseen_free(&work->unseen);
	if (err)
		rf_estimating_close(estimating);
	return err;
}

void rf_estimating_close(struct rf_estimating *estimating)
{
	if (estimating->job) {
		__atomic_store_n(&estimating->work->ends, true, __ATOMIC_RELAXED);
		end_job(estimating->job);
	}
	free_work(estimating->work);
	*estimating = (struct rf_estimating){};
}

/* ---- rows of sources without a window, from samples of packets ---- */

static bool is_wanted(const struct rf_session *session)
{
	return (session->estimating.is_wanted || session->is_sampled) &&
	       !session->asked->top->limit;
}

static void begin_samples(struct rf_session *session)
{
	const struct rf_top *top = session->asked->top;
	const bool was_wanted = session->estimating.is_wanted;
	struct rf_error error;

	if (!begin_estimate(&session->estimating, rf_session_interface(session),
			    top->within.version ? &top->within : NULL, &error))
		return;
	rf_estimating_close(&session->estimating);
	if (was_wanted)
		rf_session_say(session, true, "%s", error.text);
}

/* Of others' samples, an error is that these have ended. */
static void take_done(struct rf_session *session)
{
	const bool was_wanted = session->estimating.is_wanted;
	struct rf_error error;

	if (take_estimate(&session->estimating, &session->live, &error) && was_wanted)
		rf_session_say(session, true, "%s", error.text);
}

static void forget(struct rf_session *session)
{
	rf_model_forget_estimates(&session->live);
	rf_model_order(&session->live, rf_time_awake());
}

bool rf_samples_read(struct rf_session *session)
{
	bool has_news = false;

	if (session->view.is_paused)
		return false;
	if (estimate_is_done(&session->estimating)) {
		take_done(session);
		has_news = true;
	}
	if (session->estimating.job)
		return has_news;
	if (is_wanted(session)) {
		begin_samples(session);
	} else if (session->live.one_in) {
		forget(session);
		has_news = true;
	}
	session->view.is_sampling = session->estimating.job;
	return has_news;
}

void rf_samples_switch(struct rf_session *session)
{
	if (session->estimating.is_wanted) {
		rf_estimating_close(&session->estimating);
		forget(session);
		session->is_sampled = false;
		session->view.is_sampling = false;
		rf_session_say(session, false, "no more samples are taken");
	} else if (session->asked->top->limit) {
		rf_session_say(session, true,
			       "a source without a window is of no limit; 'ringfence top' without "
			       "'limit' shows it");
	} else if (!session->view.can_change) {
		rf_session_say(session, true,
			       "to take samples takes CAP_BPF and CAP_NET_ADMIN: 'sudo ringfence "
			       "top'");
	} else {
		session->estimating.is_wanted = true;
		session->view.is_sampling = true;
	}
}
