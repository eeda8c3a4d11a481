/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_SCHEMA_H
#define RINGFENCE_SCHEMA_H

#include "watch/db.h"

#define RF_SCHEMA_VERSION 3
/* The oldest version that a reader takes as it is, and the first one with sums of sources. */
#define RF_SCHEMA_READABLE 2
#define RF_SCHEMA_SUMS 3
/* `id` of a row that belongs to a scan: the scan's number, then one of its own. */
#define RF_SCAN_SHIFT 16

/* The schema with its comments, as `history schema` prints it. */
extern const char rf_schema_text[];

/* The version of a file; 0: it is empty. */
int rf_schema_version(struct rf_db *db);
/* Makes the tables, or brings those of an older version to this one. Returns SQLite's code. */
int rf_schema_make(struct rf_db *db);

#endif /* RINGFENCE_SCHEMA_H */
