// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/say.h"
#include "base/time.h"
#include "daemon/child.h"
#include "daemon/listen.h"
#include "daemon/page.h"

#define DELAY_LEAST_NS RF_NS_PER_S
#define DELAY_MOST_NS (60 * RF_NS_PER_S)
#define PATIENCE_NS (60 * RF_NS_PER_S) /* it ran that long: the next delay is short again */
#define END_MS 2000
#define PIPE_BYTES (1 << 20)

/* ---- before it runs ---- */

static int open_tcp(struct rf_child *child, const struct rf_settings *settings,
		    struct rf_error *error)
{
	const int fd = rf_listen_open(&settings->listen, error);

	if (fd >= 0) {
		child->tcp_fd = fd;
		return 0;
	}
	/* Nobody asked for the embedded address, and watching is of use without it. */
	if (rf_settings_has(settings, RF_SET_LISTEN))
		return fd;
	rf_warn("%s", error->text);
	return 0;
}

int rf_child_prepare(struct rf_child *child, const struct rf_settings *settings,
		     struct rf_error *error)
{
	int err = 0;

	*child = RF_CHILD_NONE;
	child->site.listen = settings->listen;
	memcpy(child->site.host, settings->host, sizeof(child->site.host));
	child->site.hosts = settings->hosts;
	if (settings->listen.port || *settings->socket || *settings->token_file)
		err = rf_token_take(&child->site, &child->token, settings, error);
	if (!err && settings->listen.port)
		err = open_tcp(child, settings, error);
	if (!err && *settings->socket) {
		child->unix_fd = rf_listen_open_unix(settings->socket, error);
		err = child->unix_fd < 0 ? child->unix_fd : 0;
	}
	return err;
}

/* ---- running ---- */

/* Moves a descriptor out of the way of those that the page process gets. */
static int move(int fd)
{
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, RF_PAGE_UNIX + 1);
}

/* Puts it where the page process looks for it; where there is none, nothing else stays there. */
static void place(int fd, int at)
{
	if (fd < 0)
		close(at);
	else
		dup2(fd, at);
}

/* Executes this program anew: no other file of the scanner stays open, and none of its memory. */
static void become_page(const struct rf_child *child, int feed, int ask)
{
	char *const words[] = {"ringfence-watch", RF_PAGE_WORD, NULL};
	const int tcp_fd = move(child->tcp_fd), unix_fd = move(child->unix_fd);
	sigset_t none;

	feed = move(feed);
	ask = move(ask);
	place(feed, RF_PAGE_FEED);
	place(ask, RF_PAGE_ASK);
	place(tcp_fd, RF_PAGE_TCP);
	place(unix_fd, RF_PAGE_UNIX);
	close_range(RF_PAGE_UNIX + 1, ~0U, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv("/proc/self/exe", words);
	_exit(127);
}

static int begin(struct rf_child *child)
{
	int feed[2], ask[2];

	if (pipe2(feed, O_CLOEXEC))
		return -errno;
	child->feed.fd = feed[1];
	if (pipe2(ask, O_CLOEXEC)) {
		close(feed[0]);
		return -errno;
	}
	fcntl(feed[1], F_SETPIPE_SZ, PIPE_BYTES);
	fcntl(feed[1], F_SETFL, O_NONBLOCK);
	fcntl(ask[0], F_SETFL, O_NONBLOCK);
	child->ask_fd = ask[0];
	child->pid = fork();
	if (!child->pid)
		become_page(child, feed[0], ask[1]);
	close(feed[0]);
	close(ask[1]);
	return child->pid < 0 ? -errno : 0;
}

static void stop_feeding(struct rf_child *child)
{
	if (child->feed.fd >= 0)
		close(child->feed.fd);
	rf_feed_clear(&child->feed);
	if (child->ask_fd >= 0)
		close(child->ask_fd);
	child->ask_fd = -1;
}

/* Each start that follows soon waits twice as long. */
static void plan_start(struct rf_child *child)
{
	const uint64_t now = rf_time_awake();

	if (!child->delay_ns || now - child->started_ns > PATIENCE_NS)
		child->delay_ns = DELAY_LEAST_NS;
	else if (child->delay_ns < DELAY_MOST_NS)
		child->delay_ns *= 2;
	child->start_at_ns = now + child->delay_ns;
}

bool rf_child_start(struct rf_child *child)
{
	const uint64_t now = rf_time_awake();
	int err;

	if (child->pid || (child->tcp_fd < 0 && child->unix_fd < 0) || now < child->start_at_ns)
		return false;
	child->started_ns = now;
	err = begin(child);
	if (!err)
		err = rf_feed_put(&child->feed, RF_DOC_SITE, (const char *)&child->site,
				  sizeof(child->site), now);
	if (!err)
		return true;
	rf_warn("cannot start the page process: %s", strerror(-err));
	stop_feeding(child);
	child->pid = child->pid < 0 ? 0 : child->pid;
	plan_start(child);
	return false;
}

void rf_child_reap(struct rf_child *child)
{
	int status;

	if (!child->pid || waitpid(child->pid, &status, WNOHANG) != child->pid)
		return;
	child->pid = 0;
	stop_feeding(child);
	plan_start(child);
	rf_warn("the page process ended (%s %d); it is started again in %d s",
		WIFSIGNALED(status) ? "signal" : "status",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
		(int)(child->delay_ns / RF_NS_PER_S));
}

/* It ends by itself when nobody feeds it. */
static void wait_for_end(struct rf_child *child)
{
	const struct timespec pause = {.tv_nsec = 10 * RF_NS_PER_MS};

	for (int waited = 0; waited < END_MS; waited += 10) {
		if (waitpid(child->pid, NULL, WNOHANG) == child->pid)
			return;
		nanosleep(&pause, NULL);
	}
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
}

void rf_child_end(struct rf_child *child)
{
	stop_feeding(child);
	if (child->pid)
		wait_for_end(child);
	if (child->tcp_fd >= 0)
		close(child->tcp_fd);
	if (child->unix_fd >= 0)
		close(child->unix_fd);
	explicit_bzero(&child->site, sizeof(child->site));
	*child = RF_CHILD_NONE;
}
