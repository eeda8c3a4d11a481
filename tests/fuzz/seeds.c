// SPDX-License-Identifier: GPL-2.0
/*
 * Writes seeds for the fuzzers that take binary inputs: each frame of tests/frames.h to DIR/packet,
 * under its name, each message of tests/dns_queries.h to DIR/dns, and runs of the limiter to
 * DIR/limiter. tests/fuzz/seeds.sh selects the committed ones.
 */
#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ringfence/limiter.h"

#include "tests/dns_queries.h"
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

/* ---- DNS messages ---- */

static void write_messages(void)
{
	for (size_t i = 0; i < DNS_ROWS; i++)
		write_file("dns", dns_rows[i].name,
			   (struct bytes){dns_rows[i].query, dns_rows[i].length},
			   (struct bytes){"", 0});
}

/* ---- runs of the limiter ---- */

struct limiter_seed {
	const char *name;
	struct limiter_input input;
	struct limiter_step step; /* repeated, with `forward` more time each */
	uint64_t forward;
	uint8_t odd_flags; /* changed in every other step */
};

#define MS 1000000ULL
#define SECOND (1000 * MS)
#define YEAR (8784 * 3600 * SECOND)
#define LAP (1ULL << 32) /* of all epochs */

#define WORD(epoch, used) ((uint64_t)(epoch) << 32 | (used))
#define STRICT .cells = RF_CELLS
#define COARSE .edge = RF_EDGE_COARSE, .cells = RF_CELLS
#define WEIGHTED .edge = RF_EDGE_WEIGHTED, .cells = RF_CELLS
#define COUNTED .flags = RF_COUNT_REJECTED
#define POLICY(...)                                            \
	{                                                      \
		.hostile = {.policy = {.id = 1, __VA_ARGS__} } \
	}
#define STARTED(cell, ...)                                                                    \
	{                                                                                     \
		.sound = 1, .of = {.limit = {__VA_ARGS__}, .start = cell, .tick_ns = 4 * MS } \
	}
#define SOUND(...) STARTED(1000, __VA_ARGS__)

#define OTHER_AHEAD .time = 1, .every = 3, .other = 1
#define OTHER_BEHIND .time = 1, .every = 2, .flags = LIMITER_OTHER_BACK, .other = 2

static const struct limiter_seed limiter_seeds[] = {
	{"sound, strict", SOUND(STRICT, .rate = 22, .window_ns = 10 * SECOND), .step = {.cost = 1},
	 .forward = 1},
	{"sound, strict, back and forth", SOUND(STRICT, .rate = 22, .window_ns = 10 * SECOND),
	 .step = {.time = 1}, .forward = 7, .odd_flags = LIMITER_BACK},
	{"sound, strict, far forward", SOUND(STRICT, .rate = 2, .window_ns = 2 * MS),
	 .step = {.time = LAP / 2, .flags = LIMITER_FAR}, .forward = LAP / 4},
	{"sound, strict, another CPU ahead", SOUND(STRICT, .rate = 22, .window_ns = 10 * SECOND),
	 .step = {OTHER_AHEAD}, .forward = 1},
	{"sound, strict, another CPU behind", SOUND(STRICT, .rate = 22, .window_ns = 10 * SECOND),
	 .step = {OTHER_BEHIND}, .forward = 1},
	{"sound, strict, across the wrap", STARTED(LAP - 7, STRICT, .rate = 4, .window_ns = 100),
	 .step = {.time = 1}},
	{"sound, strict, nearly a lap", SOUND(STRICT, .rate = 4, .window_ns = 100),
	 .step = {.time = LAP - 130,
		  .every = 3,
		  .flags = LIMITER_FAR | LIMITER_OTHER_BACK,
		  .other = 4}},
	{"sound, strict, a lap", SOUND(STRICT, .rate = 4, .window_ns = 100),
	 .step = {.time = LAP, .every = 3, .flags = LIMITER_FAR, .other = 1}},
	{"sound, strict, stalled for a lap", SOUND(STRICT, .rate = 4, .window_ns = 100),
	 .step = {.time = LAP - 1, .flags = LIMITER_FAR | LIMITER_BACK}, .forward = 1},
	{"sound, strict, just as it passes", SOUND(STRICT, .rate = 3, .window_ns = 10 * SECOND),
	 .step = {.flags = LIMITER_PASSES}},
	{"sound, strict, bytes",
	 SOUND(STRICT, .rate = 1ULL << 37, .window_ns = SECOND, .unit = RF_BYTES),
	 .step = {.cost = 1U << 26}, .forward = 3},
	{"sound, strict, counted", SOUND(STRICT, COUNTED, .rate = 2, .window_ns = 10 * SECOND),
	 .step = {.time = 1}, .forward = 1},
	{"sound, strict, counted, as much as fits",
	 SOUND(STRICT, COUNTED, .rate = 20000, .window_ns = SECOND, .unit = RF_BYTES),
	 .step = {.cost = RF_COST_MAX - 1, .time = 1, .flags = LIMITER_FLOOD}},
	{"sound, strict, counted, another CPU",
	 SOUND(STRICT, COUNTED, .rate = 20000, .window_ns = SECOND, .unit = RF_BYTES),
	 .step = {OTHER_AHEAD, .cost = 7000}},
	{"sound, coarse", SOUND(COARSE, .rate = 22, .window_ns = 10 * SECOND), .step = {.cost = 1},
	 .forward = 1},
	{"sound, coarse, two cells",
	 SOUND(.edge = RF_EDGE_COARSE, .cells = 2, .rate = 3, .window_ns = MS),
	 .step = {OTHER_AHEAD}, .forward = 1},
	{"sound, fixed", SOUND(.algorithm = RF_FIXED, .rate = 3, .window_ns = SECOND),
	 .step = {.flags = LIMITER_PASSES}},
	{"sound, fixed, bytes, another CPU",
	 SOUND(.algorithm = RF_FIXED, .rate = 3000, .window_ns = SECOND, .unit = RF_BYTES),
	 .step = {OTHER_AHEAD, .cost = 700}},
	{"sound, weighted", SOUND(WEIGHTED, .rate = 22, .window_ns = 10 * SECOND),
	 .step = {.cost = 1}, .forward = 1},
	{"sound, weighted, just as it passes", SOUND(WEIGHTED, .rate = 7, .window_ns = 10 * SECOND),
	 .step = {.flags = LIMITER_PASSES}},
	{"sound, weighted, two cells",
	 SOUND(.edge = RF_EDGE_WEIGHTED, .cells = 2, .rate = 9, .window_ns = 10 * SECOND),
	 .step = {.word = 800}, .forward = 1},
	{"sound, weighted, back and forth",
	 SOUND(.edge = RF_EDGE_WEIGHTED, .cells = 2, .rate = 9, .window_ns = 10 * SECOND,
	       .unit = RF_BYTES),
	 .step = {.time = 1, .word = 2000, .cost = 2}, .odd_flags = LIMITER_BACK},
	{"sound, weighted, a year of bytes",
	 SOUND(.edge = RF_EDGE_WEIGHTED, .cells = 2, .rate = 1ULL << 37, .window_ns = YEAR,
	       .unit = RF_BYTES),
	 .step = {.cost = 1U << 26, .word = 1ULL << 32}, .forward = 1},
	{"sound, weighted, another CPU ahead",
	 SOUND(WEIGHTED, .rate = 22, .window_ns = 10 * SECOND), .step = {OTHER_AHEAD},
	 .forward = 1},
	{"sound, weighted, counted, as much as fits",
	 SOUND(WEIGHTED, COUNTED, .rate = 20000, .window_ns = SECOND, .unit = RF_BYTES),
	 .step = {.cost = RF_COST_MAX - 1, .time = 1, .flags = LIMITER_FLOOD}},
	{"sound, log", SOUND(.algorithm = RF_LOG, .rate = 3, .window_ns = SECOND),
	 .step = {.flags = LIMITER_PASSES}},
	{"sound, log, every slot, another CPU",
	 SOUND(.algorithm = RF_LOG, .rate = RF_LOG_MAX, .window_ns = SECOND), .step = {OTHER_AHEAD},
	 .forward = 1},
	{"sound, log, counted",
	 STARTED(0, .algorithm = RF_LOG, .rate = 2, .window_ns = SECOND, COUNTED),
	 .step = {OTHER_BEHIND}, .forward = 1},
	{"sound, token", SOUND(.algorithm = RF_TOKEN, .rate = 9, .window_ns = SECOND, .burst = 3),
	 .step = {.flags = LIMITER_PASSES}},
	{"sound, token, bytes, another CPU",
	 SOUND(.algorithm = RF_TOKEN, .rate = 125000000, .window_ns = SECOND, .burst = 3028,
	       .unit = RF_BYTES),
	 .step = {OTHER_AHEAD, .cost = 1513}, .forward = 1},
	{"sound, token, bytes faster than the clock",
	 SOUND(.algorithm = RF_TOKEN, .rate = 1ULL << 37, .window_ns = MS, .burst = 3028,
	       .unit = RF_BYTES),
	 .step = {.cost = 1513}},
	{"sound, token, counted",
	 SOUND(.algorithm = RF_TOKEN, .rate = 9, .window_ns = SECOND, .burst = 3, COUNTED),
	 .step = {OTHER_BEHIND}, .forward = 1},
	{"sound, leaky", SOUND(.algorithm = RF_LEAKY, .rate = 7, .window_ns = SECOND, .burst = 1),
	 .step = {.flags = LIMITER_PASSES}},
	{"sound, leaky, one in a year",
	 SOUND(.algorithm = RF_LEAKY, .rate = 1, .window_ns = YEAR, .burst = 1),
	 .step = {.time = 9}},

	{"hostile, zeroes", {.sound = 0}, .step = {.cost = 1}, .forward = 1},
	{"hostile, no cell length", POLICY(.limit = 10, .cells = RF_CELLS), .step = {.cost = 1},
	 .forward = 1},
	{"hostile, 255 cells", POLICY(.limit = 10, .cell = 1, .cells = 255), .step = {.cost = 1},
	 .forward = 1},
	{"hostile, unknown algorithm",
	 POLICY(.limit = 10, .cell = 1, .cells = 16, .algorithm = 200, .edge = 200),
	 .step = {.cost = 1}, .forward = 1},
	{"hostile, full head",
	 {.hostile = {.policy = {.limit = UINT32_MAX, .cell = 1, .cells = 16},
		      .window = {.head = WORD(5, UINT32_MAX)}}},
	 .step = {.time = 5, .cost = UINT32_MAX},
	 .forward = 1},
	{"hostile, full ring",
	 {.hostile = {.policy = {.limit = 100, .cell = 1, .cells = 16},
		      .window = {.head = WORD(9, 7),
				 .cell = {WORD(1, UINT32_MAX), WORD(2, UINT32_MAX),
					  WORD(8, UINT32_MAX), WORD(9, UINT32_MAX)}}}},
	 .step = {.time = 10, .cost = 1},
	 .forward = 1},
	{"hostile, head lost in every race",
	 POLICY(.limit = 100, .clip = 100, .cell = 1, .cells = 16),
	 .step = {.time = 1000000, .word = WORD(3, 0), .every = 1}},
	{"hostile, cell lost in every race",
	 {.hostile = {.policy = {.limit = 100, .cell = 1, .cells = 16},
		      .window = {.head = WORD(3, 9)}}},
	 .step = {.time = 1000000, .word = WORD(3, 0), .at = 5, .every = 1}},
	{"hostile, weighted, no cell length",
	 POLICY(.limit = 10, .edge = RF_EDGE_WEIGHTED, .cells = 15, .scale = 255),
	 .step = {.cost = 1}, .forward = 1},
	{"hostile, weighted, scaled to nothing",
	 POLICY(.limit = 10, .cell = 9, .edge = RF_EDGE_WEIGHTED, .cells = 1, .scale = 63),
	 .step = {.cost = 1}, .forward = 9},
	{"hostile, weighted, head lost in every race",
	 POLICY(.limit = 100, .cell = 1, .edge = RF_EDGE_WEIGHTED, .cells = 16),
	 .step = {.time = 1000000, .word = WORD(3, 0), .every = 1}},
	{"hostile, weighted, counted, full head",
	 {.hostile = {.policy = {.limit = 10,
				 .cell = 1,
				 .cells = 15,
				 .edge = RF_EDGE_WEIGHTED,
				 COUNTED},
		      .window = {.head = WORD(5, RF_USED_MAX - 1)}}},
	 .step = {.time = 5, .cost = RF_COST_MAX - 1}},
	{"hostile, log, times of no clock",
	 {.hostile = {.policy = {.limit = 9, .cell = 9, .algorithm = RF_LOG},
		      .window = {.cell = {UINT64_MAX, 1ULL << 63, 1ULL << 60, 5}}}},
	 .step = {.time = UINT64_MAX},
	 .forward = 1},
	{"hostile, log, counted, lost in every race",
	 POLICY(.cell = 9, .algorithm = RF_LOG, COUNTED),
	 .step = {.time = 99, .word = 3, .at = 5, .every = 1}},
	{"hostile, token, nothing flows",
	 POLICY(.limit = UINT32_MAX, .algorithm = RF_TOKEN, .scale = 64, .unit_shift = 255,
		.unit = RF_BYTES),
	 .step = {.time = 1ULL << 60, .cost = 1}, .forward = 1},
	{"hostile, token, lost in every race",
	 POLICY(.limit = 9, .cell = 1, .depth = 99, .algorithm = RF_TOKEN),
	 .step = {.time = 1000000, .word = 1, .every = 1}},
	{"hostile, leaky, deeper than time",
	 POLICY(.limit = UINT32_MAX, .cell = UINT64_MAX, .depth = UINT64_MAX, .scale = 63,
		.algorithm = RF_LEAKY, COUNTED),
	 .step = {.time = UINT64_MAX, .cost = RF_COST_MAX - 1}, .forward = 1},
};

static void write_run(const struct limiter_seed *seed)
{
	struct limiter_step steps[SEED_STEPS];

	for (int i = 0; i < SEED_STEPS; i++) {
		steps[i] = seed->step;
		steps[i].time += i * seed->forward;
		if (i % 2)
			steps[i].flags ^= seed->odd_flags;
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
	write_messages();
	for (size_t i = 0; i < sizeof(limiter_seeds) / sizeof(limiter_seeds[0]); i++)
		write_run(&limiter_seeds[i]);
	return 0;
}
