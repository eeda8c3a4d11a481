/* SPDX-License-Identifier: GPL-2.0 */
/*
 * `tally`: how many frames come out behind the XDP program, of each source of the flows, and of all
 * others. Counted by a program at the ingress hook, so none is missed, however fast they come.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tally.h"
#include "traffic.h"

#include "build/tests/tally.skel.h"

struct tallier {
	const char *dev;
	uint64_t for_ns;
	struct flow flows[TALLY_FLOWS_MOST];
	size_t flows_n;
	uint32_t sources; /* of them all */
	struct tally_bpf *object;
};

static void load_program(struct tallier *tallier)
{
	struct tally_bpf *object = tally_bpf__open();
	int err;

	if (!object)
		die(1, "%s: cannot open the program: %s", tallier->dev, strerror(errno));
	tallier->object = object;
	object->rodata->flows_n = tallier->flows_n;
	object->rodata->others = tallier->sources;
	for (size_t i = 0; i < tallier->flows_n; i++) {
		const struct address *first = &tallier->flows[i].src;
		struct tally_flow *set = &object->rodata->flows[i];

		set->sources = tallier->flows[i].sources;
		set->is_ipv6 = first->family == AF_INET6;
		for (size_t at = 0; at < (set->is_ipv6 ? 8 : 4); at++)
			set->first = set->first << 8 | first->bytes[at];
	}
	err = bpf_map__set_max_entries(object->maps.counts, tallier->sources + 1);
	if (!err)
		err = tally_bpf__load(object);
	if (err)
		die(1, "%s: cannot load the program: %s", tallier->dev, strerror(-err));
}

/* Runs until the time has elapsed, or until a signal. */
static void wait_for_end(const struct tallier *tallier)
{
	struct timespec end = timespec_of(tallier->for_ns);
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	fputs("ready\n", stderr);
	while (sigtimedwait(&signals, NULL, &end) < 0 && errno == EINTR)
		;
}

static void tally(struct tallier *tallier)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = if_nametoindex(tallier->dev),
		    .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = bpf_program__fd(tallier->object->progs.tally));
	int err = bpf_tc_hook_create(&hook);

	if (!err)
		err = bpf_tc_attach(&hook, &opts);
	if (err)
		die(1, "%s: cannot attach: %s", tallier->dev, strerror(-err));
	wait_for_end(tallier);
	hook.attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS; /* removes the queue as well */
	bpf_tc_hook_destroy(&hook);
}

static uint64_t count_of(const struct tallier *tallier, uint32_t key)
{
	int cpus = libbpf_num_possible_cpus();
	uint64_t *counts = allocate(NULL, cpus > 0 ? cpus : 1, sizeof(*counts)), sum = 0;

	if (cpus < 0 ||
	    bpf_map_lookup_elem(bpf_map__fd(tallier->object->maps.counts), &key, counts))
		die(1, "%s: cannot read the counts: %s", tallier->dev, strerror(errno));
	for (int i = 0; i < cpus; i++)
		sum += counts[i];
	free(counts);
	return sum;
}

/* "SOURCE PACKETS" of every source, "others PACKETS". */
static void print_counts(const struct tallier *tallier)
{
	uint32_t key = 0;

	for (size_t i = 0; i < tallier->flows_n; i++) {
		const struct flow *flow = &tallier->flows[i];

		for (uint64_t nth = 0; nth < flow->sources; nth++) {
			struct address source = address_step(&flow->src, nth);

			printf("%s %" PRIu64 "\n", address_text(&source), count_of(tallier, key++));
		}
	}
	printf("others %" PRIu64 "\n", count_of(tallier, key));
}

static void add_flow(struct tallier *tallier, char *text)
{
	struct flow *flow = &tallier->flows[tallier->flows_n];

	if (tallier->flows_n == TALLY_FLOWS_MOST)
		die(2, "flow '%s': too many: at most %d", text, TALLY_FLOWS_MOST);
	flow_parse(flow, tallier->flows_n++, text);
	tallier->sources += flow->sources;
}

int command_tally(char **words)
{
	static struct tallier tallier;

	for (; words[0] && words[1]; words += 2) {
		if (!strcmp(words[0], "dev"))
			tallier.dev = words[1];
		else if (!strcmp(words[0], "for"))
			tallier.for_ns = parse_time(words[0], words[1]);
		else if (!strcmp(words[0], "flow"))
			add_flow(&tallier, words[1]);
		else
			die_of_usage();
	}
	if (words[0] || !tallier.dev || !tallier.for_ns)
		die_of_usage();
	load_program(&tallier);
	tally(&tallier);
	print_counts(&tallier);
	tally_bpf__destroy(tallier.object);
	return 0;
}
