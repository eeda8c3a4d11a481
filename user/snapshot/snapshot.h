/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What one scan of a fence found. Plain data: history, events, metrics and the page are made from
 * it alone.
 */
#ifndef RINGFENCE_SNAPSHOT_H
#define RINGFENCE_SNAPSHOT_H

#include "fence/bypass.h"
#include "fence/fence.h"
#include "snapshot/cells.h"
#include "snapshot/fleet_seen.h"
#include "snapshot/sources.h"

#define RF_IDENTITY_SIZE 64

#define RF_SNAPSHOT_INTERFACES RF_INTERFACE_PLACES

/* An interface of the fence, and whether its packets meet the program. */
struct rf_interface_seen {
	char name[IF_NAMESIZE];
	struct rf_bypass bypass;
};

struct rf_snapshot {
	char fence[RF_NAME_SIZE];
	/* Another one: the fence was made anew, and its counters began at 0. */
	char identity[RF_IDENTITY_SIZE];
	uint64_t time_ns;  /* since 1970, when the scan began */
	uint64_t awake_ns; /* the same moment by rf_time_awake() */
	uint64_t since_ns; /* since the scan before; 0: this is the first one */
	struct rf_standing standing;
	struct rf_bans bans;	     /* with the rules in force */
	struct rf_counters counters; /* since the fence was made, whatever `stats reset` did */
	struct rf_limit_counters limit[RF_LIMITS_MAX]; /* by slot, of limits in force */
	/* Those that were used in the last seconds, or are banned; the first scan has all. Sorted
	 * by rf_source_row_compare(). */
	struct rf_source_rows sources;
	struct rf_cells_row *cells; /* that were read since the scan before, see below */
	size_t cells_count;
	uint32_t capacity; /* windows of a family */
	struct rf_fleet_seen fleet;
	uint64_t residents[2]; /* sources that are known, by family */
	struct rf_interface_seen interface[RF_SNAPSHOT_INTERFACES];
	int interfaces;
};

/* A scan after the other, of one fence. */
struct rf_scanner;

/* Opens the fence on an interface. NULL: `error` says why. */
struct rf_scanner *rf_scanner_open(const char *interface, struct rf_error *error);
void rf_scanner_close(struct rf_scanner *scanner);
const struct rf_fence *rf_scanner_fence(const struct rf_scanner *scanner);

/* -ENODEV: the fence is gone. Free the snapshot even after an error. */
int rf_scan(struct rf_scanner *scanner, struct rf_snapshot *snapshot, struct rf_error *error);
void rf_snapshot_free(struct rf_snapshot *snapshot);

/*
 * From now on, the cells of the sources that matter most are read, and of the sample that the key,
 * three odd words, draws; NULL: no longer.
 */
void rf_scanner_follow(struct rf_scanner *scanner, const __u64 *key);
/* When cells must be read before the next scan, by rf_time_awake(); UINT64_MAX: never. */
uint64_t rf_scanner_cells_due_ns(const struct rf_scanner *scanner);
/*
 * Reads them. Returns whether there are so many that they must be taken now: the caller frees them.
 * Otherwise the next scan has them.
 */
bool rf_scanner_read_cells(struct rf_scanner *scanner, struct rf_cells_row **cells, size_t *count);

/* By source, then by limit. */
int rf_source_row_compare(const void *a, const void *b);
/* Sorts so, rows of one scan. -ENOMEM: the rows are as they were. */
int rf_source_rows_sort(struct rf_source_rows *rows);
/* The row of a source under a limit; NULL: there is none. */
const struct rf_source_row *rf_snapshot_find(const struct rf_snapshot *snapshot,
					     const struct rf_prefix *source, uint32_t limit_id);

#endif /* RINGFENCE_SNAPSHOT_H */
