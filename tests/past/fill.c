// SPDX-License-Identifier: GPL-2.0
/*
 * fill OBJECT settled|trial|fell_back|open|fell_open [chain] IF...: attaches a fence of a past map
 * ABI to interfaces, alone or in libxdp's chain, with rules as the command line of that time wrote
 * them. Bank 0 has all kinds of rules, bank 1 has one limit. Compiled once for each ABI, whose
 * abiN.h the compiler includes first. Limits that only later ABIs can have are in shapes.h.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xdp/libxdp.h>

#if RF_ABI_VERSION < 8
#define packet_class class /* its name then */
#endif

/* The numbers of that time. */
enum { SLIDING, FIXED, LOG, TOKEN, LEAKY };
enum { STRICT, COARSE, WEIGHTED };
enum { PACKETS, BYTES };
enum { SHADOW = 1, COUNT_REJECTED = 2, EXACT = 4, BAN_ALL = 16 };
enum { ANY, TCP, SYN, UDP, ICMP, PROTOCOL, OTHER };
enum { NEWCOMERS_AGGREGATE = 3 };
enum { FALL_BACK, FALL_OPEN };

#define S 1000000000ULL
#define CELLS (RF_ABI_VERSION < 8 ? 16 : 31) /* by default */

static const struct rf_limit limits[RF_LIMITS_MAX] = {
	[0] = {.name = "any",
	       .rate = 20000,
	       .window_ns = S,
	       .cells = CELLS,
	       .per4 = 32,
	       .per6 = 64},
	[1] = {.name = "partner",
	       .rate = 200000,
	       .window_ns = S,
	       .cells = CELLS,
	       .per4 = 32,
	       .per6 = 64,
	       .has_from = 1},
	[3] = {.name = "synack",
	       .rate = 100,
	       .window_ns = 10 * S,
	       .cells = CELLS,
	       .per4 = 32,
	       .per6 = 64,
	       .match = SYN,
	       .has_ports = 1},
	[4] = {.name = "resolver",
	       .rate = 500,
	       .window_ns = S,
	       .cells = 8,
	       .edge = WEIGHTED,
	       .per4 = 24,
	       .per6 = 48,
	       .match = UDP,
	       .has_ports = 1,
	       .flags = SHADOW | EXACT},
	[5] = {.name = "login",
	       .rate = 5,
	       .window_ns = 60 * S,
	       .algorithm = LOG,
	       .cells = 1,
	       .per4 = 32,
	       .per6 = 64,
	       .match = PROTOCOL,
	       .protocol = 47,
	       .ban_ns = 600 * S},
	[31] = {.name = "icmp6",
		.rate = 1250000,
		.window_ns = S,
		.burst = 1000000,
		.algorithm = TOKEN,
		.unit = BYTES,
		.cells = 1,
		.per4 = 32,
		.per6 = 64,
		.match = ICMP,
		.flags = COUNT_REJECTED},
};

#if RF_ABI_VERSION >= 8
#include "shapes.h"
#endif

static void check(bool ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(1);
	}
}

/* The class of packets to TCP's ports 80, 443 and 8000-8010 is 1, that of UDP's port 53 is 2. */
static void fill_ports(int fd)
{
	static struct rf_ports ports;
	__u32 bank = 0;

	ports.packet_class[1][80] = ports.packet_class[1][443] = 1;
	for (int port = 8000; port <= 8010; port++)
		ports.packet_class[1][port] = 1;
	ports.packet_class[2][53] = 2;
#if RF_ABI_VERSION >= 8
	shape_ports(&ports);
#endif
	check(!bpf_map_update_elem(fd, &bank, &ports, BPF_ANY), "ports");
}

struct entry {
	const char *prefix;
	__u32 length;
	__u64 allow, deny; /* 0: not on the list, 1: for good, else ticks from now */
	__u32 from;
};

static const struct entry entries[] = {
	{"203.0.113.0", 24, 1, 0, 0},	    {"192.0.2.66", 32, 0, 10000000, 0},
	{"198.51.100.0", 24, 0, 0, 1 << 1}, {"2001:db8::", 32, 0, 0, 1 << 1},
	{"2001:db8:66::", 48, 0, 1, 0},
};

static __u64 until(__u64 ticks, __u64 now)
{
	return ticks < 2 ? ticks * RF_FOREVER : now + ticks;
}

static void fill_trie(int outer, int family, __u64 now)
{
	const size_t key_size = family == AF_INET ? 8 : 20;
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);
	int fd = bpf_map_create(BPF_MAP_TYPE_LPM_TRIE, "trie", key_size,
				sizeof(struct rf_prefix_value), 5, &options);
	__u32 bank = 0;

	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		const struct entry *entry = &entries[i];
		struct rf_prefix_key6 key = {.length = entry->length};
		struct rf_prefix_value value = {
			.own_allow_until = until(entry->allow, now),
			.own_deny_until = until(entry->deny, now),
			.own_from = entry->from,
		};

		if (inet_pton(family, entry->prefix, key.address) == 1)
			check(!bpf_map_update_elem(fd, &key, &value, BPF_ANY), "prefix");
	}
	check(!bpf_map_update_elem(outer, &bank, &fd, BPF_ANY), "trie");
}

static void put_limit(struct rf_bank *bank, int slot, const struct rf_limit *limit)
{
	bank->limit[slot] = *limit;
	bank->policy[slot].id = 17 + slot;
}

static void fill_config(struct rf_config *config, const char *state)
{
	const struct rf_limit new = {
		.name = "new", .rate = 7, .window_ns = S, .cells = CELLS, .per4 = 32, .per6 = 64};

	const int ticks = strncmp(state, "fell", 4) == 0 ? -2500 : 1000000; /* of the trial left */

	config->tick_ns = 4000000;
	strcpy(config->name, "old");
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (limits[slot].rate)
			put_limit(&config->bank[0], slot, &limits[slot]);
	config->bank[0].packet_class[1].limits = 1 << 0 | 1 << 3;
	config->bank[0].packet_class[2].limits = 1 << 0 | 1 << 4;
	config->bank[0].packet_class[0].limits = 1 << 0;
	config->bank[0].newcomers =
		(struct rf_newcomers){.rate = 10000, .window_ns = S, .then = NEWCOMERS_AGGREGATE};
#if RF_ABI_VERSION >= 8
	shape_bank(&config->bank[0]);
#endif
	put_limit(&config->bank[1], 0, &new);
	config->active = 2;
	if (strcmp(state, "settled") == 0)
		return;
	if (strstr(state, "open")) {
		config->bank[0].fallback = FALL_OPEN;
		config->bank[0].deadline = config->base.jiffies + ticks;
		return;
	}
	config->active = 3;
	config->bank[1].deadline = config->base.jiffies + ticks;
}

/* As a component of libxdp's dispatcher, with the maps that were filled. */
static void attach_in_chain(const char *path, const struct bpf_object *filled, int index)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	DECLARE_LIBXDP_OPTS(xdp_program_opts, options, .obj = object, .prog_name = "ringfence");
	struct bpf_map *map, *from = bpf_object__next_map(filled, NULL);
	struct bpf_program *other;
	struct xdp_program *program;

	check(object, "open");
	bpf_object__for_each_map(map, object)
	{
		check(!bpf_map__reuse_fd(map, bpf_map__fd(from)), "map");
		from = bpf_object__next_map(filled, from);
	}
	bpf_object__for_each_program (other, object)
		bpf_program__set_autoload(other,
					  strcmp(bpf_program__name(other), "ringfence") == 0);
	program = xdp_program__create(&options);
	check(!libxdp_get_error(program), "create");
	check(!xdp_program__set_run_prio(program, 20), "priority");
	check(!xdp_program__attach(program, index, XDP_MODE_NATIVE, 0), "attach in a chain");
}

int main(int argc, char **argv)
{
	struct bpf_object *object = argc > 3 ? bpf_object__open_file(argv[1], NULL) : NULL;
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = "01234567890123456789", .data_size_in = 20);
	struct rf_config config;
	int program, map;
	bool in_chain;
	__u32 key = 0;

	check(object && !bpf_object__load(object), "load");
	program = bpf_program__fd(bpf_object__find_program_by_name(object, "ringfence"));
	map = bpf_object__find_map_fd_by_name(object, ".bss");
	check(!bpf_prog_test_run_opts(program, &run), "run"); /* it sets the clock */
	check(!bpf_map_lookup_elem(map, &key, &config), "config");
	fill_config(&config, argv[2]);
	fill_ports(bpf_object__find_map_fd_by_name(object, "ports"));
	fill_trie(bpf_object__find_map_fd_by_name(object, "prefixes4"), AF_INET,
		  config.base.jiffies);
	fill_trie(bpf_object__find_map_fd_by_name(object, "prefixes6"), AF_INET6,
		  config.base.jiffies);
	check(!bpf_map_update_elem(map, &key, &config, BPF_ANY), "config");
	in_chain = strcmp(argv[3], "chain") == 0;
	for (int i = 3 + in_chain; i < argc; i++) {
		const int index = if_nametoindex(argv[i]);

		if (in_chain)
			attach_in_chain(argv[1], object, index);
		else
			check(!bpf_xdp_attach(index, program, XDP_FLAGS_DRV_MODE, NULL), "attach");
	}
	return 0;
}
