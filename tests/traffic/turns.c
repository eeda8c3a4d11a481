/* SPDX-License-Identifier: GPL-2.0 */
/*
 * `turns`: evaluates the records of `recv` for a `send` of two flows at the same rate, each of
 * which sent the same number of frames, in turn: frame 0 of each, then frame 1 of each. If at any
 * time one flow passes and the other does not, each frame shows which of them passed when it was
 * evaluated: its own if it arrived, the other one if it did not. The number of changes is printed.
 *
 * Two rulesets that alternate change it once each time. A frame that was evaluated partly under
 * each of them changes it twice more.
 *
 * Also prints when the last frame of the second flow was sent, and when the next frame of the first
 * one was received: the rules that passed the second flow were active at the former time, and no
 * longer at the latter. Without a number of frames, the last one that arrived is the last of both
 * flows.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

#define FLOWS 2

struct kept {
	struct record *record;
	size_t n;
};

static struct kept read_kept(const char *path)
{
	FILE *file = fopen(path, "re");
	struct kept kept = {};
	size_t room = 0;

	if (!file)
		die(1, "%s: cannot read: %s", path, strerror(errno));
	do {
		if (kept.n == room)
			kept.record =
				allocate(kept.record, room = 2 * room + 1024, sizeof(*kept.record));
	} while (fread(&kept.record[kept.n], sizeof(*kept.record), 1, file) == 1 && ++kept.n);
	fclose(file);
	return kept;
}

static uint64_t count_frames(const struct kept *kept)
{
	uint64_t frames = 0;

	for (size_t i = 0; i < kept->n; i++)
		if (kept->record[i].stamp.sequence >= frames)
			frames = kept->record[i].stamp.sequence + 1ULL;
	return frames;
}

/* The record of each frame, [frame * FLOWS + flow]; NULL: it did not come. */
static const struct record **place(const struct kept *kept, const char *path, uint64_t frames)
{
	const size_t places = frames * FLOWS;
	const struct record **came = allocate(NULL, places + 1, sizeof(*came));

	memset(came, 0, places * sizeof(*came));
	for (size_t i = 0; i < kept->n; i++) {
		const struct stamp *stamp = &kept->record[i].stamp;

		if (stamp->flow >= FLOWS || stamp->sequence >= frames)
			die(1, "%s: frame %u of flow %u: was not sent", path, stamp->sequence,
			    stamp->flow);
		came[(uint64_t)stamp->sequence * FLOWS + stamp->flow] = &kept->record[i];
	}
	return came;
}

static void print_end_of_second(const struct record *const *came, uint64_t places)
{
	uint64_t last = places;

	while (last && !(last % FLOWS == 0 && came[last - 1]))
		last--;
	printf(" last %ju", last ? (uintmax_t)came[last - 1]->stamp.sent_ns : 0);
	while (last < places && !came[last])
		last += FLOWS;
	printf(" next %ju\n", last < places ? (uintmax_t)came[last]->received_ns : 0);
}

int command_turns(char **words)
{
	const struct kept kept = read_kept(words[0]);
	uint64_t frames = count_frames(&kept), turns = 0, passed[FLOWS] = {0};
	const struct record **came;

	if (words[1] && (strcmp(words[1], "frames") != 0 || !words[2] || words[3]))
		die_of_usage();
	if (words[1])
		frames = parse_number("frames", words[2], 1, UINT32_MAX);
	came = place(&kept, words[0], frames);
	for (uint64_t i = 0, before = 0; i < frames * FLOWS; i++) {
		uint64_t in_force = came[i] ? i % FLOWS : !(i % FLOWS);

		turns += i && in_force != before;
		before = in_force;
		passed[i % FLOWS] += came[i] != NULL;
	}
	printf("turns %" PRIu64 " passed %" PRIu64 " %" PRIu64, turns, passed[0], passed[1]);
	print_end_of_second(came, frames * FLOWS);
	free(came);
	free(kept.record);
	return 0;
}
