// SPDX-License-Identifier: GPL-2.0
/* The rows of sources that have no window yet. */
#include <linux/bpf.h>
#include <stdio.h>

#include "bench.h"
#include "tests/limits.h"

#define NEWCOMERS 65536 /* in a round: a map with room must hold those of all turns */

static struct row *walk_newcomers(struct row *row, enum family family, uint32_t windows, bool fill)
{
	frame_set(&row->frame, family, 0, ALL_SOURCES, 1);
	row->repeat = NEWCOMERS;
	row->warm = fill ? windows + windows / 4 : 0;
	return row;
}

/*
 * Every packet is from a source that was never seen. `fill`: the map is full of others. `then`: how
 * newcomers over the rate are handled, which is one an hour: all of them except the first.
 */
static struct row *add_newcomers(struct group *group, const char *name, const char *says,
				 enum family family, uint32_t windows, bool fill,
				 enum rf_newcomers_then then)
{
	const struct load load = {.limit = KNOWN_PASS, .then = then};
	struct target *target = group_add_target(group);
	struct row *row;

	target_open_fence(target, family, windows, RF_LEASES_DEFAULT, &load);
	row = group_add_row(group, name, says, target,
			    then == RF_NEWCOMERS_DROP ? XDP_DROP : XDP_PASS);
	return walk_newcomers(row, family, windows, fill);
}

/* Newcomers that get a window, compared with the minimum cost in such a map. */
static void add_inserted(struct group *group, const char *where, const char *says,
			 enum family family, uint32_t windows, bool fill)
{
	const int base = group->rows;
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "insert%s", where);
	walk_newcomers(crowd_add_insert(group, name, family, windows, fill), family, windows, fill);
	snprintf(name, sizeof(name), "newcomer%s", where);
	add_newcomers(group, name, says, family, windows, fill, RF_NEWCOMERS_OFF)->base = base;
}

/* Makes room for all rounds of this many turns; returns false if there is not enough memory. */
static bool has_room(struct group *group, const struct bench_options *options, int turns,
		     uint32_t *room)
{
	*room = group_room(NEWCOMERS * options->rounds * turns);
	group->turns_most = turns;
	group->skipped = NULL;
	return group_has_memory(group, 2 * ((uint64_t)*room + (2 << 20)));
}

void measure_newcomers(struct report *report, const struct bench_options *options,
		       enum family family)
{
	struct group *group = group_begin(report, options, family, "new");
	uint32_t all_turns;

	if (!group)
		return;
	if (has_room(group, options, options->turns, &all_turns) ||
	    has_room(group, options, 1, &all_turns)) {
		frame_set(&group_add_floor(group, family)->frame, family, 0, ALL_SOURCES, 1);
		add_inserted(group, "", "into a map that has room", family, all_turns, false);
		add_inserted(group, "-full-64k", "into a full map of 64k", family, 65536, true);
		if (!options->quick)
			add_inserted(group, "-full-1M", "into a full map of 1M", family, 1 << 20,
				     true);
		add_newcomers(group, "drop", "beyond the guard: dropped", family, 65536, true,
			      RF_NEWCOMERS_DROP);
		add_newcomers(group, "pass", "beyond the guard: passes", family, 65536, true,
			      RF_NEWCOMERS_PASS);
		add_newcomers(group, "aggregate", "beyond the guard: to its prefix", family, 65536,
			      true, RF_NEWCOMERS_AGGREGATE);
	}
	group_end(group, options);
}
