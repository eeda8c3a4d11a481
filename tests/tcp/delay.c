// SPDX-License-Identifier: GPL-2.0
/*
 * delay IF IF MICROSECONDS: forwards frames between two interfaces, each after that time, like
 * netem, which few kernels of test machines have. The interfaces on the other ends of the wires
 * must leave checksums and segments to the kernel: no offload works through a packet socket.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define FRAMES 65536 /* on their way in one direction; more are dropped */
#define FRAME_MAX 1518
#define AT_ONCE 64
#define SOCKET_BYTES (64 << 20)
#define NS_PER_S 1000000000ULL

struct frame {
	uint64_t due;
	uint32_t length;
	unsigned char data[FRAME_MAX];
};

struct way {
	struct frame *frame;
	uint32_t first, next; /* count up */
	int from, to;
};

static void fail(const char *what)
{
	fprintf(stderr, "delay: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * NS_PER_S + time.tv_nsec;
}

static int open_interface(const char *name)
{
	const struct sockaddr_ll address = {.sll_family = AF_PACKET,
					    .sll_protocol = htons(ETH_P_ALL),
					    .sll_ifindex = if_nametoindex(name)};
	const int fd = socket(AF_PACKET, SOCK_RAW, 0), one = 1, bytes = SOCKET_BYTES;

	if (fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) ||
	    bind(fd, (const struct sockaddr *)&address, sizeof(address)))
		fail(name);
	return fd;
}

static void take_frames(struct way *way, uint64_t delay_ns)
{
	for (int i = 0; i < AT_ONCE && way->next - way->first < FRAMES; i++) {
		struct frame *frame = &way->frame[way->next % FRAMES];
		const ssize_t length =
			recv(way->from, frame->data, FRAME_MAX, MSG_DONTWAIT | MSG_TRUNC);

		if (length < 0)
			return;
		if (length > FRAME_MAX)
			continue;
		frame->length = length;
		frame->due = now() + delay_ns;
		way->next++;
	}
}

/* Sends due frames. Returns when the next frame is due. */
static uint64_t send_frames(struct way *way)
{
	const uint64_t time = now();

	for (; way->first != way->next; way->first++) {
		const struct frame *frame = &way->frame[way->first % FRAMES];

		if (frame->due > time)
			return frame->due;
		if (send(way->to, frame->data, frame->length, 0) < 0)
			fail("send");
	}
	return time + NS_PER_S;
}

int main(int argc, char **argv)
{
	struct way way[2] = {};
	uint64_t delay_ns;

	if (argc != 4) {
		fprintf(stderr, "usage: delay IF IF MICROSECONDS\n");
		return 2;
	}
	delay_ns = strtoull(argv[3], NULL, 10) * 1000;
	for (int i = 0; i < 2; i++) {
		way[i].frame = calloc(FRAMES, sizeof(*way[i].frame));
		way[i].from = way[!i].to = open_interface(argv[1 + i]);
		if (!way[i].frame)
			fail("memory");
	}
	for (;;) {
		struct pollfd wait[2] = {{way[0].from, POLLIN, 0}, {way[1].from, POLLIN, 0}};
		const uint64_t one = send_frames(&way[0]), other = send_frames(&way[1]);
		const uint64_t due = one < other ? one : other, time = now();
		const uint64_t left = due > time ? due - time : 0;
		const struct timespec timeout = {left / NS_PER_S, left % NS_PER_S};

		ppoll(wait, 2, &timeout, NULL);
		for (int i = 0; i < 2; i++)
			if (wait[i].revents)
				take_frames(&way[i], delay_ns);
	}
}
