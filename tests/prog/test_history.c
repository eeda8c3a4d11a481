// SPDX-License-Identifier: GPL-2.0
/* The writer of history: what it stores of made-up scans, and what it survives. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/record/made.h"
#include "watch/db.h"
#include "watch/schema.h"

static char base[] = "/tmp/ringfence-history.XXXXXX";
static char directory[64];
static struct rf_history_settings settings;

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static int clear(void **state)
{
	char command[128];

	(void)state;
	umount(directory); /* of a test that failed */
	settings = RF_HISTORY_SETTINGS;
	settings.directory = directory;
	settings.told = RF_TELL_FULL;
	snprintf(command, sizeof(command), "rm -rf %s/*", directory);
	return system(command);
}

static struct rf_history *open_history(void)
{
	struct rf_history *history = NULL;
	struct rf_error error = {};

	if (rf_history_open(&history, &settings, "eth0", &error))
		fail_msg("%s", error.text);
	return history;
}

static void record(struct made *made, struct rf_history *history, size_t cells)
{
	struct rf_error error = {};

	if (made_record(made, history, cells, &error))
		fail_msg("%s", error.text);
}

/* Scans one a second. */
static void record_seconds(struct made *made, struct rf_history *history, int seconds,
			   uint64_t packets)
{
	for (int i = 0; i < seconds; i++) {
		made_step(made, SECOND, packets);
		record(made, history, 0);
	}
}

static int64_t ask(const char *sql)
{
	struct rf_db db;
	int64_t result;

	assert_int_equal(rf_db_open(&db, path_of("eth0.db"), SQLITE_OPEN_READONLY), SQLITE_OK);
	sqlite3_busy_timeout(db.sqlite, 1000);
	result = rf_db_int(&db, INT64_MIN, sql, "");
	if (result == INT64_MIN)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db.sqlite));
	rf_db_close(&db);
	return result;
}

/* A word, where the query has a row. */
static bool has(const char *sql)
{
	return ask(sql) > 0;
}

#define PACKETS_OF(kind)                                                                   \
	"SELECT coalesce(sum(packets), 0) FROM counts JOIN series ON series = id & 65535 " \
	"WHERE kind = '" kind "'"

/* ---- totals ---- */

static void store_differences(void **state)
{
	struct rf_history *history = open_history();
	struct made made;

	(void)state;
	made_begin(&made, 2, 20);
	made_step(&made, SECOND, 5000); /* before anybody looked */
	made.passed = made.dropped = 0;
	record(&made, history, 0);
	record_seconds(&made, history, 125, 1000);
	rf_history_close(history);
	assert_int_equal(ask(PACKETS_OF("passed")), made.passed);
	assert_int_equal(ask(PACKETS_OF("dropped")), made.dropped);
	assert_int_equal(ask(PACKETS_OF("limit") " AND outcome = 'dropped'"), made.dropped);
	assert_int_equal(ask("SELECT count(*) FROM totals"), 125);
	assert_int_equal(ask("SELECT sum(ms) FROM totals"), 125000);
	assert_int_equal(ask("SELECT count(*) FROM gaps"), 0);
	/* 08:26:40 to 08:28:46: of two minutes the sums are there */
	assert_int_equal(ask("SELECT count(*) FROM minutes"), 2);
	assert_int_equal(ask("SELECT sum(packets) FROM minute_counts"),
			 ask("SELECT sum(packets) FROM counts WHERE id >> 16 <= "
			     "(SELECT max(scan) FROM minutes)"));
	made_end(&made);
}

/* A count that a lease holds back may be missing in one scan: it is not counted twice. */
static void never_step_back(void **state)
{
	struct rf_history *history = open_history();
	struct made made;
	struct rf_count *count;

	(void)state;
	made_begin(&made, 1, 10);
	record(&made, history, 0);
	record_seconds(&made, history, 3, 100);
	count = &made.snapshot.counters.reason[RF_UNDER_LIMIT];
	count->packets -= 40;
	made_step(&made, SECOND, 0);
	record(&made, history, 0);
	count->packets += 40;
	made_step(&made, SECOND, 0);
	record(&made, history, 0);
	rf_history_close(history);
	assert_int_equal(ask(PACKETS_OF("passed")), made.passed);
	made_end(&made);
}

static void fence_made_anew(void **state)
{
	struct rf_history *history = open_history();
	struct made made;

	(void)state;
	made_begin(&made, 1, 10);
	record(&made, history, 0);
	record_seconds(&made, history, 3, 100);
	made_anew(&made);
	record_seconds(&made, history, 3, 100);
	rf_history_close(history);
	assert_int_equal(ask(PACKETS_OF("passed")), made.passed);
	made_end(&made);
}

/* ---- gaps ---- */

static void gap_of_a_restart(void **state)
{
	struct rf_history *history = open_history();
	struct made made;
	uint64_t before;

	(void)state;
	made_begin(&made, 1, 10);
	record(&made, history, 0);
	record_seconds(&made, history, 3, 100);
	rf_history_close(history);
	before = made.passed;
	made_step(&made, 600 * SECOND, 100000);
	history = open_history();
	record(&made, history, 0);
	assert_int_equal(ask("SELECT passed FROM gaps WHERE why = 'down'"), made.passed - before);
	assert_int_equal(ask("SELECT end - start FROM gaps"), 600000);
	record_seconds(&made, history, 3, 100);
	rf_history_close(history);
	assert_int_equal(ask(PACKETS_OF("passed")) + ask("SELECT sum(passed) FROM gaps"),
			 made.passed);
	made_end(&made);
}

static void clock_steps(void **state)
{
	struct rf_history *history = open_history();
	struct made made;

	(void)state;
	made_begin(&made, 1, 10);
	record(&made, history, 0);
	record_seconds(&made, history, 90, 100);
	made.snapshot.time_ns -= 7200 * SECOND;
	record_seconds(&made, history, 90, 100);
	assert_int_equal(ask("SELECT count(*) FROM gaps WHERE why = 'clock' AND end < start"), 1);
	made.snapshot.time_ns += 7200 * SECOND;
	record_seconds(&made, history, 90, 100);
	assert_int_equal(ask("SELECT count(*) FROM gaps WHERE why = 'slept'"), 1);
	made.snapshot.time_ns += 365ULL * 86400 * SECOND; /* and far off, for a moment */
	record_seconds(&made, history, 1, 100);
	made.snapshot.time_ns -= 365ULL * 86400 * SECOND;
	record_seconds(&made, history, 90, 100);
	rf_history_close(history);
	assert_int_equal(ask(PACKETS_OF("passed")), made.passed);
	assert_int_equal(ask("SELECT count(*) FROM totals"), 361);
	assert_true(has("SELECT count(*) FROM minutes"));
	made_end(&made);
}

/* ---- sources ---- */

static void choose_sources(void **state)
{
	struct rf_history *history = open_history();
	struct made made;

	(void)state;
	made_begin(&made, 1, 30000);
	record(&made, history, 0);
	record_seconds(&made, history, 40, 100);
	/* One that drops most, though it sends less than others at times. */
	made.snapshot.sources.row[12345].new_dropped = 1000000;
	record_seconds(&made, history, 1, 10);
	rf_history_close(history);
	assert_in_range(ask("SELECT count(*) FROM samples"), 3, 4);
	assert_int_equal(ask("SELECT max(n) FROM (SELECT count(*) AS n FROM sources WHERE why & 1 "
			     "GROUP BY id >> 16)"),
			 64);
	assert_int_equal(ask("SELECT min(n) FROM (SELECT count(*) AS n FROM sources WHERE why & 2 "
			     "GROUP BY id >> 16)"),
			 64);
	assert_in_range(ask("SELECT max(n) FROM (SELECT count(*) AS n FROM sources WHERE why & 4 "
			    "GROUP BY id >> 16)"),
			32, 128);
	/* The sample has its share of all: about 30,000 sources. */
	assert_in_range(ask("SELECT sum(share) FROM sources JOIN samples ON scan = id >> 16 "
			    "WHERE why & 4") /
				ask("SELECT count(*) FROM samples"),
			20000, 45000);
	made_end(&made);
}

static void tell_no_addresses(void **state)
{
	const enum rf_told told = (enum rf_told)(intptr_t)*state;
	struct rf_history *history;
	struct rf_event event = {.type = RF_EVENT_SOURCE_LIMITED, .has_source = true};
	struct rf_error error;
	struct made made;

	settings.told = told;
	history = open_history();
	made_begin(&made, 1, 3000);
	record(&made, history, 0);
	for (int i = 0; i < 25; i++) {
		made_step(&made, SECOND, 100);
		assert_int_equal(rf_history_begin(history, &made.snapshot, &error), 0);
		event.source = made.snapshot.sources.row[5].source;
		assert_int_equal(rf_history_add_event(history, &event, &error), 0);
		assert_int_equal(rf_history_add(history, &made.snapshot, &error), 0);
		assert_int_equal(rf_history_commit(history, &error), 0);
	}
	rf_history_close(history);
	assert_int_equal(ask("SELECT count(*) FROM sources WHERE source NOT LIKE '%.0/24'"), 0);
	assert_int_equal(ask("SELECT count(*) FROM events WHERE source NOT LIKE '%.0/24' "
			     "AND source != ''"),
			 0);
	assert_int_equal(has("SELECT count(*) FROM sources"), told == RF_TELL_PREFIX);
	if (told == RF_TELL_PREFIX)
		assert_int_equal(ask("SELECT count(*) - count(DISTINCT source) FROM sources "
				     "GROUP BY id >> 16"),
				 0);
	made_end(&made);
}

/* ---- cells ---- */

static int64_t cells_of_last_scan(void)
{
	struct rf_db db;
	sqlite3_stmt *stmt;
	int64_t rows = 0;

	assert_int_equal(rf_db_open(&db, path_of("eth0.db"), SQLITE_OPEN_READONLY), SQLITE_OK);
	stmt = rf_db_begin(&db,
			   "SELECT data FROM cells WHERE id >> 16 = (SELECT max(id >> 16) FROM "
			   "cells)",
			   "");
	while (rf_db_row(&db, stmt)) {
		struct rf_cells_unpack unpack;
		struct rf_cells_row row;

		assert_int_equal(rf_cells_unpack_begin(&unpack, sqlite3_column_blob(stmt, 0),
						       sqlite3_column_bytes(stmt, 0)),
				 0);
		while (rf_cells_unpack_next(&unpack, &row) == 1)
			rows++;
	}
	rf_db_close(&db);
	return rows;
}

static void store_cells(void **state)
{
	struct rf_history *history = open_history();
	struct made made;

	(void)state;
	made_begin(&made, 1, 2000);
	record(&made, history, 0);
	made_step(&made, SECOND, 100);
	record(&made, history, 2000);
	assert_int_equal(cells_of_last_scan(), RF_HISTORY_CELLS_MAX);
	made_step(&made, SECOND, 1000000); /* larger numbers: not all fit */
	record(&made, history, 2000);
	assert_in_range(cells_of_last_scan(), 100, RF_HISTORY_CELLS_MAX);
	assert_in_range(ask("SELECT max(n) FROM (SELECT sum(length(data)) AS n FROM cells "
			    "GROUP BY id >> 16)"),
			1000, 20 << 10);
	rf_history_close(history);
	made_end(&made);
}

/* ---- rules, state, events ---- */

static void store_the_rest(void **state)
{
	struct rf_history *history = open_history();
	struct rf_event event = {
		.time_ns = MADE_START_NS, .type = RF_EVENT_BAN_STARTED, .id = "eth0-1", .seq = 7};
	struct rf_error error;
	struct made made;
	char *text;

	(void)state;
	made_begin(&made, 1, 1);
	for (int i = 0; i < 3; i++) {
		made_step(&made, SECOND, 1);
		assert_int_equal(rf_history_begin(history, &made.snapshot, &error), 0);
		assert_int_equal(rf_history_add(history, &made.snapshot, &error), 0);
		assert_int_equal(rf_history_wants_rules(history, &made.snapshot), i != 1);
		assert_int_equal(rf_history_put_rules(history, i < 2 ? "one\n" : "two\n", &error),
				 0);
		assert_int_equal(rf_history_put_state(history, "events", "{}", &error), 0);
		assert_int_equal(rf_history_add_event(history, &event, &error), 0);
		assert_int_equal(rf_history_commit(history, &error), 0);
		made.snapshot.standing.in_force = 1 + i;
	}
	rf_history_close(history);
	assert_int_equal(ask("SELECT count(*) FROM rules"), 2);
	assert_int_equal(ask("SELECT count(*) FROM events WHERE type = 'ban_started'"), 3);
	assert_int_equal(ask("SELECT min(seq) * 100 + max(seq) FROM events"), 709);
	history = open_history();
	text = rf_history_get_state(history, "events");
	assert_string_equal(text, "{}");
	free(text);
	assert_null(rf_history_get_state(history, "metrics"));
	rf_history_close(history);
	made_end(&made);
}

/* ---- the file ---- */

static void file_is_protected(void **state)
{
	static const char *const names[] = {"eth0.db", "eth0.db-wal", "eth0.db-shm"};
	struct rf_history *history, *second = NULL;
	struct rf_error error;
	struct stat file;

	(void)state;
	umask(0);
	assert_int_equal(chown(directory, -1, 12), 0);
	history = open_history();
	for (int closed = 0; closed < 2; closed++) {
		for (int i = 0; i < 3; i++) {
			assert_int_equal(stat(path_of(names[i]), &file), 0);
			assert_int_equal(file.st_mode & 0777, 0640);
			assert_int_equal(file.st_gid, 12);
		}
		if (!closed) {
			assert_int_equal(rf_history_open(&second, &settings, "eth0", &error),
					 -EBUSY);
			assert_non_null(strstr(error.text, "another process"));
			rf_history_close(history);
		}
	}
	assert_int_equal(chown(directory, -1, 0), 0);
}

static void damage(const char *name, long at, int bytes)
{
	FILE *file = fopen(path_of(name), "r+");

	assert_non_null(file);
	assert_int_equal(fseek(file, at, SEEK_SET), 0);
	for (int i = 0; i < bytes; i++)
		fputc(0xa5, file);
	fclose(file);
}

static int count_damaged(void)
{
	char command[128];
	int count = -1;
	FILE *file;

	snprintf(command, sizeof(command), "ls %s | grep -c 'eth0.db.damaged-[0-9TZ]*$'",
		 directory);
	file = popen(command, "r");
	assert_int_equal(fscanf(file, "%d", &count), 1);
	pclose(file);
	return count;
}

static void damaged_at_the_start(void **state)
{
	const long at = (intptr_t)*state;
	struct rf_history *history = open_history();
	char note[RF_HISTORY_NOTE_SIZE];
	struct made made;

	made_begin(&made, 2, 1000);
	record(&made, history, 0);
	record_seconds(&made, history, 60, 100);
	rf_history_close(history);
	assert_int_equal(truncate(path_of("eth0.db-wal"), 0), 0);
	damage("eth0.db", at, 6000);
	history = open_history();
	assert_true(rf_history_note(history, note));
	assert_non_null(strstr(note, "eth0.db.damaged-"));
	assert_false(rf_history_note(history, note));
	record_seconds(&made, history, 3, 100);
	rf_history_close(history);
	assert_int_equal(count_damaged(), 1);
	assert_int_equal(ask("SELECT count(*) FROM totals"), 2);
	made_end(&made);
}

static void damaged_while_open(void **state)
{
	struct rf_history *history = open_history();
	char note[RF_HISTORY_NOTE_SIZE];
	struct rf_error error;
	struct made made;
	int failed = 0;

	(void)state;
	made_begin(&made, 2, 1000);
	record(&made, history, 0);
	for (int i = 0; i < 700; i++) {
		made_step(&made, SECOND, 100);
		record(&made, history, 512);
	}
	damage("eth0.db", 4096, ask("PRAGMA page_count") * 4096 - 8192);
	for (int i = 0; i < 700; i++) {
		made_step(&made, SECOND, 100);
		failed += made_record(&made, history, 512, &error) != 0;
	}
	assert_in_range(failed, 1, 5);
	assert_int_equal(rf_history_errors(history), failed);
	assert_true(rf_history_note(history, note));
	rf_history_close(history);
	assert_int_equal(count_damaged(), 1);
	assert_true(has("SELECT count(*) FROM totals"));
	made_end(&made);
}

static void later_version(void **state)
{
	struct rf_history *history = open_history();
	struct rf_error error;
	struct rf_db db;

	(void)state;
	rf_history_close(history);
	assert_int_equal(rf_db_open(&db, path_of("eth0.db"), SQLITE_OPEN_READWRITE), SQLITE_OK);
	assert_int_equal(rf_db_exec(&db, "PRAGMA user_version = 99"), SQLITE_OK);
	rf_db_close(&db);
	assert_int_equal(rf_history_open(&history, &settings, "eth0", &error), -EPROTO);
	assert_non_null(strstr(error.text, "later version"));
}

/* The first scan of a process has cells, and no totals: the next process must not meet them. */
static void restarted_at_once(void **state)
{
	struct made made;

	(void)state;
	made_begin(&made, 4, 3000);
	for (int i = 0; i < 3; i++) {
		struct rf_history *history = open_history();

		made_step(&made, SECOND, 100);
		record(&made, history, 512);
		rf_history_close(history);
	}
	assert_true(ask("SELECT count(DISTINCT id >> 16) FROM cells") == 3);
}

/* ---- killed ---- */

#define KILLS 40

/* Records for ever, and writes what it has counted into a pipe after each commit. */
static void write_until_killed(int pipe_fd)
{
	struct rf_history *history = open_history();
	struct made made;

	made_begin(&made, 4, 3000);
	made.snapshot.time_ns += ask("SELECT coalesce(max(scan), 0) FROM totals") * SECOND;
	for (;;) {
		made_step(&made, SECOND, 100);
		record(&made, history, 512);
		if (write(pipe_fd, "x", 1) != 1)
			_exit(1);
	}
}

static void killed_at_any_moment(void **state)
{
	uint64_t random = unit_seed();
	int64_t scans = 0;

	(void)state;
	for (int i = 0; i < KILLS; i++) {
		int fds[2], status;
		char byte;
		pid_t child;

		assert_int_equal(pipe(fds), 0);
		child = fork();
		assert_true(child >= 0);
		if (!child)
			write_until_killed(fds[1]);
		close(fds[1]);
		for (int n = unit_below(&random, 12); n-- > 0;)
			assert_int_equal(read(fds[0], &byte, 1), 1);
		usleep(unit_below(&random, 30000));
		assert_int_equal(kill(child, SIGKILL), 0);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
		close(fds[0]);
		if (access(path_of("eth0.db"), F_OK))
			continue;
		rf_history_close(open_history());
		assert_int_equal(ask("SELECT count(*) FROM pragma_integrity_check WHERE "
				     "integrity_check = 'ok'"),
				 1);
		assert_true(ask("SELECT count(*) FROM totals") >= scans);
		scans = ask("SELECT count(*) FROM totals");
		/* No scan without its totals, and none with half of its counts. */
		assert_int_equal(ask("SELECT count(*) FROM counts WHERE id >> 16 NOT IN "
				     "(SELECT scan FROM totals)"),
				 0);
	}
	assert_int_equal(count_damaged(), 0);
	assert_true(scans > KILLS);
}

/* ---- no room ---- */

static void mount_small(const char *size)
{
	char options[32];

	snprintf(options, sizeof(options), "size=%s,mode=755", size);
	assert_int_equal(mount("none", directory, "tmpfs", 0, options), 0);
}

static void fill_disk(const char *name, long bytes)
{
	FILE *file = fopen(path_of(name), "w");

	assert_non_null(file);
	for (long i = 0; i < bytes; i += 4096) {
		static const char page[4096] = "x";

		if (fwrite(page, sizeof(page), 1, file) != 1)
			break;
	}
	fclose(file);
}

/* The disk is full at once, in the middle of a transaction: nothing but those scans is lost. */
static void disk_fills_at_once(void **state)
{
	struct rf_history *history;
	char note[RF_HISTORY_NOTE_SIZE];
	struct rf_error error;
	struct made made;
	int failed = 0;

	(void)state;
	mount_small("8m");
	history = open_history();
	made_begin(&made, 2, 1000);
	record(&made, history, 0);
	record_seconds(&made, history, 21, 100);
	fill_disk("hog", 8 << 20);
	for (int i = 0; i < 60; i++) {
		made_step(&made, SECOND, 100);
		failed += made_record(&made, history, 512, &error) != 0;
	}
	assert_true(failed > 0);
	assert_true(rf_history_note(history, note));
	assert_non_null(strstr(note, "less than 5 %"));
	assert_int_equal(unlink(path_of("hog")), 0);
	record_seconds(&made, history, 30, 100);
	assert_true(rf_history_note(history, note));
	assert_non_null(strstr(note, "goes on"));
	rf_history_close(history);
	assert_int_equal(ask("SELECT count(*) FROM pragma_integrity_check WHERE "
			     "integrity_check = 'ok'"),
			 1);
	assert_int_equal(ask(PACKETS_OF("passed")) +
				 ask("SELECT coalesce(sum(passed), 0) FROM gaps"),
			 made.passed);
	made_end(&made);
	assert_int_equal(umount(directory), 0);
}

static bool has_note(struct rf_history *history, const char *text)
{
	char note[RF_HISTORY_NOTE_SIZE];
	bool found = false;

	while (rf_history_note(history, note))
		found |= strstr(note, text) != NULL;
	return found;
}

/* A reader that does not end: the log stays short, and what is missing is a gap. */
static void reader_that_stays(void **state)
{
	struct rf_history *history;
	struct rf_db reader;
	struct made made;
	struct stat log;

	(void)state;
	settings.at_most = 8 << 20;
	history = open_history();
	made_begin(&made, 2, 1000);
	record(&made, history, 0);
	record_seconds(&made, history, 5, 100);
	assert_int_equal(rf_db_open(&reader, path_of("eth0.db"), SQLITE_OPEN_READONLY), SQLITE_OK);
	assert_int_equal(rf_db_exec(&reader, "BEGIN; SELECT count(*) FROM totals"), SQLITE_OK);
	for (int i = 0; i < 1500; i++) {
		made_step(&made, SECOND, 100);
		record(&made, history, 512);
	}
	assert_int_equal(stat(path_of("eth0.db-wal"), &log), 0);
	assert_in_range(log.st_size, 18 << 20, 20 << 20);
	assert_true(has_note(history, "has not ended"));
	rf_db_close(&reader);
	record_seconds(&made, history, 5, 100);
	assert_true(has_note(history, "the reader has ended"));
	rf_history_close(history);
	assert_int_equal(ask("SELECT count(*) FROM gaps WHERE why = 'reader'"), 1);
	assert_int_equal(ask("SELECT max(time) FROM totals"), made.snapshot.time_ns / MS);
	made_end(&made);
}

/* ---- the cap ---- */

/* Days of a fence that is busier than the file has room for. */
static void cap_is_kept(void **state)
{
	struct rf_history *history;
	char note[RF_HISTORY_NOTE_SIZE];
	struct rf_event event = {.type = RF_EVENT_ACTION, .detail = "made up"};
	struct rf_error error;
	bool is_coarser = false;
	struct made made;
	struct stat file;

	(void)state;
	settings.at_most = 8 << 20;
	history = open_history();
	made_begin(&made, 4, 400);
	record(&made, history, 0);
	for (int i = 0; i < 12000; i++) {
		made_step(&made, i % 50 ? SECOND : 1200 * SECOND, 100);
		assert_int_equal(rf_history_begin(history, &made.snapshot, &error), 0);
		event.time_ns = made.snapshot.time_ns;
		assert_int_equal(rf_history_add_event(history, &event, &error), 0);
		if (rf_history_commit(history, &error))
			fail_msg("%s", error.text);
		record(&made, history, i % 3 ? 0 : 400);
		if (i % 64)
			continue;
		assert_int_equal(stat(path_of("eth0.db"), &file), 0);
		assert_in_range(file.st_size, 0, settings.at_most);
		assert_int_equal(stat(path_of("eth0.db-wal"), &file), 0);
		assert_in_range(file.st_size, 0, 8 << 20);
		while (rf_history_note(history, note))
			is_coarser |= strstr(note, "instead of") != NULL;
	}
	assert_true(is_coarser);
	assert_int_equal(rf_history_errors(history), 0);
	rf_history_close(history);
	assert_true(has("SELECT count(*) FROM totals"));
	assert_true(has("SELECT count(*) FROM minutes"));
	assert_true(has("SELECT count(*) FROM events"));
	/* The youngest is there, the oldest is not. */
	assert_int_equal(ask("SELECT max(time) FROM totals"), made.snapshot.time_ns / MS);
	assert_true(ask("SELECT min(time) FROM totals") > (int64_t)(MADE_START_NS / MS) + 3600000);
	made_end(&made);
}

/* By age: seconds for 48 hours, cells for two, minutes and the rest as long as told. */
static void ages_are_kept(void **state)
{
	struct rf_history *history;
	struct made made;

	(void)state;
	settings.keep_ns = 4 * 86400 * SECOND;
	history = open_history();
	made_begin(&made, 1, 10);
	record(&made, history, 0);
	for (int i = 0; i < 7 * 86400 / 25; i++) {
		made_step(&made, 25 * SECOND, 10);
		record(&made, history, i % 40 ? 0 : 5);
	}
	rf_history_close(history);
	assert_in_range(ask("SELECT max(time) - min(time) FROM totals"), 172800000 - 30000,
			172800000 + 300000);
	assert_in_range(ask("SELECT max(time) - min(time) FROM samples"), 172800000 - 30000,
			172800000 + 300000);
	assert_in_range(ask("SELECT max(time) - min(time) FROM cells"), 7200000 - 1300000, 7500000);
	assert_in_range(ask("SELECT max(time) - min(time) FROM minutes"), 4 * 86400000 - 300000,
			4 * 86400000 + 300000);
	assert_int_equal(ask("SELECT count(*) FROM counts WHERE id >> 16 NOT IN (SELECT scan FROM "
			     "totals)"),
			 0);
	assert_int_equal(ask("SELECT count(*) FROM sources WHERE id >> 16 NOT IN (SELECT scan "
			     "FROM samples)"),
			 0);
	assert_int_equal(ask("SELECT count(*) FROM minute_counts WHERE id >> 16 NOT IN (SELECT "
			     "minute FROM minutes)"),
			 0);
	made_end(&made);
}

#define ROW(title, function)                       \
	{                                          \
		title, function, clear, NULL, NULL \
	}
#define ROW_OF(title, function, value)                                  \
	{                                                               \
		title, function, clear, NULL, (void *)(intptr_t)(value) \
	}

static const struct CMUnitTest tests[] = {
	ROW("totals are differences, exactly", store_differences),
	ROW("counters never step back", never_step_back),
	ROW("a fence that was made anew begins at 0", fence_made_anew),
	ROW("a restart is a gap, with what was counted", gap_of_a_restart),
	ROW("a clock that steps back and forth loses nothing", clock_steps),
	ROW("the sources that matter, and a sample of all", choose_sources),
	ROW_OF("sources prefix: networks only", tell_no_addresses, RF_TELL_PREFIX),
	ROW_OF("sources none: nothing of sources", tell_no_addresses, RF_TELL_NONE),
	ROW("cells of 512 sources, as many bytes as there is room for", store_cells),
	ROW("rules, state and events", store_the_rest),
	ROW("who may read the file, and one writer", file_is_protected),
	ROW_OF("a damaged header is put aside", damaged_at_the_start, 0),
	ROW_OF("damaged pages are put aside", damaged_at_the_start, 8192),
	ROW("a file that is damaged while it is open", damaged_while_open),
	ROW("a file of a later version stays as it is", later_version),
	ROW("a restart before the second scan", restarted_at_once),
	ROW("killed at any moment", killed_at_any_moment),
	ROW("a disk that fills", disk_fills_at_once),
	ROW("a reader that does not end", reader_that_stays),
	ROW("the cap is kept", cap_is_kept),
	ROW("each age is kept", ages_are_kept),
};

int main(void)
{
	int failed;

	/* In memory: a disk that others use makes no difference, nor does it wear out. */
	if (!mkdtemp(base) || unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", base, "tmpfs", 0, "size=512m,mode=755"))
		return 1;
	snprintf(directory, sizeof(directory), "%s/h", base);
	if (mkdir(directory, 0755))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	umount(base);
	rmdir(base);
	return failed;
}
