// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of `fleet.sh` that send: packets go through a fence's program by BPF_PROG_TEST_RUN.
 *
 *   asks latency FENCE COUNT      of that many new sources, one after the other, the time from
 *                                 the packet that requests a share until the share is granted
 *   asks new FENCE RATE SECONDS   a packet of RATE new sources a second, each with a request
 *   asks hold FENCE COUNT RATE    makes COUNT sources hold a claim: each requests and uses a share
 *   asks flood FENCE SECONDS      the cost of a packet of one source that sends all the time
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/units.h"
#include "fence/fence.h"
#include "tool.h"

#define COUNT_MAX 100000
#define LATENCY_MAX_NS (5 * RF_NS_PER_S)
#define PAUSE_NS (7 * RF_NS_PER_MS) /* between two sources: each finds an idle agent */
/*
 * Between two readings of a window. Shorter pauses never leave the CPU, and keep the agent off it.
 */
#define LOOK_NS 100000
#define FIRST_SOURCE 0x0a000000
#define LATENCY_SOURCE 0x20000000
#define FLOOD_SOURCE 0x0b000001
#define HOLD_SOURCE 0x30000000
#define HOLD_PACKETS 5		  /* beyond the amount that passes without a share */
#define HOLD_NS (2 * RF_NS_PER_S) /* until all have their shares */
#define FLOOD_BURST 20000	  /* packets of a call */
#define FLOOD_TURNS 3600

struct sender {
	int program_fd;
	struct small_frame frame;
};

static void open_sender(struct sender *sender, const char *fence)
{
	char path[256];

	snprintf(path, sizeof(path), RF_PIN_ROOT "/%s/xdp", fence);
	*sender = (struct sender){
		.program_fd = bpf_obj_get(path),
		.frame = small_frame(0),
	};
	if (sender->program_fd < 0)
		die("%s: %s", path, strerror(errno));
}

static void send_packets(struct sender *sender, uint32_t source, int count)
{
	struct bpf_test_run_opts run = {
		.sz = sizeof(run),
		.data_in = &sender->frame,
		.data_size_in = sizeof(sender->frame),
		.repeat = count,
	};

	sender->frame.ip.saddr = htonl(source);
	if (bpf_prog_test_run_opts(sender->program_fd, &run))
		die("cannot run the program: %s", strerror(errno));
}

static void send_one(struct sender *sender, uint32_t source)
{
	send_packets(sender, source, 1);
}

/* ---- latency ---- */

static void find_policy(const struct rf_fence *fence, struct rf_policy *policy)
{
	struct rf_error error = {};
	struct rf_bank bank;

	if (rf_fence_bank(fence, &bank, &error))
		die("%s", error.text);
	for (int i = 0; i < RF_LIMITS_MAX; i++)
		if (bank.policy[i].id && bank.policy[i].flags & RF_FLEET) {
			*policy = bank.policy[i];
			return;
		}
	die("no limit is of a fleet");
}

static bool has_share(const struct rf_fence *fence, const struct rf_policy *policy, uint32_t source)
{
	const struct rf_address address = {.word = {htonl(source)}, .version = 4};

	return rf_fence_room(fence, policy, &address, rf_fence_jiffies(fence)) > policy->first;
}

static uint64_t measure_one(const struct rf_fence *fence, const struct rf_policy *policy,
			    struct sender *sender, uint32_t source)
{
	const uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);

	send_one(sender, source);
	while (!has_share(fence, policy, source)) {
		if (clock_ns(CLOCK_MONOTONIC) > began_ns + LATENCY_MAX_NS)
			die("a source got no share in 5 s; does the agent hear the engine?");
		sleep_until(clock_ns(CLOCK_MONOTONIC) + LOOK_NS);
	}
	return clock_ns(CLOCK_MONOTONIC) - began_ns;
}

static int compare(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static void measure_latency(const char *name, uint32_t count)
{
	static uint64_t took_ns[COUNT_MAX];
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_error error = {};
	struct rf_policy policy;
	/* Different from an earlier run: a window's history changes its requests. */
	const uint32_t first = LATENCY_SOURCE + (getpid() % 1024 << 17);
	struct sender sender;

	if (rf_fence_open(&fence, name, &error))
		die("%s", error.text);
	find_policy(&fence, &policy);
	open_sender(&sender, name);
	prctl(PR_SET_TIMERSLACK, 1);
	for (uint32_t i = 0; i < count; i++) {
		took_ns[i] = measure_one(&fence, &policy, &sender, first + i);
		sleep_until(clock_ns(CLOCK_MONOTONIC) + PAUSE_NS);
	}
	qsort(took_ns, count, sizeof(*took_ns), compare);
	printf("%u asks: 50 %% %" PRIu64 " us, 99 %% %" PRIu64 " us, most %" PRIu64 " us\n", count,
	       took_ns[count / 2] / 1000, took_ns[count * 99 / 100] / 1000,
	       took_ns[count - 1] / 1000);
	rf_fence_close(&fence);
}

/* ---- many ---- */

/* Evenly, by the clock: packets that a busy machine delays follow immediately. */
static void send_each(struct sender *sender, uint32_t first, uint64_t count, uint32_t rate,
		      int packets)
{
	const uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);

	prctl(PR_SET_TIMERSLACK, 1);
	for (uint64_t i = 0; i < count; i++) {
		const uint64_t at_ns = began_ns + i * RF_NS_PER_S / rate;

		if (at_ns > clock_ns(CLOCK_MONOTONIC))
			sleep_until(at_ns);
		send_packets(sender, first + i, packets);
	}
	printf("%" PRIu64 " sources in %.2f s\n", count,
	       (double)(clock_ns(CLOCK_MONOTONIC) - began_ns) / RF_NS_PER_S);
}

static void send_new(const char *name, uint32_t rate, uint32_t seconds)
{
	struct sender sender;

	open_sender(&sender, name);
	send_each(&sender, FIRST_SOURCE + (1 << 20), (uint64_t)rate * seconds, rate, 1);
}

static void hold(const char *name, uint32_t count, uint32_t rate)
{
	struct sender sender;

	open_sender(&sender, name);
	send_each(&sender, HOLD_SOURCE, count, rate, 1);
	sleep_until(clock_ns(CLOCK_MONOTONIC) + HOLD_NS);
	send_each(&sender, HOLD_SOURCE, count, 4 * rate, HOLD_PACKETS);
}

/* ---- a flood ---- */

/* CPU time of a packet, in a turn of a second. */
static double flood_turn(struct sender *sender)
{
	const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + RF_NS_PER_S;
	const uint64_t before_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t packets = 0;

	for (; clock_ns(CLOCK_MONOTONIC) < end_ns; packets += FLOOD_BURST)
		send_packets(sender, FLOOD_SOURCE, FLOOD_BURST);
	return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns) / packets;
}

static int compare_ns(const void *a, const void *b)
{
	const double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static void measure_flood(const char *name, uint32_t turns)
{
	static double ns[FLOOD_TURNS];
	struct sender sender;

	open_sender(&sender, name);
	flood_turn(&sender);
	for (uint32_t i = 0; i < turns; i++)
		ns[i] = flood_turn(&sender);
	qsort(ns, turns, sizeof(*ns), compare_ns);
	printf("%.2f ns a packet, %.2f to %.2f\n", ns[turns / 2], ns[0], ns[turns - 1]);
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "latency") == 0)
		measure_latency(argv[2], parse_count(argv[3], COUNT_MAX));
	else if (argc == 5 && strcmp(argv[1], "new") == 0)
		send_new(argv[2], parse_count(argv[3], 1000000), parse_count(argv[4], 3600));
	else if (argc == 5 && strcmp(argv[1], "hold") == 0)
		hold(argv[2], parse_count(argv[3], COUNT_MAX), parse_count(argv[4], 1000000));
	else if (argc == 4 && strcmp(argv[1], "flood") == 0)
		measure_flood(argv[2], parse_count(argv[3], FLOOD_TURNS));
	else
		die("expects 'latency FENCE COUNT', 'new FENCE RATE SECONDS', 'hold FENCE COUNT "
		    "RATE' or 'flood FENCE SECONDS'");
	return 0;
}
