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
	uint64_t used;	    /* in the limit's unit */
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

#endif /* RINGFENCE_SOURCES_H */
