// SPDX-License-Identifier: GPL-2.0
/*
 * Writes seeds for the fuzzers that take binary inputs: each frame of tests/frames.h to DIR/packet,
 * under its name, and runs of the limiter to DIR/limiter. tests/fuzz/seeds.sh picks those that are
 * committed.
 */
#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/frames.h"
#include "tests/fuzz/limiter_input.h"

#define SEED_STEPS 12

static const char *directory;

struct bytes {
	const void *start;
	size_t length;
};

static void write_file(const char *kind, const char *name, struct bytes head, struct bytes tail)
{
	char path[512];
	size_t at = snprintf(path, sizeof(path), "%s/%s/", directory, kind);
	FILE *file;

	for (; *name && at < sizeof(path) - 1; name++)
		path[at++] = isalnum((unsigned char)*name) ? *name : '-';
	path[at] = '\0';
	file = fopen(path, "wb");
	if (!file || fwrite(head.start, 1, head.length, file) != head.length ||
	    fwrite(tail.start, 1, tail.length, file) != tail.length || fclose(file) != 0) {
		perror(path);
		exit(1);
	}
}

/* ---- frames ---- */

static void write_frames(void)
{
	for (size_t i = 0; i < RF_FRAME_COUNT; i++) {
		struct frame frame;

		frame_build(&frame, rf_frames[i].part);
		write_file("packet", rf_frames[i].name, (struct bytes){frame.bytes, frame.length},
			   (struct bytes){"", 0});
	}
}

/* ---- runs of the limiter ---- */

struct limiter_seed {
	const char *name;
	struct limiter_input input;
	struct limiter_step step; /* repeated, with `forward` more time each */
	uint64_t forward;
};

#define HEAD(epoch, used) ((uint64_t)(epoch) << 32 | (used))
#define SLIDING(l, length)                                                        \
	{                                                                         \
		.id = 1, .limit = l, .clip = l, .cell = length, .cells = RF_CELLS \
	}

static const struct limiter_seed limiter_seeds[] = {
	{"sound, one after the other", {.policy = SLIDING(22, 9), .sound = 1}, {.cost = 1}, 1},
	{"sound, back and forth",
	 {.policy = SLIDING(22, 9), .start = 1ULL << 30, .sound = 1},
	 {.cost = 1, .flags = LIMITER_BACK},
	 7},
	{"sound, far forward",
	 {.policy = SLIDING(22, 9), .start = 1ULL << 40, .sound = 1},
	 {.time = 1ULL << 31, .cost = 1, .flags = LIMITER_FAR},
	 1ULL << 30},
	{"sound, another CPU ahead",
	 {.policy = SLIDING(22, 9), .sound = 1},
	 {.time = 1, .cost = 1, .every = 3, .other = 1},
	 1},
	{"sound, another CPU behind",
	 {.policy = SLIDING(22, 9), .sound = 1},
	 {.time = 1, .cost = 1, .every = 2, .flags = LIMITER_OTHER_BACK, .other = 2},
	 1},
	{"sound, large limit and costs",
	 {.policy = SLIDING((1U << 31) - 1, 9), .sound = 1},
	 {.cost = 1U << 30},
	 3},
	{"hostile, zeroes", {.sound = 0}, {.cost = 1}, 1},
	{"hostile, no cell length", {.policy = SLIDING(10, 0)}, {.cost = 1}, 1},
	{"hostile, 255 cells", {.policy = {.limit = 10, .cell = 1, .cells = 255}}, {.cost = 1}, 1},
	{"hostile, unknown algorithm",
	 {.policy = {.limit = 10, .cell = 1, .cells = 16, .algorithm = 200, .edge = 200}},
	 {.cost = 1},
	 1},
	{"hostile, full head",
	 {.policy = SLIDING(UINT32_MAX, 1), .window = {.head = HEAD(5, UINT32_MAX)}},
	 {.time = 5, .cost = UINT32_MAX},
	 1},
	{"hostile, full ring",
	 {.policy = SLIDING(100, 1),
	  .window = {.head = HEAD(9, 7),
		     .cell = {HEAD(1, UINT32_MAX), HEAD(2, UINT32_MAX), HEAD(8, UINT32_MAX),
			      HEAD(9, UINT32_MAX)}}},
	 {.time = 10, .cost = 1},
	 1},
	{"hostile, head lost in every race",
	 {.policy = SLIDING(100, 1)},
	 {.time = 1000000, .word = HEAD(3, 0), .cost = 1, .every = 1},
	 0},
	{"hostile, cell lost in every race",
	 {.policy = SLIDING(100, 1), .window = {.head = HEAD(3, 9)}},
	 {.time = 1000000, .word = HEAD(3, 0), .cost = 1, .at = 4, .every = 1},
	 0},
};

static void write_run(const struct limiter_seed *seed)
{
	struct limiter_step steps[SEED_STEPS];

	for (int i = 0; i < SEED_STEPS; i++) {
		steps[i] = seed->step;
		steps[i].time += i * seed->forward;
	}
	write_file("limiter", seed->name, (struct bytes){&seed->input, sizeof(seed->input)},
		   (struct bytes){steps, sizeof(steps)});
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: seeds DIR\n");
		return 2;
	}
	directory = argv[1];
	write_frames();
	for (size_t i = 0; i < sizeof(limiter_seeds) / sizeof(limiter_seeds[0]); i++)
		write_run(&limiter_seeds[i]);
	return 0;
}
