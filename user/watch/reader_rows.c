// SPDX-License-Identifier: GPL-2.0
/* Sources, cells and rules of the past. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "watch/reading.h"

/* A row of cells is that long at the most, and as late; of longer cells, two of these more. */
#define CELLS_MS 15000
#define LONG_CELLS_MS 600000

void rf_recorded_sources_free(struct rf_recorded_sources *sources)
{
	free(sources->row);
	*sources = (struct rf_recorded_sources){};
}

int rf_reader_take_sources(struct rf_reader *reader, sqlite3_stmt *stmt,
			   struct rf_recorded_sources *sources, struct rf_error *error)
{
	struct rf_error unused;
	size_t capacity = 0;

	while (rf_db_row(&reader->db, stmt)) {
		struct rf_recorded_source *row;

		if (sources->count == capacity) {
			capacity = 2 * capacity + 64;
			row = reallocarray(sources->row, capacity, sizeof(*row));
			if (!row) {
				rf_db_end(stmt);
				return rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
			}
			sources->row = row;
		}
		row = &sources->row[sources->count];
		*row = (struct rf_recorded_source){
			.passed = sqlite3_column_int64(stmt, 2),
			.dropped = sqlite3_column_int64(stmt, 3),
			.would_drop = sqlite3_column_int64(stmt, 4),
			.used = sqlite3_column_int64(stmt, 5) / RF_USED_THOUSANDTH,
			.is_banned = sqlite3_column_int64(stmt, 6),
		};
		snprintf(row->limit, sizeof(row->limit), "%s", rf_db_text(stmt, 1));
		if (!rf_parse_prefix(rf_db_text(stmt, 0), &row->source, &unused))
			sources->count++;
	}
	return reader->db.failed ? rf_reader_fail(reader, error) : 0;
}

/* The interval that has the time, or the last one where the time is about now. */
static int64_t find_interval(struct rf_reader *reader, int64_t time,
			     struct rf_recorded_sources *sources)
{
	struct rf_db *db = &reader->db;
	sqlite3_stmt *stmt = rf_db_begin(
		db,
		"SELECT scan, time, ms, share FROM samples WHERE time - ms < ?1 + ?2 AND "
		"(time > ?1 OR (time > ?1 - ?3 AND time = (SELECT max(time) FROM "
		"samples))) AND time > ?1 - ?3 ORDER BY time, scan DESC LIMIT 1",
		"iii", time, (int64_t)RF_SECOND_MS, (int64_t)RF_PRESENT_MS);
	int64_t scan;

	if (!rf_db_row(db, stmt))
		return -1;
	scan = sqlite3_column_int64(stmt, 0);
	sources->to_ns = rf_from_ms(sqlite3_column_int64(stmt, 1));
	sources->from_ns = sources->to_ns - rf_from_ms(sqlite3_column_int64(stmt, 2));
	sources->share = sqlite3_column_int64(stmt, 3);
	rf_db_end(stmt);
	return scan;
}

static int fail_none(struct rf_reader *reader, uint64_t time_ns, struct rf_error *error)
{
	if (reader->db.failed)
		return rf_reader_fail(reader, error);
	if (rf_db_int(&reader->db, 0, "SELECT count(*) FROM samples", ""))
		return rf_reader_fail_gap(reader, time_ns, error);
	return rf_error_failed(
		error, -ENODATA,
		"no source of fence '%s' was recorded: sources are recorded every 10 "
		"s, and under 'sources none' never; 'sources prefix' in "
		"/etc/ringfence/watch.conf records them",
		reader->fence);
}

int rf_reader_sources_at(struct rf_reader *reader, uint64_t time_ns,
			 struct rf_recorded_sources *sources, struct rf_error *error)
{
	int64_t scan;

	*sources = (struct rf_recorded_sources){};
	scan = find_interval(reader, rf_to_ms(time_ns), sources);
	if (scan < 0)
		return fail_none(reader, time_ns, error);
	return rf_reader_take_sources(
		reader,
		rf_db_begin(&reader->db,
			    "SELECT source, name, passed, dropped, would_drop, used, "
			    "banned FROM sources JOIN limits USING (number) WHERE id >= "
			    "? AND id < ? ORDER BY dropped + would_drop DESC, passed "
			    "DESC",
			    "ii", scan << RF_SCAN_SHIFT, (scan + 1) << RF_SCAN_SHIFT),
		sources, error);
}

/* ---- cells ---- */

/* Can rows of cells that long lie in the second from then on, if the last one ends at `end_ms`? */
static bool may_reach(const struct rf_cells_unpack *unpack, int64_t end_ms, uint64_t time_ns)
{
	return end_ms - rf_to_ms(time_ns + RF_NS_PER_S) <= CELLS_MS + 2 * rf_to_ms(unpack->cell_ns);
}

/* Times are asked for in seconds, and rows can be shorter. */
static bool lies_in_second(const struct rf_cells_row *row, uint64_t time_ns)
{
	return row->first_ns < time_ns + RF_NS_PER_S &&
	       row->first_ns + row->count * row->cell_ns > time_ns;
}

/* The rows of a pack in that second, of the source or of a network around it or in it. */
static int visit_pack(sqlite3_stmt *stmt, uint64_t time_ns, const struct rf_prefix *source,
		      rf_cells_visit visit, void *context)
{
	struct rf_cells_unpack unpack;
	struct rf_cells_row row;
	int found;

	if (rf_cells_unpack_begin(&unpack, sqlite3_column_blob(stmt, 0),
				  sqlite3_column_bytes(stmt, 0)))
		return -EINVAL;
	if (!may_reach(&unpack, sqlite3_column_int64(stmt, 2), time_ns))
		return 0;
	while ((found = rf_cells_unpack_next(&unpack, &row)) == 1) {
		if (!rf_prefix_contains(&row.source, source) &&
		    !rf_prefix_contains(source, &row.source))
			continue;
		if (!lies_in_second(&row, time_ns))
			continue;
		snprintf(row.limit, sizeof(row.limit), "%s", rf_db_text(stmt, 1));
		visit(context, &row);
	}
	return found;
}

int rf_reader_cells(struct rf_reader *reader, uint64_t time_ns, const struct rf_prefix *source,
		    rf_cells_visit visit, void *context, struct rf_error *error)
{
	const int64_t time = rf_to_ms(time_ns), next = rf_to_ms(time_ns + RF_NS_PER_S);
	struct rf_db *db = &reader->db;
	sqlite3_stmt *stmt =
		rf_db_begin(db,
			    "SELECT data, name, time FROM cells JOIN limits USING (number) "
			    "WHERE time >= ? AND time <= ? ORDER BY time",
			    "ii", time, next + LONG_CELLS_MS);
	int err = 0;

	while (!err && rf_db_row(db, stmt)) {
		err = visit_pack(stmt, time_ns, source, visit, context);
		if (err)
			rf_db_end(stmt);
	}
	if (err)
		return rf_error_failed(error, -EIO,
				       "%.300s: packed cells are damaged; 'ringfence history "
				       "check' looks for more",
				       reader->path);
	return db->failed ? rf_reader_fail(reader, error) : 0;
}

/* ---- rules ---- */

char *rf_reader_rules(struct rf_reader *reader, uint64_t time_ns, uint64_t *since_ns)
{
	struct rf_db *db = &reader->db;
	sqlite3_stmt *stmt = rf_db_begin(
		db, "SELECT text, time FROM rules WHERE time <= ? ORDER BY id DESC LIMIT 1", "i",
		rf_to_ms(time_ns));
	char *text = NULL;

	if (rf_db_row(db, stmt)) {
		text = strdup(rf_db_text(stmt, 0));
		*since_ns = rf_from_ms(sqlite3_column_int64(stmt, 1));
		rf_db_end(stmt);
	}
	return text;
}
