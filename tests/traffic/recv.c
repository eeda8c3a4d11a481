/* SPDX-License-Identifier: GPL-2.0 */
/* `recv`: records every test frame that arrives, until time, silence or a signal stops it. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>

#include "traffic.h"

#define RECEIVE_BUFFER_BYTES (64 << 20)
#define BATCH_FRAMES 64
#define CAPTURE_BYTES 256

struct receiver {
	const char *dev;
	uint64_t for_ns, quiet_ns;
	struct max *maxes;
	size_t maxes_n;
	int fd, signal_fd;
	struct record *records; /* in the order they came */
	size_t records_n, records_room;
	FILE *keep; /* each record goes there immediately, for `judge`; NULL: discarded */
};

static void add_record(struct receiver *receiver, const struct record *record)
{
	if (receiver->records_n == receiver->records_room) {
		receiver->records_room = receiver->records_room ? receiver->records_room * 2 : 1024;
		receiver->records = allocate(receiver->records, receiver->records_room,
					     sizeof(*receiver->records));
	}
	receiver->records[receiver->records_n++] = *record;
	if (receiver->keep && fwrite(record, sizeof(*record), 1, receiver->keep) != 1)
		die(1, "%s: cannot keep a frame: %s", receiver->dev, strerror(errno));
}

/* The kernel takes the outer tag out of the frame before a packet socket sees it. */
static size_t stripped_bytes(struct msghdr *header)
{
	struct cmsghdr *control = CMSG_FIRSTHDR(header);
	struct tpacket_auxdata aux = {0};

	if (control)
		memcpy(&aux, CMSG_DATA(control), sizeof(aux));
	return aux.tp_status & TP_STATUS_VLAN_VALID ? VLAN_TAG_BYTES : 0;
}

/* Returns false if no frame waits. */
static bool take_frame(struct receiver *receiver)
{
	_Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	uint8_t bytes[CAPTURE_BYTES];
	struct iovec vector = {.iov_base = bytes, .iov_len = sizeof(bytes)};
	struct msghdr header = {.msg_iov = &vector,
				.msg_iovlen = 1,
				.msg_control = control,
				.msg_controllen = sizeof(control)};
	struct record record = {0};
	/* MSG_TRUNC: the length is the frame's, however little of it is copied */
	ssize_t len = recvmsg(receiver->fd, &header, MSG_DONTWAIT | MSG_TRUNC);

	if (len < 0 && errno != EAGAIN && errno != EINTR)
		die(1, "%s: cannot receive: %s", receiver->dev, strerror(errno));
	if (len < 0)
		return false;
	/*
	 * Not the kernel's time stamp: it is a wall clock, and is taken before a generic program
	 * (or the backlog queue) has finished: a stall there would fake a violation.
	 */
	record.received_ns = now_ns();
	record.len_bytes = len + stripped_bytes(&header);
	if (frame_read(bytes, len < CAPTURE_BYTES ? len : CAPTURE_BYTES, &record))
		add_record(receiver, &record);
	return true;
}

/* Refuses new frames, then reads earlier ones, to terminate even in a flood. */
static void take_rest(struct receiver *receiver)
{
	struct sock_filter refuse = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog program = {.len = 1, .filter = &refuse};

	if (setsockopt(receiver->fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)))
		die(1, "%s: cannot stop receiving: %s", receiver->dev, strerror(errno));
	while (take_frame(receiver))
		;
}

/* When to stop if no frame comes; silence counts from the first frame. */
static uint64_t patience_end(const struct receiver *receiver, uint64_t end)
{
	size_t n = receiver->records_n;
	uint64_t silent;

	if (!receiver->quiet_ns || !n)
		return end;
	silent = receiver->records[n - 1].received_ns + receiver->quiet_ns;
	return silent < end ? silent : end;
}

/* Silence stops it only if the socket is empty: frames can wait while this process does not run. */
static void take_frames(struct receiver *receiver)
{
	struct pollfd fds[] = {
		{.fd = receiver->fd, .events = POLLIN},
		{.fd = receiver->signal_fd, .events = POLLIN},
	};
	uint64_t now = now_ns(), end = now + receiver->for_ns;

	for (; now < end; now = now_ns()) {
		uint64_t until = patience_end(receiver, end);
		struct timespec wait = timespec_of(until > now ? until - now : 0);

		if (!ppoll(fds, ARRAY_SIZE(fds), &wait, NULL) || fds[1].revents)
			break;
		for (int i = 0; i < BATCH_FRAMES && take_frame(receiver); i++)
			;
	}
	take_rest(receiver);
}

static void open_receiver(struct receiver *receiver)
{
	int bytes = RECEIVE_BUFFER_BYTES, on = 1;
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	/* blocked, so SIGINT also counts in a shell's background job, where it is ignored */
	sigprocmask(SIG_BLOCK, &signals, NULL);
	receiver->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
	receiver->fd = socket_open(receiver->dev, ETH_P_ALL);
	if (receiver->signal_fd < 0 ||
	    setsockopt(receiver->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) ||
	    setsockopt(receiver->fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)) ||
	    setsockopt(receiver->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on)))
		die(1, "%s: cannot set up socket: %s", receiver->dev, strerror(errno));
	fputs("ready\n", stderr);
}

static void check_drops(const struct receiver *receiver)
{
	struct tpacket_stats stats = {0};
	socklen_t len = sizeof(stats);

	if (getsockopt(receiver->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len) || stats.tp_drops)
		die(1, "%s: count is wrong: the socket dropped %u frames", receiver->dev,
		    stats.tp_drops);
}

static void add_max(struct receiver *receiver, char *text)
{
	struct max max = parse_max("max", text);

	receiver->maxes = allocate(receiver->maxes, receiver->maxes_n + 1, sizeof(max));
	receiver->maxes[receiver->maxes_n++] = max;
}

static FILE *open_keep(const char *path)
{
	FILE *keep = fopen(path, "we");

	if (!keep)
		die(1, "%s: cannot write: %s", path, strerror(errno));
	/* concurrent readers find whole records */
	setvbuf(keep, NULL, _IOFBF, BATCH_FRAMES * sizeof(struct record));
	return keep;
}

static void set_option(struct receiver *receiver, const char *key, char *value)
{
	if (!strcmp(key, "dev"))
		receiver->dev = value;
	else if (!strcmp(key, "for"))
		receiver->for_ns = parse_time(key, value);
	else if (!strcmp(key, "quiet"))
		receiver->quiet_ns = parse_time(key, value);
	else if (!strcmp(key, "max"))
		add_max(receiver, value);
	else if (!strcmp(key, "keep"))
		receiver->keep = open_keep(value);
	else
		die_of_usage();
}

int command_recv(char **words)
{
	static struct receiver receiver;
	bool kept = true;

	for (; words[0] && words[1]; words += 2)
		set_option(&receiver, words[0], words[1]);
	if (words[0] || !receiver.dev || !receiver.for_ns)
		die_of_usage();
	open_receiver(&receiver);
	take_frames(&receiver);
	if (receiver.keep && fclose(receiver.keep))
		die(1, "%s: cannot keep the frames: %s", receiver.dev, strerror(errno));
	records_report(receiver.records, receiver.records_n);
	for (size_t i = 0; i < receiver.maxes_n; i++)
		kept &= records_judge(receiver.records, receiver.records_n, &receiver.maxes[i]);
	check_drops(&receiver);
	return kept ? 0 : 1;
}
