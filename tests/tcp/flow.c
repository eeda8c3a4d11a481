// SPDX-License-Identifier: GPL-2.0
/*
 * flow NETNS ADDRESS CONTROL WARMUP SECONDS: one TCP connection with that congestion control sends
 * to ADDRESS, an IPv4 address of the network namespace NETNS (a path), as fast as it can. Prints,
 * without the first WARMUP seconds: the received bytes per second, and the retransmitted part of
 * the sent bytes.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PORT 5001
#define BUFFER 65536
#define WAIT_US 100000 /* on a blocked socket, before the clock is read again */

static char buffer[BUFFER];

static void fail(const char *what)
{
	fprintf(stderr, "flow: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static int make_socket(int option)
{
	const struct timeval wait = {.tv_usec = WAIT_US};
	const int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, option, &wait, sizeof(wait)))
		fail("socket");
	return fd;
}

static int listen_at(const char *netns, const struct sockaddr_in *address)
{
	const int space = open(netns, O_RDONLY | O_CLOEXEC), one = 1;
	int fd;

	if (space < 0 || setns(space, CLONE_NEWNET))
		fail(netns);
	close(space);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (const struct sockaddr *)address, sizeof(*address)) || listen(fd, 1))
		fail("listen");
	return fd;
}

/* `ready` gets a byte as soon as it listens. */
static void receive(const char *netns, const struct sockaddr_in *address, int ready, double warmup,
		    double seconds)
{
	const struct timeval wait = {.tv_usec = WAIT_US};
	const int listener = listen_at(netns, address);
	uint64_t bytes = 0;
	double begun;
	int fd;

	/* Without the sender there is nothing to wait for. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || write(ready, "", 1) != 1)
		fail("pipe");
	fd = accept(listener, NULL, NULL);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)))
		fail("accept");
	for (begun = now(); now() < begun + seconds;) {
		const ssize_t got = recv(fd, buffer, sizeof(buffer), 0);

		if (!got)
			break;
		if (got > 0 && now() > begun + warmup)
			bytes += got;
	}
	printf("%.0f ", bytes / (seconds - warmup));
	fflush(stdout);
}

static struct tcp_info info_of(int fd)
{
	struct tcp_info info = {};
	socklen_t size = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size))
		fail("TCP_INFO");
	return info;
}

/* Until the receiver finishes. Returns the retransmitted part. */
static double send_to(const struct sockaddr_in *address, const char *control, double warmup,
		      pid_t receiver)
{
	const int fd = make_socket(SO_SNDTIMEO);
	struct tcp_info before = {}, after;
	const double begun = now();
	uint64_t sent;

	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, control, strlen(control)))
		fail(control);
	while (connect(fd, (const struct sockaddr *)address, sizeof(*address)))
		if (errno != EINPROGRESS && errno != EALREADY)
			fail("connect");
	while (waitpid(receiver, NULL, WNOHANG) != receiver) {
		if (send(fd, buffer, sizeof(buffer), MSG_NOSIGNAL) < 0 && errno != EAGAIN &&
		    errno != EPIPE && errno != ECONNRESET)
			fail("send");
		if (!before.tcpi_bytes_sent && now() > begun + warmup)
			before = info_of(fd);
	}
	after = info_of(fd);
	sent = after.tcpi_bytes_sent - before.tcpi_bytes_sent;
	return sent ? (double)(after.tcpi_bytes_retrans - before.tcpi_bytes_retrans) / sent : 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	int ready[2];
	pid_t receiver;
	char byte;

	if (argc != 6 || inet_pton(AF_INET, argv[2], &address.sin_addr) != 1) {
		fprintf(stderr, "usage: flow NETNS ADDRESS CONTROL WARMUP SECONDS\n");
		return 2;
	}
	if (pipe(ready) || (receiver = fork()) < 0)
		fail("fork");
	if (!receiver) {
		receive(argv[1], &address, ready[1], atof(argv[4]), atof(argv[5]));
		return 0;
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		return 1; /* the receiver has said why */
	printf("%.4f\n", send_to(&address, argv[3], atof(argv[4]), receiver));
	return 0;
}
