// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "screen/estimating.h"
#include "screen/session.h"

/* ---- estimates by a thread ---- */

#define SAMPLED_NS RF_NS_PER_S

/* What a thread works on; but for `ends`, by which it is told to hurry. */
struct rf_estimate_work {
	struct rf_fence fence;
	struct rf_prefix within;
	bool has_within, ends;
	struct rf_unseen unseen;
	int err;
	struct rf_error error;
};

static void work(void *context)
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

static const struct rf_job_kind kind = {work, free_work};

static int fail_memory(struct rf_error *error)
{
	return rf_error_failed(error, -ENOMEM, "cannot take samples: %s", strerror(ENOMEM));
}

static int open_work(struct rf_estimating *estimating, const char *interface,
		     const struct rf_prefix *within, struct rf_error *error)
{
	struct rf_estimate_work *work = calloc(1, sizeof(*work));
	int err;

	if (!work)
		return fail_memory(error);
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

/* Begins a second of samples from the fence on that interface, of sources in `within` or NULL. */
static int begin_estimate(struct rf_estimating *estimating, const char *interface,
			  const struct rf_prefix *within, struct rf_error *error)
{
	int err = estimating->work ? 0 : open_work(estimating, interface, within, error);

	if (err)
		return err;
	estimating->job = rf_job_start(&kind, estimating->work);
	return estimating->job ? 0 : fail_memory(error);
}

static bool estimate_is_done(const struct rf_estimating *estimating)
{
	return estimating->job && rf_job_is_done(estimating->job);
}

/* Takes the second into the model. After an error, no more samples are wanted. */
static int take_estimate(struct rf_estimating *estimating, struct rf_model *model,
			 struct rf_error *error)
{
	struct rf_estimate_work *work = rf_job_end(estimating->job);
	int err = work->err;

	estimating->job = NULL;
	if (err)
		*error = work->error;
	else if (rf_model_estimate(model, &work->unseen, rf_time_awake()))
		err = fail_memory(error);
	rf_unseen_free(&work->unseen);
	if (err)
		rf_estimating_close(estimating);
	return err;
}

void rf_estimating_close(struct rf_estimating *estimating)
{
	if (estimating->job) {
		__atomic_store_n(&estimating->work->ends, true, __ATOMIC_RELAXED);
		rf_job_end(estimating->job);
	}
	free_work(estimating->work);
	*estimating = (struct rf_estimating){};
}

/* ---- the page of samples ---- */

/* The rows of sources without a window, which come from samples of packets. */

static bool is_wanted(const struct rf_session *session)
{
	return (session->estimating.is_wanted || session->is_sampled) &&
	       !session->asked->top->limit;
}

static void begin(struct rf_session *session)
{
	const struct rf_top *top = session->asked->top;
	const bool was_wanted = session->estimating.is_wanted;
	struct rf_error error;

	if (!begin_estimate(&session->estimating, rf_session_interface(session),
			    top->is_within ? &top->within : NULL, &error))
		return;
	rf_estimating_close(&session->estimating);
	if (was_wanted)
		rf_session_say(session, true, "%s", error.text);
}

/* Of others' samples, an error is that these have ended. */
static void take(struct rf_session *session)
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
		take(session);
		has_news = true;
	}
	if (session->estimating.job)
		return has_news;
	if (is_wanted(session)) {
		begin(session);
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
