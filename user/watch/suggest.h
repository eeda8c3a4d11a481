/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Suggestions from recordings for a limit that is not active: the right COUNT, and how much a limit
 * would have dropped. Pure.
 */
#ifndef RINGFENCE_SUGGEST_H
#define RINGFENCE_SUGGEST_H

#include <sys/queue.h>

#include "watch/replay.h"

/* ---- an index of sources ---- */

struct rf_source_key {
	struct rf_prefix source;
	uint64_t of; /* an hour, or any other second key */
};

/* Maps each source, or each source in each hour, to an index, from 0 on. All zeros: empty. */
struct rf_source_map {
	struct rf_source_key *key; /* by index */
	size_t count, capacity;
	uint32_t *place; /* open addressing: an index and 1; 0: free */
	size_t places;	 /* a power of two */
};

/*
 * ---- the right COUNT ----
 *
 * From the maximum that each source used in each hour. The median of the hours, of the use that
 * 99.9 % of the sources do not exceed, times two: one hour of an attack does not change it.
 */

#define RF_SUGGEST_STEPS 28 /* rates: 1, 2, 5, 10, … */
#define RF_SUGGEST_QUANTILES 4
#define RF_SUGGEST_NAMED 3
#define RF_SUGGEST_ROWS 2

struct rf_suggest_peak;

/* All zeros: empty. */
struct rf_suggest {
	struct rf_source_map map; /* by source and hour */
	struct rf_suggest_peak *peak;
	size_t room;
	double packets, over[RF_SUGGEST_STEPS]; /* what would be dropped at each rate */
};

/* The use of a source in an interval. */
struct rf_suggest_row {
	struct rf_prefix source;
	uint64_t hour;	   /* since 1970, or any other number of an hour */
	uint64_t share;	   /* the number of sources it represents */
	double used;	   /* the most in one TIME */
	uint64_t packets;  /* in the whole interval */
	uint64_t times256; /* its length in TIMEs, in 1/256 */
};

struct rf_suggest_rate {
	uint64_t rate;
	double sources, packets_ratio; /* over it; of all packets */
	struct rf_prefix worst[RF_SUGGEST_NAMED];
	int named; /* 0 if there are more */
};

struct rf_suggestion {
	double sources, quantile[RF_SUGGEST_QUANTILES], most;
	int hours;
	double before_rounding; /* 0: no source was seen */
	uint64_t rate;
	struct rf_suggest_rate row[RF_SUGGEST_ROWS];
};

extern const double rf_suggest_quantiles[RF_SUGGEST_QUANTILES];

/* -ENOMEM. */
int rf_suggest_note(struct rf_suggest *suggest, const struct rf_suggest_row *row);
int rf_suggest_finish(const struct rf_suggest *suggest, struct rf_suggestion *suggestion);
void rf_suggest_free(struct rf_suggest *suggest);

/*
 * ---- how much a limit would have dropped ----
 *
 * The replay of all sources of a limit: cells and peaks in, one result out. Sources with recorded
 * cells yield an interval; for the others, a sample yields an estimate.
 */

/* Of these, 47 MiB at the most: states have 1.1 KiB, cells that are added up 4 KiB. */
#define RF_TRIED_MAX 32000   /* sources */
#define RF_SUMMED_MAX 2048   /* networks whose cells are added up at a time */
#define RF_OTHERS_MAX 100000 /* sources without cells */

struct rf_tried;
struct rf_other;

TAILQ_HEAD(rf_tried_queue, rf_tried);

struct rf_try_run {
	struct rf_limit limit, recorded; /* the new one, and the one whose cells these are */
	const struct rf_prefixes *from;	 /* only sources in these; NULL: all */
	uint64_t since_ns, until_ns;
	double length; /* average, of a packet in the limit's unit: differences count packets */

	struct rf_replay replay; /* once there is a row */
	struct rf_source_map tried_map, other_map;
	struct rf_source_map network_map; /* networks with recorded cells */
	struct rf_tried **tried;
	struct rf_other *other;
	struct rf_tried_queue summed; /* those with a buffer, the least recently used first */
	size_t tried_room, other_room, summed_count;
	uint64_t skipped; /* rows of other cells, and of sources for which there was no room */
};

struct rf_try_result {
	uint64_t charged, least, most;		 /* of the recorded sources */
	uint64_t sources, over_least, over_most; /* recorded ones; those over the limit */
	uint64_t incomplete;			 /* recorded ones with missing cells */
	uint64_t differences;			 /* with differences of counters instead of cells */
	bool is_exact;
	/*
	 * Not proven: cells are missing, rows of several sources have one name, or rows are
	 * differences of counters.
	 */
	bool is_estimate;
	double others, others_over, others_dropped, others_error; /* one standard error */
};

/* 0, or an error of rf_replay_begin(), or -ENOMEM. */
int rf_try_run_row(struct rf_try_run *run, const struct rf_cells_row *row, struct rf_error *error);
/*
 * All rows were added: now add the sampled sources. `used` is the most in the recorded limit's
 * TIME, `came` the count within `length_ns`; both in the limit's unit.
 */
int rf_try_run_other(struct rf_try_run *run, const struct rf_prefix *source, uint64_t share,
		     double used, uint64_t came, uint64_t length_ns);
void rf_try_run_end(struct rf_try_run *run, struct rf_try_result *result);
void rf_try_run_free(struct rf_try_run *run);

#endif /* RINGFENCE_SUGGEST_H */
