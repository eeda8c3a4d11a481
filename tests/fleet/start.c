// SPDX-License-Identifier: GPL-2.0
/* The initial state of a row. */
#include <string.h>

#include "world.h"

static void get_share(struct world *world, int which)
{
	if (row->late) {
		world_act(world, SAY, which);
		world_act(world, SAY, which);
	}
	world_act(world, ASK, which);
	world_act(world, DELIVER, 0);
	world_act(world, DELIVER, 0);
}

/* All hosts are complete members after the first G, unless the row specifies otherwise. */
void world_start(struct world *world)
{
	struct row quiet = *row;
	const struct row *whole = row;

	quiet.beats = 0;
	quiet.slow = false;
	quiet.steady = false;
	memset(world, 0, sizeof(*world));
	world->run = 1;
	for (int i = 0; i < HOSTS; i++)
		world_start_host(&world->host[i], ++world->nonces, i);
	row = &quiet;
	quiet.ticks += quiet.grace + quiet.window;
	for (int i = 0; i <= quiet.grace + quiet.window; i++) {
		for (int j = 0; j < HOSTS - quiet.stranger; j++) {
			world_act(world, SAY, j);
			world_act(world, SAY, j);
		}
		if (i < quiet.grace + quiet.window)
			world_act(world, TICK, 0);
	}
	row = whole;
	world->skew += world->now;
	for (int i = 0; i < HOSTS; i++) {
		world->host[i].member.deadline -= world->host[i].member.deadline ? world->now : 0;
		memset(&world->books.alone[i][0], 0, WINDOW_MAX);
	}
	world->now = 0;
	world_note_states(world);
	for (int i = 0; i < row->holds; i++)
		get_share(world, row->late ? HOSTS - 1 - i : i);
	if (row->forgot) {
		memset(&world->ledger, 0, sizeof(world->ledger));
		memset(world->source, 0, sizeof(world->source));
	}
}
