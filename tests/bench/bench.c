// SPDX-License-Identifier: GPL-2.0
/*
 * What the program adds to a packet: nanoseconds under BPF_PROG_TEST_RUN, one hot source, beside
 * floor programs in the same run. Rounds are interleaved, so that a machine that changes its speed
 * changes it for all; the median of the rounds is printed, and the difference to the floor. A tool
 * and not a test: it judges nothing.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ringfence/abi.h"
#include "rules.h"

#include "build/ringfence.skel.h"
#include "build/tests/floor.skel.h"

#define ROUNDS 15
#define REPEAT 1000000
#define TICK_NS 4000000

struct measured {
	const char *name;
	int fd;
	int verdict; /* what the program must answer, else the figure means nothing */
	double ns[ROUNDS];
};

struct frame {
	struct ethhdr eth;
	struct iphdr ip;
	unsigned char payload[30];
} __attribute__((packed));

static const struct frame frame = {
	.eth = {.h_proto = __builtin_bswap16(ETH_P_IP)},
	.ip = {.version = 4,
	       .ihl = 5,
	       .tot_len = __builtin_bswap16(50),
	       .ttl = 64,
	       .protocol = 17,
	       .saddr = __builtin_bswap32(0xc0000201)},
};

static void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

/* A program of its own for each limit, so that the rounds can be interleaved. */
static struct ringfence_bpf *load_ringfence(const struct rf_limit *limit)
{
	struct ringfence_bpf *object = ringfence_bpf__open_and_load();
	struct rf_config *config = calloc(1, sizeof(*config));
	__u32 key = 0, id = 1;

	if (!object || !config)
		die("ringfence");
	config->tick_ns = TICK_NS;
	if (limit)
		rf_rules_put(&config->bank[0], 0, limit, TICK_NS, &id);
	if (bpf_map__update_elem(object->maps.config, &key, sizeof(key), config, sizeof(*config),
				 BPF_ANY))
		die("config");
	free(config);
	return object;
}

/*
 * In whole ns, as the kernel takes the time of its loop. A clock around the system call would add
 * the grace periods that it waits for before and after.
 */
static double run_once(const struct measured *measured)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = &frame, .data_size_in = sizeof(frame),
		    .repeat = REPEAT);

	if (bpf_prog_test_run_opts(measured->fd, &run))
		die(measured->name);
	if ((int)run.retval != measured->verdict) {
		fprintf(stderr, "bench: %s: verdict %u, not %d\n", measured->name, run.retval,
			measured->verdict);
		exit(EXIT_FAILURE);
	}
	return run.duration;
}

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

static void print_row(struct measured *measured, double floor_ns)
{
	double median;

	qsort(measured->ns, ROUNDS, sizeof(double), compare_doubles);
	median = measured->ns[ROUNDS / 2];
	printf("%-46s %8.0f %8.0f %8.0f %10.0f\n", measured->name, median, measured->ns[0],
	       measured->ns[ROUNDS - 1], median - floor_ns);
}

static double median_of(const struct measured *measured)
{
	double copy[ROUNDS];

	memcpy(copy, measured->ns, sizeof(copy));
	qsort(copy, ROUNDS, sizeof(double), compare_doubles);
	return copy[ROUNDS / 2];
}

int main(void)
{
	const struct rf_limit pass = {"pass",	  RF_LIMIT_MAX, 1000000000, .cells = RF_CELLS,
				      .per4 = 32, .per6 = 64};
	const struct rf_limit drop = {"drop",	  1,	     3600000000000, .cells = RF_CELLS,
				      .per4 = 32, .per6 = 64};
	const struct rf_limit pass_ktime = {"fine",	RF_LIMIT_MAX, 100000000, .cells = RF_CELLS,
					    .per4 = 32, .per6 = 64};
	struct floor_bpf *floor = floor_bpf__open_and_load();
	struct ringfence_bpf *objects[] = {load_ringfence(NULL), load_ringfence(&pass),
					   load_ringfence(&drop), load_ringfence(&pass_ktime)};
	struct measured cases[] = {
		{.name = "bare XDP_DROP",
		 .fd = floor ? bpf_program__fd(floor->progs.bare_drop) : -1,
		 .verdict = XDP_DROP},
		{.name = "parse (bounds, type, source) + XDP_DROP",
		 .fd = floor ? bpf_program__fd(floor->progs.parse_drop) : -1,
		 .verdict = XDP_DROP},
		{.name = "ringfence, no limit",
		 .fd = bpf_program__fd(objects[0]->progs.ringfence),
		 .verdict = XDP_PASS},
		{.name = "ringfence, hot pass (cells in jiffies)",
		 .fd = bpf_program__fd(objects[1]->progs.ringfence),
		 .verdict = XDP_PASS},
		{.name = "ringfence, hot drop (cells in jiffies)",
		 .fd = bpf_program__fd(objects[2]->progs.ringfence),
		 .verdict = XDP_DROP},
		{.name = "ringfence, hot pass (cells in ns)",
		 .fd = bpf_program__fd(objects[3]->progs.ringfence),
		 .verdict = XDP_PASS},
	};
	const int count = sizeof(cases) / sizeof(cases[0]);

	if (!floor)
		die("floor programs");
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < count; i++)
			cases[i].ns[round] = run_once(&cases[i]);
	printf("%-46s %8s %8s %8s %10s\n", "ns a packet, one hot IPv4 source", "median", "min",
	       "max", "over parse");
	for (int i = 0; i < count; i++)
		print_row(&cases[i], median_of(&cases[1]));
	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
		ringfence_bpf__destroy(objects[i]);
	floor_bpf__destroy(floor);
	return 0;
}
