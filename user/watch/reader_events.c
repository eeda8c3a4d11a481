// SPDX-License-Identifier: GPL-2.0
/* Events of the past, a page at a time: while one is visited, nothing of the file is held. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "watch/reading.h"

#define LATELY_MS 10000
#define INTERVALS 3
#define PAGE 128
#define TEXTS 7
#define TEXT_SIZE RF_EVENT_DETAIL_SIZE

struct page {
	struct rf_recorded_event event[PAGE];
	char text[PAGE][TEXTS][TEXT_SIZE];
	int count;
};

/* Which events are visited. */
struct range {
	const char *id; /* NULL: any */
	int64_t from_ms, to_ms;
	int64_t after, last; /* numbers */
};

static const char *keep(sqlite3_stmt *stmt, int column, char text[TEXT_SIZE])
{
	snprintf(text, TEXT_SIZE, "%s", rf_db_text(stmt, column));
	return text;
}

static void take(sqlite3_stmt *stmt, struct page *page)
{
	char(*text)[TEXT_SIZE] = page->text[page->count];

	page->event[page->count++] = (struct rf_recorded_event){
		.seq = sqlite3_column_int64(stmt, 0),
		.time_ns = rf_from_ms(sqlite3_column_int64(stmt, 1)),
		.type = keep(stmt, 2, text[0]),
		.id = keep(stmt, 3, text[1]),
		.limit = keep(stmt, 4, text[2]),
		.source = keep(stmt, 5, text[3]),
		.reason = keep(stmt, 6, text[4]),
		.rate = keep(stmt, 7, text[5]),
		.passed = sqlite3_column_int64(stmt, 8),
		.dropped = sqlite3_column_int64(stmt, 9),
		.first_seen_ns = rf_from_ms(sqlite3_column_int64(stmt, 10)),
		.detail = keep(stmt, 11, text[6]),
	};
}

static void read_page(struct rf_reader *reader, const struct range *range, struct page *page)
{
	struct rf_db *db = &reader->db;
	sqlite3_stmt *stmt;

	if (range->id)
		stmt = rf_db_begin(
			db, "SELECT * FROM events WHERE id = ? AND seq > ? ORDER BY seq LIMIT ?",
			"tii", range->id, range->after, (int64_t)PAGE);
	else
		stmt = rf_db_begin(db,
				   "SELECT * FROM events WHERE seq > ? AND seq <= ? AND +time >= ? "
				   "AND +time <= ? ORDER BY seq LIMIT ?",
				   "iiiii", range->after, range->last, range->from_ms, range->to_ms,
				   (int64_t)PAGE);
	page->count = 0;
	while (page->count < PAGE && rf_db_row(db, stmt))
		take(stmt, page);
	if (page->count == PAGE)
		rf_db_end(stmt);
}

static int visit_range(struct rf_reader *reader, struct range range, rf_event_visit visit,
		       void *context, struct rf_error *error)
{
	struct page *page = malloc(sizeof(*page));
	int result = 0;

	if (!page)
		return rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
	do {
		read_page(reader, &range, page);
		if (reader->db.failed)
			result = rf_reader_fail(reader, error);
		for (int i = 0; i < page->count && !result; i++)
			result = visit(context, &page->event[i]);
		if (page->count)
			range.after = page->event[page->count - 1].seq;
	} while (page->count == PAGE && !result);
	free(page);
	return result;
}

int rf_reader_events(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns, const char *id,
		     rf_event_visit visit, void *context, struct rf_error *error)
{
	struct range range = {id, rf_to_ms(from_ns), rf_to_ms(to_ns), -1, -1};
	/* Of all, so that the index of times answers it alone; numbers need not follow the clock.
	 */
	sqlite3_stmt *stmt =
		id ? NULL
		   : rf_db_begin(&reader->db,
				 "SELECT min(seq), max(seq), count(*) FROM events INDEXED BY "
				 "events_time WHERE time >= ? AND time <= ?",
				 "ii", range.from_ms, range.to_ms);

	if (stmt && rf_db_row(&reader->db, stmt)) {
		if (sqlite3_column_int64(stmt, 2)) {
			range.after = sqlite3_column_int64(stmt, 0) - 1;
			range.last = sqlite3_column_int64(stmt, 1);
		}
		rf_db_end(stmt);
	}
	if (reader->db.failed)
		return rf_reader_fail(reader, error);
	return visit_range(reader, range, visit, context, error);
}

/* Those before the number `before`, the newest first. */
static void read_latest(struct rf_reader *reader, const struct range *range, int64_t before,
			int most, struct page *page)
{
	struct rf_db *db = &reader->db;
	const int64_t rows = most < PAGE ? most : PAGE;
	sqlite3_stmt *stmt = rf_db_begin(db,
					 "SELECT * FROM events WHERE time >= ? AND time <= ? AND "
					 "seq < ? ORDER BY seq DESC LIMIT ?",
					 "iiii", range->from_ms, range->to_ms, before, rows);

	page->count = 0;
	while (page->count < rows && rf_db_row(db, stmt))
		take(stmt, page);
	if (page->count == rows)
		rf_db_end(stmt);
}

int rf_reader_latest_events(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns, int most,
			    rf_event_visit visit, void *context, struct rf_error *error)
{
	const struct range range = {NULL, rf_to_ms(from_ns), rf_to_ms(to_ns), -1, -1};
	struct page *page = malloc(sizeof(*page));
	int64_t before = INT64_MAX;
	int result = 0;

	if (!page)
		return rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
	do {
		read_latest(reader, &range, before, most, page);
		if (reader->db.failed)
			result = rf_reader_fail(reader, error);
		for (int i = 0; i < page->count && !result; i++)
			result = visit(context, &page->event[i]);
		if (page->count)
			before = page->event[page->count - 1].seq;
		most -= page->count;
	} while (page->count == PAGE && most > 0 && !result);
	free(page);
	return result;
}

int rf_reader_events_after(struct rf_reader *reader, uint64_t seq, rf_event_visit visit,
			   void *context, struct rf_error *error)
{
	const struct range range = {NULL, INT64_MIN, INT64_MAX, seq, INT64_MAX};

	return visit_range(reader, range, visit, context, error);
}

uint64_t rf_reader_last_seq(struct rf_reader *reader, unsigned int count)
{
	return rf_db_int(&reader->db, 0,
			 "SELECT ifnull(min(seq) - 1, 0) FROM (SELECT seq FROM events ORDER BY seq "
			 "DESC LIMIT ?)",
			 "i", (int64_t)count);
}

uint64_t rf_reader_first_event(struct rf_reader *reader)
{
	return rf_from_ms(rf_db_int(&reader->db, 0, "SELECT ifnull(min(time), 0) FROM events", ""));
}

bool rf_reader_is_written(struct rf_reader *reader)
{
	struct rf_db *db = &reader->db;
	sqlite3_stmt *stmt =
		rf_db_begin(db, "SELECT time, ms FROM totals ORDER BY scan DESC LIMIT 1", "");
	int64_t last, wait;

	if (!rf_db_row(db, stmt))
		return false;
	last = sqlite3_column_int64(stmt, 0);
	wait = INTERVALS * sqlite3_column_int64(stmt, 1);
	rf_db_end(stmt);
	return rf_to_ms(rf_time_wall()) - last <= (wait > LATELY_MS ? wait : LATELY_MS);
}
