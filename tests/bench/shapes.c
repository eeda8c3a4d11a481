// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of limits that match a packet's shape: source port, destination, length, TCP flags. One
 * hot source that passes by a lease; the row `none` is the same limit without these words.
 */
#include <bpf/libbpf.h>

#include "bench.h"

#define ALL "any rate 2147483648/1m match tcp"
#define FLAGS " flags ACK/SYN,ACK,RST"
#define OTHERS4                                                                     \
	"203.0.113.2,203.0.113.3,203.0.113.4,203.0.113.5,203.0.113.6,198.51.100.1," \
	"198.51.100.2,"
#define OTHERS6                                                                              \
	"2001:db8:1::2,2001:db8:1::3,2001:db8:1::4,2001:db8:1::5,2001:db8:1::6,2001:db8::1," \
	"2001:db8::2,"

static const struct shape_path {
	const char *name;
	const char *says;
	const char *words[FAMILIES];
} paths[] = {
	{"none", "no limit asks for a shape", {ALL, ALL}},
	{"sport", "sport", {ALL " sport 53", ALL " sport 53"}},
	{"to", "to, one prefix", {ALL " to 203.0.113.1", ALL " to 2001:db8:1::1"}},
	{"length", "length", {ALL " length 60-1514", ALL " length 60-1514"}},
	{"flags", "flags", {ALL FLAGS, ALL FLAGS}},
	{"four",
	 "sport, to, length and flags",
	 {ALL FLAGS " sport 53 length 60-1514 to 203.0.113.1",
	  ALL FLAGS " sport 53 length 60-1514 to 2001:db8:1::1"}},
	{"four-to8",
	 "the same, and the eighth prefix of `to` matches",
	 {ALL FLAGS " sport 53 length 60-1514 to " OTHERS4 "203.0.113.0/24",
	  ALL FLAGS " sport 53 length 60-1514 to " OTHERS6 "2001:db8:1::/64"}},
};

#define PATHS (sizeof(paths) / sizeof(paths[0]))

static void add_shape(struct group *group, const struct shape_path *path, enum family family)
{
	const struct load load = {.words = path->words[family]};
	struct target *target = group_add_target(group);
	struct row *row;

	target_open_fence(target, family, group_room(1),
			  group_leases(1) * libbpf_num_possible_cpus(), &load);
	row = group_add_row(group, path->name, path->says, target, XDP_PASS);
	frame_set(&row->frame, family, 0, 1, 1);
	frame_make_tcp(&row->frame);
}

void measure_shapes(struct report *report, const struct bench_options *options, enum family family)
{
	struct group *group = group_begin(report, options, family, "shapes");
	struct row *floor;

	if (!group)
		return;
	floor = group_add_floor(group, family);
	frame_set(&floor->frame, family, 0, 1, 1);
	frame_make_tcp(&floor->frame);
	for (size_t i = 0; i < PATHS; i++)
		add_shape(group, &paths[i], family);
	group_end(group, options);
}
