// SPDX-License-Identifier: GPL-2.0
/* The history writer: the file, and the faults that it survives. */
#include "history.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/socket.h>

#include "watch/db.h"
#include "watch/reader.h"

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

static void links_lead_nowhere(void **state)
{
	static const char *const names[] = {"eth0.db", "eth0.db-wal", "eth0.db-shm"};

	(void)state;
	for (int i = 0; i < 6; i++) {
		struct rf_history *history = NULL;
		FILE *file = fopen(path_of("secret"), "w");
		char target[128];
		struct rf_error error;
		struct stat status;

		assert_non_null(file);
		assert_int_equal(fchmod(fileno(file), 0600), 0);
		fclose(file);
		strcpy(target, path_of("secret"));
		assert_int_equal(i % 2 ? link(target, path_of(names[i / 2]))
				       : symlink(target, path_of(names[i / 2])),
				 0);
		assert_true(rf_history_open(&history, &settings, "eth0", &error) < 0);
		assert_non_null(strstr(error.text, i % 2 ? "hard link" : "symbolic link"));
		assert_int_equal(stat(target, &status), 0);
		assert_int_equal(status.st_size, 0);
		assert_int_equal(status.st_mode & 07777, 0600);
		clear(NULL);
	}
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

	snprintf(command, sizeof(command), "ls %s | grep -c '^eth0.db.damaged-[0-9TZ]*$'",
		 directory);
	file = popen(command, "r");
	assert_int_equal(fscanf(file, "%d", &count), 1);
	pclose(file);
	return count;
}

/* Damages a history, and opens it; this many older ones remain. */
static void damage_at_the_start(long at, int older)
{
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
	assert_int_equal(count_damaged(), 1 + older);
	assert_int_equal(ask("SELECT count(*) FROM totals"), 2);
	made_end(&made);
}

static void damaged_at_the_start(void **state)
{
	damage_at_the_start((intptr_t)*state, 0);
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

static void make_file(const char *name)
{
	FILE *file = fopen(path_of(name), "w");

	assert_non_null(file);
	fclose(file);
}

/* The latest two remain; a file with a merely similar name is not counted. */
static void old_damaged_are_deleted(void **state)
{
	static const struct {
		const char *name;
		bool stays;
	} files[] = {
		{"eth0.db.damaged-20200101T000000Z", false},
		{"eth0.db.damaged-20200101T000000Z-wal", false},
		{"eth0.db.damaged-20200101T000000Z-shm", false},
		{"eth0.db.damaged-20200201T000000Z", false},
		{"eth0.db.damaged-20200301T000000Z", true},
		{"eth0.db.damaged-20200301T000000Z-wal", true},
		{"eth0.db.damaged-20200101T000000Z.gz", true},
		{"eth0.db.damaged-20200101T000000Z.db", true},
		{"eth1.db.damaged-20200101T000000Z", true},
		{"my-eth0.db.damaged-20200101T000000Z", true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		make_file(files[i].name);
	damage_at_the_start(8192, 1);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		const bool is_there = !access(path_of(files[i].name), F_OK);

		if (is_there != files[i].stays)
			fail_msg("%s %s", files[i].name, is_there ? "stayed" : "is gone");
		if (is_there)
			assert_int_equal(unlink(path_of(files[i].name)), 0);
	}
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

/* Makes a history, and changes it by SQL. */
static void make_and_change(const char *sql)
{
	struct rf_history *history = open_history();
	struct made made;
	struct rf_db db;

	made_begin(&made, 4, 100);
	record(&made, history, 0);
	record_seconds(&made, history, 5, 100);
	rf_history_close(history);
	made_end(&made);
	assert_int_equal(rf_db_open(&db, path_of("eth0.db"), SQLITE_OPEN_READWRITE), SQLITE_OK);
	assert_int_equal(rf_db_exec(&db, sql), SQLITE_OK);
	rf_db_close(&db);
}

static int count_files(const char *pattern)
{
	glob_t files;
	int count = 0;

	if (!glob(path_of(pattern), 0, NULL, &files)) {
		count = files.gl_pathc;
		globfree(&files);
	}
	return count;
}

/* Histories of earlier builds, and foreign files: refused by readers, set aside by the writer. */
static void other_format(void **state)
{
	static const char *const changes[] = {
		"PRAGMA application_id = 0; PRAGMA user_version = 3",
		"PRAGMA application_id = 0; PRAGMA user_version = 1",
		"PRAGMA application_id = 0; PRAGMA user_version = 0",
		"PRAGMA application_id = 7",
		"PRAGMA user_version = 0",
		"PRAGMA user_version = -1",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		char note[RF_HISTORY_NOTE_SIZE] = "", command[128];
		struct rf_reader *reader = NULL;
		struct rf_history *history;
		struct rf_error error;

		make_and_change(changes[i]);
		assert_int_equal(rf_reader_open(&reader, directory, "eth0", &error), -EPROTO);
		assert_non_null(strstr(error.text, "another build of ringfence"));
		assert_non_null(strstr(error.text, "moves it aside when it starts, or delete it"));
		history = open_history();
		assert_true(rf_history_note(history, note));
		assert_non_null(strstr(note, "another build of ringfence"));
		assert_non_null(strstr(note, "eth0.db.other-"));
		rf_history_close(history);
		assert_int_equal(count_files("eth0.db.other-*Z"), 1);
		assert_int_equal(ask("SELECT count(*) FROM totals"), 0);
		assert_int_equal(ask("PRAGMA application_id"), RF_SCHEMA_APPLICATION);
		assert_int_equal(rf_reader_open(&reader, directory, "eth0", &error), 0);
		rf_reader_close(reader);
		snprintf(command, sizeof(command), "rm -f %s/*", directory);
		assert_int_equal(system(command), 0);
	}
}

static void make_by_sql(const char *sql)
{
	struct rf_db db;

	assert_int_equal(
		rf_db_open(&db, path_of("eth0.db"), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE),
		SQLITE_OK);
	assert_int_equal(rf_db_exec(&db, sql), SQLITE_OK);
	rf_db_close(&db);
	assert_int_equal(chmod(path_of("eth0.db"), 0640), 0);
}

static size_t read_file(const char *path, char *bytes, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t length;

	assert_non_null(file);
	length = fread(bytes, 1, size, file);
	fclose(file);
	assert_in_range(length, 1, size - 1);
	return length;
}

/* Databases of other programs: the writer puts them aside, and changes none of their bytes. */
static void foreign_files_keep_their_bytes(void **state)
{
	static const char *const files[] = {
		"PRAGMA user_version = -1",
		"PRAGMA user_version = -1; CREATE TABLE theirs(x)",
		"CREATE TABLE theirs(x)",
	};
	static char before[65536], after[65536];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct rf_history *history;
		size_t length;
		glob_t aside;

		make_by_sql(files[i]);
		length = read_file(path_of("eth0.db"), before, sizeof(before));
		history = open_history();
		rf_history_close(history);
		assert_int_equal(glob(path_of("eth0.db.other-*Z"), 0, NULL, &aside), 0);
		assert_int_equal(read_file(aside.gl_pathv[0], after, sizeof(after)), length);
		assert_memory_equal(before, after, length);
		globfree(&aside);
		clear(NULL);
	}
}

/* An empty file, as an interrupted start leaves it, is made into a history. */
static void empty_file(void **state)
{
	struct rf_reader *reader = NULL;
	struct rf_error error;

	(void)state;
	make_file("eth0.db");
	assert_int_equal(chmod(path_of("eth0.db"), 0640), 0);
	assert_int_equal(rf_reader_open(&reader, directory, "eth0", &error), -ENODATA);
	rf_history_close(open_history());
	assert_int_equal(count_files("eth0.db.*Z"), 0);
	assert_int_equal(ask("PRAGMA user_version"), RF_SCHEMA_VERSION);
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

#define KILLS 100

/* Records for ever, and writes its counts into a pipe after each commit. */
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

/* A statement too many once had the error of a full disk, for which old data is deleted. */
static void any_number_of_statements(void **state)
{
	static char sql[1000][16];
	struct rf_db db;

	(void)state;
	assert_int_equal(rf_db_open(&db, ":memory:", SQLITE_OPEN_READWRITE), SQLITE_OK);
	for (int again = 0; again < 2; again++)
		for (size_t i = 0; i < ARRAY_SIZE(sql); i++) {
			snprintf(sql[i], sizeof(sql[i]), "SELECT %zu", i);
			assert_int_equal(rf_db_int(&db, -1, sql[i], ""), i);
		}
	assert_int_equal(db.count, ARRAY_SIZE(sql));
	assert_int_equal(db.failed, SQLITE_OK);
	rf_db_close(&db);
}

/* The disk is immediately full, in the middle of a transaction: only those scans are lost. */
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
	assert_non_null(strstr(note, "continues"));
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

/* A reader that does not finish: the log remains short, and missing data is a gap. */
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
	assert_true(has_note(history, "has not finished"));
	rf_db_close(&reader);
	record_seconds(&made, history, 5, 100);
	assert_true(has_note(history, "the reader has finished"));
	rf_history_close(history);
	assert_int_equal(ask("SELECT count(*) FROM gaps WHERE why = 'reader'"), 1);
	assert_int_equal(ask("SELECT max(time) FROM totals"), made.snapshot.time_ns / MS);
	made_end(&made);
}

/* In a separate process: closing the file here would drop the writer's locks. */
static void empty_index(void)
{
	static const char nothing[136];
	const int index = open(path_of("eth0.db-shm"), O_WRONLY);

	if (pwrite(index, nothing, sizeof(nothing), 0) != sizeof(nothing))
		_exit(2);
	close(index);
}

/* Its exit status: whether it could read. It is begun first: a fork would share the writer's index.
 */
static void read_as_nobody(int turn, bool has_index)
{
	struct rf_reader *reader;
	struct rf_error error;
	char byte;

	if (read(turn, &byte, 1) != 1)
		_exit(2);
	if (has_index)
		empty_index();
	if (write(turn, "", 1) != 1 || setresuid(65534, 65534, 65534))
		_exit(2);
	_exit(rf_reader_open(&reader, directory, "eth0", &error) != 0);
}

static void give_turn(int turn)
{
	char byte;

	assert_int_equal(write(turn, "", 1), 1);
	assert_int_equal(read(turn, &byte, 1), 1);
}

static void rename_log(int files, const char *from, const char *to)
{
	static const char *const names[] = {"shm", "wal"};

	for (int i = 0; i < files; i++) {
		char before[128], after[128];

		snprintf(before, sizeof(before), "%s/eth0.db%s%s", directory, from, names[i]);
		snprintf(after, sizeof(after), "%s/eth0.db%s%s", directory, to, names[i]);
		assert_int_equal(rename(before, after), 0);
	}
}

/*
 * The writer has just begun: the index of its log is empty yet, or missing, or its log is missing
 * as well.
 */
static void reader_beside_a_beginning_writer(void **state)
{
	const int missing = (intptr_t)*state;
	static const char *const names[] = {"eth0.db", "eth0.db-wal", "eth0.db-shm"};
	struct rf_history *history;
	struct made made;
	int turn[2], status;
	pid_t child;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, turn), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		read_as_nobody(turn[1], !missing);
	history = open_history();
	made_begin(&made, 2, 10);
	record(&made, history, 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(chmod(path_of(names[i]), 0644), 0);
	rename_log(missing, "-", ".later-");
	give_turn(turn[0]);
	usleep(300000);
	rename_log(missing, ".later-", "-");
	record_seconds(&made, history, 1, 100);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	rf_history_close(history);
	made_end(&made);
	close(turn[0]);
	close(turn[1]);
}

static const struct CMUnitTest tests[] = {
	ROW("who may read the file, and one writer", file_is_protected),
	ROW("a link leads to no other file", links_lead_nowhere),
	ROW_OF("a damaged header is put aside", damaged_at_the_start, 0),
	ROW_OF("damaged pages are put aside", damaged_at_the_start, 8192),
	ROW("a file that is damaged while it is open", damaged_while_open),
	ROW("of files put aside, the newest two stay", old_damaged_are_deleted),
	ROW("a file of a later version stays as it is", later_version),
	ROW("a file of another format is refused, and put aside", other_format),
	ROW("a file of another program is put aside unchanged", foreign_files_keep_their_bytes),
	ROW("an empty file becomes a history", empty_file),
	ROW("a restart before the second scan", restarted_at_once),
	ROW("killed at any moment", killed_at_any_moment),
	ROW("a thousand statements", any_number_of_statements),
	ROW("a disk that fills", disk_fills_at_once),
	ROW("a reader that does not end", reader_that_stays),
	ROW_OF("a reader beside a writer whose index is empty yet",
	       reader_beside_a_beginning_writer, 0),
	ROW_OF("a reader beside a writer without an index yet", reader_beside_a_beginning_writer,
	       1),
	ROW_OF("a reader beside a writer without a log yet", reader_beside_a_beginning_writer, 2),
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
