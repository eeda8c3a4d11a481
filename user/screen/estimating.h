/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Samples of packets, a second at a time, beside the screen: they show sources that have no window.
 * Others' samples are read wherever there are some; the fence is only told to take samples where
 * the user wants that.
 */
#ifndef RINGFENCE_ESTIMATING_H
#define RINGFENCE_ESTIMATING_H

#include "screen/job.h"
#include "screen/model.h"

struct rf_estimating {
	struct rf_estimate_work *work; /* NULL: none yet */
	struct rf_job *job;	       /* NULL: no sampling is under way */
	bool is_wanted;		       /* by the user, also where nobody else takes samples */
};

/* Begins a second of samples from the fence on that interface, of sources in `within` or NULL. */
int rf_estimating_begin(struct rf_estimating *estimating, const char *interface,
			const struct rf_prefix *within, struct rf_error *error);
bool rf_estimating_is_done(const struct rf_estimating *estimating);
/* Takes the second into the model. After an error, no more samples are wanted. */
int rf_estimating_take(struct rf_estimating *estimating, struct rf_model *model,
		       struct rf_error *error);
/* Ends sampling; waits for some 20 ms at most, so that the fence takes no more samples then. */
void rf_estimating_close(struct rf_estimating *estimating);

#endif /* RINGFENCE_ESTIMATING_H */
