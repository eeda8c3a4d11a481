// SPDX-License-Identifier: GPL-2.0
/*
 * Random walks through the world of a few hosts, by dice that can be thrown again: in each row
 * something else goes wrong. Prints TAP, and of a walk that breaks the bound every step.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/*
 * L, f, W, G, ticks, reports. If no host passes packets without a share, one packet breaks the
 * bound.
 */
#define LOOSE 4, 1, 3, 2, 16, 9
#define STRICT 1, 0, 1, 2, 16, 9
#define PARTS 2, 0, 2, 2, 16, 9

static const struct row rows[] = {
	{"reports late and out of order", LOOSE, .steady = true},
	{"reports twice", LOOSE, .steady = true, .twice = 3},
	{"a packet between limit and charge", LOOSE, .steady = true, .packets = true},
	{"the engine forgets all", LOOSE, .forgets = 2},
	{"the engine forgets all, and a host is new", LOOSE, .forgets = 1, .stranger = true},
	{"the engine's clock steps", LOOSE, .steps = 2},
	{"heartbeats late, twice and out of order", PARTS, .beats = 20, .twice = 3, .forgets = 1},
	{"a host reboots", PARTS, .reboots = 2},
	{"windows are evicted", STRICT, .evictions = 3, .steady = true},
	{"a limit is defined anew", PARTS, .changes = HOSTS, .steady = true},
	{"nothing passes unasked, the engine forgets all", STRICT, .forgets = 2},
	{"nothing passes unasked, a host reboots", STRICT, .reboots = 2},
	{"answers to heartbeats late", STRICT, .holds = 1, .slow = true},
	{"a replica that lost writes takes over", PARTS, .losses = 2, .expires = true},
	{"hosts contest the source", LOOSE, .steady = true, .contests = true, .twice = 3},
	{"hosts contest the source, the engine forgets all", PARTS, .contests = true, .forgets = 1},
	{"the engine forgets all, offline initial", PARTS, .strict = true, .forgets = 2},
	{"a host reboots, offline initial", STRICT, .strict = true, .reboots = 2},
	{"heartbeats late, hosts contest the source, offline initial", PARTS, .beats = 20,
	 .strict = true, .contests = true},
#if HOSTS > 2
	{"a host wants a slot that was forgotten", 2, 1, 1, 2, 16, 9, .rival = true,
	 .stranger = true, .holds = 2, .forgot = true},
#endif
};

struct step {
	uint8_t act, which;
};

#define WALK 120 /* actions from one start */

static bool compares = true; /* worlds with their normal forms */

/*
 * Mostly a tick is followed by a heartbeat of each host: otherwise hosts would nearly always be
 * offline.
 */
static struct step next_step(const struct step *path, int length, uint64_t dice)
{
	for (int i = 0; i < HOSTS; i++)
		if (length > i && path[length - 1 - i].act == TICK && dice >> 20 & 3)
			return (struct step){.act = SAY, .which = i};
	return (struct step){.act = dice % LOSE, .which = dice / LOSE % NET};
}

/* ---- is what world_normal() takes away of no matter? ---- */

static bool loses_to(const struct world *normal, const struct world *to)
{
	for (int which = 0; which < NET; which++) {
		struct world after = *normal;

		if (!world_act(&after, LOSE, which))
			continue;
		world_normal(&after);
		if (memcmp(&after, to, sizeof(after)) == 0 || loses_to(&after, to))
			return true;
	}
	return false;
}

/* A reply for which the network had no room counts as lost. */
static bool leads_to(const struct world *normal, enum act act, const struct world *to, int excess)
{
	for (int which = 0; which < NET; which++) {
		struct world after = *normal;

		if (!world_act(&after, act, which) || world_excess(&after) != excess)
			continue;
		world_normal(&after);
		if (memcmp(&after, to, sizeof(after)) == 0 || loses_to(&after, to))
			return true;
	}
	return false;
}

/* Every possible event in a world is possible in its normal form, or changes nothing there. */
static bool is_alike(const struct world *world)
{
	const struct row *whole = row;
	struct row endless = *row;
	struct world normal = *world, after;
	bool same = true;

	endless.ticks = endless.reports = ANY;
	endless.beats = row->beats ? ANY : 0;
	endless.twice = row->twice ? ANY : 0;
	row = &endless;
	world_normal(&normal);
	for (int step = 0; step < ACTS * NET && same; step++) {
		int excess;

		after = *world;
		if (!world_act(&after, step / NET, step % NET))
			continue;
		excess = world_excess(&after);
		world_normal(&after);
		same = (!excess && (memcmp(&after, &normal, sizeof(after)) == 0 ||
				    loses_to(&normal, &after))) ||
		       leads_to(&normal, step / NET, &after, excess);
		if (!same) {
			printf("# another world after");
			world_print_act(step / NET, step % NET);
			puts("");
		}
	}
	row = whole;
	return same;
}

/*
 * From the start of the row again and again, by other dice. False: the bound does not hold, or a
 * world is unlike its normal form.
 */
static bool walk(uint64_t steps)
{
	struct step path[WALK];
	uint64_t random = 20240229;
	struct world world;
	int length = WALK;

	for (uint64_t i = 0; i < steps; i++) {
		if (length >= WALK || world.now == (uint64_t)row->ticks) {
			world_start(&world);
			length = 0;
		}
		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		path[length] = next_step(path, length, random >> 33);
		if (!world_act(&world, path[length].act, path[length].which))
			continue;
		length++;
		if (compares && random >> 57 == 0 && !is_alike(&world))
			return false;
		if (!world_excess(&world))
			continue;
		printf("# %d too many:", world_excess(&world));
		for (int j = 0; j < length; j++)
			world_print_act(path[j].act, path[j].which);
		puts("");
		return false;
	}
	return true;
}

static bool run(int number, uint64_t steps)
{
	bool holds;

	row = &rows[number];
	holds = walk(steps);
	printf("%sok %d - random walks, %d hosts: %s\n", holds ? "" : "not ", number + 1, HOSTS,
	       row->title);
	fflush(stdout);
	return holds;
}

/*
 * STEPS [ROW [bound]]: this many actions in each row, or in that row, counted from 1; then only the
 * bound is checked.
 */
int main(int argc, char **argv)
{
	const int only = argc > 2 ? atoi(argv[2]) : 0;
	int failed = 0;

	if (argc < 2)
		return 2;
	compares = argc < 4;
	printf("1..%zu\n", only ? 1 : ARRAY_SIZE(rows));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!only || only == (int)i + 1)
			failed += !run(i, strtoull(argv[1], NULL, 10));
	return failed != 0;
}
