/* SPDX-License-Identifier: GPL-2.0 */
/* Work in threads next to the screen: scans of the fence, and samples of its packets. */
#ifndef RINGFENCE_SCANNING_H
#define RINGFENCE_SCANNING_H

#include "screen/model.h"

/* A job in a thread. */
struct rf_job;

/* A descriptor that is readable once the work is done; -1: no job. */
int rf_job_file(const struct rf_job *job);

/* ---- scans, one after the other ---- */

struct rf_scanning {
	struct rf_scanner *scanner; /* NULL while a job has it, or none is open */
	struct rf_job *job;	    /* NULL: no scan is under way */
};

int rf_scanning_open(struct rf_scanning *scanning, const char *interface, struct rf_error *error);
/* Does not wait for the scan that is under way. */
void rf_scanning_close(struct rf_scanning *scanning);
/* Starts a scan, for a model with this order, filter and these rows. */
int rf_scanning_begin(struct rf_scanning *scanning, const struct rf_model *model,
		      struct rf_error *error);
/* Is there a scan to be taken? */
bool rf_scanning_is_done(const struct rf_scanning *scanning);
/* Takes it into the model, and returns its CPU time. -ENODEV: the fence was detached. */
int rf_scanning_take(struct rf_scanning *scanning, struct rf_model *model, uint64_t *cost_ns,
		     struct rf_error *error);

/*
 * ---- samples of packets, a second at a time ----
 *
 * They show sources without a window. Samples that others take are read wherever they exist; the
 * screen takes its own only if the user wants that.
 */

struct rf_estimating {
	struct rf_estimate_work *work; /* NULL: none yet */
	struct rf_job *job;	       /* NULL: no sampling is under way */
	bool is_wanted;		       /* by the user, also if no other process takes samples */
};

/* Stops sampling; waits for some 20 ms at most, after which the fence takes no more samples. */
void rf_estimating_close(struct rf_estimating *estimating);

#endif /* RINGFENCE_SCANNING_H */
