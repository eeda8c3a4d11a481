// SPDX-License-Identifier: GPL-2.0
/*
 * The lock of all commands that make changes. Root has a lock, and every other user with fences has
 * one, too: with a shared lock, a user could block root for ever.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "base/time.h"
#include "base/units.h"
#include "fence/fence.h"

#define LOCK_ROOT "/run/ringfence.lock"
#define LOCK_OF_USER "/run/ringfence-%u.lock"
#define LOCK_PATH_SIZE 64
#define POLL_MS 20
#define NOTE_MS 1000

static void (*tell)(const char *text);

void rf_fence_set_note(void (*note)(const char *text))
{
	tell = note;
}

unsigned int rf_lock_seconds(void)
{
	const char *text = getenv("RINGFENCE_LOCK_SECONDS");
	struct rf_error ignored;
	uint32_t seconds;

	if (!text || rf_parse_number(text, "number of seconds", 0, 86400, &seconds, &ignored))
		return RF_LOCK_SECONDS;
	return seconds;
}

/* ---- who holds it ---- */

/* The process that holds the lock, as the kernel lists it; 0: it cannot be seen from here. */
static int find_holder(const struct stat *lock)
{
	FILE *locks = fopen("/proc/locks", "re");
	char line[256];
	int holder = 0;

	while (locks && !holder && fgets(line, sizeof(line), locks)) {
		unsigned int major, minor;
		unsigned long inode;
		int pid;

		/* A process that waits as we do has a "->" in its line. */
		if (sscanf(line, "%*d: FLOCK ADVISORY WRITE %d %x:%x:%lu", &pid, &major, &minor,
			   &inode) == 4 &&
		    makedev(major, minor) == lock->st_dev && inode == lock->st_ino)
			holder = pid;
	}
	if (locks)
		fclose(locks);
	return holder;
}

/* The first two words of the process's command, the first one without its path. */
static void read_command(int pid, char command[64])
{
	char path[64], words[256] = "";
	const char *name;
	FILE *file;
	size_t got;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	file = fopen(path, "re");
	got = file ? fread(words, 1, sizeof(words) - 2, file) : 0;
	if (file)
		fclose(file);
	name = strrchr(words, '/') ? strrchr(words, '/') + 1 : words;
	if (words + strlen(words) + 1 < words + got)
		snprintf(command, 64, "%.30s %.30s", name, words + strlen(words) + 1);
	else
		snprintf(command, 64, "%.60s", name);
	rf_hide_controls(command, false);
}

#define HOLDER_TEXT_SIZE 128

static void describe_holder(int fd, char text[HOLDER_TEXT_SIZE])
{
	struct stat lock;
	const int pid = fstat(fd, &lock) ? 0 : find_holder(&lock);
	char command[64] = "";

	if (pid > 0)
		read_command(pid, command);
	if (*command)
		snprintf(text, HOLDER_TEXT_SIZE, "process %d, '%s'", pid, command);
	else if (pid > 0)
		snprintf(text, HOLDER_TEXT_SIZE, "process %d", pid);
	else
		snprintf(text, HOLDER_TEXT_SIZE, "a process that cannot be seen from here");
}

/* ---- waiting ---- */

static uint64_t now_ms(void)
{
	return rf_time_awake() / RF_NS_PER_MS;
}

static void note_holder(int fd)
{
	char holder[HOLDER_TEXT_SIZE], text[HOLDER_TEXT_SIZE + 16];

	describe_holder(fd, holder);
	snprintf(text, sizeof(text), "waiting for %s", holder);
	if (tell)
		tell(text);
}

static int fail_held(int fd, const char *path, unsigned int seconds, struct rf_error *error)
{
	char holder[HOLDER_TEXT_SIZE];

	describe_holder(fd, holder);
	return rf_error_failed(
		error, -EBUSY,
		"%s: after %us it is still held by %s; try again, or stop that process", path,
		seconds, holder);
}

static int wait_for(int fd, const char *path, struct rf_error *error)
{
	const struct timespec pause = {.tv_nsec = POLL_MS * 1000000};
	const unsigned int seconds = rf_lock_seconds();
	const uint64_t start_ms = now_ms();
	bool told = false;

	while (flock(fd, LOCK_EX | LOCK_NB)) {
		const uint64_t waited_ms = now_ms() - start_ms;

		if (errno != EWOULDBLOCK && errno != EINTR)
			return rf_error_failed(error, -errno, "%s: cannot lock: %s", path,
					       strerror(errno));
		if (waited_ms >= seconds * 1000ULL)
			return fail_held(fd, path, seconds, error);
		if (!told && waited_ms >= NOTE_MS) {
			told = true;
			note_holder(fd);
		}
		nanosleep(&pause, NULL);
	}
	return 0;
}

/* ---- whose ---- */

static int open_lock(const char *path)
{
	return open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* Opens root's lock if this process may, else the lock of its user. Sets `path` to that lock. */
static int open_own(char path[LOCK_PATH_SIZE])
{
	int fd;

	snprintf(path, LOCK_PATH_SIZE, LOCK_ROOT);
	fd = open_lock(path);
	if (geteuid() == 0)
		return fd;
	if (fd >= 0) {
		struct stat lock;

		if (!fstat(fd, &lock) && lock.st_uid == 0)
			return fd;
		close(fd);
	}
	snprintf(path, LOCK_PATH_SIZE, LOCK_OF_USER, geteuid());
	return open_lock(path);
}

int rf_fence_lock(struct rf_error *error)
{
	char path[LOCK_PATH_SIZE];
	struct stat lock;
	int fd = open_own(path);

	if (fd < 0)
		return rf_error_failed(error, -errno,
				       "%s: cannot lock: %s; only root may change fences, or a "
				       "user for whom root has made that file",
				       path, strerror(errno));
	/*
	 * The owner of a lock could hold it for ever. Root does not take over another user's lock,
	 * since another process may wait for it.
	 */
	if (fstat(fd, &lock) || (lock.st_uid != 0 && lock.st_uid != geteuid())) {
		close(fd);
		return rf_error_failed(error, -EPERM,
				       "%s: it belongs to user %u, who could hold up all others; "
				       "remove it",
				       path, lock.st_uid);
	}
	/* `fd` is never closed: this process holds the lock until it exits, in any way. */
	return wait_for(fd, path, error);
}

int rf_fence_open_to_change(struct rf_fence *fence, const char *dev, struct rf_error *error)
{
	int err = rf_fence_lock(error);

	if (!err)
		err = rf_fence_open(fence, dev, error);
	if (!err)
		err = rf_fence_check_may_change(fence, dev, error);
	if (!err)
		rf_fence_renew_macs(fence);
	return err;
}
