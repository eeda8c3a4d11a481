// SPDX-License-Identifier: GPL-2.0
/*
 * newcomers ADDRESS PORT FIRST COUNT RATE page|query [SECONDS]: COUNT new clients, RATE a second,
 * each with a different source address, from FIRST upwards, each in another /24 or /48. The
 * addresses must be local here. A client gets one page by HTTP, or sends one DNS query by UDP, and
 * by TCP again if the answer is truncated. Each has a second, or SECONDS.
 *
 * Prints a JSON object: the number of clients, of clients that connected over TCP, that succeeded,
 * and that got a truncated answer first; and the times in ms within which half of the successful
 * clients, and 99 % of them, got their page or answer.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ULL
#define NS_PER_MS 1000000ULL
#define EVENTS 64
/* From one source to the next: IPv4 addresses, IPv6 /64s. */
#define STEP4 257
#define STEP6 65537
#define ANSWER_BYTES 4096
#define DNS_ANSWERED 0x80
#define DNS_TRUNCATED 0x02

/* A query for www.example A; over TCP, behind its length. */
static const uint8_t query[] = {0,   0, 1,   0,	  0,   1,   0,	 0,   0,   0, 0, 0, 3, 'w', 'w',
				'w', 7, 'e', 'x', 'a', 'm', 'p', 'l', 'e', 0, 0, 1, 0, 1};
static const char request[] = "GET / HTTP/1.0\r\nHost: www.example\r\n\r\n";

enum state { CONNECTING, READING, ASKING_BY_UDP };

struct client {
	int fd; /* -1: done */
	enum state state;
	uint64_t begun_ns;
	size_t received;
	uint8_t answer[ANSWER_BYTES];
};

static struct load {
	struct sockaddr_storage server, first;
	socklen_t address_bytes;
	bool is_dns;
	uint64_t rate, patience_ns;
	uint32_t count, started, over; /* over: succeeded or failed */
	int epoll;
	struct client *clients;
	uint64_t *took_ns;
	uint32_t connected, succeeded, truncated;
} load;

static void fail(const char *what)
{
	fprintf(stderr, "newcomers: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * NS_PER_S + time.tv_nsec;
}

static struct sockaddr_storage parse_address(const char *text, uint16_t port)
{
	struct sockaddr_storage address = {.ss_family = strchr(text, ':') ? AF_INET6 : AF_INET};
	struct sockaddr_in *ip4 = (struct sockaddr_in *)&address;
	struct sockaddr_in6 *ip6 = (struct sockaddr_in6 *)&address;

	if (inet_pton(address.ss_family, text,
		      address.ss_family == AF_INET ? (void *)&ip4->sin_addr
						   : (void *)&ip6->sin6_addr) != 1) {
		fprintf(stderr, "newcomers: %s: not an address\n", text);
		exit(2);
	}
	ip4->sin_port = htons(port); /* at the same place as sin6_port */
	return address;
}

static struct sockaddr_storage nth_source(uint32_t n)
{
	struct sockaddr_storage source = load.first;
	struct sockaddr_in *ip4 = (struct sockaddr_in *)&source;
	struct sockaddr_in6 *ip6 = (struct sockaddr_in6 *)&source;

	if (source.ss_family == AF_INET)
		ip4->sin_addr.s_addr = htonl(ntohl(ip4->sin_addr.s_addr) + n * STEP4);
	else
		ip6->sin6_addr.s6_addr32[1] = htonl(ntohl(ip6->sin6_addr.s6_addr32[1]) + n * STEP6);
	return source;
}

static void finish(struct client *client, bool is_success)
{
	close(client->fd);
	client->fd = -1;
	load.over++;
	if (is_success)
		load.took_ns[load.succeeded++] = now() - client->begun_ns;
}

/* Connects from the client's address; UDP as well. */
static void connect_from(uint32_t n, int type)
{
	struct client *client = &load.clients[n];
	struct sockaddr_storage source = nth_source(n);
	struct epoll_event event = {.events = type == SOCK_STREAM ? EPOLLOUT : EPOLLIN,
				    .data.u32 = n};
	const int one = 1;

	client->state = type == SOCK_STREAM ? CONNECTING : ASKING_BY_UDP;
	client->fd = socket(source.ss_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (client->fd < 0 ||
	    setsockopt(client->fd, SOL_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof(one)) ||
	    /* IPv6 does not accept the addresses of a local route otherwise */
	    setsockopt(client->fd, SOL_IP, IP_FREEBIND, &one, sizeof(one)) ||
	    bind(client->fd, (struct sockaddr *)&source, load.address_bytes))
		fail("cannot bind to a client's address");
	if (connect(client->fd, (struct sockaddr *)&load.server, load.address_bytes) &&
	    errno != EINPROGRESS)
		fail("connect");
	if (type == SOCK_DGRAM && send(client->fd, query, sizeof(query), 0) < 0)
		fail("cannot send a query");
	if (epoll_ctl(load.epoll, EPOLL_CTL_ADD, client->fd, &event))
		fail("epoll");
}

static void send_request(uint32_t n)
{
	struct client *client = &load.clients[n];
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = n};
	uint8_t long_query[2 + sizeof(query)] = {0, sizeof(query)};
	int error;
	socklen_t bytes = sizeof(error);
	ssize_t sent;

	if (getsockopt(client->fd, SOL_SOCKET, SO_ERROR, &error, &bytes) || error) {
		finish(client, false);
		return;
	}
	load.connected++;
	memcpy(long_query + 2, query, sizeof(query));
	sent = load.is_dns ? send(client->fd, long_query, sizeof(long_query), MSG_NOSIGNAL)
			   : send(client->fd, request, sizeof(request) - 1, MSG_NOSIGNAL);
	if (sent < 0) {
		finish(client, false);
		return;
	}
	client->state = READING;
	if (epoll_ctl(load.epoll, EPOLL_CTL_MOD, client->fd, &event))
		fail("epoll");
}

/* A page is complete when the server closes the connection; a DNS message has a length. */
static bool is_complete(const struct client *client, bool is_end)
{
	static const char ok[] = "HTTP/1.1 200 ";
	const uint8_t *answer = client->answer;

	if (load.is_dns)
		return client->received > 2 + sizeof(query) && answer[4] & DNS_ANSWERED &&
		       client->received >= 2u + (answer[0] << 8 | answer[1]);
	return is_end && client->received > sizeof(ok) && !memcmp(answer, ok, sizeof(ok) - 1);
}

static void read_answer(struct client *client)
{
	const ssize_t got = recv(client->fd, client->answer + client->received,
				 ANSWER_BYTES - client->received, 0);

	if (got < 0 && errno == EAGAIN)
		return;
	if (got > 0)
		client->received += got;
	if (is_complete(client, !got))
		finish(client, true);
	else if (got <= 0)
		finish(client, false);
}

static void read_datagram(uint32_t n)
{
	struct client *client = &load.clients[n];
	const ssize_t got = recv(client->fd, client->answer, ANSWER_BYTES, 0);

	if (got < 0 && errno == EAGAIN)
		return;
	if (got < 12 || !(client->answer[2] & DNS_ANSWERED)) {
		finish(client, false);
	} else if (client->answer[2] & DNS_TRUNCATED) {
		load.truncated++;
		close(client->fd);
		connect_from(n, SOCK_STREAM);
	} else {
		finish(client, true);
	}
}

static void start_client(void)
{
	load.clients[load.started].begun_ns = now();
	connect_from(load.started++, load.is_dns ? SOCK_DGRAM : SOCK_STREAM);
}

/* Fails clients that have run out of time, in the order of their start. */
static void give_up(uint64_t time)
{
	static uint32_t oldest;

	for (; oldest < load.started; oldest++) {
		struct client *client = &load.clients[oldest];

		if (client->fd >= 0 && time < client->begun_ns + load.patience_ns)
			return;
		if (client->fd >= 0)
			finish(client, false);
	}
}

static void handle(const struct epoll_event *event)
{
	struct client *client = &load.clients[event->data.u32];

	/* closed after the kernel had listed the event */
	if (client->fd < 0)
		return;
	if (client->state == CONNECTING)
		send_request(event->data.u32);
	else if (client->state == READING)
		read_answer(client);
	else
		read_datagram(event->data.u32);
}

static void run(void)
{
	const uint64_t begun = now();
	struct epoll_event events[EVENTS];

	while (load.over < load.count) {
		const int n = epoll_wait(load.epoll, events, EVENTS, 1);
		const uint64_t time = now();

		for (int i = 0; i < n; i++)
			handle(&events[i]);
		while (load.started < load.count &&
		       time >= begun + load.started * NS_PER_S / load.rate)
			start_client();
		give_up(time);
	}
}

static int compare(const void *one, const void *other)
{
	const uint64_t *a = one, *b = other;

	return (*a > *b) - (*a < *b);
}

static double ms_of(uint32_t percent)
{
	return load.succeeded ? load.took_ns[(uint64_t)(load.succeeded - 1) * percent / 100] /
					(double)NS_PER_MS
			      : 0;
}

int main(int argc, char **argv)
{
	const struct rlimit files = {65536, 65536};

	if (argc != 7 && argc != 8) {
		fprintf(stderr,
			"usage: newcomers ADDRESS PORT FIRST COUNT RATE page|query [SECONDS]\n");
		return 2;
	}
	load.server = parse_address(argv[1], atoi(argv[2]));
	load.first = parse_address(argv[3], 0);
	load.address_bytes = load.server.ss_family == AF_INET ? sizeof(struct sockaddr_in)
							      : sizeof(struct sockaddr_in6);
	load.count = strtoul(argv[4], NULL, 10);
	load.rate = strtoul(argv[5], NULL, 10);
	load.patience_ns = (argc == 8 ? strtoul(argv[7], NULL, 10) : 1) * NS_PER_S;
	load.is_dns = !strcmp(argv[6], "query");
	load.clients = calloc(load.count, sizeof(*load.clients));
	load.took_ns = calloc(load.count, sizeof(*load.took_ns));
	load.epoll = epoll_create1(EPOLL_CLOEXEC);
	setrlimit(RLIMIT_NOFILE, &files);
	if (!load.count || !load.rate || !load.clients || !load.took_ns || load.epoll < 0)
		fail("cannot start");
	run();
	qsort(load.took_ns, load.succeeded, sizeof(*load.took_ns), compare);
	printf("{\"clients\": %u, \"connected\": %u, \"succeeded\": %u, \"truncated\": %u, "
	       "\"half_ms\": %.1f, \"most_ms\": %.1f}\n",
	       load.count, load.connected, load.succeeded, load.truncated, ms_of(50), ms_of(99));
	return 0;
}
