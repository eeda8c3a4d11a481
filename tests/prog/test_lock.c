// SPDX-License-Identifier: GPL-2.0
/*
 * Commands that wait for each other. Each test has a private /run, in a mount namespace, where a
 * helper process holds a lock.
 */
#include "program.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define LOCK "/run/ringfence.lock"
#define NOBODY 65534
#define LOCK_OF_NOBODY "/run/ringfence-65534.lock"

static char noted[256];

static void keep_note(const char *text)
{
	strncat(noted, text, sizeof(noted) - strlen(noted) - 1);
}

static int setup(void **state)
{
	(void)state;
	*noted = '\0';
	rf_fence_set_note(keep_note);
	unsetenv("RINGFENCE_LOCK_SECONDS");
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("run", "/run", "tmpfs", 0, "mode=0755"))
		return -1;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return umount2("/run", MNT_DETACH);
}

/* ---- a process that holds a lock ---- */

/*
 * The holder shows the words of a given command, such as `ringfence apply FILE`, and only sleeps.
 */
static pid_t hold(const char *path, const char *const words[3], uid_t user)
{
	int ready[2];
	char byte;
	pid_t child;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		int fd = open(path, O_CREAT | O_RDWR, 0600);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (fd < 0 || fchown(fd, user, user) || setuid(user) || flock(fd, LOCK_EX) ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		close(ready[1]);
		close(ready[0]);
		if (words)
			execl("/bin/sleep", words[0], words[1], words[2], NULL);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	/* Waits until the child shows the words of the other program. */
	assert_int_equal(read(ready[0], &byte, 1), 0);
	close(ready[0]);
	return child;
}

static void let_go(pid_t child)
{
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static double seconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec - start->tv_sec + (now.tv_nsec - start->tv_nsec) / 1e9;
}

/* A helper process takes the lock: this process would retain it. */
struct taken {
	int err;
	double seconds;
	char error[512], note[256];
};

static struct taken take(uid_t user)
{
	struct taken *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct taken taken;
	pid_t child = fork();

	assert_true(shared != MAP_FAILED && child >= 0);
	if (!child) {
		struct rf_error error = {};
		struct timespec start;

		clock_gettime(CLOCK_MONOTONIC, &start);
		shared->err = setuid(user) ? -EIO : rf_fence_lock(&error);
		shared->seconds = seconds_since(&start);
		memcpy(shared->error, error.text, sizeof(shared->error) - 1);
		memcpy(shared->note, noted, sizeof(noted));
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	taken = *shared;
	munmap(shared, sizeof(*shared));
	return taken;
}

static const char *const no_words[3] = {"ringfence", "60", NULL};

/* ---- rows ---- */

static void a_free_lock_is_taken_at_once(void **state)
{
	const struct taken taken = take(0);
	struct stat lock;

	(void)state;
	assert_int_equal(taken.err, 0);
	assert_string_equal(taken.note, "");
	assert_int_equal(stat(LOCK, &lock), 0);
	assert_int_equal(lock.st_mode & 07777, 0600);
}

/* Takes the lock while `holder` has it; the holder is killed after that time. */
static struct taken take_after(pid_t holder, struct timespec pause)
{
	struct taken taken;
	pid_t helper = fork();

	assert_true(helper >= 0);
	if (!helper) {
		nanosleep(&pause, NULL);
		kill(holder, SIGKILL);
		_exit(0);
	}
	taken = take(0);
	waitpid(helper, NULL, 0);
	waitpid(holder, NULL, 0);
	return taken;
}

/* On a busy machine a holder can exit before the process that waits for it starts. */
static void a_command_that_waits_a_second_names_the_holder_of_the_lock(void **state)
{
	struct timespec pause = {.tv_sec = 1, .tv_nsec = 400 * NS_PER_MS};
	struct taken taken = {};
	char wanted[128];
	pid_t holder = 0;

	(void)state;
	for (; taken.seconds < 1 && pause.tv_sec < 100; pause.tv_sec *= 5) {
		holder = hold(LOCK, no_words, 0);
		taken = take_after(holder, pause);
		assert_int_equal(taken.err, 0);
	}
	assert_true(taken.seconds >= 1);
	snprintf(wanted, sizeof(wanted), "waiting for process %d, 'ringfence 60'", holder);
	assert_string_equal(taken.note, wanted); /* once */
}

static void a_command_that_waits_less_than_a_second_says_nothing(void **state)
{
	const pid_t holder = hold(LOCK, no_words, 0);
	const struct timespec pause = {.tv_nsec = 200 * NS_PER_MS};
	const struct taken taken = take_after(holder, pause);

	(void)state;
	assert_int_equal(taken.err, 0);
	if (taken.seconds < 1) /* on a busy machine it can have been longer */
		assert_string_equal(taken.note, "");
}

static void a_lock_that_stays_held_is_an_error(void **state)
{
	const pid_t holder = hold(LOCK, no_words, 0);
	struct taken taken;
	char wanted[256];

	(void)state;
	setenv("RINGFENCE_LOCK_SECONDS", "1", 1);
	taken = take(0);
	let_go(holder);
	assert_int_equal(taken.err, -EBUSY);
	snprintf(wanted, sizeof(wanted),
		 LOCK ": after 1s it is still held by process %d, 'ringfence 60'; try again, or "
		      "stop that process",
		 holder);
	assert_string_equal(taken.error, wanted);
}

static void the_wait_for_a_lock_is_30_seconds_by_default(void **state)
{
	static const char *const wrong[] = {"", "-1", "x", "1.5", "86401", "1s"};

	(void)state;
	assert_int_equal(rf_lock_seconds(), 30);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		setenv("RINGFENCE_LOCK_SECONDS", wrong[i], 1);
		assert_int_equal(rf_lock_seconds(), 30);
	}
	setenv("RINGFENCE_LOCK_SECONDS", "7", 1);
	assert_int_equal(rf_lock_seconds(), 7);
}

/* ---- the lock of each user ---- */

static void each_user_has_a_separate_lock(void **state)
{
	pid_t holder;

	(void)state;
	setenv("RINGFENCE_LOCK_SECONDS", "1", 1);
	holder = hold(LOCK_OF_NOBODY, NULL, NOBODY);
	assert_int_equal(take(0).err, 0);
	assert_int_equal(take(NOBODY).err, -EBUSY);
	let_go(holder);
	holder = hold(LOCK, NULL, 0);
	assert_int_equal(take(NOBODY).err, 0);
	let_go(holder);
}

static void a_user_without_a_lock_is_refused(void **state)
{
	const struct taken taken = take(NOBODY);

	(void)state;
	assert_int_equal(taken.err, -EACCES);
	assert_string_equal(taken.error, LOCK_OF_NOBODY
			    ": cannot lock: Permission denied; only root may change fences, or a "
			    "user for whom root has made that file");
}

static void a_user_cannot_take_the_lock_of_root(void **state)
{
	pid_t holder = hold(LOCK, NULL, NOBODY);
	const struct taken taken = take(0);

	(void)state;
	let_go(holder);
	assert_int_equal(taken.err, -EPERM);
	assert_string_equal(taken.error, LOCK ": it belongs to user 65534, who could hold up all "
					      "others; remove it");
	assert_int_equal(unlink(LOCK), 0);
	assert_int_equal(take(0).err, 0);
}

static void a_symbolic_link_in_place_of_a_lock_is_not_followed(void **state)
{
	(void)state;
	assert_int_equal(symlink("/run/elsewhere", LOCK), 0);
	assert_int_equal(take(0).err, -ELOOP);
	assert_int_equal(access("/run/elsewhere", F_OK), -1);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_free_lock_is_taken_at_once),
		TEST(a_command_that_waits_a_second_names_the_holder_of_the_lock),
		TEST(a_command_that_waits_less_than_a_second_says_nothing),
		TEST(a_lock_that_stays_held_is_an_error),
		TEST(the_wait_for_a_lock_is_30_seconds_by_default),
		TEST(each_user_has_a_separate_lock),
		TEST(a_user_without_a_lock_is_refused),
		TEST(a_user_cannot_take_the_lock_of_root),
		TEST(a_symbolic_link_in_place_of_a_lock_is_not_followed),
	};

	return cmocka_run_group_tests_name("lock", tests, NULL, NULL);
}
