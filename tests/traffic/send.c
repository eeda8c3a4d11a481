/* SPDX-License-Identifier: GPL-2.0 */
/* `send`: the flows, each at its own pace, and in turn where several are due. */
#include <errno.h>
#include <inttypes.h>
#include <linux/if_packet.h>
#include <netinet/ether.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "traffic.h"

#define LISTED_SOURCES_MOST 16
#define BUSY_WAIT_NS 20000ull
#define PATIENCE_NS (5 * NS_PER_SEC)

struct sender {
	const char *dev;
	struct ether_addr *to;
	struct flow *flows;
	size_t flows_n;
	int fd;
	struct frame frame;
};

static void send_frame(struct sender *sender, const struct flow *flow)
{
	uint64_t first_ns = now_ns();

	/* ENOBUFS: the driver had no room, or no carrier yet; each retry gets a new stamp */
	do {
		frame_build(&sender->frame, flow);
		if (send(sender->fd, sender->frame.bytes, flow->len_bytes, MSG_DONTWAIT) >= 0)
			return;
		if (errno != ENOBUFS && errno != EAGAIN && errno != EINTR)
			break;
		sched_yield();
	} while (now_ns() - first_ns < PATIENCE_NS);
	die(1, "%s: cannot send frame %" PRIu64 " of flow %u, %" PRIu64 " bytes: %s", sender->dev,
	    flow->sent, flow->number, flow->len_bytes, strerror(errno));
}

/* Returns UINT64_MAX when everything is sent. */
static uint64_t due_ns(const struct flow *flow)
{
	if (flow->sent == flow->count)
		return UINT64_MAX;
	return flow->begin_ns + (flow->rate_pps ? flow->sent * NS_PER_SEC / flow->rate_pps : 0);
}

/*
 * Sends one frame of every due flow; returns when the next one is due, or UINT64_MAX after the
 * last.
 */
static uint64_t send_round(struct sender *sender)
{
	uint64_t now = now_ns(), next = UINT64_MAX;

	for (size_t i = 0; i < sender->flows_n; i++) {
		struct flow *flow = &sender->flows[i];

		if (due_ns(flow) <= now) {
			send_frame(sender, flow);
			flow->sent++;
		}
		if (due_ns(flow) < next)
			next = due_ns(flow);
	}
	return next;
}

static void send_flows(struct sender *sender)
{
	uint64_t start = now_ns(), next;

	for (size_t i = 0; i < sender->flows_n; i++)
		sender->flows[i].begin_ns = start + sender->flows[i].after_ns;
	while ((next = send_round(sender)) != UINT64_MAX) {
		struct timespec due = timespec_of(next);

		if (next > now_ns() + BUSY_WAIT_NS)
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
	}
}

static void print_sent(const struct flow *flow)
{
	if (flow->sources > LISTED_SOURCES_MOST) {
		printf("sent %s+%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", address_text(&flow->src),
		       flow->sources - 1, flow->count, flow->count * flow->len_bytes);
		return;
	}
	/* a source that had no turn is left out: the receiver cannot list it either */
	for (uint64_t i = 0; i < flow->sources && i < flow->count; i++) {
		uint64_t count = flow->count / flow->sources + (i < flow->count % flow->sources);
		struct address source = address_step(&flow->src, i);

		printf("sent %s %" PRIu64 " %" PRIu64 "\n", address_text(&source), count,
		       count * flow->len_bytes);
	}
}

static void open_sender(struct sender *sender)
{
	struct sockaddr_ll link;
	socklen_t len = sizeof(link);
	int on = 1;

	sender->fd = socket_open(sender->dev, 0);
	/* a queue can lose a frame silently (it does without carrier), the driver reports it */
	if (setsockopt(sender->fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)) ||
	    getsockname(sender->fd, (struct sockaddr *)&link, &len))
		die(1, "%s: cannot set up socket: %s", sender->dev, strerror(errno));
	memcpy(sender->frame.bytes, sender->to, ETH_ALEN);
	memcpy(sender->frame.bytes + ETH_ALEN, link.sll_addr, ETH_ALEN);
	/* the default slack of 50 us is more than the gap of many a rate */
	prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
}

static void add_flow(struct sender *sender, char *text)
{
	size_t n = sender->flows_n++;

	sender->flows = allocate(sender->flows, sender->flows_n, sizeof(*sender->flows));
	flow_parse(&sender->flows[n], n, text);
	if (!sender->flows[n].count)
		die(2, "flow %zu: incomplete: must have count=N", n);
}

static void set_option(struct sender *sender, const char *key, char *value)
{
	if (!strcmp(key, "dev"))
		sender->dev = value;
	else if (!strcmp(key, "flow"))
		add_flow(sender, value);
	else if (strcmp(key, "to"))
		die_of_usage();
	else if (!(sender->to = ether_aton(value)))
		die(2, "to '%s': invalid MAC: must be 00:11:22:33:44:55", value);
}

int command_send(char **words)
{
	static struct sender sender;

	for (; words[0] && words[1]; words += 2)
		set_option(&sender, words[0], words[1]);
	if (words[0] || !sender.dev || !sender.to || !sender.flows_n)
		die_of_usage();
	open_sender(&sender);
	send_flows(&sender);
	for (size_t i = 0; i < sender.flows_n; i++)
		print_sent(&sender.flows[i]);
	return 0;
}
