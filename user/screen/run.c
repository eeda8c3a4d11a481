// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "screen/run.h"

#define WORDS_MAX 512
#define OUTPUT_MAX 65536 /* what comes after it is not kept */
#define SELF "/proc/self/exe"

/* Splits in place. */
static void split(char *command, char *word[WORDS_MAX])
{
	int count = 1;

	word[0] = "ringfence";
	for (char *one = strtok(command, " "); one && count < WORDS_MAX - 1;
	     one = strtok(NULL, " "))
		word[count++] = one;
	word[count] = NULL;
}

static void become(char *command, int output)
{
	char *word[WORDS_MAX];
	sigset_t none;
	const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpgid(0, 0); /* Ctrl-C in the screen is not meant for it */
	if (input >= 0 && dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
	    dup2(output, STDERR_FILENO) >= 0) {
		split(command, word);
		execv(SELF, word);
	}
	_exit(127);
}

int rf_run_start(struct rf_run *child, const char *command)
{
	char *copy = strdup(command);
	int ends[2] = {-1, -1}, err = copy ? 0 : -ENOMEM;

	if (!err && pipe2(ends, O_CLOEXEC))
		err = -errno;
	if (!err) {
		child->pid = fork();
		if (!child->pid)
			become(copy, ends[1]);
		if (child->pid < 0)
			err = -errno;
	}
	free(copy);
	if (ends[1] >= 0)
		close(ends[1]);
	if (err) {
		if (ends[0] >= 0)
			close(ends[0]);
		child->pid = 0;
		return err;
	}
	rf_run_free(child);
	child->output = ends[0];
	fcntl(child->output, F_SETFL, O_NONBLOCK);
	return 0;
}

static void keep(struct rf_run *child, const char *text, size_t length)
{
	char *longer;

	if (child->length + length > OUTPUT_MAX)
		return;
	longer = realloc(child->text, child->length + length + 1);
	if (!longer)
		return;
	memcpy(longer + child->length, text, length);
	child->text = longer;
	child->length += length;
	child->text[child->length] = '\0';
}

static int end(struct rf_run *child)
{
	int status = 0;

	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(child->output);
	child->output = -1;
	child->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool rf_run_read(struct rf_run *child, int *status)
{
	char part[4096];
	ssize_t length;

	while ((length = read(child->output, part, sizeof(part))) > 0)
		keep(child, part, length);
	if (length < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	*status = end(child);
	return true;
}

void rf_run_finish(struct rf_run *child, bool at_once)
{
	if (child->pid && at_once)
		kill(child->pid, SIGKILL);
	if (child->pid)
		end(child);
	rf_run_free(child);
}

void rf_run_free(struct rf_run *child)
{
	free(child->text);
	child->text = NULL;
	child->length = 0;
}
