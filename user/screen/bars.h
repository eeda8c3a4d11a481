/* SPDX-License-Identifier: GPL-2.0 */
/* Sparklines and bars, in block characters, or in ` .:-=+*#` where only ASCII is shown. Pure. */
#ifndef RINGFENCE_BARS_H
#define RINGFENCE_BARS_H

#include "screen/canvas.h"

/*
 * The most of a number in each of the last slots of time. Slots are counted from any zero: the
 * number of seconds by some clock over the length of a slot, for one.
 */
#define RF_RING_SLOTS 20

struct rf_ring {
	uint64_t slot;		    /* the number of the newest */
	int count;		    /* slots that are known */
	float value[RF_RING_SLOTS]; /* by the slot's number modulo RF_RING_SLOTS */
};

/* Slots between the newest and `slot` have 0. */
void rf_ring_note(struct rf_ring *ring, uint64_t slot, double value);
/* Notes a value of the time from `since` to `slot`: of every slot after `since`. */
void rf_ring_fill(struct rf_ring *ring, uint64_t since, uint64_t slot, double value);
/* The slot that lies `back` before `slot`; -1: not known. */
double rf_ring_at(const struct rf_ring *ring, uint64_t slot, int back);
double rf_ring_most(const struct rf_ring *ring, uint64_t slot);

/* A column as high as `share` of a line, 0 to 1; below 0: a blank. */
uint32_t rf_column_glyph(double share, bool is_utf8);
/* The same as UTF-8 text, for a line of output. */
#define RF_GLYPH_TEXT_SIZE 5
void rf_column_text(double share, bool is_utf8, char text[RF_GLYPH_TEXT_SIZE]);
/* `width` columns of a ring, the newest last, where `most` fills a line. */
void rf_put_spark(struct rf_canvas *canvas, int row, int column, int width, int style,
		  const struct rf_ring *ring, uint64_t slot, double most);
/* A bar that goes right, as long as `share` of `width`. */
void rf_put_bar(struct rf_canvas *canvas, int row, int column, int width, int style, double share);
/* A bar that goes up, `height` rows from `row` on, as high as `share` of them. */
void rf_put_column(struct rf_canvas *canvas, int row, int column, int height, int style,
		   double share);

#endif /* RINGFENCE_BARS_H */
