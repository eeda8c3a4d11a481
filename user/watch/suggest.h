/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which COUNT would be right: from the most that each source used in each hour. The median of the
 * hours, of what 99.9 % of the sources stay below, times two: one hour of an attack does not move
 * it. Pure: peaks in, numbers out.
 */
#ifndef RINGFENCE_SUGGEST_H
#define RINGFENCE_SUGGEST_H

#include "watch/source_map.h"

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

/* What a source did in a while. */
struct rf_suggest_row {
	struct rf_prefix source;
	uint64_t hour;	   /* since 1970, or whatever tells hours apart */
	uint64_t share;	   /* it stands for so many sources */
	double used;	   /* the most in one TIME */
	uint64_t packets;  /* in all of it */
	uint64_t times256; /* its length in TIMEs, in 1/256 */
};

struct rf_suggest_rate {
	uint64_t rate;
	double sources, packets_ratio; /* over it; of all packets */
	struct rf_prefix worst[RF_SUGGEST_NAMED];
	int named; /* 0 where there are more */
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

#endif /* RINGFENCE_SUGGEST_H */
