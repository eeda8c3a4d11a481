// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "daemon/listen.h"

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

/* A socket of a daemon that is gone; one that answers belongs to another daemon. */
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

/* The page process of a daemon that was killed ends by itself, yet a moment later: waits for it. */
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

int rf_listen_open(const struct rf_listen *listen, struct rf_error *error)
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

int rf_listen_open_unix(const char *path, struct rf_error *error)
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
