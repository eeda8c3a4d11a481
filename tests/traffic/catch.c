/* SPDX-License-Identifier: GPL-2.0 */
/*
 * `catch`: counts and drops responses to forged sources, with an XDP program on the sender's
 * interface. The flows list the sources. Prints "KIND FRAMES LONGEST" for each kind of response, on
 * exit and on SIGUSR1.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forge.h"
#include "traffic.h"

#include "build/tests/catch.skel.h"

struct catcher {
	const char *dev;
	uint64_t for_ns;
	struct flow flows[CATCH_RANGES_MOST];
	size_t flows_n;
	struct catch_bpf *object;
};

static void load_program(struct catcher *catcher)
{
	struct catch_bpf *object = catch_bpf__open();
	int err;

	if (!object)
		die(1, "%s: cannot open the program: %s", catcher->dev, strerror(errno));
	catcher->object = object;
	object->rodata->ranges_n = catcher->flows_n;
	for (size_t i = 0; i < catcher->flows_n; i++)
		object->rodata->ranges[i] = (struct catch_range){
			.first = address_number(&catcher->flows[i].src),
			.sources = catcher->flows[i].sources,
			.is_ipv6 = catcher->flows[i].src.family == AF_INET6,
		};
	err = catch_bpf__load(object);
	if (err)
		die(1, "%s: cannot load the program: %s", catcher->dev, strerror(-err));
}

static struct catch_count count_of(const struct catcher *catcher, uint32_t kind)
{
	int cpus = libbpf_num_possible_cpus();
	struct catch_count *counts = allocate(NULL, cpus > 0 ? cpus : 1, sizeof(*counts)), sum = {};

	if (cpus < 0 ||
	    bpf_map_lookup_elem(bpf_map__fd(catcher->object->maps.counts), &kind, counts))
		die(1, "%s: cannot read the counts: %s", catcher->dev, strerror(errno));
	for (int i = 0; i < cpus; i++) {
		sum.frames += counts[i].frames;
		if (counts[i].longest > sum.longest)
			sum.longest = counts[i].longest;
	}
	free(counts);
	return sum;
}

static void print_counts(const struct catcher *catcher)
{
	static const char *const names[] = {"synack", "reset", "truncated", "other"};

	for (uint32_t kind = 0; kind < CATCH_KINDS; kind++) {
		struct catch_count count = count_of(catcher, kind);

		printf("%s %" PRIu64 " %" PRIu64 "\n", names[kind], (uint64_t)count.frames,
		       (uint64_t)count.longest);
	}
	fflush(stdout);
}

static void catch_responses(const struct catcher *catcher)
{
	const uint64_t end = now_ns() + catcher->for_ns;
	const int index = if_nametoindex(catcher->dev);
	int err;

	if (!index)
		die(1, "%s: cannot find interface: no such device", catcher->dev);
	err = bpf_xdp_attach(index, bpf_program__fd(catcher->object->progs.catch_responses),
			     XDP_FLAGS_DRV_MODE | XDP_FLAGS_UPDATE_IF_NOEXIST, NULL);
	if (err)
		die(1, "%s: cannot attach: %s", catcher->dev, strerror(-err));
	await_signals();
	fputs("ready\n", stderr);
	while (signal_until(end) == SIGUSR1)
		print_counts(catcher);
	bpf_xdp_detach(index, XDP_FLAGS_DRV_MODE, NULL);
}

static void add_flow(struct catcher *catcher, char *text)
{
	if (catcher->flows_n == CATCH_RANGES_MOST)
		die(2, "flow '%s': too many: at most %d", text, CATCH_RANGES_MOST);
	flow_parse(&catcher->flows[catcher->flows_n], catcher->flows_n, text);
	catcher->flows_n++;
}

int command_catch(char **words)
{
	static struct catcher catcher;

	for (; words[0] && words[1]; words += 2) {
		if (!strcmp(words[0], "dev"))
			catcher.dev = words[1];
		else if (!strcmp(words[0], "for"))
			catcher.for_ns = parse_time(words[0], words[1]);
		else if (!strcmp(words[0], "flow"))
			add_flow(&catcher, words[1]);
		else
			die_of_usage();
	}
	if (words[0] || !catcher.dev || !catcher.for_ns)
		die_of_usage();
	load_program(&catcher);
	catch_responses(&catcher);
	print_counts(&catcher);
	catch_bpf__destroy(catcher.object);
	return 0;
}
