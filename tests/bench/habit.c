// SPDX-License-Identifier: GPL-2.0
/*
 * Do the packets of a round find their windows in the state that the row describes? The heads of
 * some windows show it by how far they moved: by no cell, by some, or by more than the window has.
 * A head that did not change at all shows that a lease answered the packet, without the window.
 * Each packet of a round must also come from a different source, except for busy sources.
 */
#include <linux/bpf.h>
#include <stdio.h>

#include "bench.h"
#include "ringfence/limiter.h"

#define FEWEST (SAMPLES / 8) /* that a round has to come by */
#define WRONG_MAX 20	     /* one in this many */

static struct rf_source read_source(const struct row *row, uint32_t number)
{
	struct rf_source source;

	if (!target_window(row->target, row->frame.family, number, &source))
		die("%s: source %u has no window", row->name, number);
	return source;
}

/* Takes the steps of the next packets, to find sources that will send one. */
static void choose_sources(struct sample *sample, const struct row *row, uint32_t packets)
{
	struct frame frame = row->frame;
	struct walk *walk = frame_walk(&frame);
	const uint32_t busy = walk->spare ? walk->mask + 1 - walk->spare : 0;

	sample->count = 0;
	for (uint32_t i = 0; i < packets && sample->count < SAMPLES; i++) {
		const uint32_t number = walk_next(walk);

		if (i >= (uint64_t)sample->count * packets / SAMPLES && number >= busy)
			sample->number[sample->count++] = number;
	}
}

void habit_begin(struct sample *sample, const struct row *row, uint32_t packets)
{
	sample->count = 0;
	if (!row->meets)
		return;
	choose_sources(sample, row, packets);
	for (uint32_t i = 0; i < sample->count; i++) {
		const struct rf_source source = read_source(row, sample->number[i]);

		sample->head[i] = source.window.head;
		sample->passed[i] = source.passed;
	}
}

static enum meets met(uint64_t before, uint64_t after)
{
	const uint32_t cells = rf_word_epoch(after) - rf_word_epoch(before);

	if (after == before)
		return MEETS_LEASE;
	if (!cells)
		return MEETS_PRESENT;
	return cells < RF_CELLS ? MEETS_OLDER : MEETS_PASSED;
}

bool habit_end(struct sample *sample, struct row *row)
{
	uint32_t count[MEETS_PASSED + 1] = {}, again = 0, seen;

	for (uint32_t i = 0; i < sample->count; i++) {
		const struct rf_source source = read_source(row, sample->number[i]);

		count[met(sample->head[i], source.window.head)]++;
		again += source.passed > sample->passed[i] + 1;
	}
	row->sampled += sample->count;
	row->leased += count[MEETS_LEASE];
	if (row->meets <= MEETS_LEASE)
		return true;
	seen = sample->count - count[MEETS_LEASE];
	snprintf(sample->wrong, sizeof(sample->wrong),
		 "of %u sources %u met a present head, %u one of a cell before, %u one older than "
		 "the window, and %u came again",
		 seen, count[MEETS_PRESENT], count[MEETS_OLDER], count[MEETS_PASSED], again);
	return seen >= FEWEST && seen - count[row->meets] <= seen / WRONG_MAX &&
	       again <= seen / WRONG_MAX;
}
