// SPDX-License-Identifier: GPL-2.0
/*
 * Random walks of a few hosts whose claims are those that agents have, by dice that can be thrown
 * again: in each scene something else goes wrong. Prints TAP, and of a world that breaks the bound
 * what has happened in it lately.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "agents.h"
#include "ringfence/share.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define TWO .hosts = 2, .slots = 2
#define TWO_OF_3 .hosts = 2, .slots = 3
#define THREE .hosts = 3, .slots = 3
#define THREE_OF_4 .hosts = 3, .slots = 4
/* Longer than G: what was used outlives what is learned. */
#define LONG_W .window_ms = 300, .grace_ms = 100
#define SHORT_W .window_ms = 60, .grace_ms = 200
#define MORE .step_ms = 4, .steps = 3000, .claims = 16
/* The times of real life: a record ends 160 s after its last report. */
#define HOURS .window_ms = 20000, .grace_ms = 60000, .step_ms = 10000, .steps = 3000, .claims = 16

#define SHAKY [LATE] = 30, [LOST] = 30

static const struct scene scenes[] = {
	{"all is well", TWO, SHORT_W, MORE, .limit = 12, .first = 1},
	{"reports and heartbeats late, lost and twice", TWO, SHORT_W, MORE, .limit = 12, .first = 1,
	 .often = {SHAKY, [TWICE] = 50, [ASTRAY] = 500}},
	{"three hosts, reports and heartbeats late, lost and twice", THREE, LONG_W, MORE,
	 .limit = 24, .first = 0, .often = {SHAKY, [TWICE] = 50, [ASTRAY] = 500}},
	{"calls of windows fail, and waits for programs", TWO, SHORT_W, MORE, .limit = 24,
	 .first = 0, .often = {[UNWRITTEN] = 30, [BUSY] = 100, [UNSETTLED] = 200}},
	{"hosts are cut off", THREE, SHORT_W, MORE, .limit = 12, .first = 0, .alone_first = true,
	 .often = {SHAKY, [CUT] = 3}},
	{"the engine forgets all", TWO, LONG_W, MORE, .limit = 12, .first = 0, .alone_first = true,
	 .often = {[LATE] = 200, [LOST] = 30, [EMPTIED] = 4, [RESTARTED] = 4}},
	{"the engine forgets all, stands still, and its clock steps", THREE, SHORT_W, MORE,
	 .limit = 12, .first = 1,
	 .often = {SHAKY, [EMPTIED] = 1, [RELOADED] = 1, [STILL] = 2, [STEPPED] = 2}},
	{"a replica that lost writes takes over", THREE, LONG_W, MORE, .limit = 12, .first = 0,
	 .alone_first = true, .often = {SHAKY, [PROMOTED] = 3}},
	{"a replica takes over for a moment", THREE, LONG_W, MORE, .limit = 12, .first = 0,
	 .alone_first = true, .often = {SHAKY, [CUT] = 2, [DEMOTED] = 5}},
	{"agents are killed, end as planned, and start again", THREE, LONG_W, MORE, .limit = 12,
	 .first = 0, .alone_first = true, .often = {[KILLED] = 2, [ENDED] = 2, [RESTARTED] = 1}},
	{"the same, with a slot to spare", TWO_OF_3, LONG_W, MORE, .limit = 12, .first = 0,
	 .alone_first = true, .often = {[KILLED] = 2, [ENDED] = 2, [RESTARTED] = 1}},
	{"hosts reboot, windows are evicted", TWO_OF_3, SHORT_W, MORE, .limit = 24, .first = 0,
	 .alone_first = true, .often = {SHAKY, [REBOOTED] = 2, [EVICTED] = 20}},
	{"a limit is defined anew, and back", TWO, SHORT_W, MORE, .limit = 12, .first = 1,
	 .often = {SHAKY, [REDEFINED] = 10, [BUSY] = 30}},
	{"records end, since reports are lost for long", TWO, HOURS, .limit = 12, .first = 0,
	 .alone_first = true, .often = {[CUT_REPORTS] = 2}},
	{"whatever may go wrong", THREE_OF_4, SHORT_W, MORE, .limit = 12, .first = 1,
	 .often = {SHAKY, [TWICE] = 20, [ASTRAY] = 300, [EMPTIED] = 1, [RELOADED] = 1,
		   [PROMOTED] = 1, [DEMOTED] = 1, [STILL] = 1, [STEPPED] = 1, [CUT] = 1,
		   [KILLED] = 1, [ENDED] = 1, [REBOOTED] = 1, [EVICTED] = 3, [REDEFINED] = 3,
		   [UNWRITTEN] = 10, [BUSY] = 10, [UNSETTLED] = 30}},
};

const struct scene *scene;
uint64_t now_ms;
bool tells;
static uint64_t dice_state;
static uint64_t keys[SOURCES];

uint32_t dice(uint32_t sides)
{
	dice_state = dice_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (dice_state >> 32) * sides >> 32;
}

bool happens(enum fault fault)
{
	return scene->often[fault] && dice(1000) < scene->often[fault];
}

void tell(const char *format, ...)
{
	va_list arguments;

	if (!tells)
		return;
	printf("# %8llu ms: ", (unsigned long long)now_ms);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	puts("");
}

uint64_t source_key(int source)
{
	return keys[source];
}

uint32_t bucket_of(int source)
{
	return rf_bucket(keys[source], 0);
}

static void choose_sources(void)
{
	keys[0] = keys[1] = keys[2] = 1;
	while (keys[1] == keys[0] || bucket_of(1) != bucket_of(0))
		keys[1]++;
	while (bucket_of(2) == bucket_of(0))
		keys[2]++;
}

/* By how much the bound is broken; 0: it holds all the time. Tells what happens from `tells_ms`. */
static uint32_t walk(uint64_t world, uint64_t tells_ms)
{
	uint32_t excess = 0;

	dice_state = world;
	now_ms = 1000;
	judge_start();
	engine_start();
	hosts_start();
	for (uint32_t i = 0; i < scene->steps && !excess; i++) {
		now_ms += 1 + dice(scene->step_ms);
		tells = now_ms >= tells_ms;
		engine_step();
		hosts_step();
		excess = judge_excess();
	}
	hosts_end();
	tells = false;
	return excess;
}

static bool run(int number, uint64_t steps)
{
	const uint64_t worlds = steps / scene->steps + 1;
	uint32_t excess = 0;

	for (uint64_t i = 0; i < worlds && !excess; i++) {
		const uint64_t world = number * 1000003ULL + i;

		excess = walk(world, UINT64_MAX);
		if (!excess)
			continue;
		printf("# %u too many in world %llu:\n", excess, (unsigned long long)i);
		walk(world, now_ms - 4 * (scene->grace_ms + scene->window_ms));
	}
	printf("%sok %d - random walks, claims of agents: %s\n", excess ? "not " : "", number,
	       scene->title);
	fflush(stdout);
	return !excess;
}

/* STEPS [SCENE]: so many steps in each scene, or in that scene, counted from 1. */
int main(int argc, char **argv)
{
	const int only = argc > 2 ? atoi(argv[2]) : 0;
	int failed = 0;

	if (argc < 2)
		return 2;
	choose_sources();
	printf("1..%zu\n", only ? 1 : ARRAY_SIZE(scenes));
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		scene = &scenes[i];
		if (!only || only == (int)i + 1)
			failed += !run(i + 1, strtoull(argv[1], NULL, 10));
	}
	return failed != 0;
}
