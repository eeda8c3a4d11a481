// SPDX-License-Identifier: GPL-2.0
/*
 * The part of `seen.sh` that measures samples: the cost of a frame of a flood with the sampler on
 * and a reader, and with it off, in turns of a tenth of a second.
 *
 *   sampled INTERFACE ONE_IN PAIRS THREAD DEVICES NEAR
 *
 * THREAD runs the NAPI of INTERFACE; DEVICES is the file of the sender's namespace that counts the
 * delivered frames of NEAR, the other end of the wire. Prints nanoseconds a frame of each pair.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "fence/sampler.h"
#include "tool.h"

#define TURN_NS (100 * RF_NS_PER_MS)

struct bench {
	struct rf_fence fence;
	struct rf_sample_reader reader;
	struct rf_sampled sampled;
	clockid_t thread;
	const char *devices, *near;
	uint64_t read;
};

struct reading {
	uint64_t cpu_ns, frames;
};

static uint64_t read_frames(const struct bench *bench)
{
	FILE *file = fopen(bench->devices, "r");
	uint64_t frames = 0, found = 0;
	char line[512], name[64];

	if (!file)
		die("%s: %s", bench->devices, strerror(errno));
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line, " %63[^:]: %*u %*u %*u %*u %*u %*u %*u %*u %*u %" SCNu64, name,
			       &frames) == 2 &&
			strcmp(name, bench->near) == 0;
	fclose(file);
	if (!found)
		die("%s: no %s", bench->devices, bench->near);
	return frames;
}

static struct reading read_all(const struct bench *bench)
{
	return (struct reading){clock_ns(bench->thread), read_frames(bench)};
}

/* As a capture does. */
static void look(struct bench *bench)
{
	struct rf_error error;
	const int count = rf_sample_reader_read(&bench->reader, &bench->fence, &error);

	if (count < 0)
		die("%s", error.text);
	bench->read += count;
}

/* Nanoseconds a frame. */
static double take_turn(struct bench *bench, bool on)
{
	struct rf_slices slices = {};
	struct reading before, after;
	struct rf_error error;
	uint64_t now;

	if (on && rf_fence_sample(&bench->fence, &bench->sampled, &error))
		die("%s", error.text);
	if (on)
		rf_fence_next_slice(&bench->fence, &bench->sampled, &slices);
	now = clock_ns(CLOCK_MONOTONIC);
	before = read_all(bench);
	for (uint64_t end = now + TURN_NS; now < end; now += RF_SLICE_NS) {
		const bool was_on = slices.is_on;

		sleep_until(now + RF_SLICE_NS);
		if (on)
			rf_fence_next_slice(&bench->fence, &bench->sampled, &slices);
		if (was_on)
			look(bench);
	}
	after = read_all(bench);
	rf_fence_stop_sampling(&bench->fence);
	if (after.frames == before.frames)
		die("no flood");
	return (double)(after.cpu_ns - before.cpu_ns) / (after.frames - before.frames);
}

int main(int argc, char **argv)
{
	struct bench bench = {.fence = RF_FENCE_NONE};
	struct rf_error error;
	uint32_t pairs;

	if (argc != 7)
		die("expects INTERFACE ONE_IN PAIRS THREAD DEVICES NEAR");
	bench.sampled = (struct rf_sampled){
		.one_in = parse_count(argv[2], 1U << 30),
		.verdicts = RF_SAMPLE_DROPPED | RF_SAMPLE_PASSED,
		.reasons = UINT32_MAX,
		.slices = RF_SLICES,
	};
	pairs = parse_count(argv[3], 100000);
	if (clock_getcpuclockid(parse_count(argv[4], INT_MAX), &bench.thread))
		die("%s: no such thread", argv[4]);
	bench.devices = argv[5];
	bench.near = argv[6];
	setpriority(PRIO_PROCESS, 0, -20); /* else the flood leaves it no time */
	if (rf_fence_open(&bench.fence, argv[1], &error) ||
	    rf_sample_reader_open(&bench.reader, &bench.fence, &error))
		die("%s", error.text);
	for (uint32_t i = 0; i < pairs; i++) {
		double first = take_turn(&bench, i & 1), second = take_turn(&bench, !(i & 1));

		printf("%.3f %.3f\n", i & 1 ? first : second, i & 1 ? second : first);
	}
	fprintf(stderr, "samples read: %" PRIu64 ", missed: %" PRIu64 "\n", bench.read,
		bench.reader.missed);
	rf_sample_reader_close(&bench.reader);
	rf_fence_close(&bench.fence);
	return 0;
}
