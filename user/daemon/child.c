// SPDX-License-Identifier: GPL-2.0
/* The page process, as the scanner sees it: its sockets, its token, its start and its exit. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/say.h"
#include "base/time.h"
#include "base/units.h"
#include "daemon/child.h"
#include "daemon/page.h"
#include "daemon/settings.h"
#include "watch/page_files.h"

/* ---- sockets ---- */

#define BACKLOG 64
#define PATIENCE_MS 10000 /* for the page process of a daemon that was killed */
#define PAUSE_MS 20
#define FLAGS (SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK)

/* An address of either family. */
union address {
	struct sockaddr any;
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

static int listen_on(int family, const union address *address, socklen_t length)
{
	const int fd = socket(family, FLAGS, 0), on = 1;
	int err;

	if (fd < 0)
		return -errno;
	if (family != AF_UNIX)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (!bind(fd, &address->any, length) && !listen(fd, BACKLOG))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* A socket of a daemon that exited; one that accepts belongs to a different daemon. */
static bool is_left_over(const union address *address)
{
	struct stat status;
	bool refused;
	int fd;

	/* Any other file refuses a connection as well. */
	if (lstat(address->un.sun_path, &status) || !S_ISSOCK(status.st_mode))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	refused = connect(fd, &address->any, sizeof(address->un)) && errno == ECONNREFUSED;
	close(fd);
	return refused;
}

/* The page process of a killed daemon exits automatically, but slightly later: waits for it. */
static int listen_patiently(int family, const union address *address, socklen_t length)
{
	const struct timespec pause = {.tv_nsec = PAUSE_MS * RF_NS_PER_MS};

	for (int waited = 0;; waited += PAUSE_MS) {
		int fd;

		if (family == AF_UNIX && is_left_over(address))
			unlink(address->un.sun_path);
		fd = listen_on(family, address, length);
		if (fd != -EADDRINUSE || waited >= PATIENCE_MS)
			return fd;
		nanosleep(&pause, NULL);
	}
}

/* Both return a descriptor that does not block, or a negative errno with the reason. */
static int open_listen(const struct rf_listen *listen, struct rf_error *error)
{
	const bool is_v6 = listen->address.version == 6;
	union address address = {};
	char text[RF_LISTEN_TEXT_SIZE];
	int fd;

	if (is_v6) {
		address.in6.sin6_family = AF_INET6;
		address.in6.sin6_port = htons(listen->port);
		memcpy(&address.in6.sin6_addr, listen->address.word, 16);
	} else {
		address.in4.sin_family = AF_INET;
		address.in4.sin_port = htons(listen->port);
		address.in4.sin_addr.s_addr = listen->address.word[0];
	}
	fd = listen_patiently(address.any.sa_family, &address,
			      is_v6 ? sizeof(address.in6) : sizeof(address.in4));
	if (fd >= 0)
		return fd;
	rf_format_listen(listen, text);
	return rf_error_failed(error, fd, "listen %s: %s%s", text, strerror(-fd),
			       fd == -EADDRINUSE ? "; 'listen ADDRESS:PORT' names another one, "
						   "'listen off' none"
						 : "");
}

/* Replaces a socket without a listener. Only its group can connect. */
static int open_unix(const char *path, struct rf_error *error)
{
	union address address = {.un = {.sun_family = AF_UNIX}};
	mode_t mask;
	int fd;

	memcpy(address.un.sun_path, path, strlen(path) + 1);
	mask = umask(0117);
	fd = listen_patiently(AF_UNIX, &address, sizeof(address.un));
	umask(mask);
	if (fd < 0)
		return rf_error_failed(error, fd, "socket %s: %s", path, strerror(-fd));
	return fd;
}

/* ---- the token ---- */

#define RANDOM_BYTES 24
#define FILE_MODE 0640
#define DIRECTORY_MODE 0750

/* ---- files of the group ---- */

/* As a service, the group is the process's; root's files get it here. */
static void give_to_group(int fd)
{
	const struct group *group = getgrnam("ringfence");

	if (group && fchown(fd, -1, group->gr_gid) && errno != EPERM)
		rf_warn("%s: %s", RF_PAGE_DIRECTORY, strerror(errno));
}

/* Renames a new file into its place: readers never see a partial one. */
static int write_file(const char *path, const char *text)
{
	char made[RF_SETTING_PATH_SIZE + 8];
	int fd, err = 0;

	snprintf(made, sizeof(made), "%s.new", path);
	unlink(made);
	fd = open(made, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	give_to_group(fd);
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text) || fchmod(fd, FILE_MODE))
		err = errno ? -errno : -EIO;
	close(fd);
	if (!err && rename(made, path))
		err = -errno;
	if (err)
		unlink(made);
	return err;
}

static void make_directory(const char *path)
{
	int fd;

	if (mkdir(path, DIRECTORY_MODE))
		return;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	give_to_group(fd);
	close(fd);
}

/* The service's directory, or the same one for a daemon that runs without systemd, if permitted. */
static void find_directory(struct rf_token_place *place)
{
	const char *given = getenv("RUNTIME_DIRECTORY");
	const char *path = given && *given == '/' ? given : RF_PAGE_DIRECTORY;

	*place = (struct rf_token_place){};
	if (strlen(path) > sizeof(place->directory) - 16)
		return;
	make_directory(path);
	if (!access(path, W_OK | X_OK))
		strcpy(place->directory, path);
}

/* ---- the token ---- */

/* One created by this or an earlier process. A foreign one is not trusted. */
static bool is_ours(const char *path)
{
	struct stat stat;

	return !lstat(path, &stat) && S_ISREG(stat.st_mode) && stat.st_uid == geteuid() &&
	       !(stat.st_mode & 07);
}

static int make_token(char token[RF_TOKEN_SIZE], struct rf_error *error)
{
	unsigned char bytes[RANDOM_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return rf_error_failed(error, -EIO, "cannot make a token: %s", strerror(errno));
	for (int i = 0; i < RANDOM_BYTES; i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static int make_or_keep(struct rf_site *site, struct rf_token_place *place, struct rf_error *error)
{
	char line[RF_TOKEN_SIZE + 1];
	struct rf_error ignored;
	int err;

	if (*place->directory)
		snprintf(place->path, sizeof(place->path), "%.200s/%s", place->directory,
			 RF_PAGE_TOKEN_FILE);
	if (*place->path && is_ours(place->path) &&
	    !rf_token_read(place->path, site->token, &ignored))
		return 0;
	err = make_token(site->token, error);
	if (err || !*place->path)
		return err;
	snprintf(line, sizeof(line), "%s\n", site->token);
	err = write_file(place->path, line);
	if (err)
		rf_warn("%s: %s; 'ringfence page' cannot tell the token", place->path,
			strerror(-err));
	if (err)
		*place->path = '\0';
	return 0;
}

/*
 * Reads the token from the settings, or the one that an earlier process created, or creates one. It
 * is then in a file that root and the group can read, if there is a place for it.
 */
static int take_token(struct rf_site *site, struct rf_token_place *place,
		      const struct rf_settings *settings, struct rf_error *error)
{
	find_directory(place);
	if (!*settings->token_file)
		return make_or_keep(site, place, error);
	strcpy(place->path, settings->token_file);
	return rf_token_read(settings->token_file, site->token, error);
}

/* ---- the address ---- */

static void name_file(const struct rf_token_place *place, char path[RF_SETTING_PATH_SIZE])
{
	snprintf(path, RF_SETTING_PATH_SIZE, "%.200s/%s", place->directory, RF_PAGE_FILE);
}

void rf_token_publish(const struct rf_token_place *place, const char *address)
{
	char path[RF_SETTING_PATH_SIZE], text[2 * RF_SETTING_PATH_SIZE + 2];
	int err;

	if (!*place->directory || !*place->path)
		return;
	name_file(place, path);
	snprintf(text, sizeof(text), "%.255s\n%s\n", address, place->path);
	err = write_file(path, text);
	if (err)
		rf_warn("%s: %s; 'ringfence page' cannot find the page", path, strerror(-err));
}

void rf_token_withdraw(const struct rf_token_place *place)
{
	char path[RF_SETTING_PATH_SIZE];

	if (!*place->directory || !*place->path)
		return;
	name_file(place, path);
	unlink(path);
}

/* ---- the process ---- */

#define DELAY_LEAST_NS RF_NS_PER_S
#define DELAY_MOST_NS (60 * RF_NS_PER_S)
#define PATIENCE_NS (60 * RF_NS_PER_S) /* it ran that long: the next delay is short again */
#define END_MS 2000
#define PIPE_BYTES (1 << 20)

/* ---- before it runs ---- */

static int open_tcp(struct rf_child *child, const struct rf_settings *settings,
		    struct rf_error *error)
{
	const int fd = open_listen(&settings->listen, error);

	if (fd >= 0) {
		child->tcp_fd = fd;
		return 0;
	}
	/* The embedded address was not requested, and watching is useful without it. */
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
		err = take_token(&child->site, &child->token, settings, error);
	if (!err && settings->listen.port)
		err = open_tcp(child, settings, error);
	if (!err && *settings->socket) {
		child->unix_fd = open_unix(settings->socket, error);
		err = child->unix_fd < 0 ? child->unix_fd : 0;
	}
	return err;
}

/* ---- running ---- */

/* Moves a descriptor away from the numbers that the page process gets. */
static int move(int fd)
{
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, RF_PAGE_UNIX + 1);
}

/* Puts it at the number that the page process expects; without one, that number is closed. */
static void place(int fd, int at)
{
	if (fd < 0)
		close(at);
	else
		dup2(fd, at);
}

/*
 * Executes this program again: no other file of the scanner remains open, and none of its memory.
 */
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

/* The loop only ends its wait: a turn checks both pipes. */
static void watch(struct rf_loop *loop, struct rf_loop_source *source, int fd, uint32_t events)
{
	source->fd = fd;
	if (events)
		rf_loop_watch(loop, source, events);
	else
		rf_loop_unwatch(loop, source);
}

void rf_child_watch(struct rf_child *child, struct rf_loop *loop, bool is_feeding, bool is_asked)
{
	child->loop = loop;
	watch(loop, &child->feed_source, child->feed.fd, is_feeding ? EPOLLOUT : 0);
	watch(loop, &child->ask_source, child->ask_fd, is_asked ? EPOLLIN : 0);
}

static void close_watched(const struct rf_child *child, struct rf_loop_source *source, int fd)
{
	if (fd < 0)
		return;
	if (child->loop)
		watch(child->loop, source, fd, 0);
	close(fd);
}

void rf_child_stop_asking(struct rf_child *child)
{
	close_watched(child, &child->ask_source, child->ask_fd);
	child->ask_fd = -1;
}

static void stop_feeding(struct rf_child *child)
{
	close_watched(child, &child->feed_source, child->feed.fd);
	rf_feed_clear(&child->feed);
	rf_child_stop_asking(child);
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

/* It exits automatically when its feed closes. */
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
