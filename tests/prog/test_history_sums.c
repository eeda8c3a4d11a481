// SPDX-License-Identifier: GPL-2.0
/* Sums of sources by the hour: a report that reads them equals a report from all rows. */
#include "history.h"

#include <arpa/inet.h>

#include "watch/reader.h"

#define STEP (10 * SECOND)
#define HOUR (3600 * SECOND)
#define SOURCES 40
#define MANY 65536

static uint64_t random_state;

static uint64_t below(uint64_t bound)
{
	return unit_below(&random_state, bound);
}

/* ---- recording ---- */

static void change(const char *name, const char *sql)
{
	struct rf_db db;

	assert_int_equal(rf_db_open(&db, path_of(name), SQLITE_OPEN_READWRITE), SQLITE_OK);
	assert_int_equal(rf_db_exec(&db, sql), SQLITE_OK);
	rf_db_close(&db);
}

static void record_steps(struct made *made, struct rf_history *history, int steps)
{
	for (int i = 0; i < steps; i++) {
		made_step(made, STEP, 1 + below(1000));
		record(made, history, 0);
	}
}

/* Hours with restarts, gaps and a clock that is set. */
static void record_restless(struct made *made)
{
	for (int i = 0; i < 40; i++) {
		struct rf_history *history = open_history();

		record(made, history, 0);
		record_steps(made, history, below(400));
		if (i % 8 == 3)
			made->snapshot.time_ns -= 1 + below(2 * HOUR);
		else
			made->snapshot.time_ns += below(HOUR / 2);
		if (i % 2)
			record_steps(made, history, 20);
		rf_history_close(history);
	}
}

/* ---- comparing ---- */

/* A copy of the history without sums: its rows are read. */
static void copy_rows(void)
{
	struct rf_reader *reader;
	struct rf_error error;

	unlink(path_of("rows.db"));
	assert_int_equal(rf_reader_open(&reader, directory, "eth0", &error), 0);
	assert_int_equal(rf_reader_export(reader, path_of("rows.db"), &error), 0);
	rf_reader_close(reader);
	change("rows.db", "DELETE FROM sums; DELETE FROM source_sums");
}

/* As SQLite sums the rows up. */
static void expect_range(int64_t from, int64_t to, int64_t most,
			 struct rf_recorded_sources *sources)
{
	struct rf_error error;
	struct rf_db db;
	sqlite3_stmt *stmt;

	*sources = (struct rf_recorded_sources){.row = calloc(most, sizeof(*sources->row))};
	assert_non_null(sources->row);
	assert_int_equal(rf_db_open(&db, path_of("rows.db"), SQLITE_OPEN_READONLY), SQLITE_OK);
	stmt = rf_db_begin(
		&db,
		"SELECT source, name, sum(passed), sum(dropped) AS d, sum(would_drop) AS w, "
		"max(used) / 1000, max(banned) FROM samples CROSS JOIN sources ON id >= scan << 16 "
		"AND id < (scan + 1) << 16 JOIN limits USING (number) WHERE time > ?1 AND time - "
		"ms < ?2 GROUP BY source, number ORDER BY d + w DESC, sum(passed) DESC, source, "
		"number LIMIT ?3",
		"iii", from, to, most);
	while (rf_db_row(&db, stmt)) {
		struct rf_recorded_source *row = &sources->row[sources->count++];

		assert_int_equal(rf_parse_prefix(rf_db_text(stmt, 0), &row->source, &error), 0);
		snprintf(row->limit, sizeof(row->limit), "%s", rf_db_text(stmt, 1));
		row->passed = sqlite3_column_int64(stmt, 2);
		row->dropped = sqlite3_column_int64(stmt, 3);
		row->would_drop = sqlite3_column_int64(stmt, 4);
		row->used = sqlite3_column_int64(stmt, 5);
		row->is_banned = sqlite3_column_int64(stmt, 6);
	}
	assert_int_equal(db.failed, SQLITE_OK);
	rf_db_close(&db);
}

static void read_range(const char *fence, uint64_t from, uint64_t to, const struct rf_prefix *of,
		       size_t most, struct rf_recorded_sources *sources)
{
	struct rf_reader *reader;
	struct rf_error error;

	assert_int_equal(rf_reader_open(&reader, directory, fence, &error), 0);
	assert_int_equal(rf_reader_sources_between(reader, from, to, of, most, sources, &error), 0);
	rf_reader_close(reader);
}

static void assert_same(const struct rf_recorded_source *a, const struct rf_recorded_source *b)
{
	assert_int_equal(rf_prefix_compare(&a->source, &b->source), 0);
	assert_string_equal(a->limit, b->limit);
	assert_int_equal(a->passed, b->passed);
	assert_int_equal(a->dropped, b->dropped);
	assert_int_equal(a->would_drop, b->would_drop);
	assert_int_equal(a->used, b->used);
	assert_int_equal(a->is_banned, b->is_banned);
}

/* The rows of one source are its rows among all. */
static void compare_one(uint64_t from, uint64_t to, const struct rf_recorded_sources *all)
{
	const struct rf_recorded_source *one = &all->row[below(all->count)];
	struct rf_recorded_sources its;
	size_t found = 0;

	read_range("eth0", from, to, &one->source, MANY, &its);
	for (size_t i = 0; i < all->count; i++)
		if (!rf_prefix_compare(&all->row[i].source, &one->source)) {
			assert_true(found < its.count);
			assert_same(&its.row[found++], &all->row[i]);
		}
	assert_int_equal(found, its.count);
	rf_recorded_sources_free(&its);
}

/* With sums, and from a file without them. */
static size_t compare_range(uint64_t from, uint64_t to, size_t most)
{
	struct rf_recorded_sources rows, read;
	size_t count;

	expect_range(from / MS, to / MS, most, &rows);
	count = rows.count;
	for (int i = 0; i < 2; i++) {
		read_range(i ? "rows" : "eth0", from, to, NULL, most, &read);
		assert_int_equal(read.count, count);
		for (size_t k = 0; k < count; k++)
			assert_same(&read.row[k], &rows.row[k]);
		rf_recorded_sources_free(&read);
	}
	if (count && most == MANY)
		compare_one(from, to, &rows);
	rf_recorded_sources_free(&rows);
	return count;
}

/* A time in the history: an hour, the limit of an interval, one next to these, or any. */
static uint64_t draw_time(int64_t first, int64_t last)
{
	const int64_t any = first + below(last - first + 1);
	const int64_t hour_ms = HOUR / MS;
	struct rf_db db;
	int64_t time;

	assert_int_equal(rf_db_open(&db, path_of("rows.db"), SQLITE_OPEN_READONLY), SQLITE_OK);
	time = rf_db_int(&db, any,
			 "SELECT time - ms * ?2 FROM samples WHERE time >= ?1 ORDER BY time LIMIT "
			 "1",
			 "ii", any, (int64_t)below(2));
	rf_db_close(&db);
	if (below(3) == 0)
		time = any / hour_ms * hour_ms;
	return (below(5) ? time + (int64_t)below(3) - 1 : any) * MS;
}

/* Ranges that have an hour just so, or just not. */
static void compare_edges(void)
{
	const int64_t from = ask("SELECT coalesce(max(min_time), 0) FROM sums");
	const int64_t to = ask("SELECT coalesce(max(max_start), 0) FROM sums");

	for (int i = 0; i < 9 && to; i++)
		compare_range((from - 1 + i % 3) * MS, (to - 1 + i / 3) * MS, MANY);
}

static void compare_all(int ranges)
{
	const int64_t first = ask("SELECT min(time) FROM samples") - 20000;
	const int64_t last = ask("SELECT max(time) FROM samples") + 20000;
	size_t found = 0;

	copy_rows();
	for (int i = 0; i < ranges; i++) {
		const uint64_t a = draw_time(first, last), b = draw_time(first, last);

		found += compare_range(a < b ? a : b, a < b ? b : a, i % 2 ? 10 : MANY);
	}
	assert_true(found > 0);
	compare_range(first * MS, last * MS, MANY);
	compare_edges();
}

static void assert_fine(void)
{
	char complaint[256], remedy[256];
	struct rf_reader *reader;
	struct rf_error error;

	assert_int_equal(rf_reader_open(&reader, directory, "eth0", &error), 0);
	assert_int_equal(rf_reader_check(reader, complaint, remedy, &error), 0);
	assert_string_equal(complaint, "");
	rf_reader_close(reader);
}

/* ---- the rows ---- */

static void sums_are_those_of_rows(void **state)
{
	struct made made;

	(void)state;
	made_begin(&made, 2, SOURCES);
	record_restless(&made);
	made_end(&made);
	assert_true(ask("SELECT count(*) FROM sums WHERE kept") > 10);
	assert_true(ask("SELECT count(*) FROM source_sums") >
		    10 * ask("SELECT count(*) FROM sums"));
	compare_all(40);
	assert_fine();
}

static void a_file_gets_them_hour_by_hour(void **state)
{
	struct rf_history *history = open_history();
	struct made made;
	int64_t hours = 0;

	(void)state;
	made_begin(&made, 2, SOURCES);
	record(&made, history, 0);
	record_steps(&made, history, 360 * 6);
	rf_history_close(history);
	change("eth0.db", "DELETE FROM sums; DELETE FROM source_sums");
	history = open_history();
	assert_int_equal(ask("SELECT count(*) FROM sums"), 0);
	for (int i = 0; i < 10; i++) {
		record_steps(&made, history, 1);
		assert_in_range(ask("SELECT count(*) FROM sums"), hours, hours + 1);
		hours = ask("SELECT count(*) FROM sums");
		if (i % 4 == 0)
			compare_all(10);
	}
	rf_history_close(history);
	made_end(&made);
	assert_in_range(hours, 5, 7);
	assert_int_equal(ask("SELECT count(*) FROM samples WHERE time < (SELECT max(time) / "
			     "3600000 * 3600000 FROM samples) AND NOT EXISTS (SELECT 1 FROM sums "
			     "WHERE scan BETWEEN first AND last)"),
			 0);
	assert_fine();
}

/* A range whose oldest samples were deleted has the remaining ones. */
static void what_goes_is_not_summed(void **state)
{
	struct rf_history *history;
	struct made made;

	(void)state;
	settings.keep_ns = 3 * HOUR + HOUR / 3;
	history = open_history();
	made_begin(&made, 2, SOURCES);
	record(&made, history, 0);
	for (int i = 0; i < 12; i++) {
		record_steps(&made, history, 360 / 3 + below(360));
		compare_all(8);
	}
	rf_history_close(history);
	made_end(&made);
	assert_true(ask("SELECT count(*) FROM samples") < 4 * 360);
	assert_in_range(ask("SELECT count(*) FROM sums"), 2, 5);
	assert_int_equal(ask("SELECT count(*) FROM source_sums WHERE first NOT IN (SELECT first "
			     "FROM sums WHERE kept)"),
			 0);
	assert_fine();
}

/* They count towards the permitted size of the history. */
static void sums_keep_to_the_cap(void **state)
{
	struct rf_history *history;
	struct made made;
	struct stat file;

	(void)state;
	settings.at_most = 16 << 20;
	history = open_history();
	made_begin(&made, 2, 2000);
	record(&made, history, 0);
	record_steps(&made, history, 360 * 9);
	rf_history_close(history);
	made_end(&made);
	assert_int_equal(stat(path_of("eth0.db"), &file), 0);
	assert_true(file.st_size <= 16 << 20);
	assert_true(ask("SELECT count(*) FROM samples") < 360 * 9 - 100);
	assert_true(has("SELECT count(*) FROM sums WHERE kept"));
	compare_all(8);
	assert_fine();
}

/* Each interval has other sources: sums of these would be as many as the rows. */
static void useless_sums_are_not_kept(void **state)
{
	struct rf_history *history = open_history();
	struct made made;

	(void)state;
	made_begin(&made, 2, SOURCES);
	record(&made, history, 0);
	for (int i = 0; i < 800; i++) {
		for (int k = 0; k < SOURCES; k++)
			made.snapshot.sources.row[k].source.word[0] = htonl((i << 8) + k);
		record_steps(&made, history, 1);
	}
	rf_history_close(history);
	made_end(&made);
	assert_true(has("SELECT count(*) FROM sums"));
	assert_int_equal(ask("SELECT count(*) FROM sums WHERE kept"), 0);
	assert_int_equal(ask("SELECT count(*) FROM source_sums"), 0);
	compare_all(8);
}

/* Writes a byte into a pipe after each step. */
static void record_until_killed(int pipe_fd)
{
	struct rf_history *history = open_history();
	struct made made;

	made_begin(&made, 2, SOURCES);
	made.snapshot.time_ns = ask("SELECT coalesce(max(time), 0) FROM samples") * MS +
				MADE_START_NS % HOUR + 20 * SECOND;
	do
		record_steps(&made, history, 1);
	while (write(pipe_fd, "x", 1) == 1);
	_exit(1);
}

/* After a number of steps: a slow machine records as many hours. */
static void killed_between(void **state)
{
	(void)state;
	for (int i = 0; i < 25; i++) {
		int fds[2], status;
		char byte;
		pid_t child;

		assert_int_equal(pipe(fds), 0);
		child = fork();
		assert_true(child >= 0);
		if (!child)
			record_until_killed(fds[1]);
		close(fds[1]);
		for (int n = below(600); n-- > 0;)
			assert_int_equal(read(fds[0], &byte, 1), 1);
		usleep(below(2000));
		assert_int_equal(kill(child, SIGKILL), 0);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
		close(fds[0]);
	}
	rf_history_close(open_history());
	assert_true(has("SELECT count(*) FROM sums WHERE kept"));
	compare_all(20);
	assert_fine();
}

static void wrong_sums_are_found(void **state)
{
	static const char *const mistakes[] = {
		"UPDATE source_sums SET dropped = dropped + 1 WHERE source = "
		"(SELECT max(source) FROM source_sums)",
		"DELETE FROM source_sums WHERE source = (SELECT min(source) FROM source_sums)",
		"UPDATE sums SET min_time = min_time + 1",
	};
	char complaint[256], remedy[256];
	struct rf_reader *reader;
	struct rf_error error;
	struct made made;

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct rf_history *history = open_history();

		made_begin(&made, 2, SOURCES);
		record(&made, history, 0);
		record_steps(&made, history, 800);
		rf_history_close(history);
		made_end(&made);
		assert_fine();
		change("eth0.db", mistakes[i]);
		assert_int_equal(rf_reader_open(&reader, directory, "eth0", &error), 0);
		assert_int_equal(rf_reader_check(reader, complaint, remedy, &error), 0);
		rf_reader_close(reader);
		assert_non_null(strstr(complaint, "differ from their rows"));
		change("eth0.db", "UPDATE sums SET kept = 0");
		assert_fine();
		compare_all(8);
		assert_int_equal(clear(state), 0);
	}
}

static const struct CMUnitTest tests[] = {
	ROW("sums are those of rows", sums_are_those_of_rows),
	ROW("a file without any gets them hour by hour", a_file_gets_them_hour_by_hour),
	ROW("what goes is not summed", what_goes_is_not_summed),
	ROW("sums keep to the cap", sums_keep_to_the_cap),
	ROW("useless sums are not kept", useless_sums_are_not_kept),
	ROW("killed between", killed_between),
	ROW("wrong sums are found", wrong_sums_are_found),
};

int main(void)
{
	int failed;

	random_state = unit_seed();
	if (!mount_base())
		return 1;
	failed = cmocka_run_group_tests_name("sums of sources", tests, NULL, NULL);
	unmount_base();
	return failed;
}
