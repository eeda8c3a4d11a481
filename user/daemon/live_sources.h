/* SPDX-License-Identifier: GPL-2.0 */
/* The sources of a scan that a page shows, and how much of each limit is used. */
#ifndef RINGFENCE_DAEMON_LIVE_SOURCES_H
#define RINGFENCE_DAEMON_LIVE_SOURCES_H

#include "watch/privacy.h"
#include "watch/snapshot.h"

#define RF_LIVE_BUCKETS 11 /* of use: up to 10 %, up to 20 % …, and from 100 % on */

/* The use of a limit by its sources. */
struct rf_live_use {
	uint64_t active, over, banned;
	uint64_t bucket[RF_LIVE_BUCKETS];
};

/* By slot of the limit. */
void rf_live_use(const struct rf_snapshot *snapshot, struct rf_live_use use[RF_LIMITS_MAX]);

/* A row as it may be told. */
struct rf_live_row {
	struct rf_source_row row; /* `source` is told; the rest is the sum, or the most */
	uint32_t use;		  /* in thousandths */
	int slot;		  /* of the limit */
};

/*
 * Writes `most` rows at most, most drops first, and returns their number. Networks are made of the
 * 1,024 sources that matter most.
 */
int rf_live_rows(const struct rf_snapshot *snapshot, enum rf_told told, struct rf_live_row *rows,
		 int most);

#endif /* RINGFENCE_DAEMON_LIVE_SOURCES_H */
