// SPDX-License-Identifier: GPL-2.0
/* What was counted at a time of the past, and in a range of it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "watch/reading.h"

#define SECONDS_RANGE_NS (6 * 3600 * RF_NS_PER_S) /* longer ones are sums of minutes */

void rf_recorded_free(struct rf_recorded *recorded)
{
	free(recorded->count);
	*recorded = (struct rf_recorded){};
}

static void copy_word(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

static void sum_up(struct rf_recorded *recorded, const struct rf_recorded_count *count)
{
	struct rf_count *sum = !strcmp(count->kind, "passed")	 ? &recorded->passed
			       : !strcmp(count->kind, "dropped") ? &recorded->dropped
								 : NULL;

	if (!sum)
		return;
	sum->packets += count->packets;
	sum->bytes += count->bytes;
}

/* Rows of kind, name, outcome, packets, bytes. */
static int take_counts(struct rf_reader *reader, sqlite3_stmt *stmt, struct rf_recorded *recorded,
		       struct rf_error *error)
{
	while (rf_db_row(&reader->db, stmt)) {
		struct rf_recorded_count *count = reallocarray(
			recorded->count, recorded->counts + 1, sizeof(*recorded->count));

		if (!count) {
			rf_db_end(stmt);
			return rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
		}
		recorded->count = count;
		count += recorded->counts++;
		copy_word(count->kind, sizeof(count->kind), rf_db_text(stmt, 0));
		copy_word(count->name, sizeof(count->name), rf_db_text(stmt, 1));
		copy_word(count->outcome, sizeof(count->outcome), rf_db_text(stmt, 2));
		count->packets = sqlite3_column_int64(stmt, 3);
		count->bytes = sqlite3_column_int64(stmt, 4);
		sum_up(recorded, count);
	}
	return reader->db.failed ? rf_reader_fail(reader, error) : 0;
}

/* ---- a moment ---- */

/* The row of an interval, as far as it has `time_ms`: number, time, ms, sources. */
static int64_t take_interval(struct rf_reader *reader, sqlite3_stmt *stmt, int64_t time_ms,
			     struct rf_recorded *recorded)
{
	int64_t number = -1, time, ms;

	if (!rf_db_row(&reader->db, stmt))
		return -1;
	time = sqlite3_column_int64(stmt, 1);
	ms = sqlite3_column_int64(stmt, 2);
	if (time - ms < time_ms + RF_SECOND_MS) {
		number = sqlite3_column_int64(stmt, 0);
		recorded->from_ns = rf_from_ms(time - ms);
		recorded->to_ns = rf_from_ms(time);
		recorded->seconds = ms / 1000.0;
		recorded->sources = sqlite3_column_int64(stmt, 3);
	}
	rf_db_end(stmt);
	return number;
}

static int64_t find_second(struct rf_reader *reader, int64_t time_ms, struct rf_recorded *recorded)
{
	return take_interval(reader,
			     rf_db_begin(&reader->db,
					 "SELECT scan, time, ms, sources FROM totals WHERE time > "
					 "? ORDER BY time, scan DESC LIMIT 1",
					 "i", time_ms),
			     time_ms, recorded);
}

/* Nothing is later: the last second, if it was a moment ago. */
static int64_t find_last(struct rf_reader *reader, int64_t time_ms, struct rf_recorded *recorded)
{
	return take_interval(reader,
			     rf_db_begin(&reader->db,
					 "SELECT scan, time, ms, sources FROM totals WHERE time <= "
					 "? AND time > ? AND time = (SELECT max(time) FROM totals) "
					 "ORDER BY scan DESC LIMIT 1",
					 "ii", time_ms, time_ms - RF_PRESENT_MS),
			     time_ms, recorded);
}

static int64_t find_minute(struct rf_reader *reader, int64_t time_ms, struct rf_recorded *recorded)
{
	return take_interval(reader,
			     rf_db_begin(&reader->db,
					 "SELECT minute, time, ms, sources FROM minutes WHERE time "
					 "> ? ORDER BY time, minute DESC LIMIT 1",
					 "i", time_ms),
			     time_ms, recorded);
}

static int take_counts_of(struct rf_reader *reader, int64_t number, bool is_minute,
			  struct rf_recorded *recorded, struct rf_error *error)
{
	const int64_t first = number << RF_SCAN_SHIFT, end = (number + 1) << RF_SCAN_SHIFT;
	struct rf_db *db = &reader->db;
	sqlite3_stmt *stmt;

	if (is_minute)
		stmt = rf_db_begin(db,
				   "SELECT kind, name, outcome, packets, bytes FROM minute_counts "
				   "JOIN series ON series = id & 65535 WHERE id >= ? AND id < ? "
				   "ORDER BY series",
				   "ii", first, end);
	else
		stmt = rf_db_begin(db,
				   "SELECT kind, name, outcome, packets, bytes FROM counts "
				   "JOIN series ON series = id & 65535 WHERE id >= ? AND id < ? "
				   "ORDER BY series",
				   "ii", first, end);
	return take_counts(reader, stmt, recorded, error);
}

int rf_reader_at(struct rf_reader *reader, uint64_t time_ns, struct rf_recorded *recorded,
		 struct rf_error *error)
{
	const int64_t time_ms = rf_to_ms(time_ns);
	bool is_minute = false;
	int64_t number;

	*recorded = (struct rf_recorded){};
	number = find_second(reader, time_ms, recorded);
	if (number < 0)
		number = find_last(reader, time_ms, recorded);
	if (number < 0) {
		number = find_minute(reader, time_ms, recorded);
		is_minute = true;
	}
	if (number < 0)
		return reader->db.failed ? rf_reader_fail(reader, error)
					 : rf_reader_fail_gap(reader, time_ns, error);
	return take_counts_of(reader, number, is_minute, recorded, error);
}

/* ---- a range ---- */

/* Is the range short, and are there seconds of all of it, or of all that there is? */
static bool has_seconds(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns)
{
	struct rf_db *db = &reader->db;
	const int64_t first = rf_db_int(db, INT64_MAX, "SELECT min(time) FROM totals", "");
	const int64_t minute = rf_db_int(db, INT64_MAX, "SELECT min(time) FROM minutes", "");

	return to_ns - from_ns <= SECONDS_RANGE_NS &&
	       (first <= rf_to_ms(from_ns) + 120000 || first <= minute);
}

static sqlite3_stmt *sum_seconds(struct rf_reader *reader, int64_t from, int64_t to)
{
	return rf_db_begin(&reader->db,
			   "SELECT kind, name, outcome, sum(packets), sum(bytes) FROM totals CROSS "
			   "JOIN counts ON id >= scan << 16 AND id < (scan + 1) << 16 JOIN series "
			   "ON series = id & 65535 WHERE time > ? AND time <= ? GROUP BY series",
			   "ii", from, to);
}

/* Of seconds that are in no minute yet: few. Found by their scans, not among all of the range. */
#define LATE_SECONDS                                                                              \
	"totals.scan > (SELECT coalesce(max(scan), 0) FROM minutes) AND +time > ?1 AND +time <= " \
	"?2"

/* Of minutes, and of the seconds that are in no minute yet. */
static sqlite3_stmt *sum_minutes(struct rf_reader *reader, int64_t from, int64_t to)
{
	return rf_db_begin(
		&reader->db,
		"SELECT kind, name, outcome, sum(packets), sum(bytes) FROM (SELECT id & 65535 AS "
		"series, packets, bytes FROM minutes CROSS JOIN minute_counts ON id >= minute << "
		"16 AND id < (minute + 1) << 16 WHERE time > ?1 AND time <= ?2 UNION ALL SELECT id "
		"& 65535, packets, bytes FROM totals CROSS JOIN counts ON id >= totals.scan << 16 "
		"AND id < (totals.scan + 1) << 16 WHERE " LATE_SECONDS
		") JOIN series USING (series) GROUP BY series",
		"ii", from, to);
}

static int64_t seen_ms(struct rf_reader *reader, bool by_second, int64_t from, int64_t to)
{
	struct rf_db *db = &reader->db;

	if (by_second)
		return rf_db_int(db, 0, "SELECT sum(ms) FROM totals WHERE time > ? AND time <= ?",
				 "ii", from, to);
	return rf_db_int(db, 0, "SELECT sum(ms) FROM minutes WHERE time > ? AND time <= ?", "ii",
			 from, to) +
	       rf_db_int(db, 0, "SELECT sum(ms) FROM totals WHERE " LATE_SECONDS, "ii", from, to);
}

int rf_reader_between(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns,
		      struct rf_recorded *recorded, struct rf_error *error)
{
	const bool by_second = has_seconds(reader, from_ns, to_ns);
	const int64_t from = rf_to_ms(from_ns), to = rf_to_ms(to_ns);

	*recorded = (struct rf_recorded){.from_ns = from_ns, .to_ns = to_ns};
	recorded->seconds = seen_ms(reader, by_second, from, to) / 1000.0;
	return take_counts(
		reader, by_second ? sum_seconds(reader, from, to) : sum_minutes(reader, from, to),
		recorded, error);
}

static sqlite3_stmt *peak_of_seconds(struct rf_reader *reader, int64_t from, int64_t to)
{
	return rf_db_begin(&reader->db,
			   "SELECT sum(packets) * 1000.0 / ms AS rate, time FROM totals CROSS JOIN "
			   "counts ON id >= scan << 16 AND id < (scan + 1) << 16 JOIN series ON "
			   "series = id & 65535 WHERE time > ? AND time <= ? AND kind = 'dropped' "
			   "GROUP BY scan ORDER BY rate DESC LIMIT 1",
			   "ii", from, to);
}

static sqlite3_stmt *peak_of_minutes(struct rf_reader *reader, int64_t from, int64_t to)
{
	return rf_db_begin(&reader->db,
			   "SELECT sum(peak) * 1.0 AS rate, time FROM minutes CROSS JOIN "
			   "minute_counts ON id >= minute << 16 AND id < (minute + 1) << 16 JOIN "
			   "series ON series = id & 65535 WHERE time > ? AND time <= ? AND "
			   "kind = 'dropped' GROUP BY minute ORDER BY rate DESC LIMIT 1",
			   "ii", from, to);
}

double rf_reader_peak(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns, uint64_t *time_ns)
{
	const int64_t from = rf_to_ms(from_ns), to = rf_to_ms(to_ns);
	sqlite3_stmt *stmt = has_seconds(reader, from_ns, to_ns)
				     ? peak_of_seconds(reader, from, to)
				     : peak_of_minutes(reader, from, to);
	double rate = 0;

	*time_ns = 0;
	if (rf_db_row(&reader->db, stmt)) {
		rate = sqlite3_column_double(stmt, 0);
		*time_ns = rf_from_ms(sqlite3_column_int64(stmt, 1));
		rf_db_end(stmt);
	}
	return rate;
}

uint64_t rf_recorded_packets(const struct rf_recorded *recorded, const char *kind, const char *name,
			     const char *outcome)
{
	for (int i = 0; i < recorded->counts; i++) {
		const struct rf_recorded_count *count = &recorded->count[i];

		if (!strcmp(count->kind, kind) && !strcmp(count->name, name) &&
		    !strcmp(count->outcome, outcome))
			return count->packets;
	}
	return 0;
}
