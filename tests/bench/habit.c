// SPDX-License-Identifier: GPL-2.0
/*
 * Do the packets of a round find their windows in the state that the row describes? The heads of
 * some windows show it by how far they moved: by no cell, by some, or by more than the window has.
 * Each packet of a round must also come from a different source, except for busy sources.
 */
#include <linux/bpf.h>
#include <stdio.h>

#include "bench.h"
#include "ringfence/limiter.h"

#define FEWEST (SAMPLES / 8) /* that a round has to come by */
#define WRONG_MAX 20	     /* one in this many */
#define BUSY_NO_MORE 1024    /* the first sources come more often, in some rows */

static struct rf_source read_source(const struct row *row, uint32_t number)
{
	struct rf_source source;

	if (!target_window(row->target, row->frame.family, number, &source))
		die("%s: source %u has no window", row->name, number);
	return source;
}

void habit_begin(struct sample *sample, const struct row *row)
{
	struct frame frame = row->frame;
	struct rf_source source;

	for (uint32_t i = 0; i < SAMPLES && row->meets; i++) {
		sample->number[i] =
			(i * 2654435761U >> 7 | BUSY_NO_MORE) & frame_walk(&frame)->mask;
		source = read_source(row, sample->number[i]);
		sample->head[i] = source.window.head;
		sample->passed[i] = source.passed;
	}
}

static enum meets met(uint64_t before, uint64_t after)
{
	const uint32_t cells = rf_word_epoch(after) - rf_word_epoch(before);

	if (after == before)
		return MEETS_ANYTHING;
	if (!cells)
		return MEETS_PRESENT;
	return cells < RF_CELLS ? MEETS_OLDER : MEETS_PASSED;
}

bool habit_end(struct sample *sample, const struct row *row)
{
	uint32_t count[MEETS_PASSED + 1] = {}, again = 0, seen;

	if (!row->meets)
		return true;
	for (uint32_t i = 0; i < SAMPLES; i++) {
		const struct rf_source source = read_source(row, sample->number[i]);

		count[met(sample->head[i], source.window.head)]++;
		again += source.passed > sample->passed[i] + 1;
	}
	seen = SAMPLES - count[MEETS_ANYTHING];
	snprintf(sample->wrong, sizeof(sample->wrong),
		 "of %u sources %u met a present head, %u one of a cell before, %u one older than "
		 "the window, and %u came again",
		 seen, count[MEETS_PRESENT], count[MEETS_OLDER], count[MEETS_PASSED], again);
	return seen >= FEWEST && seen - count[row->meets] <= seen / WRONG_MAX &&
	       again <= seen / WRONG_MAX;
}
