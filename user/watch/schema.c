// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>

#include "watch/schema.h"

const char rf_schema_text[] =
	"-- The history of a fence. PRAGMA application_id is 0x72666831, PRAGMA user_version 1.\n"
	"-- Times are milliseconds since 1970, in UTC, and the ends of their intervals. Counts\n"
	"-- are of one interval. An id is a scan or a minute, times 65536, plus a number within\n"
	"-- it. Scans count up, also when the clock is set back.\n"
	"\n"
	"-- Each second, for 48 hours: what the scan saw, and the length of the interval.\n"
	"CREATE TABLE totals(\n"
	"  scan INTEGER PRIMARY KEY, time INTEGER NOT NULL, ms INTEGER NOT NULL,\n"
	"  sources INTEGER NOT NULL, windows4 INTEGER NOT NULL, windows6 INTEGER NOT NULL);\n"
	"CREATE INDEX totals_time ON totals(time);\n"
	"-- What is counted. kind: passed or dropped (name: the reason), limit (outcome:\n"
	"-- passed, dropped, would_drop, forfeited), newcomers, inserts, evictions, map_error.\n"
	"CREATE TABLE series(\n"
	"  series INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL,\n"
	"  outcome TEXT NOT NULL, UNIQUE(kind, name, outcome));\n"
	"-- id: scan * 65536 + series. What is 0 has no row.\n"
	"CREATE TABLE counts(\n"
	"  id INTEGER PRIMARY KEY, packets INTEGER NOT NULL, bytes INTEGER NOT NULL);\n"
	"\n"
	"-- The same for each minute, for 30 days. scan: the last one in it.\n"
	"CREATE TABLE minutes(\n"
	"  minute INTEGER PRIMARY KEY, time INTEGER NOT NULL, ms INTEGER NOT NULL,\n"
	"  sources INTEGER NOT NULL, scan INTEGER NOT NULL);\n"
	"CREATE INDEX minutes_time ON minutes(time);\n"
	"-- id: minute * 65536 + series. peak: the most packets in one second.\n"
	"CREATE TABLE minute_counts(\n"
	"  id INTEGER PRIMARY KEY, packets INTEGER NOT NULL, bytes INTEGER NOT NULL,\n"
	"  peak INTEGER NOT NULL);\n"
	"\n"
	"-- Every 10 s, for 48 hours: the sources with the most drops, those with the most\n"
	"-- packets, and a sample. share: one in so many sources is in the sample.\n"
	"CREATE TABLE samples(\n"
	"  scan INTEGER PRIMARY KEY, time INTEGER NOT NULL, ms INTEGER NOT NULL,\n"
	"  share INTEGER NOT NULL);\n"
	"CREATE INDEX samples_time ON samples(time);\n"
	"CREATE TABLE limits(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);\n"
	"-- id: scan * 65536 + row. number: of the limit. why: 1 by drops, 2 by rate, 4 in\n"
	"-- the sample, or a sum of these. used: the most, in millionths of the limit.\n"
	"CREATE TABLE sources(\n"
	"  id INTEGER PRIMARY KEY, source TEXT NOT NULL, number INTEGER NOT NULL,\n"
	"  why INTEGER NOT NULL, passed INTEGER NOT NULL, dropped INTEGER NOT NULL,\n"
	"  would_drop INTEGER NOT NULL, used INTEGER NOT NULL, banned INTEGER NOT NULL);\n"
	"\n"
	"-- Sums of the rows of sources, an hour at a time, once it is over. first, last: of\n"
	"-- the scans that are summed up; min_time: the least time of their samples; max_start:\n"
	"-- the greatest time less ms. kept: 0, where samples of the hour were deleted, or\n"
	"-- where sums would be nearly as many as rows; then there are none in source_sums.\n"
	"CREATE TABLE sums(\n"
	"  first INTEGER PRIMARY KEY, last INTEGER NOT NULL, min_time INTEGER NOT NULL,\n"
	"  max_start INTEGER NOT NULL, kept INTEGER NOT NULL);\n"
	"-- first: of the sums. used, banned: the greatest.\n"
	"CREATE TABLE source_sums(\n"
	"  first INTEGER NOT NULL, number INTEGER NOT NULL, source TEXT NOT NULL,\n"
	"  passed INTEGER NOT NULL, dropped INTEGER NOT NULL, would_drop INTEGER NOT NULL,\n"
	"  used INTEGER NOT NULL, banned INTEGER NOT NULL,\n"
	"  PRIMARY KEY(first, number, source)) WITHOUT ROWID;\n"
	"\n"
	"-- Cells of up to 512 sources, for 2 hours; packed, 'ringfence show' prints them.\n"
	"-- id: scan * 65536 + part. number: of the limit.\n"
	"CREATE TABLE cells(\n"
	"  id INTEGER PRIMARY KEY, number INTEGER NOT NULL, time INTEGER NOT NULL,\n"
	"  data BLOB NOT NULL);\n"
	"CREATE INDEX cells_time ON cells(time);\n"
	"\n"
	"-- For 30 days, as minutes.\n"
	"CREATE TABLE events(\n"
	"  seq INTEGER PRIMARY KEY, time INTEGER NOT NULL, type TEXT NOT NULL,\n"
	"  id TEXT NOT NULL, limit_name TEXT NOT NULL, source TEXT NOT NULL,\n"
	"  reason TEXT NOT NULL, rate TEXT NOT NULL, passed INTEGER NOT NULL,\n"
	"  dropped INTEGER NOT NULL, first_seen INTEGER NOT NULL, detail TEXT NOT NULL);\n"
	"CREATE INDEX events_time ON events(time);\n"
	"CREATE INDEX events_id ON events(id);\n"
	"-- The rules that were in force from this time on.\n"
	"CREATE TABLE rules(\n"
	"  id INTEGER PRIMARY KEY, time INTEGER NOT NULL, text TEXT NOT NULL);\n"
	"-- When nothing was recorded. why: down (ringfence-watch did not run), detached (the\n"
	"-- fence was not attached), slept (the machine slept, or its clock was set forward),\n"
	"-- clock (the clock was set back: the end may be before the start), stalled, disk (no\n"
	"-- room), reader (one did not end, and the log was full), errors (writing failed).\n"
	"-- Packets: what the fence counted meanwhile, as far as that is known.\n"
	"CREATE TABLE gaps(\n"
	"  id INTEGER PRIMARY KEY, start INTEGER NOT NULL, end INTEGER NOT NULL,\n"
	"  why TEXT NOT NULL, passed INTEGER NOT NULL, dropped INTEGER NOT NULL);\n"
	"-- What ringfence-watch remembers over a restart; sample: the key that chooses it.\n"
	"CREATE TABLE state(key TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;\n";

int rf_schema_version(struct rf_db *db)
{
	return rf_db_int(db, -1, "PRAGMA user_version", "");
}

enum rf_schema_format rf_schema_format(struct rf_db *db, int version)
{
	const int64_t application = rf_db_int(db, 0, "PRAGMA application_id", "");

	if (application == RF_SCHEMA_APPLICATION)
		return version == RF_SCHEMA_VERSION  ? RF_SCHEMA_OURS
		       : version > RF_SCHEMA_VERSION ? RF_SCHEMA_LATER
						     : RF_SCHEMA_OTHER;
	if (application || version || rf_db_int(db, 0, "SELECT count(*) FROM sqlite_schema", ""))
		return RF_SCHEMA_OTHER;
	return RF_SCHEMA_NONE;
}

/* The marks are a part of the transaction: a file has all of it, or is empty. */
static int make(struct rf_db *db)
{
	char *marks = sqlite3_mprintf("PRAGMA application_id = %d; PRAGMA user_version = %d",
				      RF_SCHEMA_APPLICATION, RF_SCHEMA_VERSION);
	int code = marks ? rf_db_exec(db, rf_schema_text) : SQLITE_NOMEM;

	if (!code)
		code = rf_db_exec(db, marks);
	sqlite3_free(marks);
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
