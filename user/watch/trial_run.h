/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The replay of all sources of a limit: cells and peaks in, one result out. Sources whose cells are
 * recorded give an interval; of the others, a sample gives an estimate. Pure.
 */
#ifndef RINGFENCE_TRIAL_RUN_H
#define RINGFENCE_TRIAL_RUN_H

#include <sys/queue.h>

#include "watch/replay.h"
#include "watch/source_map.h"

/* Of these, 47 MiB at the most: states have 1.1 KiB, cells that are added up 4 KiB. */
#define RF_TRIED_MAX 32000   /* sources */
#define RF_SUMMED_MAX 2048   /* networks whose cells are added up at a time */
#define RF_OTHERS_MAX 100000 /* sources without cells */

struct rf_tried;
struct rf_other;

TAILQ_HEAD(rf_tried_queue, rf_tried);

struct rf_trial_run {
	struct rf_limit limit, recorded; /* the new one, and the one whose cells these are */
	const struct rf_prefixes *from;	 /* only sources in these; NULL: all */
	uint64_t since_ns, until_ns;

	struct rf_replay replay; /* once there is a row */
	struct rf_source_map tried_map, other_map;
	struct rf_source_map network_map; /* those of which cells were recorded */
	struct rf_tried **tried;
	struct rf_other *other;
	struct rf_tried_queue summed; /* those that have a buffer, the one longest unused first */
	size_t tried_room, other_room, summed_count;
	uint64_t skipped; /* rows of other cells, and of sources for which there was no room */
};

struct rf_trial_result {
	uint64_t charged, least, most;		 /* of the recorded sources */
	uint64_t sources, over_least, over_most; /* recorded ones; those over the limit */
	uint64_t incomplete;			 /* recorded ones with missing cells */
	bool is_exact;
	/*
	 * Not proven: cells are missing, rows of several sources have one name, or rows are
	 * differences of counters.
	 */
	bool is_estimate;
	double others, others_over, others_dropped, others_error; /* one standard error */
};

/* 0, or an error of rf_replay_begin(), or -ENOMEM. */
int rf_trial_run_row(struct rf_trial_run *run, const struct rf_cells_row *row,
		     struct rf_error *error);
/*
 * All rows were taken: now come those of the sample. `used` is the most in the recorded limit's
 * TIME, `came` what came within `length_ns`; both in the limit's unit.
 */
int rf_trial_run_other(struct rf_trial_run *run, const struct rf_prefix *source, uint64_t share,
		       double used, uint64_t came, uint64_t length_ns);
void rf_trial_run_end(struct rf_trial_run *run, struct rf_trial_result *result);
void rf_trial_run_free(struct rf_trial_run *run);

#endif /* RINGFENCE_TRIAL_RUN_H */
