// SPDX-License-Identifier: GPL-2.0
/*
 * Sources of a whole range: of hours that lie in it their sums, of the rest their rows. And the
 * check of both.
 */
#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "watch/reading.h"

#define COLUMNS "source, number, passed, dropped, would_drop, used, banned "

/* The rows alone: a short range has no sums inside. */
static sqlite3_stmt *begin_rows(struct rf_reader *reader, int64_t from, int64_t to)
{
	return rf_db_begin(&reader->db,
			   "SELECT " COLUMNS
			   "FROM samples CROSS JOIN sources ON id >= scan << 16 AND id < (scan + "
			   "1) << 16 WHERE time > ?1 AND time - ms < ?2",
			   "ii", from, to);
}

/*
 * Of the hours inside, their sums; between these, from one hour to the next, the rows. In one
 * statement, since the writer may make or delete sums at any time.
 */
static sqlite3_stmt *begin_sums(struct rf_reader *reader, int64_t from, int64_t to)
{
	return rf_db_begin(
		&reader->db,
		"WITH inside AS MATERIALIZED (SELECT first, last FROM sums WHERE kept AND min_time "
		"> ?1 AND max_start < ?2), outside(past, next) AS (SELECT coalesce(lag(last) "
		"OVER (ORDER BY first), -1), first FROM inside UNION ALL SELECT "
		"coalesce(max(last), "
		"-1), ?3 FROM inside) SELECT " COLUMNS
		"FROM inside CROSS JOIN source_sums USING (first) UNION ALL SELECT " COLUMNS
		"FROM outside CROSS JOIN samples ON scan > past AND scan < next CROSS JOIN "
		"sources ON id >= scan << 16 AND id < (scan + 1) << 16 WHERE +time > ?1 AND time - "
		"ms < ?2",
		"iii", from, to, INT64_MAX);
}

/* Where none is, begin_sums() would look at the scans of all times. */
static bool has_sums_inside(struct rf_reader *reader, int64_t from, int64_t to)
{
	return rf_db_int(&reader->db, 0,
			 "SELECT EXISTS (SELECT 1 FROM sums WHERE kept AND "
			 "min_time > ?1 AND max_start < ?2)",
			 "ii", from, to);
}

int rf_reader_sources_between(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns,
			      const struct rf_prefix *of, size_t most,
			      struct rf_recorded_sources *sources, struct rf_error *error)
{
	const int64_t from = rf_to_ms(from_ns), to = rf_to_ms(to_ns);
	sqlite3_stmt *stmt = has_sums_inside(reader, from, to) ? begin_sums(reader, from, to)
							       : begin_rows(reader, from, to);

	*sources = (struct rf_recorded_sources){.from_ns = from_ns, .to_ns = to_ns, .share = 1};
	return rf_reader_group_sources(reader, stmt, of, most, sources, error);
}

/* ---- check ---- */

#define SUMS                                                                                 \
	"SELECT number, source, passed, dropped, would_drop, used, banned FROM source_sums " \
	"WHERE first = ?1"
#define ROWS                                                                                 \
	"SELECT number, source, sum(passed), sum(dropped), sum(would_drop), max(used), "     \
	"max(banned) FROM sums JOIN sources ON id >= first << 16 AND id < (last + 1) << 16 " \
	"WHERE first = ?1 GROUP BY number, source"

/* In one statement, since the writer may delete them at any time. */
static bool differ(struct rf_reader *reader, int64_t first)
{
	return rf_db_int(&reader->db, 0,
			 "SELECT EXISTS (SELECT 1 FROM sums WHERE first = ?1 AND kept) AND "
			 "(EXISTS (SELECT 1 FROM sums WHERE first = ?1 AND (min_time, max_start) "
			 "IS NOT (SELECT min(time), max(time - ms) FROM samples WHERE scan BETWEEN "
			 "first AND last)) OR EXISTS (SELECT * FROM (" ROWS " EXCEPT " SUMS
			 ") UNION ALL SELECT * FROM (" SUMS " EXCEPT " ROWS ")))",
			 "i", first);
}

/* When those begin that differ; 0: none does. */
static uint64_t find_different(struct rf_reader *reader)
{
	struct rf_db *db = &reader->db;
	int64_t first = -1;

	do
		first = rf_db_int(db, INT64_MAX, "SELECT min(first) FROM sums WHERE first > ?", "i",
				  first);
	while (first != INT64_MAX && !differ(reader, first));
	if (first == INT64_MAX)
		return 0;
	return rf_from_ms(
		rf_db_int(db, 0, "SELECT min_time FROM sums WHERE first = ?", "i", first));
}

static void complain_of_sums(struct rf_reader *reader, char complaint[256], char remedy[256])
{
	const uint64_t from_ns = find_different(reader);
	char from[RF_TIME_TEXT_SIZE];

	if (!from_ns)
		return;
	rf_format_local(from_ns, from);
	snprintf(complaint, 256, "sums of sources from %s on differ from their rows", from);
	snprintf(remedy, 256, "sqlite3 %.160s 'UPDATE sums SET kept = 0' has rows read instead",
		 reader->path);
}

int rf_reader_check(struct rf_reader *reader, char complaint[256], char remedy[256],
		    struct rf_error *error)
{
	struct rf_db *db = &reader->db;
	sqlite3_stmt *stmt = rf_db_begin(db, "PRAGMA integrity_check(1)", "");

	*complaint = '\0';
	snprintf(remedy, 256, "ringfence-watch puts it aside when it starts");
	if (rf_db_row(db, stmt)) {
		if (strcmp(rf_db_text(stmt, 0), "ok") != 0)
			snprintf(complaint, 256, "%.255s", rf_db_text(stmt, 0));
		rf_db_end(stmt);
	}
	complaint[strcspn(complaint, "\n")] = '\0';
	if (!*complaint && !db->failed)
		complain_of_sums(reader, complaint, remedy);
	if (rf_db_is_damage(db->failed))
		snprintf(complaint, 256, "%s", sqlite3_errstr(db->failed));
	else if (db->failed)
		return rf_reader_fail(reader, error);
	return 0;
}
