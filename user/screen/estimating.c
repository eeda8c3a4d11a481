// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "screen/estimating.h"

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

int rf_estimating_begin(struct rf_estimating *estimating, const char *interface,
			const struct rf_prefix *within, struct rf_error *error)
{
	int err = estimating->work ? 0 : open_work(estimating, interface, within, error);

	if (err)
		return err;
	estimating->job = rf_job_start(&kind, estimating->work);
	return estimating->job ? 0 : fail_memory(error);
}

bool rf_estimating_is_done(const struct rf_estimating *estimating)
{
	return estimating->job && rf_job_is_done(estimating->job);
}

int rf_estimating_take(struct rf_estimating *estimating, struct rf_model *model,
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
