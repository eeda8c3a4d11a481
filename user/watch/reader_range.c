// SPDX-License-Identifier: GPL-2.0
/* Cells and sources of a whole range: what limits are suggested and tried from. */
#include <errno.h>
#include <stdio.h>

#include "watch/reading.h"

#define LATE_MS 600000 /* a row of cells is that long at the most, and as late */
#define USED_ALL 1000000.0
#define WHY_WORST 3 /* by drops, or by rate */

static int visit_pack(sqlite3_stmt *stmt, const char *limit, rf_row_visit visit, void *context)
{
	struct rf_cells_unpack unpack;
	struct rf_cells_row row;
	int found, result = 0;

	if (rf_cells_unpack_begin(&unpack, sqlite3_column_blob(stmt, 0),
				  sqlite3_column_bytes(stmt, 0)))
		return -EIO;
	while (!result && (found = rf_cells_unpack_next(&unpack, &row)) == 1) {
		snprintf(row.limit, sizeof(row.limit), "%s", limit);
		result = visit(context, &row);
	}
	return result ? result : found < 0 ? -EIO : 0;
}

int rf_reader_each_cells(struct rf_reader *reader, const char *limit, uint64_t from_ns,
			 uint64_t to_ns, rf_row_visit visit, void *context, struct rf_error *error)
{
	struct rf_db *db = &reader->db;
	sqlite3_stmt *stmt = rf_db_begin(
		db,
		"SELECT data FROM cells WHERE number = (SELECT number FROM limits WHERE name = ?) "
		"AND time >= ? AND time <= ? ORDER BY id",
		"tii", limit, rf_to_ms(from_ns), rf_to_ms(to_ns) + LATE_MS);
	int result = 0;

	while (!result && rf_db_row(db, stmt)) {
		result = visit_pack(stmt, limit, visit, context);
		if (result)
			rf_db_end(stmt);
	}
	if (result == -EIO)
		return rf_error_failed(error, -EIO,
				       "%.300s: packed cells are damaged; 'ringfence history "
				       "check' looks for more",
				       reader->path);
	return db->failed ? rf_reader_fail(reader, error) : result;
}

/* A row of time, share, source, why, packets, used. */
static int visit_peak(sqlite3_stmt *stmt, rf_peak_visit visit, void *context)
{
	struct rf_recorded_peak peak = {
		.time_ns = rf_from_ms(sqlite3_column_int64(stmt, 0)),
		.share = sqlite3_column_int64(stmt, 1),
		.packets = sqlite3_column_int64(stmt, 4),
		.used = sqlite3_column_int64(stmt, 5) / USED_ALL,
	};
	struct rf_error unused;

	if (sqlite3_column_int64(stmt, 3) & WHY_WORST)
		peak.share = 1;
	if (rf_parse_prefix(rf_db_text(stmt, 2), &peak.source, &unused))
		return 0;
	return visit(context, &peak);
}

int rf_reader_each_peak(struct rf_reader *reader, const char *limit, uint64_t from_ns,
			uint64_t to_ns, rf_peak_visit visit, void *context, struct rf_error *error)
{
	struct rf_db *db = &reader->db;
	sqlite3_stmt *stmt = rf_db_begin(
		db,
		"SELECT time, share, source, why, passed + dropped + would_drop, used FROM samples "
		"CROSS JOIN sources ON id >= scan << 16 AND id < (scan + 1) << 16 WHERE time > ? "
		"AND time <= ? AND +number = (SELECT number FROM limits WHERE name = ?)",
		"iit", rf_to_ms(from_ns), rf_to_ms(to_ns), limit);
	int result = 0;

	while (!result && rf_db_row(db, stmt)) {
		result = visit_peak(stmt, visit, context);
		if (result)
			rf_db_end(stmt);
	}
	return db->failed ? rf_reader_fail(reader, error) : result;
}
