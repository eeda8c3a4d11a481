// SPDX-License-Identifier: GPL-2.0
/* A grid of cells in memory, and drawing into it: text, bars, columns. Independent of terminals. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "screen/canvas.h"

#define LINE_SIZE 512

int rf_canvas_resize(struct rf_canvas *canvas, int rows, int columns)
{
	struct rf_glyph *at = calloc((size_t)rows * columns + 1, sizeof(*at));

	if (!at)
		return -ENOMEM;
	free(canvas->at);
	canvas->at = at;
	canvas->rows = rows;
	canvas->columns = columns;
	rf_canvas_clear(canvas);
	return 0;
}

void rf_canvas_free(struct rf_canvas *canvas)
{
	free(canvas->at);
	canvas->at = NULL;
}

void rf_canvas_set(struct rf_canvas *canvas, int row, int column, uint32_t character, int style)
{
	if (row < 0 || row >= canvas->rows || column < 0 || column >= canvas->columns)
		return;
	canvas->at[(size_t)row * canvas->columns + column] = (struct rf_glyph){character, style};
}

void rf_canvas_blank(struct rf_canvas *canvas, int row, int column, int rows, int columns)
{
	for (int i = 0; i < rows; i++)
		for (int k = 0; k < columns; k++)
			rf_canvas_set(canvas, row + i, column + k, ' ', RF_NORMAL);
}

void rf_canvas_clear(struct rf_canvas *canvas)
{
	rf_canvas_blank(canvas, 0, 0, canvas->rows, canvas->columns);
}

/* The next character of a text that is UTF-8; the text moves past it. */
static uint32_t next_character(const char **text)
{
	const unsigned char *at = (const unsigned char *)*text;
	const int more = *at < 0x80 ? 0 : *at < 0xe0 ? 1 : *at < 0xf0 ? 2 : 3;
	uint32_t character = more ? *at & (0x3f >> more) : *at;

	for (int i = 1; i <= more; i++)
		character = character << 6 | (at[i] & 0x3f);
	*text += 1 + more;
	return character;
}

/*
 * Letters up to Cyrillic, and this project's glyphs, take one column in every terminal; most others
 * too, but a terminal can disagree.
 */
static bool is_narrow(uint32_t character)
{
	if (character >= 0x300 && character < 0x370) /* they combine with the letter before */
		return false;
	return character < 0x483 || (character >= 0x2010 && character < 0x2028) ||
	       (character >= 0x2190 && character < 0x2200) ||
	       (character >= 0x2500 && character < 0x25a0);
}

int rf_canvas_put(struct rf_canvas *canvas, int row, int column, int style, const char *text)
{
	char line[LINE_SIZE];
	const char *at = line;

	snprintf(line, sizeof(line), "%s", text);
	rf_hide_controls(line, false);
	while (*at) {
		uint32_t character = next_character(&at);

		if (character >= 0x80 && (!canvas->is_utf8 || !is_narrow(character)))
			character = '?';
		rf_canvas_set(canvas, row, column++, character, style);
	}
	return column;
}

int rf_canvas_putf(struct rf_canvas *canvas, int row, int column, int style, const char *format,
		   ...)
{
	char line[LINE_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	return rf_canvas_put(canvas, row, column, style, line);
}

int rf_text_columns(const char *text)
{
	int columns = 0;

	for (; *text; text++)
		columns += ((unsigned char)*text & 0xc0) != 0x80;
	return columns;
}

void rf_canvas_put_right(struct rf_canvas *canvas, int row, int column, int style, const char *text)
{
	rf_canvas_put(canvas, row, column - rf_text_columns(text), style, text);
}

int rf_canvas_put_wrapped(struct rf_canvas *canvas, int row, int from, int to, int style,
			  const char *text)
{
	int column = from;
	char word[LINE_SIZE];

	while (*text) {
		const size_t length = strcspn(text, " ");

		snprintf(word, sizeof(word), "%.*s", (int)length, text);
		text += length;
		text += strspn(text, " ");
		if (column > from && column + rf_text_columns(word) > to) {
			column = from;
			row++;
		}
		column = rf_canvas_put(canvas, row, column, style, word) + 1;
	}
	return row + 1;
}

void rf_canvas_restyle(struct rf_canvas *canvas, int row, int style)
{
	for (int i = 0; i < canvas->columns && row >= 0 && row < canvas->rows; i++)
		canvas->at[(size_t)row * canvas->columns + i].style |= style;
}

/* Appends a character as UTF-8. */
static char *append(char *text, uint32_t character)
{
	if (character < 0x80) {
		*text++ = character;
	} else if (character < 0x800) {
		*text++ = 0xc0 | character >> 6;
		*text++ = 0x80 | (character & 0x3f);
	} else {
		*text++ = 0xe0 | character >> 12;
		*text++ = 0x80 | (character >> 6 & 0x3f);
		*text++ = 0x80 | (character & 0x3f);
	}
	return text;
}

char *rf_canvas_text(const struct rf_canvas *canvas)
{
	char *text = malloc((size_t)canvas->rows * (canvas->columns * 3 + 1) + 1), *end = text;

	for (int row = 0; text && row < canvas->rows; row++) {
		char *line = end;

		for (int i = 0; i < canvas->columns; i++)
			end = append(end, canvas->at[(size_t)row * canvas->columns + i].character);
		while (end > line && end[-1] == ' ')
			end--;
		*end++ = '\n';
	}
	if (text)
		*end = '\0';
	return text;
}

/* ---- bars and columns ---- */

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

/* How many of `levels` a share fills: any nonzero share fills one. */
static int level_of(double share, int levels)
{
	const int level = share * levels + 0.5;

	if (share <= 0)
		return 0;
	return level < 1 ? 1 : level > levels ? levels : level;
}

/* A column as high as `share` of a line, 0 to 1; below 0: a blank. */
static uint32_t column_glyph(double share, bool is_utf8)
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
	const uint32_t glyph = column_glyph(share, is_utf8);

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

		rf_canvas_set(canvas, row, column + i, column_glyph(share, canvas->is_utf8), style);
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
				  : column_glyph((double)(part < parts ? part : parts) / parts,
						 canvas->is_utf8);

		rf_canvas_set(canvas, row + height - 1 - i, column, glyph, style);
	}
}
