// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of a history, and the questions to it. The columns of a table are rows, from which
 * CREATE TABLE, INSERT and the questions for whole rows follow. `used` is recorded in millionths of
 * a limit, and read in thousandths.
 */
#include <stdlib.h>

#include "watch/reading.h"
#include "watch/recorder.h"

#define ARRAY(columns)                                      \
	{                                                   \
		columns, sizeof(columns) / sizeof(*columns) \
	}

#define ALL_BUT_FIRST(columns)                                      \
	{                                                           \
		columns + 1, sizeof(columns) / sizeof(*columns) - 1 \
	}

/* ---- parameters ---- */

#define PARAMETER(member) RF_DB_COLUMN(struct rf_asked, member, ":" #member)

static const struct rf_db_column parameters[] = {
	RF_DB_COLUMN_OF_TIME(struct rf_asked, from_ns, ":from"),
	RF_DB_COLUMN_OF_TIME(struct rf_asked, to_ns, ":to"),
	RF_DB_COLUMN_OF_TIME(struct rf_asked, time_ns, ":time"),
	PARAMETER(after),
	PARAMETER(last),
	PARAMETER(most),
	PARAMETER(number),
	PARAMETER(is_minute),
	PARAMETER(step),
	PARAMETER(points),
	PARAMETER(one_in),
	PARAMETER(order),
	PARAMETER(id),
	PARAMETER(limit),
	PARAMETER(fence),
	PARAMETER(of),
	PARAMETER(within),
};

const struct rf_db_columns rf_statement_parameters = ARRAY(parameters);

/* ---- columns of tables and of rows ---- */

#define AS(member, name) RF_DB_COLUMN(STRUCT, member, name)
#define COLUMN(member) AS(member, #member)
#define TIME(member, name) RF_DB_COLUMN_OF_TIME(STRUCT, member, name)

#define STRUCT struct rf_extent
static const struct rf_db_column extent[] = {
	COLUMN(bytes),
	COLUMN(events),
	TIME(first_ns, "first"),
	TIME(first_second_ns, "first_second"),
	TIME(first_cell_ns, "first_cell"),
	TIME(last_ns, "last"),
	COLUMN(gaps),
};
#undef STRUCT

#define STRUCT struct rf_recorded_gap
static const struct rf_db_column gap[] = {
	TIME(start_ns, "start"), TIME(end_ns, "end"), COLUMN(why), COLUMN(passed), COLUMN(dropped),
};
#undef STRUCT

static const struct rf_db_column rules[] = {
	RF_DB_COLUMN_OF_TIME(struct rf_recorded_rules, since_ns, "time"),
	RF_DB_COLUMN(struct rf_recorded_rules, text, "text"),
};

static const struct rf_db_column number[] = {
	RF_DB_COLUMN(struct rf_recorded_number, number, "number"),
};

#define STRUCT struct rf_interval
static const struct rf_db_column interval[] = {
	COLUMN(is_minute),   COLUMN(number),  TIME(from_ns, "began"),
	TIME(to_ns, "time"), COLUMN(seconds), COLUMN(one_in),
};
#undef STRUCT

#define STRUCT struct rf_recorded_count
static const struct rf_db_column count[] = {
	COLUMN(kind), COLUMN(name), COLUMN(outcome), COLUMN(packets), COLUMN(bytes),
};
#undef STRUCT

#define STRUCT struct rf_series_sum
static const struct rf_db_column series_sum[] = {
	COLUMN(series),
	COLUMN(packets),
	COLUMN(bytes),
};
#undef STRUCT

#define STRUCT struct rf_recorded_most
static const struct rf_db_column most[] = {
	COLUMN(rate),
	TIME(time_ns, "time"),
};
#undef STRUCT

#define STRUCT struct rf_recorded_source
static const struct rf_db_column source[] = {
	COLUMN(source),	    AS(limit, "name"), COLUMN(passed),		COLUMN(dropped),
	COLUMN(would_drop), COLUMN(used),      AS(is_banned, "banned"),
};
#undef STRUCT

#define SUM_COLUMNS(in)                                                                          \
	AS(in source, "source"), AS(in limit, "number"), AS(in passed, "passed"),                \
		AS(in dropped, "dropped"), AS(in would_drop, "would_drop"), AS(in used, "used"), \
		AS(in banned, "banned")

#define STRUCT struct rf_source_sum
static const struct rf_db_column source_sum[] = {SUM_COLUMNS()};
#undef STRUCT

#define STRUCT struct rf_bar_sum
static const struct rf_db_column bar_sum[] = {
	SUM_COLUMNS(sum.),
	COLUMN(at),
};
#undef STRUCT

static const struct rf_db_column limit_name[] = {
	RF_DB_COLUMN(struct rf_recorded_source, limit, "name"),
};

#define STRUCT struct rf_recorded_pack
static const struct rf_db_column pack[] = {
	TIME(end_ns, "time"),
	AS(limit, "name"),
	COLUMN(data),
};
#undef STRUCT

#define STRUCT struct rf_recorded_peak
static const struct rf_db_column peak[] = {
	TIME(time_ns, "time"), COLUMN(share), COLUMN(source), COLUMN(packets), COLUMN(used),
};
#undef STRUCT

static const struct rf_db_column span[] = {
	RF_DB_COLUMN(struct rf_asked, after, "after"),
	RF_DB_COLUMN(struct rf_asked, last, "last"),
};

#define STRUCT struct rf_recorded_event
#define COLUMN_OF_NUMBER(key, member) AS(member, key)
#define COLUMN_OF_COUNT COLUMN_OF_NUMBER
#define COLUMN_OF_TYPE COLUMN_OF_NUMBER
#define COLUMN_OF_TEXT COLUMN_OF_NUMBER
#define COLUMN_OF_SOURCE COLUMN_OF_NUMBER
#define COLUMN_OF_LIMIT(key, member) AS(member, key "_name")
#define COLUMN_OF_FENCE(key, member) RF_DB_COLUMN(STRUCT, member, key, .expression = ":" key)
#define COLUMN_OF_TIME(key, member) TIME(member, key)
#define RECORDED_FIELD(key, kind, when, member, help) COLUMN_OF_##kind(#key, member),
static const struct rf_db_column event[] = {
#include "schema/events.def"
};
#undef STRUCT

#define STRUCT struct rf_recorded_attack
static const struct rf_db_column attack[] = {
	COLUMN(type),	      TIME(from_ns, "start"), TIME(to_ns, "time"),     COLUMN(is_over),
	COLUMN(is_of_source), COLUMN(source),	      AS(limit, "limit_name"), COLUMN(passed),
	COLUMN(dropped),      AS(of, "told"),
};
#undef STRUCT

static const struct rf_db_column step[] = {
	RF_DB_COLUMN(struct rf_asked, is_minute, "is_minute"),
	RF_DB_COLUMN(struct rf_asked, step, "step"),
};

#define STRUCT struct rf_graph_series
static const struct rf_db_column series[] = {
	COLUMN(series),
	COLUMN(kind),
	COLUMN(name),
	COLUMN(outcome),
};
#undef STRUCT

#define STRUCT struct rf_graph_part
static const struct rf_db_column part[] = {
	COLUMN(number), COLUMN(point), COLUMN(seconds), COLUMN(share), COLUMN(sources),
};
#undef STRUCT

#define STRUCT struct rf_graph_count
static const struct rf_db_column interval_count[] = {
	COLUMN(number),
	COLUMN(series),
	COLUMN(packets),
	COLUMN(peak),
};
#undef STRUCT

#define STRUCT struct rf_checked_sums
static const struct rf_db_column checked_sums[] = {
	COLUMN(first),
	TIME(from_ns, "min_time"),
	COLUMN(is_different),
};
#undef STRUCT

/* ---- columns of tables that are never read as they are ---- */

#define STRUCT struct rf_total_row
static const struct rf_db_column totals[] = {
	COLUMN(scan),	 TIME(time_ns, "time"),	     COLUMN(ms),
	COLUMN(sources), AS(windows[0], "windows4"), AS(windows[1], "windows6"),
};
#undef STRUCT

#define STRUCT struct rf_count_row
static const struct rf_db_column counts[] = {COLUMN(id), COLUMN(packets), COLUMN(bytes)};
#undef STRUCT

#define STRUCT struct rf_sample_row
static const struct rf_db_column samples[] = {
	COLUMN(scan),
	TIME(time_ns, "time"),
	COLUMN(ms),
	COLUMN(share),
};
#undef STRUCT

#define STRUCT struct rf_sampled_row
#define SUM(member) AS(sum.member, #member)
static const struct rf_db_column sources[] = {
	COLUMN(id),	 SUM(source), SUM(number),
	COLUMN(why),	 SUM(passed), SUM(dropped),
	SUM(would_drop), SUM(used),   AS(sum.is_banned, "banned"),
};
#undef STRUCT

#define STRUCT struct rf_cells_record
static const struct rf_db_column cells[] = {
	COLUMN(id),
	COLUMN(number),
	TIME(end_ns, "time"),
	COLUMN(data),
};
#undef STRUCT

/* Of tables whose rows are made by SQL. */
#define NUMBER(name_)                                \
	{                                            \
		.name = name_, .kind = RF_DB_INTEGER \
	}
#define WORD(name_)                               \
	{                                         \
		.name = name_, .kind = RF_DB_TEXT \
	}

static const struct rf_db_column minutes[] = {
	NUMBER("minute"), NUMBER("time"), NUMBER("ms"), NUMBER("sources"), NUMBER("scan"),
};
static const struct rf_db_column minute_counts[] = {
	NUMBER("id"),
	NUMBER("packets"),
	NUMBER("bytes"),
	NUMBER("peak"),
};
static const struct rf_db_column sums[] = {
	NUMBER("first"), NUMBER("last"), NUMBER("min_time"), NUMBER("max_start"), NUMBER("kept"),
};
static const struct rf_db_column source_sums[] = {
	NUMBER("first"),   NUMBER("number"),	 WORD("source"), NUMBER("passed"),
	NUMBER("dropped"), NUMBER("would_drop"), NUMBER("used"), NUMBER("banned"),
};
static const struct rf_db_column state[] = {WORD("key"), WORD("text")};

/* ---- the tables ---- */

/* clang-format off */
const struct rf_db_table rf_tables[RF_TABLES] = {
	[RF_TABLE_TOTALS] = {.name = "totals", .columns = ARRAY(totals), .indexed = {"time"}, .comment =
		"\n"
		"-- Each second, for 48 hours: the totals of the scan, and the length of the interval.\n"},
	[RF_TABLE_SERIES] = {.name = "series", .columns = ALL_BUT_FIRST(series),
		.counted = "series", .unique = "kind, name, outcome", .comment =
		"-- The counters. kind: passed or dropped (name: the reason), limit (outcome:\n"
		"-- passed, dropped, would_drop, forfeited, truncated), newcomers, inserts, evictions, map_error.\n"},
	[RF_TABLE_COUNTS] = {.name = "counts", .columns = ARRAY(counts), .comment =
		"-- id: scan * 65536 + series. Zero counts have no row.\n"},
	[RF_TABLE_MINUTES] = {.name = "minutes", .columns = ARRAY(minutes), .indexed = {"time"}, .comment =
		"\n"
		"-- The same for each minute, for 30 days. scan: the last one in it.\n"},
	[RF_TABLE_MINUTE_COUNTS] = {.name = "minute_counts", .columns = ARRAY(minute_counts), .comment =
		"-- id: minute * 65536 + series. peak: the most packets in one second.\n"},
	[RF_TABLE_SAMPLES] = {.name = "samples", .columns = ARRAY(samples), .indexed = {"time"}, .comment =
		"\n"
		"-- Every 10 s, for 48 hours: the sources with the most drops, those with the most\n"
		"-- packets, and a sample. share: one in this many sources is in the sample.\n"},
	[RF_TABLE_LIMITS] = {.name = "limits", .columns = ARRAY(limit_name),
		.counted = "number", .unique = "name", .comment = ""},
	[RF_TABLE_SOURCES] = {.name = "sources", .columns = ARRAY(sources), .comment =
		"-- id: scan * 65536 + row. number: of the limit. why: 1 by drops, 2 by rate, 4 in\n"
		"-- the sample, or a sum of these. used: the most, in millionths of the limit.\n"},
	[RF_TABLE_SUMS] = {.name = "sums", .columns = ARRAY(sums), .comment =
		"\n"
		"-- Sums of the rows of sources, for each past hour. first, last: of the scans in the\n"
		"-- sum; min_time: the least time of their samples; max_start: the greatest time less\n"
		"-- ms. kept: 0 if samples of the hour were deleted, or if there would be nearly as\n"
		"-- many sums as rows; then source_sums has none.\n"},
	[RF_TABLE_SOURCE_SUMS] = {.name = "source_sums", .columns = ARRAY(source_sums),
		.keys = "first, number, source", .has_no_rowid = true, .comment =
		"-- first: of the sums. used, banned: the greatest.\n"},
	[RF_TABLE_CELLS] = {.name = "cells", .columns = ARRAY(cells), .indexed = {"time"}, .comment =
		"\n"
		"-- Cells of up to 512 sources, for 2 hours; packed, 'ringfence show' prints them.\n"
		"-- id: scan * 65536 + part. number: of the limit.\n"},
	[RF_TABLE_EVENTS] = {.name = "events", .columns = ARRAY(event), .indexed = {"time", "id"}, .comment =
		"\n"
		"-- For 30 days, as minutes.\n"},
	[RF_TABLE_RULES] = {.name = "rules", .columns = ARRAY(rules), .counted = "id", .comment =
		"-- The rules that were active from this time on.\n"},
	[RF_TABLE_GAPS] = {.name = "gaps", .columns = ARRAY(gap), .counted = "id", .comment =
		"-- Gaps of the record. why: down (ringfence-watch did not run), detached (the\n"
		"-- fence was not attached), slept (the machine slept, or its clock was set forward),\n"
		"-- clock (the clock was set back: the end can be before the start), stalled, disk (no\n"
		"-- room), reader (one did not finish, and the log was full), errors (writing failed).\n"
		"-- Packets: counted by the fence during the gap, if known.\n"},
	[RF_TABLE_STATE] = {.name = "state", .columns = ARRAY(state), .has_no_rowid = true, .comment =
		"-- State that ringfence-watch saves over a restart; sample: the key that selects it.\n"},
};
/* clang-format on */

char *rf_schema_text(void)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	fputs("-- The history of a fence. PRAGMA application_id is 0x72666831, PRAGMA user_version "
	      "2.\n"
	      "-- Times are milliseconds since 1970, in UTC, and the ends of their intervals. "
	      "Counts\n"
	      "-- are of one interval. An id is a scan or a minute, times 65536, plus a number "
	      "within\n"
	      "-- it. Scans count up, even if the clock is set back.\n",
	      file);
	for (int i = 0; i < RF_TABLES; i++)
		rf_db_write_table(file, &rf_tables[i]);
	if (!fclose(file))
		return text;
	free(text);
	return NULL;
}

enum rf_schema_format rf_schema_format(struct rf_db *db)
{
	const int64_t application = rf_db_int(db, 0, "PRAGMA application_id", "");
	const int64_t version = rf_db_int(db, 0, "PRAGMA user_version", "");

	if (application == RF_SCHEMA_APPLICATION)
		return version == RF_SCHEMA_VERSION  ? RF_SCHEMA_OURS
		       : version > RF_SCHEMA_VERSION ? RF_SCHEMA_LATER
						     : RF_SCHEMA_OTHER;
	if (application || version || rf_db_int(db, 0, "SELECT count(*) FROM sqlite_schema", ""))
		return RF_SCHEMA_OTHER;
	return RF_SCHEMA_NONE;
}

/* The marks are part of the transaction: a file has the complete schema, or is empty. */
static int make(struct rf_db *db)
{
	char *marks = sqlite3_mprintf("PRAGMA application_id = %d; PRAGMA user_version = %d",
				      RF_SCHEMA_APPLICATION, RF_SCHEMA_VERSION);
	char *tables = rf_schema_text();
	int code = marks && tables ? rf_db_exec(db, tables) : SQLITE_NOMEM;

	if (!code)
		code = rf_db_exec(db, marks);
	sqlite3_free(marks);
	free(tables);
	return code;
}

int rf_schema_make(struct rf_db *db)
{
	int code = rf_db_exec(db, "BEGIN IMMEDIATE");

	if (!code)
		code = make(db);
	if (!code)
		return rf_db_exec(db, "COMMIT");
	sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
	return code;
}

/* ---- parts of statements ---- */

#define OF_SCAN "id >= scan << 16 AND id < (scan + 1) << 16 "
#define OF_MINUTE "id >= minute << 16 AND id < (minute + 1) << 16 "
#define SECONDS "totals CROSS JOIN counts ON " OF_SCAN
#define MINUTES "minutes CROSS JOIN minute_counts ON " OF_MINUTE
#define IN_RANGE "time > :from AND time <= :to "

/* Are there seconds of this part of the range, or of all recorded time? */
#define HAS_SECONDS(range_ms, missing_ms)                                                 \
	":to - :from <= " range_ms " AND (first_second <= :from + " missing_ms            \
	" OR first_second <= first_minute) FROM (SELECT coalesce((SELECT min(time) FROM " \
	"totals), 9223372036854775807) AS first_second, coalesce((SELECT min(time) FROM " \
	"minutes), 9223372036854775807) AS first_minute)"

/* Up to six hours are read as seconds, longer ranges as minutes. */
#define CHOSEN "WITH chosen(seconds) AS (SELECT " HAS_SECONDS("21600000", "120000") ") "
/* Of seconds that are in no minute yet: few. Found by their scans, not among all of the range. */
#define LATE                                                                                \
	"totals.scan > (SELECT coalesce(max(scan), 0) FROM minutes) AND +time > :from AND " \
	"+time <= :to "

#define EVENT                                                                             \
	"SELECT seq, time, type, id, :fence AS fence, limit_name, source, reason, rate, " \
	"dropped, passed, first_seen, detail FROM events "

#define OF_SOURCE "(:of IS NULL OR contains(:of, source) OR contains(source, :of)) "
#define SUMMED "source, number, passed, dropped, would_drop, used / 1000 AS used, banned "

/*
 * The points that each interval of a graph covers, and its share of each. An interval that is no
 * longer than a step counts at its last point; a longer one is split, or the points within it would
 * look like a gap. Scans are a minute apart, unless one is late, so an interval covers four minutes
 * at most. An interval in the last point can extend beyond it.
 */
#define LONGEST "240000"
#define IN_GRAPH "time > :from AND time <= :to + :step + " LONGEST " "
#define BEGAN "CASE WHEN ms > :step THEN time - min(ms, " LONGEST ") ELSE time - 1 END "
#define PARTS                                                                                   \
	"WITH RECURSIVE interval(number, time, ms, sources, began) AS (SELECT scan, time, ms, " \
	"sources, " BEGAN "FROM totals WHERE NOT :is_minute AND " IN_GRAPH                      \
	"UNION ALL SELECT minute, time, ms, sources, " BEGAN                                    \
	"FROM minutes WHERE :is_minute AND " IN_GRAPH                                           \
	"), part(number, time, ms, sources, began, point) AS (SELECT *, max(began - :from, 0) " \
	"/ :step FROM interval UNION ALL SELECT number, time, ms, sources, began, point + 1 "   \
	"FROM part WHERE :from + (point + 1) * :step < time) "

/* The sums of an hour, from the stored sums and from its rows; the check compares them. */
#define HOUR_SUMS                                                                            \
	"SELECT number, source, passed, dropped, would_drop, used, banned FROM source_sums " \
	"WHERE first = sums.first "
#define HOUR_ROWS                                                                               \
	"SELECT number, source, sum(passed), sum(dropped), sum(would_drop), max(used), "        \
	"max(banned) FROM sources WHERE id >= sums.first << 16 AND id < (sums.last + 1) << 16 " \
	"GROUP BY number, source "

/* ---- the questions ---- */

#define QUESTION(which, columns, type, sql) \
	[RF_ASK_##which] = {#which, {sql, NULL, ARRAY(columns)}, sizeof(type), false, false}
/* For all columns of a table. */
#define ROWS_QUESTION(which, table, columns, type, sql) \
	[RF_ASK_##which] = {#which, {sql, table, ARRAY(columns)}, sizeof(type), false, false}
#define EVENTS_QUESTION(which, is_paged, has_span, sql)       \
	[RF_ASK_##which] = {#which,                           \
			    {sql, "events", ARRAY(event)},    \
			    sizeof(struct rf_recorded_event), \
			    is_paged,                         \
			    has_span}

const struct rf_statement rf_statements[RF_QUESTIONS] = {
	QUESTION(EXTENT, extent, struct rf_extent,
		 "SELECT (SELECT page_count * page_size FROM pragma_page_count, pragma_page_size) "
		 "AS bytes, (SELECT count(*) FROM events) AS events, (SELECT min(time) FROM "
		 "(SELECT min(time) AS time FROM totals UNION ALL SELECT min(time) FROM minutes)) "
		 "AS first, (SELECT min(time) FROM totals) AS first_second, (SELECT min(time) "
		 "FROM cells) AS first_cell, (SELECT max(time) FROM (SELECT max(time) AS time FROM "
		 "totals UNION ALL SELECT max(time) FROM minutes)) AS last, (SELECT count(*) FROM "
		 "gaps) AS gaps"),
	ROWS_QUESTION(GAPS, "gaps", gap, struct rf_recorded_gap,
		      "WHERE max(start, end) >= :from "
		      "AND min(start, end) <= :to ORDER BY id"),
	ROWS_QUESTION(RULES, "rules", rules, struct rf_recorded_rules,
		      "WHERE time <= :time ORDER BY id DESC LIMIT 1"),

	/* The first second whose interval is later; or the last one, if recent; or a minute. */
	QUESTION(INTERVAL_AT, interval, struct rf_interval,
		 "SELECT is_minute, number, time - ms AS began, time, ms / 1000.0 AS seconds, 1 AS "
		 "one_in FROM (SELECT 0 AS place, 0 AS is_minute, * FROM (SELECT scan AS number, "
		 "time, ms FROM totals WHERE time > :time ORDER BY time, scan DESC LIMIT 1) UNION "
		 "ALL SELECT 1, 0, * FROM (SELECT scan, time, ms FROM totals WHERE time <= :time "
		 "AND time > :time - 15000 AND time = (SELECT max(time) FROM totals) ORDER BY scan "
		 "DESC LIMIT 1) UNION ALL SELECT 2, 1, * FROM (SELECT minute, time, ms FROM "
		 "minutes WHERE time > :time ORDER BY time, minute DESC LIMIT 1)) WHERE time - ms "
		 "< :time + 1000 ORDER BY place LIMIT 1"),
	QUESTION(COUNTS_OF, count, struct rf_recorded_count,
		 "SELECT kind, name, outcome, packets, bytes FROM (SELECT id, packets, bytes FROM "
		 "counts WHERE NOT :is_minute AND id >= :number << 16 AND id < (:number + 1) << 16 "
		 "UNION ALL SELECT id, packets, bytes FROM minute_counts WHERE :is_minute AND id "
		 ">= :number << 16 AND id < (:number + 1) << 16) JOIN series ON series = id & "
		 "65535 ORDER BY series"),
	QUESTION(
		MS_BETWEEN, number, struct rf_recorded_number,
		CHOSEN
		"SELECT coalesce(sum(ms), 0) AS number FROM (SELECT ms FROM chosen CROSS "
		"JOIN totals WHERE seconds AND " IN_RANGE
		"UNION ALL SELECT ms FROM chosen CROSS JOIN minutes WHERE NOT seconds AND " IN_RANGE
		"UNION ALL SELECT ms FROM chosen CROSS JOIN totals WHERE NOT seconds AND " LATE
		")"),
	/* Not grouped: SQLite would sort all rows first. */
	QUESTION(COUNTS_BETWEEN, series_sum, struct rf_series_sum,
		 CHOSEN
		 "SELECT id & 65535 AS series, packets, bytes FROM chosen CROSS JOIN " SECONDS
		 "WHERE seconds AND " IN_RANGE
		 "UNION ALL SELECT id & 65535, packets, bytes FROM chosen CROSS JOIN " MINUTES
		 "WHERE NOT seconds AND " IN_RANGE
		 "UNION ALL SELECT id & 65535, packets, bytes FROM chosen CROSS JOIN " SECONDS
		 "WHERE NOT seconds AND " LATE),
	QUESTION(SERIES, count, struct rf_recorded_count,
		 "SELECT kind, name, outcome, 0 AS packets, 0 AS bytes FROM series WHERE series = "
		 ":number"),
	QUESTION(PEAK, most, struct rf_recorded_most,
		 CHOSEN "SELECT rate, time FROM (SELECT sum(packets) * 1000.0 / ms AS rate, time "
			"FROM chosen CROSS JOIN " SECONDS "JOIN series ON series = id & 65535 "
			"WHERE seconds AND " IN_RANGE "AND kind = 'dropped' GROUP BY scan UNION "
			"ALL SELECT sum(peak) * 1.0, time FROM chosen CROSS JOIN " MINUTES
			"JOIN series ON series = id & 65535 WHERE NOT seconds AND " IN_RANGE
			"AND kind = 'dropped' GROUP BY minute) ORDER BY rate DESC LIMIT 1"),

	/* The interval that has the time, or the last one where the time is about now. */
	QUESTION(SAMPLE_AT, interval, struct rf_interval,
		 "SELECT 0 AS is_minute, scan AS number, time - ms AS began, time, ms / 1000.0 AS "
		 "seconds, share AS one_in FROM samples WHERE time - ms < :time + 1000 AND (time > "
		 ":time OR (time > :time - 15000 AND time = (SELECT max(time) FROM samples))) AND "
		 "time > :time - 15000 ORDER BY time, scan DESC LIMIT 1"),
	QUESTION(ANY_SAMPLE, number, struct rf_recorded_number,
		 "SELECT scan AS number FROM samples LIMIT 1"),
	QUESTION(SOURCES_OF, source, struct rf_recorded_source,
		 "SELECT source, name, passed, dropped, would_drop, used / 1000 AS used, banned "
		 "FROM sources JOIN limits USING (number) WHERE id >= :number << 16 AND id < "
		 "(:number + 1) << 16 AND (:limit IS NULL OR name = :limit) AND (:within IS NULL "
		 "OR contains(:within, source)) AND " OF_SOURCE
		 "ORDER BY CASE :order WHEN 1 THEN dropped + would_drop "
		 "WHEN 2 THEN passed + dropped WHEN 3 THEN used / 1000 END DESC, CASE :order WHEN "
		 "1 THEN passed + dropped END DESC, dropped + would_drop DESC, passed DESC"),
	/*
	 * Of the hours within the range their sums; between these, from one hour to the next, the
	 * rows. In one statement, because the writer can create or delete sums at any time. Only
	 * the scans within the range, or directly after it, can have a part of it.
	 */
	QUESTION(
		SOURCES_BETWEEN, source_sum, struct rf_source_sum,
		"WITH inside AS MATERIALIZED (SELECT first, last FROM sums WHERE kept AND min_time "
		"> :from AND max_start < :to), outside(past, next) AS (SELECT coalesce(lag(last) "
		"OVER (ORDER BY first), -1), first FROM inside UNION ALL SELECT "
		"coalesce(max(last), -1), 9223372036854775807 FROM inside), ends(lo, hi) AS "
		"MATERIALIZED (SELECT min(scan), max(scan) FROM samples WHERE time > :from AND "
		"time <= coalesce((SELECT min(time) FROM samples WHERE time >= :to + " LONGEST
		"), 9223372036854775807)) SELECT " SUMMED
		"FROM inside CROSS JOIN source_sums USING (first) UNION ALL SELECT " SUMMED
		"FROM ends CROSS JOIN outside CROSS JOIN samples ON scan >= max(past + 1, lo) AND "
		"scan <= min(next - 1, hi) CROSS JOIN sources ON " OF_SCAN
		"WHERE +time > :from AND time - ms < :to"),
	QUESTION(LIMIT_NAME, limit_name, struct rf_recorded_source,
		 "SELECT name FROM limits WHERE number = :number"),

	/* A row of cells is ten minutes long at the most, and as late. */
	QUESTION(
		CELLS_AT, pack, struct rf_recorded_pack,
		"SELECT time, name, data FROM cells JOIN limits USING (number) WHERE time >= :time "
		"AND time <= :time + 601000 ORDER BY time"),
	QUESTION(CELLS_BETWEEN, pack, struct rf_recorded_pack,
		 "SELECT time, :limit AS name, data FROM cells WHERE number = (SELECT number FROM "
		 "limits WHERE name = :limit) AND time >= :from AND time <= :to + 600000 ORDER BY "
		 "id"),
	/* Of a source that was among those with the most drops or packets, why has the bit 1 or 2.
	 */
	QUESTION(PEAKS, peak, struct rf_recorded_peak,
		 "SELECT time, CASE WHEN why & 3 THEN 1 ELSE share END AS share, source, passed + "
		 "dropped + would_drop AS packets, used / 1000000.0 AS used FROM samples CROSS "
		 "JOIN sources ON " OF_SCAN "WHERE " IN_RANGE
		 "AND +number = (SELECT number FROM limits WHERE name = :limit)"),

	/*
	 * Of all, so the index of times suffices without the table; numbers need not follow
	 * the clock.
	 */
	QUESTION(EVENTS_SPAN, span, struct rf_asked,
		 "SELECT coalesce(min(seq) - 1, -1) AS after, coalesce(max(seq), -1) AS last FROM "
		 "events INDEXED BY events_time WHERE time >= :from AND time <= :to"),
	EVENTS_QUESTION(EVENTS, true, true,
			"WHERE seq > :after AND seq <= :last AND +time >= :from AND +time <= "
			":to AND " OF_SOURCE "ORDER BY seq LIMIT :most"),
	EVENTS_QUESTION(EVENTS_OF_ID, true, false,
			"WHERE id = :id AND seq > :after ORDER BY seq LIMIT :most"),
	EVENTS_QUESTION(EVENTS_AFTER, true, false, "WHERE seq > :after ORDER BY seq LIMIT :most"),
	EVENTS_QUESTION(LATEST_EVENTS, true, false,
			"WHERE time >= :from AND time <= :to AND seq < iif(:after, :after, "
			"9223372036854775807) ORDER BY seq DESC LIMIT :most"),
	QUESTION(FIRST_EVENT, number, struct rf_recorded_number,
		 "SELECT coalesce(min(time), 0) AS number FROM events"),
	QUESTION(LAST_SEQ, number, struct rf_recorded_number,
		 "SELECT coalesce(min(seq) - 1, 0) AS number FROM (SELECT seq FROM events ORDER BY "
		 "seq DESC LIMIT :most)"),
	QUESTION(LAST_SCAN, interval, struct rf_interval,
		 "SELECT 0 AS is_minute, scan AS number, time - ms AS began, time, ms / 1000.0 AS "
		 "seconds, 1 AS one_in FROM totals ORDER BY scan DESC LIMIT 1"),
	EVENTS_QUESTION(LAST_ATTACK, false, false,
			"WHERE id != '' AND type IN ('flood_started', 'source_limited', "
			"'ban_started', 'newcomers_limited', 'challenges_started') ORDER BY type = "
			"'flood_started' DESC, "
			"seq DESC LIMIT 1"),
	/* A flood is of many sources, whichever one its event names. */
	QUESTION(ATTACK, attack, struct rf_recorded_attack,
		 "WITH its AS MATERIALIZED (SELECT * FROM events WHERE id = :id), begun(type, "
		 "is_of_source) AS (SELECT type, type GLOB 'source_*' OR type GLOB "
		 "'ban_*' FROM its ORDER BY seq LIMIT 1) SELECT begun.type AS type, "
		 "(SELECT min(coalesce(nullif(first_seen, 0), time)) FROM its) AS start, time, "
		 "EXISTS (SELECT 1 FROM its WHERE type IN ('flood_ended', 'source_released', "
		 "'ban_ended', 'newcomers_released', 'challenges_ended')) AS is_over, "
		 "is_of_source, source, "
		 "limit_name, passed, dropped, CASE WHEN is_of_source THEN (SELECT source FROM its "
		 "WHERE contains(source, source) ORDER BY seq LIMIT 1) END AS told FROM its, begun "
		 "ORDER BY seq DESC LIMIT 1"),

	/*
	 * The shortest step of a round length with a small enough number of points. Up to two hours
	 * are made from seconds; these are deleted after a while, then a short range is made from
	 * minutes as well.
	 */
	QUESTION(
		GRAPH_STEP, step, struct rf_asked,
		"WITH chosen(seconds) AS (SELECT " HAS_SECONDS(
			"7200000", "(:to - :from) / 2") ") SELECT NOT seconds AS is_minute, s * "
							"1000 AS step FROM chosen, (SELECT column1 "
							"AS s FROM (VALUES (1), (2), (5), (10), "
							"(15), (30), (60), (120), (300), (600), "
							"(900), (1800), (3600), (7200), (21600), "
							"(43200))) WHERE s = 43200 OR ((seconds "
							"OR s >= 60) AND (:to - :from) / (s * "
							"1000) <= :points) ORDER BY s LIMIT 1"),
	ROWS_QUESTION(GRAPH_LINES, "series", series, struct rf_graph_series,
		      "WHERE kind IN ('passed', "
		      "'dropped', 'limit') ORDER BY series"),
	QUESTION(GRAPH_PARTS, part, struct rf_graph_part,
		 PARTS "SELECT number, point, ms / 1000.0 AS seconds, CASE WHEN ms > :step THEN "
		       "(min(time, :from + (point + 1) * :step) - max(began, :from + point * "
		       ":step)) * 1.0 / (time - began) ELSE 1.0 END AS share, min(sources, "
		       "4294967295) AS sources FROM part WHERE point < :points"),
	/* Of all intervals between two: to seek each of them takes longer than to pass others. */
	QUESTION(GRAPH_COUNTS, interval_count, struct rf_graph_count,
		 "SELECT id >> 16 AS number, id & 65535 AS series, packets, 0 AS peak FROM counts "
		 "WHERE NOT :is_minute AND id >= :number << 16 AND id < (:last + 1) << 16 UNION "
		 "ALL SELECT id >> 16, id & 65535, packets, peak FROM minute_counts WHERE "
		 ":is_minute AND id >= :number << 16 AND id < (:last + 1) << 16"),
	/* Of a long range every second interval is read, every third one …: `most` at most. */
	QUESTION(GRAPH_SHARE, number, struct rf_recorded_number,
		 "SELECT max((count(*) + :most - 1) / :most, 1) AS number FROM samples WHERE time "
		 "> :from AND time - ms < :to"),
	QUESTION(GRAPH_SOURCES, bar_sum, struct rf_bar_sum,
		 "WITH chosen AS MATERIALIZED (SELECT scan, time FROM (SELECT scan, time, "
		 "row_number() OVER (ORDER BY time) - 1 AS place FROM samples WHERE time > :from "
		 "AND time - ms < :to) WHERE place % :one_in = 0 ORDER BY time LIMIT :most) "
		 "SELECT " SUMMED ", min((time - 1 - :from) * :points / (:to - :from), :points - "
		 "1) AS at FROM chosen CROSS JOIN sources ON " OF_SCAN),

	/* In one statement, since the writer may delete them at any time. */
	QUESTION(
		SUMS_AFTER, checked_sums, struct rf_checked_sums,
		"SELECT first, min_time, kept AND ((min_time, max_start) IS NOT (SELECT min(time), "
		"max(time - ms) FROM samples WHERE scan BETWEEN sums.first AND sums.last) OR "
		"EXISTS (SELECT * FROM (" HOUR_ROWS "EXCEPT " HOUR_SUMS
		") UNION ALL SELECT * FROM (" HOUR_SUMS "EXCEPT " HOUR_ROWS
		"))) AS is_different FROM sums WHERE first > :after ORDER BY first LIMIT 1"),
};
