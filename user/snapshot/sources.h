/* SPDX-License-Identifier: GPL-2.0 */
/* The sources of a fence, one row for each source under each limit: for `top`, and `show PREFIX`.
 */
#ifndef RINGFENCE_SOURCES_H
#define RINGFENCE_SOURCES_H

#include "base/prefix.h"
#include "fence/fence.h"

struct rf_source_row {
	struct rf_prefix source;
	const struct rf_limit *limit;
	uint64_t passed, dropped, would_drop;
	uint64_t used;	    /* in the limit's unit, with what is lent to CPUs */
	uint64_t lent;	    /* of `used`; 0 in a scan */
	uint64_t banned_ns; /* remaining time; 0: not banned */
	bool is_aggregate;  /* of the newcomers in this network, over the newcomers rate */
	uint32_t limit_id;
	/* Packets since the scan before; 0 outside of a scan. */
	uint64_t new_passed, new_dropped, new_would_drop;
};

/* Which sources to read. */
struct rf_source_filter {
	const char *limit;		/* NULL: of every limit */
	const struct rf_prefix *within; /* NULL: everywhere */
	bool or_around;			/* networks that contain `within` as well */
	/* Banned sources without a window as well, and the windows that newcomers share. */
	bool or_windowless;
};

struct rf_source_rows {
	struct rf_source_row *row;
	size_t count, capacity;
};

/* Adds rows, of limits in `bans->rules`. Free them even after an error. */
int rf_source_rows_read(const struct rf_fence *fence, const struct rf_bans *bans,
			const struct rf_source_filter *filter, struct rf_source_rows *rows,
			struct rf_error *error);
/* Per second over the window, in the limit's unit; for a bucket, by its used part. */
double rf_source_row_rate(const struct rf_source_row *row);
/* -ENOMEM. */
int rf_source_rows_append(struct rf_source_rows *rows, const struct rf_source_row *row);
void rf_source_rows_free(struct rf_source_rows *rows);
/* By source, then by limit. */
int rf_source_row_compare(const void *a, const void *b);
/* Sorts so, rows of one scan. -ENOMEM: the rows are as they were. */
int rf_source_rows_sort(struct rf_source_rows *rows);

/*
 * ---- sources without a window ----
 *
 * Listed ones, newcomers over the newcomers rate, and sources that no limit matches. They are not
 * counted individually, so their rates are estimated from samples of packets.
 */

#define RF_UNSEEN_PASSED \
	(1U << RF_NO_LIMIT | 1U << RF_ALLOWED | 1U << RF_NEWCOMER_PASS | 1U << RF_MAP_ERROR)
#define RF_UNSEEN_DROPPED                                                                      \
	(1U << RF_DENIED | 1U << RF_NEWCOMER_DROP | 1U << RF_CHALLENGED | 1U << RF_NO_WINDOW | \
	 1U << RF_UNCLASSIFIED)

struct rf_unseen_row {
	struct rf_prefix source; /* an IPv4 address, an IPv6 /64, or a link-local address */
	enum rf_reason reason;
	uint64_t samples;
	double per_s; /* packets a second, estimated */
};

struct rf_unseen {
	struct rf_unseen_row *row; /* by rate, the highest first */
	size_t count, capacity;
	uint32_t one_in;  /* of the packets with one of the wanted verdicts, one was taken */
	uint64_t time_ns; /* over that time */
	uint64_t samples; /* that were read, of any reason */
	uint64_t missed;
};

/* Are such packets being sampled now? */
bool rf_unseen_is_sampled(const struct rf_fence *fence);

struct rf_unseen_asked {
	uint64_t time_ns;
	const struct rf_prefix *within; /* NULL: all sources */
	const bool *ends;		/* set by another thread: stops early; NULL: never */
};

/*
 * Takes that long: reads other processes' samples, or samples itself, which needs a writable fence.
 * Free `unseen` even after an error.
 */
int rf_unseen_read(const struct rf_fence *fence, const struct rf_unseen_asked *asked,
		   struct rf_unseen *unseen, struct rf_error *error);
void rf_unseen_free(struct rf_unseen *unseen);

#endif /* RINGFENCE_SOURCES_H */
