// SPDX-License-Identifier: GPL-2.0
/*
 * Sums of recorded sources, an hour at a time, so that a report of a day need not read two million
 * rows. They are made when the hour is over, in the transaction of a scan; an older file gets those
 * of its hours one after the other.
 */
#include "watch/recorder.h"

#define HOUR_MS (3600 * 1000LL)
/* So many rows are summed up at once, which takes 100 ms; of a large sample, parts of hours. */
#define ROWS_MAX (400 * 256)
#define WORST_ROWS 128 /* of a scan, beside the sample */

/* The scans after the last sums, up to the end of their hour. false: the hour goes on. */
static bool find_hour(struct rf_history *history, int64_t *first, int64_t *last)
{
	struct rf_db *db = &history->db;
	sqlite3_stmt *stmt = rf_db_begin(db,
					 "SELECT scan, time FROM samples WHERE scan > (SELECT "
					 "coalesce(max(last), 0) FROM sums) ORDER BY scan",
					 "");
	const int64_t most = ROWS_MAX / (WORST_ROWS + (int64_t)history->tally.sample);
	bool is_over = false;
	int64_t hour = 0;

	for (int i = 0; !is_over && rf_db_row(db, stmt); i++) {
		const int64_t scan = sqlite3_column_int64(stmt, 0);
		const int64_t its_hour = sqlite3_column_int64(stmt, 1) / HOUR_MS;

		if (!i) {
			*first = scan;
			hour = its_hour;
		}
		is_over = its_hour != hour || i == most;
		if (is_over)
			rf_db_end(stmt);
		else
			*last = scan;
	}
	return is_over;
}

/* Sums that are nearly as many as the rows save no time, and need as much room. */
static int drop_useless(struct rf_history *history, int64_t first, int64_t last, int64_t sums)
{
	struct rf_db *db = &history->db;
	const int64_t rows =
		rf_db_int(db, 0, "SELECT count(*) FROM sources WHERE id >= ? AND id < ?", "ii",
			  rf_scan_id(first, 0), rf_scan_id(last + 1, 0));
	int code;

	if (sums * 2 <= rows)
		return SQLITE_OK;
	code = rf_db_run(db, "DELETE FROM source_sums WHERE first = ?", "i", first);
	return code ? code : rf_db_run(db, "UPDATE sums SET kept = 0 WHERE first = ?", "i", first);
}

int rf_history_add_sums(struct rf_history *history)
{
	struct rf_db *db = &history->db;
	int64_t first = 0, last = 0;
	int code;

	if (!find_hour(history, &first, &last))
		return db->failed;
	code = rf_db_run(db,
			 "INSERT INTO sums SELECT ?1, ?2, min(time), max(time - ms), 1 "
			 "FROM samples WHERE scan >= ?1 AND scan <= ?2",
			 "ii", first, last);
	if (!code)
		code = rf_db_run(db,
				 "INSERT INTO source_sums SELECT ?1, number, source, sum(passed), "
				 "sum(dropped), sum(would_drop), max(used), max(banned) FROM "
				 "sources WHERE id >= ?1 << 16 AND id < (?2 + 1) << 16 GROUP BY "
				 "number, source",
				 "ii", first, last);
	return code ? code : drop_useless(history, first, last, sqlite3_changes(db->sqlite));
}

/* What was summed of scans that are deleted is no sum of what is left. */
int rf_history_delete_sums(struct rf_history *history, int64_t from, int64_t to)
{
	struct rf_db *db = &history->db;
	int code = rf_db_run(db,
			     "DELETE FROM source_sums WHERE first IN (SELECT first FROM sums WHERE "
			     "first < ?2 AND last >= ?1)",
			     "ii", from, to);

	return code ? code
		    : rf_db_run(db,
				"UPDATE sums SET kept = 0 WHERE kept AND first < ?2 AND last >= ?1",
				"ii", from, to);
}
