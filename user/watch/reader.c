// SPDX-License-Identifier: GPL-2.0
/* Finds and opens histories, and runs the queries of queries.c. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/json.h"
#include "base/siphash.h"
#include "base/sort.h"
#include "base/time.h"
#include "rules/file.h"
#include "rules/settings.h"
#include "schema/settings.h"
#include "watch/event_file.h"
#include "watch/history.h"
#include "watch/reading.h"

/* ---- where histories are ---- */

#define SUFFIX ".db"

int rf_watch_setting(const char *name, char value[PATH_MAX])
{
	struct rf_error unused;
	const char *found;
	char *text;
	int err;

	if (access(RF_SETTINGS_FILE, F_OK))
		return -errno;
	err = rf_file_read(RF_SETTINGS_FILE, &text, &unused);
	if (err)
		return err;
	found = rf_setting_find(text, name);
	if (found)
		snprintf(value, PATH_MAX, "%s", found);
	free(text);
	return found != NULL;
}

static bool is_given(const char *variable, char path[PATH_MAX])
{
	const char *given = getenv(variable);

	snprintf(path, PATH_MAX, "%s", given ?: "");
	return *path;
}

void rf_history_directory(char path[PATH_MAX])
{
	if (!is_given("RINGFENCE_HISTORY", path) &&
	    (rf_watch_setting("history", path) != 1 || !strcmp(path, RF_OFF)))
		strcpy(path, RF_HISTORY_DIRECTORY);
}

bool rf_history_is_off(void)
{
	char path[PATH_MAX];

	return !is_given("RINGFENCE_HISTORY", path) && rf_watch_setting("history", path) == 1 &&
	       !strcmp(path, RF_OFF);
}

void rf_event_file_path(char path[PATH_MAX])
{
	if (!is_given("RINGFENCE_EVENTS", path) && rf_watch_setting("events file", path) != 1)
		strcpy(path, RF_EVENTS_FILE);
	else if (!strcmp(path, RF_OFF))
		*path = '\0';
}

/* Derives the name of a fence from the name of its file. */
static bool take_name(const char *file, char name[RF_NAME_SIZE])
{
	const size_t length = strlen(file);

	if (*file == '.' || length <= strlen(SUFFIX) || length - strlen(SUFFIX) >= RF_NAME_SIZE ||
	    strcmp(file + length - strlen(SUFFIX), SUFFIX) != 0)
		return false;
	snprintf(name, RF_NAME_SIZE, "%.*s", (int)(length - strlen(SUFFIX)), file);
	return true;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int fail_none(const char *directory, struct rf_error *error)
{
	return rf_error_failed(error, -ENOENT,
			       "no history in %.300s; ringfence-watch records one: 'systemctl "
			       "enable --now ringfence-watch'",
			       directory);
}

int rf_recorded_fences(struct rf_recorded_fences *fences, struct rf_error *error)
{
	struct dirent *entry;
	DIR *directory;

	fences->count = 0;
	rf_history_directory(fences->directory);
	directory = opendir(fences->directory);
	if (!directory && errno == ENOENT)
		return fail_none(fences->directory, error);
	if (!directory)
		return rf_error_failed(error, -errno,
				       "cannot read the histories in %.300s: %s; root and members "
				       "of the directory's group may",
				       fences->directory, strerror(errno));
	while ((entry = readdir(directory)) && fences->count < RF_FENCES_RECORDED_MAX)
		fences->count += take_name(entry->d_name, fences->name[fences->count]);
	closedir(directory);
	rf_sort(fences->name, fences->count, sizeof(fences->name[0]), compare_names);
	return fences->count ? 0 : fail_none(fences->directory, error);
}

/* ---- opening ---- */

#define BUSY_MS 2000 /* waits only while the writer restarts its log */
#define PAUSE_MS 20
#define PAGE 128	  /* rows */
#define TEXT_MAX 255	  /* of a row that is stored */
#define PLACES_LEAST 4096 /* a power of two */

int rf_reader_fail_memory(struct rf_error *error)
{
	return rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
}

int rf_reader_fail(struct rf_reader *reader, struct rf_error *error)
{
	if (rf_db_is_damage(reader->db.failed))
		return rf_error_failed(error, -EIO,
				       "%.300s is damaged; ringfence-watch moves it aside when it "
				       "starts, and creates a new one",
				       reader->path);
	return rf_db_fail(&reader->db, reader->path, error);
}

/*
 * SQLite fails if the log or its index is missing or empty, and the reader must not write them. A
 * writer that has just begun makes them.
 */
static bool writer_begins(const struct rf_reader *reader)
{
	switch (reader->db.failed) {
	case SQLITE_CANTOPEN:
	case SQLITE_READONLY_CANTINIT:
	case SQLITE_READONLY_DIRECTORY:
	case SQLITE_READONLY_RECOVERY:
		return true;
	default:
		return false;
	}
}

/* reader->db.failed if it cannot be read. */
static enum rf_schema_format read_format(struct rf_reader *reader)
{
	const struct timespec pause = {.tv_nsec = PAUSE_MS * RF_NS_PER_MS};
	enum rf_schema_format format = rf_schema_format(&reader->db);

	for (int ms = 0; writer_begins(reader) && ms < BUSY_MS; ms += PAUSE_MS) {
		nanosleep(&pause, NULL);
		reader->db.failed = SQLITE_OK;
		format = rf_schema_format(&reader->db);
	}
	return format;
}

static int check_format(struct rf_reader *reader, struct rf_error *error)
{
	const enum rf_schema_format format = read_format(reader);

	if (reader->db.failed)
		return rf_reader_fail(reader, error);
	switch (format) {
	case RF_SCHEMA_OURS:
		return 0;
	case RF_SCHEMA_NONE:
		return rf_error_failed(error, -ENODATA,
				       "%.300s has no history yet; ringfence-watch records it",
				       reader->path);
	case RF_SCHEMA_LATER:
		return rf_error_failed(error, -EPROTO,
				       "%.300s was written by a later version of ringfence; use "
				       "that version",
				       reader->path);
	default:
		return rf_error_failed(error, -EPROTO,
				       "%.300s was written by another build of ringfence, in a "
				       "format that this one does not read; ringfence-watch moves "
				       "it aside when it starts, or delete it",
				       reader->path);
	}
}

/*
 * contains(OUTER, INNER), of prefixes; a text that is no prefix contains nothing, and is in none.
 */
static void sql_contains(sqlite3_context *context, int count, sqlite3_value **value)
{
	struct rf_prefix prefix[2];
	struct rf_error unused;
	bool is_sound = true;

	for (int i = 0; i < count && is_sound; i++) {
		const char *text = (const char *)sqlite3_value_text(value[i]);

		is_sound = text && !rf_parse_prefix(text, &prefix[i], &unused);
	}
	sqlite3_result_int(context, is_sound && rf_prefix_contains(&prefix[0], &prefix[1]));
}

static int open_file(struct rf_reader *reader, struct rf_error *error)
{
	if (access(reader->path, R_OK))
		return rf_error_failed(error, -errno, "cannot read %.300s: %s", reader->path,
				       strerror(errno));
	if (rf_db_open(&reader->db, reader->path, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX))
		return rf_reader_fail(reader, error);
	sqlite3_busy_timeout(reader->db.sqlite, BUSY_MS);
	if (sqlite3_create_function(reader->db.sqlite, "contains", 2,
				    SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, sql_contains, NULL,
				    NULL))
		return rf_reader_fail_memory(error);
	return check_format(reader, error);
}

int rf_reader_open(struct rf_reader **result, const char *directory, const char *fence,
		   struct rf_error *error)
{
	struct rf_reader *reader = calloc(1, sizeof(*reader));
	int err;

	*result = NULL;
	if (!reader)
		return rf_reader_fail_memory(error);
	snprintf(reader->path, sizeof(reader->path), "%s/%s.db", directory, fence);
	snprintf(reader->fence, sizeof(reader->fence), "%s", fence);
	err = open_file(reader, error);
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

/* ---- asking ---- */

struct rf_cursor_page {
	char *rows;
	int count, at;
	bool is_last;
};

static void begin(struct rf_cursor *cursor)
{
	const struct rf_statement *statement = &rf_statements[cursor->question];

	cursor->statement = rf_db_ask(&cursor->reader->db, &statement->question,
				      &rf_statement_parameters, &cursor->asked);
}

/* A row whose prefix cannot be parsed is left out. */
static bool step(struct rf_cursor *cursor, void *row)
{
	const struct rf_statement *statement = &rf_statements[cursor->question];

	while (cursor->statement) {
		if (!rf_db_row(&cursor->reader->db, cursor->statement))
			cursor->statement = NULL;
		else if (rf_db_take(cursor->statement, &statement->question.columns, row))
			return true;
	}
	return false;
}

static void end(struct rf_cursor *cursor)
{
	if (cursor->statement)
		rf_db_end(cursor->statement);
	cursor->statement = NULL;
}

static const char **text_of(const struct rf_db_column *column, char *row)
{
	return column->kind == RF_DB_TEXT ? (const char **)(row + column->offset) : NULL;
}

static void empty_page(struct rf_cursor *cursor)
{
	const struct rf_statement *statement = &rf_statements[cursor->question];
	struct rf_cursor_page *page = cursor->page;

	for (int i = 0; i < page->count; i++)
		for (int k = 0; k < statement->question.columns.count; k++) {
			const char **text = text_of(&statement->question.columns.column[k],
						    page->rows + i * statement->size);

			if (text)
				free((char *)*text);
		}
	page->count = page->at = 0;
}

/* Copies the texts of a row that outlives the statement. False: no memory. */
static bool keep_texts(const struct rf_statement *statement, char *row)
{
	bool is_kept = true;

	for (int k = 0; k < statement->question.columns.count; k++) {
		const char **text = text_of(&statement->question.columns.column[k], row);

		if (text)
			*text = strndup(*text, TEXT_MAX);
		is_kept &= !text || *text;
	}
	return is_kept;
}

/* Reads the next page: nothing of the file is held when it is there. */
static void fill_page(struct rf_cursor *cursor)
{
	const struct rf_statement *statement = &rf_statements[cursor->question];
	struct rf_cursor_page *page = cursor->page;
	const int64_t most = cursor->asked.most;
	bool is_kept = true;

	cursor->asked.most = most < PAGE ? most : PAGE;
	begin(cursor);
	while (is_kept && page->count < cursor->asked.most &&
	       step(cursor, page->rows + page->count * statement->size))
		is_kept = keep_texts(statement, page->rows + page->count++ * statement->size);
	end(cursor);
	if (!is_kept)
		cursor->reader->db.failed = SQLITE_NOMEM;
	page->is_last = page->count < PAGE;
	cursor->asked.most = most - page->count;
	if (page->count)
		cursor->asked.after =
			*(int64_t *)(page->rows + (page->count - 1) * statement->size +
				     statement->question.columns.column[0].offset);
}

void rf_ask(struct rf_cursor *cursor, struct rf_reader *reader, enum rf_question question,
	    const struct rf_asked *asked)
{
	const struct rf_statement *statement = &rf_statements[question];
	struct rf_error unused;

	*cursor = (struct rf_cursor){.reader = reader, .question = question};
	if (asked)
		cursor->asked = *asked;
	cursor->asked.fence = reader->fence;
	if (!statement->is_paged) {
		begin(cursor);
		return;
	}
	if (!cursor->asked.most)
		cursor->asked.most = INT64_MAX;
	if (statement->has_span)
		rf_ask_one(reader, RF_ASK_EVENTS_SPAN, asked, &cursor->asked, &unused);
	cursor->page = calloc(1, sizeof(*cursor->page));
	if (cursor->page)
		cursor->page->rows = calloc(PAGE, statement->size);
	if (!cursor->page || !cursor->page->rows)
		reader->db.failed = SQLITE_NOMEM;
}

bool rf_cursor_next(struct rf_cursor *cursor, void *row)
{
	const size_t size = rf_statements[cursor->question].size;
	struct rf_cursor_page *page = cursor->page;

	if (!rf_statements[cursor->question].is_paged)
		return step(cursor, row);
	if (!page || !page->rows)
		return false;
	if (page->at == page->count && !page->is_last && cursor->asked.most > 0) {
		empty_page(cursor);
		fill_page(cursor);
	}
	if (page->at == page->count)
		return false;
	memcpy(row, page->rows + page->at++ * size, size);
	return true;
}

int rf_cursor_end(struct rf_cursor *cursor, struct rf_error *error)
{
	end(cursor);
	if (cursor->page) {
		empty_page(cursor);
		free(cursor->page->rows);
		free(cursor->page);
		cursor->page = NULL;
	}
	return cursor->reader->db.failed ? rf_reader_fail(cursor->reader, error) : 0;
}

int rf_ask_one(struct rf_reader *reader, enum rf_question question, const struct rf_asked *asked,
	       void *row, struct rf_error *error)
{
	struct rf_cursor cursor;
	bool is_there;
	int err;

	rf_ask(&cursor, reader, question, asked);
	is_there = rf_cursor_next(&cursor, row);
	err = rf_cursor_end(&cursor, error);
	return err ? err : is_there;
}

int rf_ask_all(struct rf_reader *reader, enum rf_question question, const struct rf_asked *asked,
	       void *result, size_t *count, struct rf_error *error)
{
	const size_t size = rf_statements[question].size;
	char **rows = result, *grown;
	struct rf_cursor cursor;
	bool is_there = true;

	*rows = NULL;
	*count = 0;
	rf_ask(&cursor, reader, question, asked);
	for (size_t capacity = 0; is_there; *count += is_there) {
		grown = rf_grow(*rows, *count, &capacity, size, 64);
		if (!grown) {
			rf_cursor_end(&cursor, error);
			return rf_reader_fail_memory(error);
		}
		*rows = grown;
		is_there = rf_cursor_next(&cursor, *rows + *count * size);
	}
	return rf_cursor_end(&cursor, error);
}

/* ---- folding ---- */

struct folding {
	size_t size, key_size;
	char *rows;
	size_t count;
	uint32_t *place; /* of each row by the hash of its key: its index, plus 1; 0: free */
	size_t places;	 /* a power of two; half of them are free at least */
	uint64_t key[2]; /* senders choose the sources, so no hash may be known */
};

/* Of the key as far as it is not 0: most texts are far shorter than their room. */
static uint64_t hash_of(const struct folding *folding, const char *row)
{
	static const uint64_t zero;
	size_t size = folding->key_size;

	while (size > sizeof(zero) && !memcmp(row + size - sizeof(zero), &zero, sizeof(zero)))
		size -= sizeof(zero);
	return rf_siphash(folding->key, row, size);
}

/* Where the row is, or would be. */
static uint32_t *find_place(const struct folding *folding, const char *row)
{
	for (size_t at = hash_of(folding, row);; at++) {
		uint32_t *place = &folding->place[at & (folding->places - 1)];

		if (!*place ||
		    !memcmp(folding->rows + (*place - 1) * folding->size, row, folding->key_size))
			return place;
	}
}

static bool make_room(struct folding *folding)
{
	const size_t places = folding->places ? 2 * folding->places : PLACES_LEAST;
	char *rows;
	uint32_t *place;

	if (folding->count < folding->places / 2)
		return true;
	rows = reallocarray(folding->rows, places / 2, folding->size);
	if (rows)
		folding->rows = rows;
	place = rows ? calloc(places, sizeof(*place)) : NULL;
	if (!place)
		return false;
	free(folding->place);
	folding->place = place;
	folding->places = places;
	for (size_t i = 0; i < folding->count; i++)
		*find_place(folding, rows + i * folding->size) = i + 1;
	return true;
}

int rf_ask_folded(struct rf_reader *reader, enum rf_question question, const struct rf_asked *asked,
		  size_t key_size, size_t most_keys, rf_add_row add, void *rows, size_t *count,
		  struct rf_error *error)
{
	struct folding folding = {.size = rf_statements[question].size, .key_size = key_size};
	uint64_t row[RF_ROW_MAX / sizeof(uint64_t)] = {};
	struct rf_cursor cursor;
	bool has_room = getrandom(folding.key, sizeof(folding.key), 0) > 0;
	int err;

	rf_ask(&cursor, reader, question, asked);
	while (has_room && rf_cursor_next(&cursor, row)) {
		uint32_t *place;

		has_room = make_room(&folding);
		place = has_room ? find_place(&folding, (const char *)row) : NULL;
		if (!place || (!*place && folding.count == most_keys))
			continue;
		if (!*place) {
			*place = ++folding.count;
			memcpy(folding.rows + (*place - 1) * folding.size, row, key_size);
			memset(folding.rows + (*place - 1) * folding.size + key_size, 0,
			       folding.size - key_size);
		}
		add(folding.rows + (*place - 1) * folding.size, row);
	}
	err = rf_cursor_end(&cursor, error);
	free(folding.place);
	*(char **)rows = folding.rows;
	*count = folding.count;
	return err || has_room ? err : rf_reader_fail_memory(error);
}

/* ---- the file ---- */

int rf_reader_export(struct rf_reader *reader, const char *path, struct rf_error *error)
{
	/* The copy has addresses: it is readable only for its creator. */
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

char *rf_reader_schema(void)
{
	return rf_schema_text();
}
