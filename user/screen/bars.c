// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "screen/bars.h"

#define LEVELS 8
#define FULL_BLOCK 0x2588

static const char ascii[LEVELS + 1] = " .:-=+*#";

void rf_ring_note(struct rf_ring *ring, uint64_t slot, double value)
{
	float *now;

	if (!ring->count || slot >= ring->slot + RF_RING_SLOTS || slot < ring->slot) {
		*ring = (struct rf_ring){.slot = slot, .count = 1};
	} else {
		while (ring->slot < slot) {
			ring->value[++ring->slot % RF_RING_SLOTS] = 0;
			ring->count += ring->count < RF_RING_SLOTS;
		}
	}
	now = &ring->value[slot % RF_RING_SLOTS];
	if (value > *now)
		*now = value;
}

void rf_ring_fill(struct rf_ring *ring, uint64_t since, uint64_t slot, double value)
{
	uint64_t from = since + 1;

	if (slot >= RF_RING_SLOTS && from < slot - RF_RING_SLOTS + 1)
		from = slot - RF_RING_SLOTS + 1;
	for (; from < slot; from++)
		rf_ring_note(ring, from, value);
	rf_ring_note(ring, slot, value);
}

double rf_ring_at(const struct rf_ring *ring, uint64_t slot, int back)
{
	const uint64_t wanted = slot - back;

	if (!ring->count || slot < (uint64_t)back || wanted + ring->count <= ring->slot)
		return -1;
	return wanted > ring->slot ? 0 : ring->value[wanted % RF_RING_SLOTS];
}

double rf_ring_most(const struct rf_ring *ring, uint64_t slot)
{
	double most = 0;

	for (int i = 0; i < RF_RING_SLOTS; i++) {
		const double value = rf_ring_at(ring, slot, i);

		most = value > most ? value : most;
	}
	return most;
}

/* How many of `levels` a share fills: what is more than nothing fills one. */
static int level_of(double share, int levels)
{
	const int level = share * levels + 0.5;

	if (share <= 0)
		return 0;
	return level < 1 ? 1 : level > levels ? levels : level;
}

uint32_t rf_column_glyph(double share, bool is_utf8)
{
	int level;

	if (share < 0)
		return ' ';
	if (!is_utf8)
		return ascii[level_of(share, LEVELS - 1)];
	level = level_of(share, LEVELS);
	return FULL_BLOCK - LEVELS + (level ? level : 1);
}

void rf_column_text(double share, bool is_utf8, char text[RF_GLYPH_TEXT_SIZE])
{
	const uint32_t glyph = rf_column_glyph(share, is_utf8);

	if (glyph < 0x80)
		snprintf(text, RF_GLYPH_TEXT_SIZE, "%c", (int)glyph);
	else
		snprintf(text, RF_GLYPH_TEXT_SIZE, "%c%c%c", 0xe0 | glyph >> 12,
			 0x80 | (glyph >> 6 & 0x3f), 0x80 | (glyph & 0x3f));
}

void rf_put_spark(struct rf_canvas *canvas, int row, int column, int width, int style,
		  const struct rf_ring *ring, uint64_t slot, double most)
{
	for (int i = 0; i < width; i++) {
		const double value = rf_ring_at(ring, slot, width - 1 - i);
		const double share = value < 0 ? -1 : most > 0 ? value / most : 0;

		rf_canvas_set(canvas, row, column + i, rf_column_glyph(share, canvas->is_utf8),
			      style);
	}
}

void rf_put_bar(struct rf_canvas *canvas, int row, int column, int width, int style, double share)
{
	const int parts = canvas->is_utf8 ? LEVELS : LEVELS - 1;
	const int level = level_of(share, width * parts);

	for (int i = 0; i < width; i++) {
		const int part = level - i * parts;
		const uint32_t more = part <= 0		? ' '
				      : part >= parts	? (canvas->is_utf8 ? FULL_BLOCK : '#')
				      : canvas->is_utf8 ? (uint32_t)(FULL_BLOCK + LEVELS - part)
							: (uint32_t)ascii[part];

		rf_canvas_set(canvas, row, column + i, more, style);
	}
}

void rf_put_column(struct rf_canvas *canvas, int row, int column, int height, int style,
		   double share)
{
	const int parts = canvas->is_utf8 ? LEVELS : LEVELS - 1;
	const int level = level_of(share, height * parts);

	for (int i = 0; i < height; i++) {
		const int part = level - i * parts;
		const uint32_t glyph =
			part <= 0 ? ' '
				  : rf_column_glyph((double)(part < parts ? part : parts) / parts,
						    canvas->is_utf8);

		rf_canvas_set(canvas, row + height - 1 - i, column, glyph, style);
	}
}
