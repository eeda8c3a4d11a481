/* SPDX-License-Identifier: GPL-2.0 */
/* The rules of a fence that a build of an older map ABI attached. */
#ifndef RINGFENCE_FENCE_PAST_H
#define RINGFENCE_FENCE_PAST_H

#include "fence/fence.h"

/*
 * Reads the rules of a fence that rf_fence_open() has found to be alien. Afterwards `fence` has the
 * name, the clock, the standing and the banks of that fence, and nothing else: it can be asked for
 * times, and not be changed. `confirmed`: without rules on trial. `ruleset` can be printed; it is
 * not compiled. An error where this build does not know that ABI. Close and free both even after an
 * error.
 */
int rf_past_read(struct rf_fence *fence, bool confirmed, struct rf_ruleset *ruleset,
		 struct rf_error *error);

#endif /* RINGFENCE_FENCE_PAST_H */
