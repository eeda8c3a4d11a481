/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_SCHEMA_H
#define RINGFENCE_SCHEMA_H

#include "watch/db.h"

/* PRAGMA application_id of a history: "rfh1". Without it a file is of another build, or no history.
 */
#define RF_SCHEMA_APPLICATION 0x72666831
#define RF_SCHEMA_VERSION 1
/* `id` of a row that belongs to a scan: the scan's number, then one of its own. */
#define RF_SCAN_SHIFT 16

/* The schema with its comments, as `history schema` prints it. */
extern const char rf_schema_text[];

enum rf_schema_format {
	RF_SCHEMA_NONE, /* it is empty */
	RF_SCHEMA_OURS,
	RF_SCHEMA_LATER,
	RF_SCHEMA_OTHER, /* of another build, or no history at all */
};

/* PRAGMA user_version; negative: it cannot be read. */
int rf_schema_version(struct rf_db *db);
/* What a file of that version is; db->failed where it cannot be read. */
enum rf_schema_format rf_schema_format(struct rf_db *db, int version);
/* Makes the tables in an empty file. Returns SQLite's code. */
int rf_schema_make(struct rf_db *db);

#endif /* RINGFENCE_SCHEMA_H */
