// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/time.h"
#include "base/units.h"
#include "watch/reading.h"

#define BUSY_MS 2000 /* waits only while the writer begins its log anew */
#define PAUSE_MS 20

int rf_reader_fail(struct rf_reader *reader, struct rf_error *error)
{
	if (rf_db_is_damage(reader->db.failed))
		return rf_error_failed(error, -EIO,
				       "%.300s is damaged; ringfence-watch puts it aside when it "
				       "starts, and begins a new one",
				       reader->path);
	return rf_db_fail(&reader->db, reader->path, error);
}

/* SQLite fails where another reader, who may write, would fill the index of the log by itself. */
static bool writer_begins(const struct rf_reader *reader)
{
	return reader->db.failed == SQLITE_READONLY_RECOVERY ||
	       reader->db.failed == SQLITE_READONLY_CANTINIT;
}

/* Negative: it cannot be read. */
static int ask_version(struct rf_reader *reader)
{
	const struct timespec pause = {.tv_nsec = PAUSE_MS * RF_NS_PER_MS};
	int version = rf_schema_version(&reader->db);

	for (int ms = 0; version < 0 && writer_begins(reader) && ms < BUSY_MS; ms += PAUSE_MS) {
		nanosleep(&pause, NULL);
		reader->db.failed = SQLITE_OK;
		version = rf_schema_version(&reader->db);
	}
	return version;
}

static int check_format(struct rf_reader *reader, struct rf_error *error)
{
	const int version = ask_version(reader);
	const enum rf_schema_format format =
		version < 0 ? RF_SCHEMA_NONE : rf_schema_format(&reader->db, version);

	if (version < 0 || reader->db.failed)
		return rf_reader_fail(reader, error);
	switch (format) {
	case RF_SCHEMA_OURS:
		return 0;
	case RF_SCHEMA_NONE:
		return rf_error_failed(error, -ENODATA,
				       "%.300s has no history yet; ringfence-watch writes it",
				       reader->path);
	case RF_SCHEMA_LATER:
		return rf_error_failed(error, -EPROTO,
				       "%.300s was written by a later version of ringfence; use "
				       "that version",
				       reader->path);
	default:
		return rf_error_failed(error, -EPROTO,
				       "%.300s was written by another build of ringfence, in a "
				       "format that this one does not read; ringfence-watch puts "
				       "it aside when it starts, or delete it",
				       reader->path);
	}
}

int rf_reader_open(struct rf_reader **result, const char *directory, const char *fence,
		   struct rf_error *error)
{
	struct rf_reader *reader = calloc(1, sizeof(*reader));
	int err;

	*result = NULL;
	if (!reader)
		return rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
	snprintf(reader->path, sizeof(reader->path), "%s/%s.db", directory, fence);
	snprintf(reader->fence, sizeof(reader->fence), "%s", fence);
	if (access(reader->path, R_OK))
		err = rf_error_failed(error, -errno, "cannot read %.300s: %s", reader->path,
				      strerror(errno));
	else if (rf_db_open(&reader->db, reader->path, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX))
		err = rf_reader_fail(reader, error);
	else
		err = sqlite3_busy_timeout(reader->db.sqlite, BUSY_MS),
		err = check_format(reader, error);
	if (err) {
		rf_reader_close(reader);
		return err;
	}
	*result = reader;
	return 0;
}

void rf_reader_close(struct rf_reader *reader)
{
	if (!reader)
		return;
	rf_db_close(&reader->db);
	free(reader);
}

/* ---- what there is ---- */

static uint64_t ask_time(struct rf_reader *reader, const char *sql)
{
	return rf_from_ms(rf_db_int(&reader->db, 0, sql, ""));
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

int rf_reader_extent(struct rf_reader *reader, struct rf_extent *extent, struct rf_error *error)
{
	struct rf_db *db = &reader->db;
	const uint64_t minute = ask_time(reader, "SELECT min(time) FROM minutes");
	const uint64_t last = ask_time(reader, "SELECT max(time) FROM minutes");

	*extent = (struct rf_extent){
		.first_second_ns = ask_time(reader, "SELECT min(time) FROM totals"),
		.first_cell_ns = ask_time(reader, "SELECT min(time) FROM cells"),
		.last_ns = ask_time(reader, "SELECT max(time) FROM totals"),
		.bytes = rf_db_int(db, 0,
				   "SELECT page_count * page_size FROM pragma_page_count, "
				   "pragma_page_size",
				   ""),
		.events = rf_db_int(db, 0, "SELECT count(*) FROM events", ""),
		.gaps = rf_db_int(db, 0, "SELECT count(*) FROM gaps", ""),
	};
	extent->first_ns = earlier(extent->first_second_ns, minute);
	if (last > extent->last_ns)
		extent->last_ns = last;
	return db->failed ? rf_reader_fail(reader, error) : 0;
}

int rf_reader_export(struct rf_reader *reader, const char *path, struct rf_error *error)
{
	/* The copy has addresses: it is readable for whoever makes it. */
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0)
		return rf_error_failed(error, -errno, "cannot make %.300s: %s", path,
				       strerror(errno));
	close(fd);
	if (!rf_db_run(&reader->db, "VACUUM INTO ?", "t", path))
		return 0;
	unlink(path);
	return rf_db_fail(&reader->db, path, error);
}

const char *rf_reader_schema(void)
{
	return rf_schema_text;
}

/* ---- gaps ---- */

static const struct {
	const char *why, *text;
} gap_texts[] = {
	{"down", "ringfence-watch did not run"},
	{"detached", "the fence was not attached"},
	{"slept", "the machine slept, or its clock was set forward"},
	{"clock", "the clock was set back"},
	{"stalled", "ringfence-watch was stopped or very slow"},
	{"disk", "the disk was nearly full"},
	{"reader", "another reader did not end"},
	{"errors", "writing failed"},
};

const char *rf_gap_text(const char *why)
{
	for (size_t i = 0; i < ARRAY_SIZE(gap_texts); i++)
		if (!strcmp(gap_texts[i].why, why))
			return gap_texts[i].text;
	return why;
}

int rf_reader_gaps(struct rf_reader *reader, uint64_t from_ns, uint64_t to_ns, rf_gap_visit visit,
		   void *context, struct rf_error *error)
{
	struct rf_db *db = &reader->db;
	sqlite3_stmt *stmt =
		rf_db_begin(db,
			    "SELECT start, end, passed, dropped, why FROM gaps WHERE "
			    "max(start, end) >= ? AND min(start, end) <= ? ORDER BY id",
			    "ii", rf_to_ms(from_ns), rf_to_ms(to_ns));
	int result = 0;

	while (!result && rf_db_row(db, stmt)) {
		const struct rf_recorded_gap gap = {
			.start_ns = rf_from_ms(sqlite3_column_int64(stmt, 0)),
			.end_ns = rf_from_ms(sqlite3_column_int64(stmt, 1)),
			.passed = sqlite3_column_int64(stmt, 2),
			.dropped = sqlite3_column_int64(stmt, 3),
			.why = rf_db_text(stmt, 4),
		};

		result = visit(context, &gap);
		if (result)
			rf_db_end(stmt);
	}
	return db->failed ? rf_reader_fail(reader, error) : result;
}

static int describe_gap(void *context, const struct rf_recorded_gap *gap)
{
	char from[RF_TIME_TEXT_SIZE], to[RF_TIME_TEXT_SIZE];
	struct rf_error *error = context;

	rf_format_local(gap->start_ns, from);
	rf_format_local(gap->end_ns, to);
	return rf_error_failed(error, -ENODATA, "nothing was recorded from %s to %s: %s", from, to,
			       rf_gap_text(gap->why));
}

int rf_reader_fail_gap(struct rf_reader *reader, uint64_t time_ns, struct rf_error *error)
{
	char then[RF_TIME_TEXT_SIZE], edge[RF_TIME_TEXT_SIZE];
	struct rf_extent extent;
	int err = rf_reader_extent(reader, &extent, error);

	if (!err)
		err = rf_reader_gaps(reader, time_ns, time_ns, describe_gap, error, error);
	if (err)
		return err;
	rf_format_local(time_ns, then);
	rf_format_local(time_ns < extent.first_ns ? extent.first_ns : extent.last_ns, edge);
	if (!extent.first_ns)
		return rf_error_failed(error, -ENODATA, "the history of fence '%s' is empty so far",
				       reader->fence);
	if (time_ns < extent.first_ns)
		return rf_error_failed(error, -ENODATA,
				       "the history of fence '%s' begins at %s, after %s",
				       reader->fence, edge, then);
	if (time_ns > extent.last_ns)
		return rf_error_failed(error, -ENODATA,
				       "the history of fence '%s' ends at %s; does "
				       "ringfence-watch run? 'systemctl status ringfence-watch'",
				       reader->fence, edge);
	return rf_error_failed(error, -ENODATA, "nothing was recorded at %s", then);
}
