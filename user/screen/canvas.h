/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A screen as a grid of characters, each one column wide. All output is painted here first: tests
 * and manuals have it as text, and a terminal gets characters only, so untrusted text cannot
 * contain a command to the terminal. Pure.
 */
#ifndef RINGFENCE_CANVAS_H
#define RINGFENCE_CANVAS_H

#include <stdbool.h>
#include <stdint.h>

/* A bit set. */
enum rf_style {
	RF_NORMAL = 0,
	RF_DIM = 1,
	RF_STRONG = 2,
	RF_REVERSED = 4,
	RF_RED = 8,
	RF_YELLOW = 16,
	RF_GREEN = 32,
};

struct rf_glyph {
	uint32_t character; /* of Unicode */
	uint8_t style;
};

struct rf_canvas {
	int rows, columns;
	bool is_utf8; /* the terminal shows more than ASCII */
	struct rf_glyph *at;
};

/* Makes it so large, and clears it. -ENOMEM. */
int rf_canvas_resize(struct rf_canvas *canvas, int rows, int columns);
void rf_canvas_free(struct rf_canvas *canvas);
void rf_canvas_clear(struct rf_canvas *canvas);
/* Cells outside of the canvas are clipped. */
void rf_canvas_set(struct rf_canvas *canvas, int row, int column, uint32_t character, int style);
/*
 * Puts UTF-8 text, with '?' for characters that the terminal cannot show. Returns the column after
 * it.
 */
int rf_canvas_put(struct rf_canvas *canvas, int row, int column, int style, const char *text);
__attribute__((format(printf, 5, 6))) int
rf_canvas_putf(struct rf_canvas *canvas, int row, int column, int style, const char *format, ...);
/* Puts text right-aligned before `column`. */
void rf_canvas_put_right(struct rf_canvas *canvas, int row, int column, int style,
			 const char *text);
/* Puts words in lines between two columns, the last one left out. Returns the row after them. */
int rf_canvas_put_wrapped(struct rf_canvas *canvas, int row, int from, int to, int style,
			  const char *text);
/* Adds these styles to a row. */
void rf_canvas_restyle(struct rf_canvas *canvas, int row, int style);
/* Blanks a rectangle. */
void rf_canvas_blank(struct rf_canvas *canvas, int row, int column, int rows, int columns);
/* The columns that a text takes. */
int rf_text_columns(const char *text);
/* The rows as lines without trailing blanks; the caller frees it. NULL: no memory. */
char *rf_canvas_text(const struct rf_canvas *canvas);

/* Sparklines and bars, in block characters, or in ` .:-=+*#` where only ASCII is shown. Pure. */

/*
 * The most of a number in each of the last slots of time. Slots are counted from any zero: the
 * number of seconds by some clock over the length of a slot, for one.
 */
#define RF_RING_SLOTS 20

struct rf_ring {
	uint64_t slot;		    /* the number of the latest */
	int count;		    /* slots that are known */
	float value[RF_RING_SLOTS]; /* by the slot's number modulo RF_RING_SLOTS */
};

/* Slots between the latest and `slot` have 0. */
void rf_ring_note(struct rf_ring *ring, uint64_t slot, double value);
/* Notes a value of the time from `since` to `slot`: of every slot after `since`. */
void rf_ring_fill(struct rf_ring *ring, uint64_t since, uint64_t slot, double value);
/* The slot that lies `back` before `slot`; -1: not known. */
double rf_ring_at(const struct rf_ring *ring, uint64_t slot, int back);
double rf_ring_most(const struct rf_ring *ring, uint64_t slot);

/* The same as UTF-8 text, for a line of output. */
#define RF_GLYPH_TEXT_SIZE 5
void rf_column_text(double share, bool is_utf8, char text[RF_GLYPH_TEXT_SIZE]);
/* `width` columns of a ring, the latest last, where `most` fills a line. */
void rf_put_spark(struct rf_canvas *canvas, int row, int column, int width, int style,
		  const struct rf_ring *ring, uint64_t slot, double most);
/* A bar that goes right, as long as `share` of `width`. */
void rf_put_bar(struct rf_canvas *canvas, int row, int column, int width, int style, double share);
/* A bar that goes up, `height` rows from `row` on, as high as `share` of them. */
void rf_put_column(struct rf_canvas *canvas, int row, int column, int height, int style,
		   double share);

#endif /* RINGFENCE_CANVAS_H */
