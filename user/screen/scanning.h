/* SPDX-License-Identifier: GPL-2.0 */
/* Scans of the fence that is shown, one after the other, beside the screen. */
#ifndef RINGFENCE_SCANNING_H
#define RINGFENCE_SCANNING_H

#include "screen/job.h"
#include "screen/model.h"

struct rf_scanning {
	struct rf_scanner *scanner; /* NULL while a job has it, or none is open */
	struct rf_job *job;	    /* NULL: no scan is under way */
};

int rf_scanning_open(struct rf_scanning *scanning, const char *interface, struct rf_error *error);
/* Does not wait for the scan that is under way. */
void rf_scanning_close(struct rf_scanning *scanning);
/* Begins a scan, for a model that has this order, filter and these rows. */
int rf_scanning_begin(struct rf_scanning *scanning, const struct rf_model *model,
		      struct rf_error *error);
/* Is there a scan to be taken? */
bool rf_scanning_is_done(const struct rf_scanning *scanning);
/* Takes it into the model, and says what CPU time it cost. -ENODEV: the fence is gone. */
int rf_scanning_take(struct rf_scanning *scanning, struct rf_model *model, uint64_t *cost_ns,
		     struct rf_error *error);

#endif /* RINGFENCE_SCANNING_H */
