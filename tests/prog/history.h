/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the tests of the history writer: a directory in memory, and synthetic scans. */
#ifndef RINGFENCE_TESTS_HISTORY_H
#define RINGFENCE_TESTS_HISTORY_H

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

static char base[] = "/tmp/ringfence-history.XXXXXX";
static char directory[64];
static struct rf_history_settings settings;

static inline const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static inline int clear(void **state)
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

static inline struct rf_history *open_history(void)
{
	struct rf_history *history = NULL;
	struct rf_error error = {};

	if (rf_history_open(&history, &settings, "eth0", &error))
		fail_msg("%s", error.text);
	return history;
}

static inline void record(struct made *made, struct rf_history *history, size_t cells)
{
	struct rf_error error = {};

	if (made_record(made, history, cells, &error))
		fail_msg("%s", error.text);
}

/* Scans one a second. */
static inline void record_seconds(struct made *made, struct rf_history *history, int seconds,
				  uint64_t packets)
{
	for (int i = 0; i < seconds; i++) {
		made_step(made, SECOND, packets);
		record(made, history, 0);
	}
}

static inline int64_t ask(const char *sql)
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
static inline bool has(const char *sql)
{
	return ask(sql) > 0;
}

#define PACKETS_OF(kind)                                                                   \
	"SELECT coalesce(sum(packets), 0) FROM counts JOIN series ON series = id & 65535 " \
	"WHERE kind = '" kind "'"

#define ROW(title, function)                       \
	{                                          \
		title, function, clear, NULL, NULL \
	}
#define ROW_OF(title, function, value)                                  \
	{                                                               \
		title, function, clear, NULL, (void *)(intptr_t)(value) \
	}

/* Mounts the directory of the tests in memory: a disk that others use makes no difference. */
static inline bool mount_base(void)
{
	if (!mkdtemp(base) || unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", base, "tmpfs", 0, "size=512m,mode=755"))
		return false;
	snprintf(directory, sizeof(directory), "%s/h", base);
	return !mkdir(directory, 0755);
}

static inline void unmount_base(void)
{
	umount(base);
	rmdir(base);
}

#endif /* RINGFENCE_TESTS_HISTORY_H */
