// SPDX-License-Identifier: GPL-2.0
/* The history writer: which parts of synthetic scans it stores, and which it retains. */
#include "history.h"

#include "watch/reader.h"

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

/* A count that a lease holds back can be missing in one scan: it is not counted twice. */
static void never_step_back(void **state)
{
	struct rf_history *history = open_history();
	struct made made;
	struct rf_count *count;

	(void)state;
	made_begin(&made, 1, 10);
	record(&made, history, 0);
	record_seconds(&made, history, 3, 100);
	count = &made.snapshot.sums.counters.reason[RF_UNDER_LIMIT];
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

static int read_at(uint64_t time_ns, struct rf_recorded *recorded)
{
	struct rf_reader *reader;
	struct rf_error error;
	int err;

	assert_int_equal(rf_reader_open(&reader, directory, "eth0", &error), 0);
	err = rf_reader_at(reader, time_ns, recorded, &error);
	rf_reader_close(reader);
	return err;
}

/* Also one that starts after a gap and stops, all between two whole seconds. */
static void interval_is_found_by_its_second(void **state)
{
	struct rf_history *history = open_history();
	struct rf_recorded recorded;
	uint64_t second_ns;
	struct made made;

	(void)state;
	made_begin(&made, 1, 10);
	record(&made, history, 0);
	record_seconds(&made, history, 3, 100);
	rf_history_close(history);
	second_ns = made.snapshot.time_ns + 600 * SECOND;
	made_step(&made, 600 * SECOND + SECOND / 5, 100);
	history = open_history();
	record(&made, history, 0);
	made_step(&made, SECOND / 2, 100);
	record(&made, history, 0);
	rf_history_close(history);
	assert_int_equal(second_ns % SECOND, 0);
	assert_int_equal(read_at(second_ns, &recorded), 0);
	assert_int_equal(recorded.from_ns, second_ns + SECOND / 5);
	assert_int_equal(recorded.to_ns, second_ns + SECOND * 7 / 10);
	rf_recorded_free(&recorded);
	assert_int_equal(read_at(second_ns - SECOND, &recorded), -ENODATA);
	rf_recorded_free(&recorded);
	made_end(&made);
}

/* Then it is attached again, and its counts in between belong to no fence. */
static void gap_of_a_detached_fence(void **state)
{
	struct rf_history *history = open_history();
	struct rf_event event = {.type = RF_EVENT_DETACHED, .id = "eth0-1"};
	struct rf_error error;
	struct made made;

	(void)state;
	made_begin(&made, 1, 10);
	record(&made, history, 0);
	record_seconds(&made, history, 3, 100);
	event.time_ns = made.snapshot.time_ns + SECOND / 2;
	assert_int_equal(rf_history_begin(history, &made.snapshot, &error), 0);
	assert_int_equal(rf_history_add_event(history, &event, &error), 0);
	assert_int_equal(rf_history_commit(history, &error), 0);
	rf_history_close(history);
	made_anew(&made);
	made_step(&made, 60 * SECOND, 100);
	history = open_history();
	record(&made, history, 0);
	assert_int_equal(ask("SELECT count(*) FROM gaps"), 1);
	assert_int_equal(ask("SELECT end - start FROM gaps WHERE why = 'detached'"), 60000);
	assert_string_equal(rf_gap_text("detached"), "the fence was not attached");
	rf_history_close(history);
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
	made.snapshot.time_ns += 365ULL * 86400 * SECOND; /* and far off, briefly */
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

#define ROWS_MAX 1024

/* The rows of the last scan with cells, in their order. Returns how many. */
static size_t cells_of_last_scan(struct rf_cells_row row[ROWS_MAX])
{
	struct rf_db db;
	sqlite3_stmt *stmt;
	size_t count = 0;

	assert_int_equal(rf_db_open(&db, path_of("eth0.db"), SQLITE_OPEN_READONLY), SQLITE_OK);
	stmt = rf_db_begin(&db,
			   "SELECT data FROM cells WHERE id >> 16 = (SELECT max(id >> 16) FROM "
			   "cells) ORDER BY id",
			   "");
	while (rf_db_row(&db, stmt)) {
		struct rf_cells_unpack unpack;

		assert_int_equal(rf_cells_unpack_begin(&unpack, sqlite3_column_blob(stmt, 0),
						       sqlite3_column_bytes(stmt, 0)),
				 0);
		while (count < ROWS_MAX && rf_cells_unpack_next(&unpack, &row[count]) == 1)
			count++;
	}
	rf_db_close(&db);
	return count;
}

static size_t record_told(struct rf_cells_row row[ROWS_MAX])
{
	struct rf_history *history;
	struct made made;

	settings.told = RF_TELL_PREFIX;
	history = open_history();
	made_begin(&made, 1, 100);
	record(&made, history, 0);
	made_step(&made, SECOND, 100);
	record(&made, history, 100);
	rf_history_close(history);
	made_end(&made);
	return cells_of_last_scan(row);
}

static void cells_tell_no_address(void **state)
{
	static struct rf_cells_row first[ROWS_MAX], again[ROWS_MAX];
	size_t count, same = 0;

	(void)state;
	count = record_told(first);
	assert_in_range(count, 50, 100);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(first[i].source.length, 24);
		assert_int_not_equal(first[i].who, 0);
	}
	/* Not the order of their addresses, either, and other numbers by the next process. */
	for (size_t i = 1; i < count; i++)
		if (!rf_prefix_compare(&first[i].source, &first[i - 1].source))
			assert_in_range(first[i].who, first[i - 1].who, UINT32_MAX);
	assert_int_equal(record_told(again), count);
	for (size_t i = 0; i < count; i++)
		same += first[i].who == again[i].who;
	assert_in_range(same, 0, 1);
}

static void store_cells(void **state)
{
	struct rf_history *history = open_history();
	static struct rf_cells_row row[ROWS_MAX];
	struct made made;

	(void)state;
	made_begin(&made, 1, 2000);
	record(&made, history, 0);
	made_step(&made, SECOND, 100);
	record(&made, history, 2000);
	assert_int_equal(cells_of_last_scan(row), RF_HISTORY_CELLS_MAX);
	made_step(&made, SECOND, 1000000); /* larger numbers: not all fit */
	record(&made, history, 2000);
	assert_in_range(cells_of_last_scan(row), 100, RF_HISTORY_CELLS_MAX);
	assert_in_range(ask("SELECT max(n) FROM (SELECT sum(length(data)) AS n FROM cells "
			    "GROUP BY id >> 16)"),
			1000, 20 << 10);
	rf_history_close(history);
	made_end(&made);
}

static void count_visit(void *context, const struct rf_cells_row *row)
{
	(void)row;
	++*(size_t *)context;
}

/* How many rows of that source `show ADDRESS at` finds in the second that has the time. */
static size_t rows_in_second_of(struct rf_reader *reader, uint64_t time_ns,
				const struct rf_prefix *source)
{
	const uint64_t second_ns = time_ns / RF_NS_PER_S * RF_NS_PER_S;
	struct rf_error error;
	size_t count = 0;

	assert_int_equal(rf_reader_cells(reader, second_ns, source, count_visit, &count, &error),
			 0);
	return count;
}

/* Records one row of a quarter of a second for each source, of a scan that ends as one of 1 s. */
static void record_quarters(struct rf_cells_row *row, size_t count)
{
	struct rf_history *history = open_history();
	struct rf_error error;
	struct made made;

	made_begin(&made, 1, count);
	record(&made, history, 0);
	made_step(&made, SECOND, 100);
	made_cells(&made, row, count);
	for (size_t i = 0; i < count; i++) {
		row[i].first_ns += i % 12 * row[i].cell_ns;
		row[i].count = 4;
	}
	assert_int_equal(rf_history_begin(history, &made.snapshot, &error), 0);
	assert_int_equal(rf_history_add_cells(history, row, count, &error), 0);
	assert_int_equal(rf_history_commit(history, &error), 0);
	rf_history_close(history);
	made_end(&made);
}

/* Also if a row starts and stops between two whole seconds. */
static void cells_are_found_by_their_second(void **state)
{
	static struct rf_cells_row row[24];
	struct rf_reader *reader;
	struct rf_error error;

	(void)state;
	record_quarters(row, 24);
	assert_int_equal(rf_reader_open(&reader, directory, "eth0", &error), 0);
	for (size_t i = 0; i < 24; i++) {
		const uint64_t first_ns = row[i].first_ns;
		const struct rf_prefix *source = &row[i].source;

		assert_int_equal(rows_in_second_of(reader, first_ns, source), 1);
		assert_int_equal(rows_in_second_of(reader, first_ns + RF_NS_PER_S, source), 0);
		assert_int_equal(rows_in_second_of(reader, first_ns - RF_NS_PER_S, source), 0);
	}
	rf_reader_close(reader);
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

/* ---- a restart ---- */

#define SAMPLED(which)                                                           \
	"SELECT source FROM sources WHERE why & 4 AND id >> 16 = (SELECT " which \
	"(scan) FROM samples)"

static void restart_keeps_the_sample(void **state)
{
	struct made made;

	(void)state;
	made_begin(&made, 1, 3000);
	for (int i = 0; i < 2; i++) {
		struct rf_history *history = open_history();

		record(&made, history, 0);
		record_seconds(&made, history, 25, 100);
		rf_history_close(history);
	}
	made_end(&made);
	assert_true(ask("SELECT max(share) FROM samples") > 1);
	assert_int_equal(ask("SELECT count(DISTINCT share) FROM samples"), 1);
	assert_true(ask("SELECT count(*) FROM (" SAMPLED("min") ")") > 32);
	assert_int_equal(ask("SELECT count(*) FROM (" SAMPLED("min") " EXCEPT " SAMPLED("max") ")"),
			 0);
	assert_int_equal(ask("SELECT count(*) FROM (" SAMPLED("max") " EXCEPT " SAMPLED("min") ")"),
			 0);
}

#define WITHOUT_DROPS                                                                        \
	"SELECT sum(share) AS n FROM sources JOIN samples ON scan = id >> 16 WHERE why & 4 " \
	"AND dropped = 0 GROUP BY scan"

/* The permitted file size determines the size of the sample: `most` sources. */
static void sample_fits_the_file(uint64_t at_most, int64_t most)
{
	struct rf_history *history;
	struct made made;

	settings.at_most = at_most;
	history = open_history();
	made_begin(&made, 1, 40000);
	record(&made, history, 0);
	record_seconds(&made, history, 32, 100);
	rf_history_close(history);
	made_end(&made);
	assert_in_range(ask("SELECT min(n) FROM (SELECT count(*) AS n FROM sources WHERE why & 4 "
			    "GROUP BY id >> 16)"),
			most / 3, most);
	assert_in_range(ask("SELECT max(n) FROM (SELECT count(*) AS n FROM sources WHERE why & 4 "
			    "GROUP BY id >> 16)"),
			most / 3, most);
	/* It represents all sources, including those without drops. */
	assert_in_range(ask("SELECT min(n) FROM (" WITHOUT_DROPS ")"), 15000, 72000);
	assert_in_range(ask("SELECT max(n) FROM (" WITHOUT_DROPS ")"), 15000, 72000);
}

static void large_files_have_large_samples(void **state)
{
	sample_fits_the_file(RF_HISTORY_AT_MOST_LEAST, 128);
	assert_int_equal(clear(state), 0);
	sample_fits_the_file(1ULL << 30, 512);
	assert_int_equal(clear(state), 0);
	sample_fits_the_file(1ULL << 40, 8192);
}

static void without_sources_no_key_is_kept(void **state)
{
	struct rf_history *history;
	struct made made;

	(void)state;
	settings.told = RF_TELL_NONE;
	history = open_history();
	made_begin(&made, 1, 3000);
	record(&made, history, 0);
	record_seconds(&made, history, 25, 100);
	rf_history_close(history);
	made_end(&made);
	assert_int_equal(ask("SELECT count(*) FROM state WHERE key = 'sample'"), 0);
}

/* ---- the cap ---- */

/* Days of a fence that is busier than the file has room for. */
static void cap_is_kept(void **state)
{
	struct rf_history *history;
	char note[RF_HISTORY_NOTE_SIZE];
	struct rf_event event = {.type = RF_EVENT_CONFIRMED, .detail = "made up"};
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

/* By age: seconds for 48 hours, cells for two, minutes and the rest as configured. */
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

/* A statement whose columns do not match its row, or with an unknown parameter, fails. */
static void each_question_has_an_answer(void **state)
{
	struct rf_history *history = open_history();
	struct rf_reader *reader;
	struct rf_error error;
	struct made made;

	(void)state;
	made_begin(&made, 2, 10);
	record(&made, history, 10);
	record_seconds(&made, history, 70, 10);
	rf_history_close(history);
	made_end(&made);
	assert_int_equal(rf_reader_open(&reader, directory, "eth0", &error), 0);
	for (int question = 0; question < RF_QUESTIONS; question++) {
		uint64_t row[RF_ROW_MAX / sizeof(uint64_t)];

		if (rf_ask_one(reader, question, NULL, row, &error) < 0)
			fail_msg("question %d: %s", question, error.text);
	}
	rf_reader_close(reader);
}

static const struct CMUnitTest tests[] = {
	ROW("each question has an answer", each_question_has_an_answer),
	ROW("totals are differences, exactly", store_differences),
	ROW("counters never step back", never_step_back),
	ROW("a fence that was made anew begins at 0", fence_made_anew),
	ROW("a restart is a gap, with what was counted", gap_of_a_restart),
	ROW("an interval is found by the second in which it lies", interval_is_found_by_its_second),
	ROW("the time in which the fence was detached is a gap of its own",
	    gap_of_a_detached_fence),
	ROW("a clock that steps back and forth loses nothing", clock_steps),
	ROW("the sources that matter, and a sample of all", choose_sources),
	ROW_OF("sources prefix: networks only", tell_no_addresses, RF_TELL_PREFIX),
	ROW("a restart keeps the sample", restart_keeps_the_sample),
	ROW("large files have large samples", large_files_have_large_samples),
	ROW("without sources no key of a sample is kept", without_sources_no_key_is_kept),
	ROW_OF("sources none: nothing of sources", tell_no_addresses, RF_TELL_NONE),
	ROW("cells tell which rows are of one source, and not of which", cells_tell_no_address),
	ROW("cells are found by the second in which they lie", cells_are_found_by_their_second),
	ROW("cells of 512 sources, as many bytes as there is room for", store_cells),
	ROW("rules, state and events", store_the_rest),
	ROW("the cap is kept", cap_is_kept),
	ROW("each age is kept", ages_are_kept),
};

int main(void)
{
	int failed;

	if (!mount_base())
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unmount_base();
	return failed;
}
