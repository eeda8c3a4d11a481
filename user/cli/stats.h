/* SPDX-License-Identifier: GPL-2.0 */
/* What `stats` and `stats watch` share. */
#ifndef RINGFENCE_CLI_STATS_H
#define RINGFENCE_CLI_STATS_H

#include <jansson.h>

#include "base/time.h"
#include "cli/command.h"
#include "fence/by_interface.h"
#include "fence/fence.h"

/* Sums of all counters of a fence. */
struct rf_sums {
	struct rf_count passed;
	struct rf_count dropped;
	struct rf_counters counters;
	struct rf_by_interface interfaces;
	uint64_t map_errors;
};

struct rf_totals {
	struct rf_sums all;	 /* since the attach */
	struct rf_sums since;	 /* since the reset, if there was one */
	struct rf_baseline base; /* of that reset; all 0 for `stats total` */
};

/* `from_attach`: as if nothing was ever reset. */
int rf_totals_read(const struct rf_fence *fence, bool from_attach, struct rf_totals *totals,
		   struct rf_error *error);
/* The same of the limit in `slot`, whose rules these are. */
int rf_totals_limit(const struct rf_fence *fence, const struct rf_totals *totals,
		    const struct rf_bank *rules, int slot, struct rf_limit_counters *sum,
		    struct rf_error *error);
/* What the fence's interfaces in this network namespace do not have of the sums. */
struct rf_interface_counters rf_totals_rest(const struct rf_fence *fence,
					    const struct rf_sums *sums);
/* The time of the last reset, or null. */
json_t *rf_reset_json(const struct rf_baseline *base);
/* The object of `stats`. NULL: `error` says why. */
json_t *rf_stats_json(const struct rf_fence *fence, const struct rf_totals *totals,
		      struct rf_error *error);

/* stats watch: of one fence, or of all. */
int rf_stats_watch(const struct rf_options *options, const struct rf_stats *asked,
		   struct rf_error *error);

#endif /* RINGFENCE_CLI_STATS_H */
