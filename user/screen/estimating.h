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

/* Ends sampling; waits for some 20 ms at most, so that the fence takes no more samples then. */
void rf_estimating_close(struct rf_estimating *estimating);

#endif /* RINGFENCE_ESTIMATING_H */
