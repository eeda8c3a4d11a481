// SPDX-License-Identifier: GPL-2.0
/* The page process, once it is confined: what its system calls still do, tried one by one. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/confine.h"

/* Each returns 0, or the errno of the refused call. */

static int open_a_file(void)
{
	return open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0 ? errno : 0;
}

static int open_by_the_newest_call(void)
{
	return syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", NULL, 0) < 0 ? errno : 0;
}

static int make_a_map(void)
{
	union bpf_attr attributes = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};

	return syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof(attributes)) < 0 ? errno : 0;
}

static int execute(void)
{
	return execl("/bin/true", "true", NULL) < 0 ? errno : 0;
}

static int trace_the_parent(void)
{
	return ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) < 0 ? errno : 0;
}

static int make_a_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) < 0 ? errno : 0;
}

static int fork_a_process(void)
{
	return syscall(SYS_clone, 0, NULL, NULL, NULL, NULL) < 0 ? errno : 0;
}

static int kill_the_parent(void)
{
	return kill(getppid(), 0) ? errno : 0;
}

/* Where the filter lets it through, there is no such process; a scope of Landlock needs 6.12. */
static int signal_another(void)
{
	return syscall(SYS_tgkill, INT_MAX, INT_MAX, 0) ? errno : 0;
}

static int signal_itself(void)
{
	return syscall(SYS_tgkill, getpid(), gettid(), 0) ? errno : 0;
}

static int map_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? errno
		       : 0;
}

static int be_root(void)
{
	return setuid(0) ? errno : 0;
}

static int map_memory(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? errno
		       : 0;
}

static int write_to_a_pipe(void)
{
	return write(STDOUT_FILENO, "", 0) < 0 ? errno : 0;
}

#define IN_CHILD_FAILED 200

/* Runs it in a separate, confined process. Returns its errno. */
static int confined(int (*what)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		struct rf_error error;

		_exit(rf_confine(&error) ? IN_CHILD_FAILED : what());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void is_refused(void **state)
{
	int (*what)(void) = *state;

	assert_int_equal(confined(what), EPERM);
}

static void is_allowed(void **state)
{
	int (*what)(void) = *state;

	assert_int_equal(confined(what), 0);
}

/* getuid is not among the calls of a server, so the parent reads it from /proc. */
static void leaves_root_and_its_groups(void **state)
{
	char path[64], text[4096] = "";
	int ready[2], end[2], status;
	pid_t pid;
	FILE *file;

	(void)state;
	assert_int_equal(pipe(ready) | pipe(end), 0);
	pid = fork();
	if (!pid) {
		struct rf_error error;
		char byte = rf_confine(&error) ? 'x' : 'c';

		close(end[1]);
		_exit(write(ready[1], &byte, 1) != 1 || read(end[0], &byte, 1));
	}
	assert_int_equal(read(ready[0], text, 1), 1);
	assert_int_equal(text[0], 'c');
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
	fclose(file);
	close(end[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_null(strstr(text, "Uid:\t0"));
	assert_null(strstr(text, "Gid:\t0"));
	assert_non_null(strstr(text, "Groups:\t \n"));
	assert_non_null(strstr(text, "CapPrm:\t0000000000000000\n"));
	assert_non_null(strstr(text, "NoNewPrivs:\t1\n"));
}

#define REFUSED(what) UNIT_ROW_OF("a confined process cannot " #what, is_refused, what)
#define ALLOWED(what) UNIT_ROW_OF("a confined process can " #what, is_allowed, what)

static const struct CMUnitTest tests[] = {
	REFUSED(open_a_file),
	REFUSED(open_by_the_newest_call),
	REFUSED(make_a_map),
	REFUSED(execute),
	REFUSED(trace_the_parent),
	REFUSED(make_a_socket),
	REFUSED(fork_a_process),
	REFUSED(kill_the_parent),
	REFUSED(signal_another),
	REFUSED(map_code),
	REFUSED(be_root),
	ALLOWED(map_memory),
	ALLOWED(signal_itself),
	ALLOWED(write_to_a_pipe),
	UNIT_ROW("a confined process has left root and its groups", leaves_root_and_its_groups),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
