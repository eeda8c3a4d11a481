// SPDX-License-Identifier: GPL-2.0
/* Runs a program for each event: directly, or through the socket of a unit. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"
#include "base/units.h"
#include "daemon/sinks.h"

#define AFTER_STANDARD 3 /* the first descriptor behind standard error */

void rf_sink_exec_put(struct rf_sink_exec *exec, const char *line)
{
	char *copy;

	if (!*exec->program)
		return;
	copy = exec->count < RF_EXEC_QUEUE ? strdup(line) : NULL;
	if (copy)
		exec->waiting[exec->count++] = copy;
	else
		exec->dropped++;
}

static void drop_first(struct rf_sink_exec *exec)
{
	free(exec->waiting[0]);
	memmove(&exec->waiting[0], &exec->waiting[1], --exec->count * sizeof(exec->waiting[0]));
}

/* ---- directly ---- */

/* In the child. Nothing of the daemon is left to the program but the event. */
__attribute__((noreturn)) static void become(const char *program, int input)
{
	const char *const words[] = {program, NULL};
	sigset_t none;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	dup2(input, STDIN_FILENO);
	close_range(AFTER_STANDARD, ~0U, 0);
	execv(program, (char *const *)words);
	_exit(127);
}

/* The line fits into the pipe, so that nobody has to wait for the program to read it. */
static int run(struct rf_sink_exec *exec, const char *line, struct rf_error *error)
{
	const size_t length = strlen(line);
	int ends[2], err = 0;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return rf_error_failed(error, -errno, "exec: %s", strerror(errno));
	if (write(ends[1], line, length) != (ssize_t)length)
		err = -EIO;
	close(ends[1]);
	fcntl(ends[0], F_SETFL, 0); /* the program waits as it is used to */
	exec->pid = err ? 0 : fork();
	if (!exec->pid && !err)
		become(exec->program, ends[0]);
	if (exec->pid < 0)
		err = -errno;
	if (err)
		exec->pid = 0;
	close(ends[0]);
	return err ? rf_error_failed(error, err, "exec: %s cannot be run: %s", exec->program,
				     strerror(-err))
		   : 0;
}

static int reap(struct rf_sink_exec *exec, bool is_late, struct rf_error *error)
{
	const pid_t pid = exec->pid;
	int status;

	if (is_late) {
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
	}
	if (waitpid(pid, &status, is_late ? 0 : WNOHANG) != pid)
		return 0;
	exec->pid = 0;
	if (is_late)
		return rf_error_failed(error, -ETIMEDOUT,
				       "exec: %s took more than %d s, and was ended", exec->program,
				       RF_EXEC_SECONDS);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return rf_error_failed(error, -ECHILD, "exec: %s ended with %s %d", exec->program,
				       WIFEXITED(status) ? "status" : "signal",
				       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return 0;
}

/* ---- through the socket ---- */

static int hand_over(struct rf_sink_exec *exec, const char *line, struct rf_error *error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const size_t length = strlen(line);
	int err = 0, fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", exec->socket);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		err = -errno;
	else if (send(fd, line, length, MSG_NOSIGNAL) != (ssize_t)length)
		err = -EIO;
	if (!err) {
		shutdown(fd, SHUT_WR);
		exec->fd = fd;
		return 0;
	}
	if (fd >= 0)
		close(fd);
	return rf_error_failed(error, err,
			       "exec: %s: %s; 'systemctl enable --now ringfence-notify.socket' "
			       "listens there",
			       exec->socket, strerror(-err));
}

/* The unit's process holds the other end as long as it runs. */
static int look_at_socket(struct rf_sink_exec *exec, bool is_late, struct rf_error *error)
{
	char ignored[512];
	ssize_t got;
	int err;

	do
		got = recv(exec->fd, ignored, sizeof(ignored), 0);
	while (got > 0);
	err = got < 0 ? -errno : 0;
	if (err == -EAGAIN && !is_late)
		return 0;
	close(exec->fd);
	exec->fd = -1;
	if (!got)
		return 0;
	if (err == -EAGAIN)
		return rf_error_failed(error, -ETIMEDOUT,
				       "exec: a run behind %s took more than %d s", exec->socket,
				       RF_EXEC_SECONDS);
	return rf_error_failed(error, err,
			       "exec: no program behind %s read the event: %s; 'journalctl -u "
			       "ringfence-notify@*' says more",
			       exec->socket, strerror(-err));
}

/* ---- both ---- */

static int look(struct rf_sink_exec *exec, struct rf_error *error)
{
	const bool is_late = rf_time_awake() - exec->started_ns >= RF_EXEC_SECONDS * RF_NS_PER_S;

	if (exec->pid)
		return reap(exec, is_late, error);
	return exec->fd >= 0 ? look_at_socket(exec, is_late, error) : 0;
}

int rf_sink_exec_turn(struct rf_sink_exec *exec, struct rf_error *error)
{
	int err = look(exec, error);

	if (err || exec->pid || exec->fd >= 0 || !exec->count)
		return err;
	exec->started_ns = rf_time_awake();
	err = strcmp(exec->program, RF_EXEC_UNIT) != 0 ? run(exec, exec->waiting[0], error)
						       : hand_over(exec, exec->waiting[0], error);
	drop_first(exec);
	return err;
}

void rf_sink_exec_close(struct rf_sink_exec *exec)
{
	struct rf_error ignored;

	while (exec->count)
		drop_first(exec);
	if (exec->pid)
		reap(exec, true, &ignored);
	if (exec->fd >= 0)
		close(exec->fd);
	exec->fd = -1;
}
