// SPDX-License-Identifier: GPL-2.0
/*
 * The rows of newcomers over the guard's rate that are examined: with sockets in a new network
 * namespace, in which the bench then remains.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"
#include "tests/limits.h"

#define PORT 8080
#define SERVER4 0xc0000201U /* 192.0.2.1; a loopback address gets no response */
#define CLIENT4 0xc5090001U /* 197.9.0.1 */
#define FORGED4 0x0b000000U /* 11.0.0.0; all of them are addresses of hosts */
#define FORGED4_COUNT (1U << 26)
#define CLIENT6 0x20010db8U /* its first 32 bits; the walk sets the next */
#define FLAGS_AT 13	    /* of the TCP header */
#define SYN 0x02
#define ACK 0x10
#define BACKLOG 16

static void require(bool is_done, const char *what)
{
	if (!is_done)
		die("cannot %s: %s", what, strerror(errno));
}

static void write_sysctl(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	require(fd >= 0 && write(fd, value, strlen(value)) == (ssize_t)strlen(value), path);
	close(fd);
}

static struct sockaddr_in6 address_of(enum family family, const struct in6_addr *ip6, uint32_t ip4,
				      uint16_t port)
{
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	struct sockaddr_in *v4 = (struct sockaddr_in *)&address;

	if (family == IPV6)
		address.sin6_addr = *ip6;
	else
		*v4 = (struct sockaddr_in){.sin_family = AF_INET,
					   .sin_port = htons(port),
					   .sin_addr.s_addr = htonl(ip4)};
	return address;
}

/* fd08::1 */
static const struct in6_addr server6 = {.s6_addr = {0xfd, 0x08, [15] = 1}};

static struct sockaddr_in6 server_of(enum family family)
{
	return address_of(family, &server6, SERVER4, PORT);
}

static void listen_at_port(enum family family)
{
	const struct sockaddr_in6 at = server_of(family);
	int fd = socket(at.sin6_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	require(fd >= 0 && !bind(fd, (const struct sockaddr *)&at, sizeof(at)) &&
			!listen(fd, BACKLOG),
		"listen");
}

static void enter_namespace(void)
{
	static bool is_entered;

	if (is_entered)
		return;
	require(!unshare(CLONE_NEWNET), "create a network namespace");
	require(!system("ip link set lo up && ip addr add 192.0.2.1/32 dev lo && "
			"ip addr add fd08::1/128 dev lo nodad && "
			"ip route add local 197.0.0.0/8 dev lo && "
			"ip -6 route add local 2001:db8::/32 dev lo"),
		"configure lo");
	write_sysctl("/proc/sys/net/ipv4/tcp_syncookies", "2");
	listen_at_port(IPV4);
	listen_at_port(IPV6);
	is_entered = true;
}

/* ---- frames ---- */

static union transport *transport_of(struct frame *frame)
{
	return frame->family == IPV4 ? &frame->v4.transport : &frame->v6.transport;
}

/* To the listener, of `sources` sources from the nth on. */
static void set_segment(struct frame *frame, enum family family, uint32_t first, uint64_t sources,
			uint8_t flags)
{
	struct tcphdr *tcp;

	frame_set(frame, family, first, sources, 1);
	frame_make_tcp(frame);
	tcp = &transport_of(frame)->tcp;
	tcp->source = htons(40000);
	tcp->dest = htons(PORT);
	((uint8_t *)tcp)[FLAGS_AT] = flags;
	if (family == IPV4) {
		frame->v4.ip.daddr = htonl(SERVER4);
		frame->v4.ip.tot_len = htons(sizeof(frame->v4.ip) + sizeof(*tcp));
	} else {
		frame->v6.ip.daddr = server6;
		frame->v6.ip.payload_len = htons(sizeof(*tcp));
	}
}

static void set_forged(struct frame *frame, enum family family, uint8_t flags)
{
	set_segment(frame, family, family == IPV4 ? FORGED4 : 0,
		    family == IPV4 ? FORGED4_COUNT : ALL_SOURCES, flags);
}

/* Opens a connection from the nth source, and makes a segment of it. */
static void set_connected(struct frame *frame, enum family family, uint32_t n)
{
	const uint32_t first = family == IPV4 ? CLIENT4 + n : n;
	const struct in6_addr ip6 = {.s6_addr32 = {htonl(CLIENT6), htonl(n)}};
	struct sockaddr_in6 from = address_of(family, &ip6, first, 0), to = server_of(family);
	socklen_t size = sizeof(from);
	const int one = 1;
	int fd = socket(from.sin6_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	require(fd >= 0 && !setsockopt(fd, SOL_IP, IP_FREEBIND, &one, sizeof(one)) &&
			!bind(fd, (struct sockaddr *)&from, sizeof(from)) &&
			!connect(fd, (struct sockaddr *)&to, sizeof(to)) &&
			!getsockname(fd, (struct sockaddr *)&from, &size),
		"open a connection");
	set_segment(frame, family, first, 1, ACK);
	transport_of(frame)->tcp.source = from.sin6_port; /* the same place for IPv4 */
}

/* ---- rows ---- */

static struct row *add_segments(struct group *group, const char *name, const char *says,
				enum family family, enum rf_newcomers_then then, uint8_t flags,
				int verdict)
{
	const struct load load = {.limit = KNOWN_PASS, .then = then};
	struct target *target = group_add_target(group);
	struct row *row;

	target_open_fence(target, family, RF_SOURCES_DEFAULT, RF_LEASES_DEFAULT, &load);
	row = group_add_row(group, name, says, target, verdict);
	set_forged(&row->frame, family, flags);
	return row;
}

/* Both the guard and the rate of windows for open connections have admitted their one source. */
static void add_connection(struct group *group, enum family family)
{
	struct row *row =
		add_segments(group, "established", "of an open connection, without a window",
			     family, RF_NEWCOMERS_CHALLENGE, ACK, XDP_PASS);
	struct frame first;
	int verdict;

	set_segment(&first, family, 0, 1, SYN);
	run_call(row->target, &first, 1, &verdict);
	set_connected(&first, family, 1);
	run_call(row->target, &first, 1, &verdict);
	set_connected(&row->frame, family, 1 << 16);
}

void measure_challenges(struct report *report, const struct bench_options *options,
			enum family family)
{
	struct group *group = group_begin(report, options, family, "challenge");
	struct row *answered;

	if (!group)
		return;
	enter_namespace();
	set_forged(&group_add_floor(group, family)->frame, family, SYN);
	add_segments(group, "drop", "a SYN over the guard's rate, dropped", family,
		     RF_NEWCOMERS_DROP, SYN, XDP_DROP);
	answered = add_segments(group, "answered", "… answered by a SYN-ACK with a cookie", family,
				RF_NEWCOMERS_CHALLENGE, SYN, XDP_TX);
	target_restore(answered->target, &answered->frame);
	add_segments(group, "forged-ack", "an ACK with a wrong cookie", family,
		     RF_NEWCOMERS_CHALLENGE, ACK, XDP_DROP);
	add_connection(group, family);
	group_end(group, options);
}
