/* SPDX-License-Identifier: GPL-2.0 */
/*
 * `flood`: sends as many frames as the CPUs can, by threads that repeat a program. veth puts frames
 * that CPU n redirects into the peer's receive queue n, and runs the peer's program on the same
 * CPU. Tens of frames pass back to back, so two CPUs meet at one source as often as behind a
 * network card, and not once in a thousand system calls.
 *
 * Flows with after=TIME wait for SIGUSR1, and then for TIME. With `rest` each thread sleeps for the
 * given time after some thousand frames, which leaves the CPUs to others between slow flows.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <netinet/ether.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flood.h"
#include "traffic.h"

#include "build/tests/flood.skel.h"

struct flooder {
	const char *dev;
	struct ether_addr *to;
	uint64_t for_ns;
	struct flow flows[FLOOD_FLOWS_MOST];
	size_t flows_n;
	const char *each;   /* file */
	struct frame frame; /* of the first flow */
	struct flood_bpf *object;
	struct repeat repeat;
};

static void build_frame(struct flooder *flooder, const struct flow *flow, struct frame *frame)
{
	struct flow longer = *flow;
	size_t stamp_at = flow->src.family == AF_INET ? FLOOD_STAMP4_AT : FLOOD_STAMP6_AT;

	longer.len_bytes = FLOOD_FRAME_BYTES;
	frame_build(frame, &longer);
	if (frame->used != stamp_at + sizeof(struct stamp) || flow->proto != PROTO_UDP)
		die(2, "flow %" PRIu32 ": cannot be flooded: must be UDP, without tags",
		    flow->number);
	memset(frame->bytes + frame->used, 0, FLOOD_FRAME_BYTES - frame->used);
	memcpy(frame->bytes, flooder->to, ETH_ALEN);
}

static void set_flow(struct flooder *flooder, size_t i)
{
	const struct flow *flow = &flooder->flows[i];
	struct flood_flow *set = &flooder->object->rodata->flows[i];
	struct frame frame;

	build_frame(flooder, flow, &frame);
	memcpy(set->head, frame.bytes, sizeof(set->head));
	set->is_ipv6 = flow->src.family == AF_INET6;
	set->first = address_number(&flow->src);
	set->sources = flow->sources;
	set->random = flow->random;
	set->after_ns = flow->after_ns;
	set->ramp = flow->ramp;
	if (flow->is_staggered)
		set->stagger = flow->sources / flooder->repeat.cpus_n;
	if (flow->rate_pps)
		set->gap_ns = flooder->repeat.cpus_n * NS_PER_SEC / flow->rate_pps;
	if (flow->then_pps)
		set->then_gap_ns = flooder->repeat.cpus_n * NS_PER_SEC / flow->then_pps;
}

static void load_program(struct flooder *flooder)
{
	unsigned int to = if_nametoindex(flooder->dev);
	struct flood_bpf *object = flood_bpf__open();
	int err;

	if (!to)
		die(1, "%s: cannot find interface: no such device", flooder->dev);
	if (!object)
		die(1, "%s: cannot open the program: %s", flooder->dev, strerror(errno));
	flooder->object = object;
	object->rodata->to = to;
	object->rodata->seed = now_ns();
	object->rodata->flows_n = flooder->flows_n;
	for (size_t i = 0; i < flooder->flows_n; i++)
		set_flow(flooder, i);
	err = flood_bpf__load(object);
	if (err)
		die(1, "%s: cannot load the program: %s", flooder->dev, strerror(-err));
}

/* Runs until the time has elapsed, or until a signal; SIGUSR1 starts the flows that wait for it. */
static void flood(struct flooder *flooder)
{
	uint64_t end = now_ns() + flooder->for_ns;

	repeat_start(&flooder->repeat);
	for (int signal; (signal = signal_until(end));) {
		if (signal != SIGUSR1)
			break;
		flooder->object->bss->begun_ns = now_ns();
	}
	repeat_stop(&flooder->repeat);
}

static void read_states(const struct flooder *flooder, struct flood_state *states)
{
	__u32 key = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(flooder->object->maps.states), &key, states))
		die(1, "%s: cannot count what was sent: %s", flooder->dev, strerror(errno));
}

/* The frames of that flow; of its nth source only, unless `nth` is UINT64_MAX. */
static uint64_t count_sent(const struct flooder *flooder, const struct flood_state *states,
			   size_t flow, uint64_t nth)
{
	uint64_t sources = flooder->flows[flow].sources, count = 0;
	uint64_t stagger = flooder->object->rodata->flows[flow].stagger;

	for (size_t i = 0; i < flooder->repeat.cpus_n; i++) {
		uint64_t sent = states[flooder->repeat.threads[i].cpu].sent[flow];
		uint64_t begin = flooder->repeat.threads[i].cpu * stagger % sources;
		uint64_t after = (nth + sources - begin) % sources; /* the one it started with */

		count += nth == UINT64_MAX ? sent : sent / sources + (after < sent % sources);
	}
	return count;
}

/* "SOURCE PACKETS" of every source, of the flows without `random` and `ramp`. */
static void write_each(const struct flooder *flooder, const struct flood_state *states)
{
	FILE *each = fopen(flooder->each, "we");

	if (!each)
		die(1, "%s: cannot write: %s", flooder->each, strerror(errno));
	for (size_t i = 0; i < flooder->flows_n; i++) {
		const struct flow *flow = &flooder->flows[i];

		for (uint64_t nth = 0; nth < flow->sources && !flow->random && !flow->ramp; nth++) {
			struct address source = address_step(&flow->src, nth);

			fprintf(each, "%s %" PRIu64 "\n", address_text(&source),
				count_sent(flooder, states, i, nth));
		}
	}
	if (fclose(each))
		die(1, "%s: cannot write: %s", flooder->each, strerror(errno));
}

/* "sent FIRST[+MORE] PACKETS BYTES" of every flow, "cpu N PACKETS" of every CPU. */
static void print_sent(const struct flooder *flooder)
{
	int cpus = libbpf_num_possible_cpus();
	struct flood_state *states = allocate(NULL, cpus > 0 ? cpus : 1, sizeof(*states));

	if (cpus < 0)
		die(1, "%s: cannot count the CPUs: %s", flooder->dev, strerror(-cpus));
	read_states(flooder, states);
	for (size_t i = 0; i < flooder->flows_n; i++) {
		const struct flow *flow = &flooder->flows[i];
		uint64_t sent = count_sent(flooder, states, i, UINT64_MAX);

		printf("sent %s", address_text(&flow->src));
		if (flow->random)
			printf("+random");
		else if (flow->sources > 1)
			printf("+%" PRIu64, flow->sources - 1);
		printf(" %" PRIu64 " %" PRIu64 "\n", sent, sent * FLOOD_FRAME_BYTES);
	}
	for (size_t j = 0; j < flooder->repeat.cpus_n; j++)
		printf("cpu %d %" PRIu32 "\n", flooder->repeat.threads[j].cpu,
		       states[flooder->repeat.threads[j].cpu].sequence);
	if (flooder->each)
		write_each(flooder, states);
	free(states);
}

static void add_flow(struct flooder *flooder, char *text)
{
	struct flow *flow = &flooder->flows[flooder->flows_n];

	if (flooder->flows_n == FLOOD_FLOWS_MOST)
		die(2, "flow '%s': too many: at most %d", text, FLOOD_FLOWS_MOST);
	flow_parse(flow, flooder->flows_n, text);
	if (flow->count)
		die(2, "flow %zu: cannot be flooded: must have no count", flooder->flows_n);
	flooder->flows_n++;
}

static void set_option(struct flooder *flooder, const char *key, char *value)
{
	if (!strcmp(key, "dev"))
		flooder->dev = value;
	else if (!strcmp(key, "for"))
		flooder->for_ns = parse_time(key, value);
	else if (!strcmp(key, "rest"))
		flooder->repeat.rest_ns = parse_time(key, value);
	else if (!strcmp(key, "flow"))
		add_flow(flooder, value);
	else if (!strcmp(key, "cpu"))
		repeat_add_cpu(&flooder->repeat, value);
	else if (!strcmp(key, "each"))
		flooder->each = value;
	else if (strcmp(key, "to"))
		die_of_usage();
	else if (!(flooder->to = ether_aton(value)))
		die(2, "to '%s': invalid MAC: must be 00:11:22:33:44:55", value);
}

int command_flood(char **words)
{
	static struct flooder flooder;

	for (; words[0] && words[1]; words += 2)
		set_option(&flooder, words[0], words[1]);
	if (words[0] || !flooder.dev || !flooder.to || !flooder.for_ns || !flooder.flows_n ||
	    !flooder.repeat.cpus_n)
		die_of_usage();
	build_frame(&flooder, &flooder.flows[0], &flooder.frame);
	load_program(&flooder);
	flooder.repeat.program = bpf_program__fd(flooder.object->progs.flood);
	flooder.repeat.frame = flooder.frame.bytes;
	flooder.repeat.frame_bytes = FLOOD_FRAME_BYTES;
	flood(&flooder);
	print_sent(&flooder);
	flood_bpf__destroy(flooder.object);
	return 0;
}
