// SPDX-License-Identifier: GPL-2.0
/* The program 'ringfence-fleet': beside this one, or in the path. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/fleet_agent.h"
#include "fleet/socket.h"

#define PROGRAM "ringfence-fleet"
#define WORDS_MOST 32

/* Beside this program; "": not known. */
static void find_beside(char path[512])
{
	const ssize_t length = readlink("/proc/self/exe", path, 512 - sizeof(PROGRAM));
	char *slash;

	path[length > 0 ? length : 0] = '\0';
	slash = strrchr(path, '/');
	strcpy(slash ? slash + 1 : path, slash ? PROGRAM : "");
}

/* Returns where it cannot be run. */
static int execute(const char *const *words)
{
	const char *argv[WORDS_MOST + 2] = {PROGRAM};
	char path[512];

	for (int i = 0; i < WORDS_MOST && words[i]; i++)
		argv[i + 1] = words[i];
	find_beside(path);
	if (*path)
		execv(path, (char *const *)argv);
	execvp(PROGRAM, (char *const *)argv);
	return -errno;
}

static int fail(int err, struct rf_error *error)
{
	if (err == -ENOENT)
		return rf_error_failed(
			error, err,
			PROGRAM ": there is no such program; install the package '" PROGRAM "'");
	return rf_error_failed(error, err, PROGRAM ": cannot run it: %s", strerror(-err));
}

int rf_fleet_exec(const char *const *words, struct rf_error *error)
{
	return fail(execute(words), error);
}

/* ---- what it prints ---- */

/* In the child. Its exit status says what failed. */
static void become(int to, const char *const *words)
{
	int err;

	if (dup2(to, STDOUT_FILENO) < 0)
		_exit(EIO);
	err = execute(words);
	_exit(-err);
}

static char *read_all(int from)
{
	char *text = malloc(RF_AGENT_ANSWER_SIZE + 1);
	size_t size = 0;
	ssize_t length = 1;

	while (text && size < RF_AGENT_ANSWER_SIZE && length > 0) {
		length = read(from, text + size, RF_AGENT_ANSWER_SIZE - size);
		if (length > 0)
			size += length;
		else if (length < 0 && errno == EINTR)
			length = 1;
	}
	if (text)
		text[size] = '\0';
	return text;
}

static int run(const char *const *words, char **text)
{
	int ends[2], status = 0;
	pid_t child;

	if (pipe(ends))
		return -errno;
	child = fork();
	if (!child)
		become(ends[1], words);
	close(ends[1]);
	*text = child > 0 ? read_all(ends[0]) : NULL;
	close(ends[0]);
	if (child < 0)
		return -EAGAIN;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	if (!*text)
		return -ENOMEM;
	return **text ? 0 : WIFEXITED(status) && WEXITSTATUS(status) ? -WEXITSTATUS(status) : -EIO;
}

int rf_fleet_probe(const char *fence, json_t **answer, struct rf_error *error)
{
	const char *const words[] = {"probe", fence, NULL};
	char *text = NULL;
	int err = run(words, &text);

	*answer = err ? NULL : json_loads(text, 0, NULL);
	free(text);
	if (!err && !*answer)
		err = -EPROTO;
	return err ? fail(err, error) : 0;
}
