// SPDX-License-Identifier: GPL-2.0
/*
 * Random walks of a few hosts with the claims of agents, by repeatable dice: in each scene a
 * different fault occurs. Prints TAP, and for a world that breaks the bound its recent history.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "agents.h"
#include "ringfence/share.h"

#define START_MS 1000

const struct scene *scene;
uint64_t now_ms;
bool tells;
static uint64_t before_ms; /* the time of the step before */
static uint64_t dice_state;
static uint64_t keys[SOURCES];

uint32_t dice(uint32_t sides)
{
	dice_state = dice_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (dice_state >> 32) * sides >> 32;
}

int drift_ppm(void)
{
	if (!scene->drift_ppm)
		return 0;
	return dice(2) ? scene->drift_ppm : -scene->drift_ppm;
}

bool happens(enum fault fault)
{
	return scene->often[fault] && dice(1000) < scene->often[fault];
}

/* ---- scripts ---- */

static bool is_of(const struct event *event, enum fault fault, int host)
{
	return event->fault == fault && event->host == host;
}

/* An event that has begun since the step before. */
static const struct event *struck(enum fault fault, int host)
{
	for (const struct event *event = scene->script; event->fault; event++)
		if (is_of(event, fault, host) && START_MS + event->at_ms > before_ms &&
		    START_MS + event->at_ms <= now_ms)
			return event;
	return NULL;
}

bool strikes(enum fault fault, int host)
{
	return scene->script ? struck(fault, host) != NULL : happens(fault);
}

uint32_t lasts_ms(enum fault fault, int host, uint32_t most_ms)
{
	return scene->script ? struck(fault, host)->for_ms : dice(most_ms);
}

uint32_t scripted(enum fault fault, int host)
{
	for (const struct event *event = scene->script; event && event->fault; event++)
		if (is_of(event, fault, host) && now_ms >= START_MS + event->at_ms &&
		    now_ms < START_MS + event->at_ms + event->for_ms)
			return event->value;
	return 0;
}

static uint32_t step_ms(void)
{
	const uint32_t pace_ms = scripted(PACE, 0);

	return 1 + dice(pace_ms ? pace_ms : scene->step_ms);
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

/* By how much the bound is broken; 0: it always holds. Prints the events from `tells_ms`. */
static uint32_t walk(uint64_t world, uint64_t tells_ms)
{
	uint32_t excess = 0;

	dice_state = world;
	now_ms = START_MS;
	judge_start();
	engine_start();
	hosts_start();
	for (uint32_t i = 0; i < scene->steps && !excess; i++) {
		before_ms = now_ms;
		now_ms += step_ms();
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

/* STEPS [SCENE]: this many steps in each scene, or in that scene, counted from 1. */
int main(int argc, char **argv)
{
	const int only = argc > 2 ? atoi(argv[2]) : 0;
	int failed = 0;

	if (argc < 2)
		return 2;
	choose_sources();
	printf("1..%d\n", only ? 1 : scene_count);
	for (int i = 0; i < scene_count; i++) {
		scene = &scenes[i];
		if (!only || only == i + 1)
			failed += !run(i + 1, strtoull(argv[1], NULL, 10));
	}
	return failed != 0;
}
