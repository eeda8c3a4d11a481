// SPDX-License-Identifier: GPL-2.0
/* What goes: the oldest first, by its age, and where the file gets too large. */
#include <inttypes.h>

#include "watch/recorder.h"

#define EVERY 8	       /* scans between two looks */
#define AT_ONCE 64     /* scans whose rows are deleted in one transaction */
#define COARSER_AT 850 /* thousandths of the file */
#define FINER_AT 650
#define TRIM_AT 930
#define TRIM_STEPS 8
/* How long the clock must go without a jump before anything is old. */
#define STEADY_NS (900 * RF_NS_PER_S)
#define LEVEL_NS (600 * RF_NS_PER_S) /* between two changes of the level */

/* How much of the file is used, of what it may be. */
static int64_t used_thousandths(struct rf_history *history)
{
	struct rf_db *db = &history->db;
	const int64_t pages = rf_db_int(db, 0, "PRAGMA page_count", "");
	const int64_t unused = rf_db_int(db, 0, "PRAGMA freelist_count", "");
	const int64_t most = rf_db_int(db, 1, "PRAGMA max_page_count", "");

	return (pages - unused) * 1000 / (most ?: 1);
}

static int64_t before_ms(uint64_t now_ns, uint64_t age_ns)
{
	return now_ns > age_ns ? (int64_t)rf_ms(now_ns - age_ns) : 0;
}

/* What was summed of scans that are deleted is no sum of what is left. */
static int delete_sums(struct rf_history *history, int64_t from, int64_t to)
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

/* ---- by age ---- */

/* What belongs to scans, or to minutes: commands of SQL. */
struct aged {
	const char *find; /* one that is old enough */
	const char *rows; /* deletes the rows whose ids begin with it */
	const char *one;  /* deletes its own row */
	bool has_sums;
};

static const struct aged
	aged_totals = {"SELECT scan FROM totals WHERE time < ? ORDER BY time LIMIT 1",
		       "DELETE FROM counts WHERE id >= ? AND id < ?",
		       "DELETE FROM totals WHERE scan = ?", false},
	aged_samples = {"SELECT scan FROM samples WHERE time < ? ORDER BY time LIMIT 1",
			"DELETE FROM sources WHERE id >= ? AND id < ?",
			"DELETE FROM samples WHERE scan = ?", true},
	aged_minutes = {"SELECT minute FROM minutes WHERE time < ? ORDER BY time LIMIT 1",
			"DELETE FROM minute_counts WHERE id >= ? AND id < ?",
			"DELETE FROM minutes WHERE minute = ?", false};

static int delete_old(struct rf_history *history, const struct aged *aged, int64_t before)
{
	struct rf_db *db = &history->db;
	int code = SQLITE_OK;

	for (int i = 0; i < AT_ONCE && !code; i++) {
		const int64_t scan = rf_db_int(db, -1, aged->find, "i", before);

		if (scan < 0)
			break;
		if (aged->has_sums)
			code = delete_sums(history, scan, scan + 1);
		if (!code)
			code = rf_db_run(db, aged->rows, "ii", rf_scan_id(scan, 0),
					 rf_scan_id(scan + 1, 0));
		if (!code)
			code = rf_db_run(db, aged->one, "i", scan);
	}
	return code;
}

static int delete_seconds(struct rf_history *history, uint64_t now_ns)
{
	const uint64_t keep_ns = history->settings.keep_ns < RF_HISTORY_SECONDS_NS
					 ? history->settings.keep_ns
					 : RF_HISTORY_SECONDS_NS;
	const int64_t before = before_ms(now_ns, keep_ns);
	const int code = delete_old(history, &aged_totals, before);

	return code ? code : delete_old(history, &aged_samples, before);
}

static int delete_cells(struct rf_history *history, uint64_t now_ns)
{
	return rf_db_run(&history->db,
			 "DELETE FROM cells WHERE id IN (SELECT id FROM cells WHERE time < ? "
			 "ORDER BY time LIMIT 256)",
			 "i", before_ms(now_ns, RF_HISTORY_CELLS_NS));
}

static int delete_rest(struct rf_history *history, uint64_t now_ns)
{
	const int64_t before = before_ms(now_ns, history->settings.keep_ns);
	struct rf_db *db = &history->db;
	int code = delete_old(history, &aged_minutes, before);

	if (!code)
		code = rf_db_run(db,
				 "DELETE FROM events WHERE seq IN (SELECT seq FROM events "
				 "WHERE time < ? ORDER BY time LIMIT 1024)",
				 "i", before);
	if (!code)
		code = rf_db_run(
			db, "DELETE FROM sums WHERE last < (SELECT min(scan) FROM samples)", "");
	if (!code)
		code = rf_db_run(db, "DELETE FROM gaps WHERE end < ?", "i", before);
	/* The rules that were in force at the beginning stay. */
	if (!code)
		code = rf_db_run(db,
				 "DELETE FROM rules WHERE id < (SELECT max(id) FROM rules "
				 "WHERE time < ?)",
				 "i", before);
	return code;
}

/* ---- by size ---- */

/* A part of a table, from its beginning on: so many of 256, and at least one row. */
static int64_t some(struct rf_history *history, const char *first, const char *last, int part)
{
	const int64_t from = rf_db_int(&history->db, 0, first, "");
	const int64_t to = rf_db_int(&history->db, -1, last, "");

	return to < from ? from : from + (to - from) * part / 256 + 1;
}

static int trim_seconds(struct rf_history *history)
{
	struct rf_db *db = &history->db;
	const int64_t scan =
		some(history, "SELECT min(scan) FROM totals", "SELECT max(scan) FROM totals", 4);
	int code = rf_db_run(db, "DELETE FROM totals WHERE scan < ?", "i", scan);

	if (!code)
		code = rf_db_run(db, "DELETE FROM counts WHERE id < ?", "i", rf_scan_id(scan, 0));
	if (!code)
		code = delete_sums(history, 0, scan);
	if (!code)
		code = rf_db_run(db, "DELETE FROM samples WHERE scan < ?", "i", scan);
	if (!code)
		code = rf_db_run(db, "DELETE FROM sources WHERE id < ?", "i", rf_scan_id(scan, 0));
	return code;
}

/* What is kept longest goes slower: most of the room is not there. */
static int trim_rest(struct rf_history *history)
{
	struct rf_db *db = &history->db;
	const int64_t seq =
		some(history, "SELECT min(seq) FROM events", "SELECT max(seq) FROM events", 8);
	const int64_t cells =
		some(history, "SELECT min(id) FROM cells", "SELECT max(id) FROM cells", 8);
	const int64_t minute = some(history, "SELECT min(minute) FROM minutes",
				    "SELECT max(minute) FROM minutes", 1);
	int code = rf_db_run(db, "DELETE FROM events WHERE seq < ?", "i", seq);

	if (!code)
		code = rf_db_run(db, "DELETE FROM cells WHERE id < ?", "i", cells);
	if (!code)
		code = rf_db_run(db, "DELETE FROM minutes WHERE minute < ?", "i", minute);
	if (!code)
		code = rf_db_run(db, "DELETE FROM minute_counts WHERE id < ?", "i",
				 rf_scan_id(minute, 0));
	return code;
}

int rf_history_trim(struct rf_history *history)
{
	int code = SQLITE_OK;

	if (used_thousandths(history) < TRIM_AT)
		return SQLITE_OK; /* it is the disk that has no room */
	code = trim_seconds(history);

	return code ? code : trim_rest(history);
}

static void set_level(struct rf_history *history, int level)
{
	const bool is_coarser = level > history->level;

	history->level = level;
	history->level_ns = history->now_ns;
	rf_history_say(history,
		       is_coarser ? "history of fence '%s': %" PRIu64
				    " MiB are nearly full, so the cells of %d sources are "
				    "recorded instead of %d; 'at most SIZE' gives it more"
				  : "history of fence '%s': of %" PRIu64
				    " MiB there is room again, so the cells of %d sources are "
				    "recorded instead of %d",
		       history->fence, history->settings.at_most >> 20,
		       RF_HISTORY_CELLS_MAX >> level,
		       RF_HISTORY_CELLS_MAX >> (is_coarser ? level - 1 : level + 1));
}

static int keep_size(struct rf_history *history)
{
	const int64_t used = used_thousandths(history);
	const bool may_change = !history->level_ns || history->now_ns < history->level_ns ||
				history->now_ns - history->level_ns >= LEVEL_NS;
	int code = SQLITE_OK;

	if (used >= COARSER_AT && history->level < RF_LEVEL_MAX && may_change)
		set_level(history, history->level + 1);
	else if (used < FINER_AT && history->level && may_change)
		set_level(history, history->level - 1);
	for (int i = 0; i < TRIM_STEPS && !code; i++)
		code = rf_history_trim(history);
	return code;
}

/* Gives pages back to the disk, where many are not used. */
static int shrink(struct rf_history *history)
{
	struct rf_db *db = &history->db;
	const int64_t pages = rf_db_int(db, 0, "PRAGMA page_count", "");
	const int64_t unused = rf_db_int(db, 0, "PRAGMA freelist_count", "");

	return unused > pages / 4 + 256 ? rf_db_exec(db, "PRAGMA incremental_vacuum(64)")
					: SQLITE_OK;
}

/* A clock that was set far forward by mistake would make everything old. */
static bool is_clock_steady(const struct rf_history *history)
{
	return history->counted.awake_ns - history->steady_ns >= STEADY_NS;
}

static int delete_aged(struct rf_history *history, uint64_t now_ns)
{
	int code = delete_seconds(history, now_ns);

	if (!code)
		code = delete_cells(history, now_ns);
	return code ? code : delete_rest(history, now_ns);
}

int rf_history_keep(struct rf_history *history, uint64_t now_ns)
{
	int code = SQLITE_OK;

	if (history->adds++ % EVERY)
		return SQLITE_OK;
	if (is_clock_steady(history))
		code = delete_aged(history, now_ns);
	if (!code)
		code = keep_size(history);
	return code ? code : shrink(history);
}
