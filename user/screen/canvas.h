/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A screen as a grid of characters, each one column wide. Whatever is shown is painted here first,
 * so that tests and manuals have it as text, and a terminal gets characters only: no text that
 * others have written can be a command to the terminal. Pure.
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
/* What is outside of the canvas is left out. */
void rf_canvas_set(struct rf_canvas *canvas, int row, int column, uint32_t character, int style);
/* Puts UTF-8 text, '?' for what the terminal cannot show. Returns the column after it. */
int rf_canvas_put(struct rf_canvas *canvas, int row, int column, int style, const char *text);
__attribute__((format(printf, 5, 6))) int
rf_canvas_putf(struct rf_canvas *canvas, int row, int column, int style, const char *format, ...);
/* Puts text so that it ends before `column`. */
void rf_canvas_put_right(struct rf_canvas *canvas, int row, int column, int style,
			 const char *text);
/* Puts words in lines between two columns, the last one left out. Returns the row after them. */
int rf_canvas_put_wrapped(struct rf_canvas *canvas, int row, int from, int to, int style,
			  const char *text);
/* Gives a row these styles in addition. */
void rf_canvas_restyle(struct rf_canvas *canvas, int row, int style);
/* Blanks a rectangle. */
void rf_canvas_blank(struct rf_canvas *canvas, int row, int column, int rows, int columns);
/* The columns that a text takes. */
int rf_text_columns(const char *text);
/* The rows as lines without blanks at their ends; the caller frees it. NULL: no memory. */
char *rf_canvas_text(const struct rf_canvas *canvas);

#endif /* RINGFENCE_CANVAS_H */
