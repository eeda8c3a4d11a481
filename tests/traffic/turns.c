/* SPDX-License-Identifier: GPL-2.0 */
/*
 * `turns`: what `recv` kept of a `send` of two flows at the same rate, each of which sent the same
 * number of frames, in turn: frame 0 of each, then frame 1 of each. Where at any
 * time one flow passes and no other, each frame tells which of them passed when it was judged: its
 * own if it came, the other one if it did not. How often that changed is printed.
 *
 * Two sets of rules that take turns change it once each time. A frame that was judged by some of
 * the one and some of the other changes it twice more.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

#define FLOWS 2

/* Sets came[frame * FLOWS + flow]. */
static void read_kept(const char *path, bool *came, uint64_t frames)
{
	FILE *file = fopen(path, "re");
	struct record record;

	if (!file)
		die(1, "%s: cannot read: %s", path, strerror(errno));
	while (fread(&record, sizeof(record), 1, file) == 1) {
		if (record.stamp.flow >= FLOWS || record.stamp.sequence >= frames)
			die(1, "%s: frame %u of flow %u: was not sent", path, record.stamp.sequence,
			    record.stamp.flow);
		came[record.stamp.sequence * FLOWS + record.stamp.flow] = true;
	}
	fclose(file);
}

int command_turns(char **words)
{
	uint64_t frames, turns = 0, passed[FLOWS] = {0};
	bool *came;

	if (!words[1] || strcmp(words[1], "frames") != 0 || !words[2] || words[3])
		die_of_usage();
	frames = parse_number("frames", words[2], 1, UINT32_MAX);
	came = allocate(NULL, frames * FLOWS, sizeof(*came));
	memset(came, 0, frames * FLOWS * sizeof(*came));
	read_kept(words[0], came, frames);
	for (uint64_t i = 0, before = 0; i < frames * FLOWS; i++) {
		uint64_t in_force = came[i] ? i % FLOWS : !(i % FLOWS);

		turns += i && in_force != before;
		before = in_force;
		passed[i % FLOWS] += came[i];
	}
	printf("turns %" PRIu64 " passed %" PRIu64 " %" PRIu64 "\n", turns, passed[0], passed[1]);
	free(came);
	return 0;
}
