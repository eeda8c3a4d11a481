// SPDX-License-Identifier: GPL-2.0
/*
 * Puts groups together: their rows, the rows' programs, and the size of the fence that they need.
 */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#include "build/tests/floor.skel.h"
#include "build/tests/sketch.skel.h"

#define WINDOW_BYTES 288 /* of memory, the larger of the two families */

struct floor_bpf *floors;
struct sketch_bpf *sketches;

struct group *group_begin(struct report *report, const struct bench_options *options,
			  enum family family, const char *name)
{
	static const char *const names[FAMILIES] = {"ipv4", "ipv6"};
	struct group *group = &report->group[report->groups];

	if (report->groups == GROUPS_MAX)
		die("too many groups");
	*group = (struct group){};
	snprintf(group->name, sizeof(group->name), "%s/%s", names[family], name);
	if (options->only && !strstr(group->name, options->only))
		return NULL;
	report->groups++;
	return group;
}

struct target *group_add_target(struct group *group)
{
	if (group->targets == ROWS_MAX)
		die("%s: too many programs", group->name);
	return &group->target[group->targets++];
}

struct row *group_add_row(struct group *group, const char *name, const char *says,
			  struct target *target, int verdict)
{
	struct row *row = &group->row[group->rows++];

	if (group->rows > ROWS_MAX)
		die("%s: too many rows", group->name);
	*row = (struct row){.says = says, .target = target, .verdict = verdict};
	snprintf(row->name, sizeof(row->name), "%s", name);
	return row;
}

struct row *group_add_program(struct group *group, const char *name, const char *says,
			      const struct bpf_program *program)
{
	struct target *target = group_add_target(group);

	target_open(target, bpf_program__fd(program));
	return group_add_row(group, name, says, target, XDP_DROP);
}

struct row *group_add_floor(struct group *group, enum family family)
{
	return group_add_program(group, "floor", "bounds, type, source, XDP_DROP",
				 family == IPV4 ? floors->progs.parse4_drop
						: floors->progs.parse6_drop);
}

struct row *group_add_sketch(struct group *group, enum family family, uint32_t sources)
{
	const struct bpf_program *program = sketches->progs.sketch_2M;
	struct row *row;

	if (group_leases(sources) <= 1 << 18)
		program = sketches->progs.sketch_256k;
	if (group_leases(sources) <= 1 << 16)
		program = sketches->progs.sketch_64k;
	row = group_add_program(group, "one-line", "drops all, touches an entry of an array",
				program);
	frame_set(&row->frame, family, 0, sources, 1);
	return row;
}

/* Leases of a CPU: twice as many as sources, so few sources remain without one. */
uint32_t group_leases(uint32_t sources)
{
	uint32_t each = RF_LEASES_DEFAULT / libbpf_num_possible_cpus();

	while (each < 2 * sources)
		each *= 2;
	return each;
}

uint32_t group_room(uint32_t sources)
{
	uint32_t room = sources + sources / 4;

	return room > RF_SOURCES_DEFAULT ? room : RF_SOURCES_DEFAULT;
}

void group_end(struct group *group, const struct bench_options *options)
{
	if (!group->skipped)
		run_group(group, options);
	for (int i = 0; i < group->targets; i++)
		target_close(&group->target[i]);
	if (!options->json)
		table_group(group);
}

bool group_has_memory(struct group *group, uint64_t windows)
{
	uint64_t free_bytes = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE);

	if (windows * WINDOW_BYTES > free_bytes / 2)
		group->skipped = "the windows would take more than half of the free memory";
	return !group->skipped;
}
