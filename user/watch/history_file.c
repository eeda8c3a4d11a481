// SPDX-License-Identifier: GPL-2.0
/*
 * The file of a history: its messages and state, its permissions, the lock of its writer, damage,
 * and the deletion of old records.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/own_file.h"
#include "watch/recorder.h"

#define FREE_PERCENT 5
#define FILE_MODE 0640
#define BUSY_MS 200		/* other writers: only SQLite's shell, run by root */
#define LOG_BYTES (16ULL << 20) /* in addition to a quarter of the maximum size */
#define DAMAGED_MAX 2		/* of a fence; the last ones */
#define DAMAGED ".db.damaged-"
#define DATE_LENGTH 16 /* of 20261122T140200Z */
#define WAL_PAGES 512  /* in the log, before they are moved into the file */

static const char *const log_suffix[] = {"-wal", "-shm"};

/* ---- notes ---- */

void rf_history_say(struct rf_history *history, const char *format, ...)
{
	va_list args;

	if (history->notes == RF_NOTES_MAX)
		return;
	va_start(args, format);
	vsnprintf(history->note[history->notes++], RF_HISTORY_NOTE_SIZE, format, args);
	va_end(args);
}

bool rf_history_note(struct rf_history *history, char text[RF_HISTORY_NOTE_SIZE])
{
	if (!history->notes)
		return false;
	memcpy(text, history->note[0], RF_HISTORY_NOTE_SIZE);
	memmove(history->note[0], history->note[1], --history->notes * sizeof(history->note[0]));
	return true;
}

/* ---- failures ---- */

int rf_history_fail(struct rf_history *history, int code, struct rf_error *error)
{
	if (!code)
		return 0;
	history->has_failed = true;
	return rf_db_fail(&history->db, history->path, error);
}

bool rf_history_is_idle(const struct rf_history *history)
{
	return !history->in_scan || history->has_failed;
}

/* ---- state ---- */

int rf_history_put_state(struct rf_history *history, const char *key, const char *text,
			 struct rf_error *error)
{
	if (rf_history_is_idle(history))
		return 0;
	return rf_history_fail(
		history,
		rf_db_run(&history->db,
			  "INSERT INTO state VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET "
			  "text = excluded.text WHERE text != excluded.text",
			  "tt", key, text),
		error);
}

char *rf_history_get_state(struct rf_history *history, const char *key)
{
	struct rf_db *db = &history->db;
	sqlite3_stmt *stmt = rf_db_begin(db, "SELECT text FROM state WHERE key = ?", "t", key);
	char *text = NULL;

	if (rf_db_row(db, stmt)) {
		text = strdup(rf_db_text(stmt, 0));
		rf_db_end(stmt);
	}
	return text;
}

/* ---- opening ---- */

/* Creates or opens the file, and locks it: SQLite creates its log with the same mode and owner. */
static int lock_file(struct rf_history *history, struct rf_error *error)
{
	const char *why;

	history->lock_fd = rf_own_file_open(history->path, O_RDWR, FILE_MODE, &why);
	if (history->lock_fd < 0)
		return rf_error_failed(error, history->lock_fd, "cannot open %.300s: %s",
				       history->path, why);
	if (flock(history->lock_fd, LOCK_EX | LOCK_NB))
		return rf_error_failed(error, -EBUSY,
				       "%.300s: another process records into this file; stop it, "
				       "or use a different directory",
				       history->path);
	return 0;
}

static int set_up(struct rf_history *history)
{
	struct rf_db *db = &history->db;
	const int64_t log = 2 * WAL_PAGES * 4096;
	const int64_t pages = (history->settings.at_most - log) / 4096;
	int on = 1;
	char *sql;
	int code;

	/* The log remains after the last close: readers need not write to the directory. */
	sqlite3_file_control(db->sqlite, "main", SQLITE_FCNTL_PERSIST_WAL, &on);
	sql = sqlite3_mprintf("PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL;"
			      "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
			      "PRAGMA wal_autocheckpoint = %d; PRAGMA journal_size_limit = %lld;"
			      "PRAGMA max_page_count = %lld; PRAGMA cache_size = -2048",
			      WAL_PAGES, log, pages);
	code = sql ? rf_db_exec(db, sql) : SQLITE_NOMEM;
	sqlite3_free(sql);
	return code;
}

static int check_pages(struct rf_history *history)
{
	struct rf_db *db = &history->db;
	sqlite3_stmt *stmt = rf_db_begin(db, "PRAGMA quick_check(1)", "");
	const bool is_fine = rf_db_row(db, stmt) && !strcmp(rf_db_text(stmt, 0), "ok");

	if (is_fine) {
		rf_db_end(stmt);
		return SQLITE_OK;
	}
	return rf_db_is_damage(db->failed) || !db->failed ? SQLITE_CORRUPT : db->failed;
}

/* SQLite follows a symlink at the path of its log, and changes the target to the file's owner. */
static int check_log(struct rf_history *history, struct rf_error *error)
{
	char path[sizeof(history->path) + 8];
	const char *why;
	int err = 0;

	for (int i = 0; i < 2 && !err; i++) {
		snprintf(path, sizeof(path), "%s%s", history->path, log_suffix[i]);
		err = rf_own_file_check(path, &why);
	}
	return err ? rf_error_failed(error, err, "cannot open %.300s: %s", path, why) : 0;
}

/*
 * A file in another format is not changed: neither by settings that are stored in it, nor by
 * writing its log into it when it is closed.
 */
static int open_database(struct rf_history *history)
{
	struct rf_db *db = &history->db;
	bool is_other;
	int code = rf_db_open(db, history->path, SQLITE_OPEN_READWRITE);

	if (code)
		return code;
	sqlite3_busy_timeout(db->sqlite, BUSY_MS);
	history->format = rf_schema_format(db);
	is_other = history->format == RF_SCHEMA_LATER || history->format == RF_SCHEMA_OTHER;
	if (db->failed || is_other) {
		sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_other, NULL);
		return db->failed;
	}
	code = set_up(history);
	if (!code)
		code = check_pages(history);
	return !code && history->format == RF_SCHEMA_NONE ? rf_schema_make(db) : code;
}

void rf_history_file_close(struct rf_history *history)
{
	rf_db_close(&history->db);
	if (history->lock_fd >= 0)
		close(history->lock_fd);
	history->lock_fd = -1;
}

/* ---- damage ---- */

/* Is it a file of this fence that was put aside? Its log has a longer name. */
static bool is_aside(const struct rf_history *history, const char *name)
{
	const size_t length = strlen(history->fence);
	const char *date = name + length + strlen(DAMAGED);

	return !strncmp(name, history->fence, length) &&
	       !strncmp(name + length, DAMAGED, strlen(DAMAGED)) && strlen(date) == DATE_LENGTH &&
	       strspn(date, "0123456789TZ") == DATE_LENGTH;
}

/*
 * Deletes a file that was moved aside, and its log first: a log without its file would never be
 * found.
 */
static int delete_aside(const struct rf_history *history, const char *name)
{
	char path[sizeof(history->path) + 320];

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s%s", history->directory, name, log_suffix[i]);
		if (unlink(path) && errno != ENOENT)
			return -errno;
	}
	snprintf(path, sizeof(path), "%s/%s", history->directory, name);
	return unlink(path) ? -errno : 0;
}

/* A fence whose disk fails again and again must not fill it. The names sort by their dates. */
static void delete_old_damaged(struct rf_history *history)
{
	struct dirent **entries;
	const int count = scandir(history->directory, &entries, NULL, alphasort);
	int kept = 0, err = 0;

	for (int i = count; i-- > 0; free(entries[i]))
		if (is_aside(history, entries[i]->d_name) && ++kept > DAMAGED_MAX)
			err = delete_aside(history, entries[i]->d_name) ?: err;
	if (count >= 0)
		free(entries);
	if (err)
		rf_history_say(history, "cannot delete an old damaged file in %.200s: %s",
			       history->directory, strerror(-err));
}

/* Renames the file, and its log to the name that belongs to the new one. */
static int rename_all(const struct rf_history *history, const char *aside)
{
	if (rename(history->path, aside))
		return -errno;
	for (int i = 0; i < 2; i++) {
		char from[sizeof(history->path) + 8], to[sizeof(history->path) + 72];

		snprintf(from, sizeof(from), "%s%s", history->path, log_suffix[i]);
		snprintf(to, sizeof(to), "%s%s", aside, log_suffix[i]);
		if (rename(from, to) && errno != ENOENT)
			return -errno;
	}
	return 0;
}

/* The message about a file that is moved aside, and its new name. */
struct aside {
	const char *word, *what, *rest;
};

static const struct aside damaged = {"damaged", "was damaged",
				     "'sqlite3 FILE .recover' can extract the intact records"};
static const struct aside other = {
	"other",
	"was written by another build of ringfence, in a format that this one does not read",
	"delete it, or read it with that build"};

static int put_aside(struct rf_history *history, const struct aside *why, struct rf_error *error)
{
	char aside[sizeof(history->path) + 64], date[32];
	const time_t now = time(NULL);
	struct tm tm;
	int err;

	strftime(date, sizeof(date), "%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
	snprintf(aside, sizeof(aside), "%s.%s-%s", history->path, why->word, date);
	rf_history_file_close(history);
	err = rename_all(history, aside);
	if (err)
		return rf_error_failed(error, err, "%.200s %s, and cannot be renamed: %s",
				       history->path, why->what, strerror(-err));
	rf_history_say(history,
		       "%.150s %s: it was renamed to %.200s, and a new history was started. %s",
		       history->path, why->what, aside, why->rest);
	return rf_history_file_open(history, error);
}

int rf_history_put_aside(struct rf_history *history, struct rf_error *error)
{
	return put_aside(history, &damaged, error);
}

int rf_history_file_open(struct rf_history *history, struct rf_error *error)
{
	int err = lock_file(history, error), code;

	if (!err)
		err = check_log(history, error);
	if (err)
		return err;
	code = open_database(history);
	if (rf_db_is_damage(code) && !history->notes)
		return put_aside(history, &damaged, error);
	if (code)
		return rf_db_fail(&history->db, history->path, error);
	if (history->format == RF_SCHEMA_OTHER)
		return put_aside(history, &other, error);
	if (history->format == RF_SCHEMA_LATER)
		return rf_error_failed(
			error, -EPROTO,
			"%.300s was written by a later version of ringfence; move it "
			"away, or use that version",
			history->path);
	delete_old_damaged(history);
	return 0;
}

bool rf_history_disk_is_full(const struct rf_history *history)
{
	struct statvfs disk;

	if (statvfs(history->directory, &disk) || !disk.f_blocks)
		return false;
	return disk.f_bavail * 100 < (uint64_t)disk.f_blocks * FREE_PERCENT;
}

static uint64_t log_bytes(const struct rf_history *history)
{
	char path[sizeof(history->path) + 8];
	struct stat log;

	snprintf(path, sizeof(path), "%s-wal", history->path);
	return stat(path, &log) ? 0 : log.st_size;
}

bool rf_history_log_is_held(struct rf_history *history)
{
	const uint64_t most = history->settings.at_most / 4 + LOG_BYTES;

	if (!history->db.sqlite || log_bytes(history) <= most)
		return false;
	sqlite3_busy_timeout(history->db.sqlite, 0); /* no scan waits for that */
	sqlite3_wal_checkpoint_v2(history->db.sqlite, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	sqlite3_busy_timeout(history->db.sqlite, BUSY_MS);
	return log_bytes(history) > most;
}

/* ---- what goes: the oldest first, by its age, and where the file gets too large ---- */

#define EVERY 8	       /* scans between two looks */
#define AT_ONCE 64     /* scans whose rows are deleted in one transaction */
#define COARSER_AT 850 /* thousandths of the file */
#define FINER_AT 650
#define TRIM_AT 930
#define TRIM_STEPS 8
/* How long the clock must go without a jump before anything is old. */
#define STEADY_NS (900 * RF_NS_PER_S)
#define LEVEL_NS (600 * RF_NS_PER_S) /* between two changes of the level */

/* The used part of the file's maximum size. */
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

/* Sums that include deleted scans are no sums of the remaining ones. */
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

/* ---- deletion by age ---- */

/* What belongs to scans, or to minutes: commands of SQL. */
struct aged {
	const char *find; /* an id that is old enough */
	const char *rows; /* deletes the rows whose ids start with it */
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
	/* The rules that were active at the start of the range remain. */
	if (!code)
		code = rf_db_run(db,
				 "DELETE FROM rules WHERE id < (SELECT max(id) FROM rules "
				 "WHERE time < ?)",
				 "i", before);
	return code;
}

/* ---- deletion by size ---- */

/* A part of a table, from its start: `part` of 256, and at least one row. */
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

/* Records with the longest retention are deleted more slowly: they use little of the room. */
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
		return SQLITE_OK; /* the disk is full, not the file */
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
				    "recorded instead of %d; 'at most SIZE' raises the limit"
				  : "history of fence '%s': %" PRIu64
				    " MiB have room again, so the cells of %d sources are "
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

/* Returns pages to the disk, if many are unused. */
static int shrink(struct rf_history *history)
{
	struct rf_db *db = &history->db;
	const int64_t pages = rf_db_int(db, 0, "PRAGMA page_count", "");
	const int64_t unused = rf_db_int(db, 0, "PRAGMA freelist_count", "");

	return unused > pages / 4 + 256 ? rf_db_exec(db, "PRAGMA incremental_vacuum(64)")
					: SQLITE_OK;
}

/* A clock that was set far forward in error would make all records old. */
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
