// SPDX-License-Identifier: GPL-2.0
/* Questions, help, and what commands printed. */
#include <stdio.h>
#include <string.h>

#include "screen/paint.h"

#define DIALOG_WIDTH 72

static void put_frame(struct rf_canvas *canvas, int row, int column, int rows, int columns)
{
	static const uint32_t line[2] = {'-', 0x2500}, side[2] = {'|', 0x2502};
	static const uint32_t corner[2][4] = {{'+', '+', '+', '+'},
					      {0x250c, 0x2510, 0x2514, 0x2518}};
	const int is_utf8 = canvas->is_utf8, right = column + columns - 1, last = row + rows - 1;

	rf_canvas_blank(canvas, row, column, rows, columns);
	for (int i = column; i <= right; i++) {
		rf_canvas_set(canvas, row, i, line[is_utf8], RF_NORMAL);
		rf_canvas_set(canvas, last, i, line[is_utf8], RF_NORMAL);
	}
	for (int i = row; i <= last; i++) {
		rf_canvas_set(canvas, i, column, side[is_utf8], RF_NORMAL);
		rf_canvas_set(canvas, i, right, side[is_utf8], RF_NORMAL);
	}
	rf_canvas_set(canvas, row, column, corner[is_utf8][0], RF_NORMAL);
	rf_canvas_set(canvas, row, right, corner[is_utf8][1], RF_NORMAL);
	rf_canvas_set(canvas, last, column, corner[is_utf8][2], RF_NORMAL);
	rf_canvas_set(canvas, last, right, corner[is_utf8][3], RF_NORMAL);
}

/* Puts the lines of a dialog from `row` on. Returns the row after them. */
static int put_dialog(struct rf_canvas *canvas, int row, int from, int to,
		      const struct rf_dialog *dialog)
{
	char command[RF_LINE_SIZE];

	snprintf(command, sizeof(command), "ringfence %s", dialog->command);
	row = rf_canvas_put_wrapped(canvas, row, from, to, RF_STRONG, dialog->title);
	row = rf_canvas_put_wrapped(canvas, row, from, to, RF_GREEN, command);
	if (*dialog->warning)
		row = rf_canvas_put_wrapped(canvas, row, from, to, RF_RED | RF_STRONG,
					    dialog->warning);
	return rf_canvas_put_wrapped(canvas, row, from, to, RF_NORMAL, dialog->keys);
}

void rf_paint_dialog(struct rf_canvas *canvas, const struct rf_dialog *dialog)
{
	const int columns = canvas->columns < DIALOG_WIDTH ? canvas->columns : DIALOG_WIDTH;
	const int column = (canvas->columns - columns) / 2;
	struct rf_canvas nowhere = {.rows = 0, .columns = 0, .is_utf8 = canvas->is_utf8};
	const int lines = put_dialog(&nowhere, 0, column + 2, column + columns - 2, dialog);
	const int rows = lines + 2 < canvas->rows ? lines + 2 : canvas->rows;
	const int row = (canvas->rows - rows) / 2;

	put_frame(canvas, row, column, rows, columns);
	put_dialog(canvas, row + 1, column + 2, column + columns - 2, dialog);
}

/* Lines as they are, the one that is too long on several. */
void rf_paint_text(struct rf_canvas *canvas, const char *title, const char *text, int skipped)
{
	int row = 1 - skipped;

	rf_canvas_clear(canvas);
	while (*text && row < canvas->rows - 1) {
		const size_t length = strcspn(text, "\n");
		char line[RF_LINE_SIZE];
		int indent;

		snprintf(line, sizeof(line), "%.*s", (int)length, text);
		indent = strspn(line, " ");
		if (rf_text_columns(line) <= canvas->columns)
			rf_canvas_put(canvas, row++, 0, RF_NORMAL, line);
		else
			row = rf_canvas_put_wrapped(canvas, row, indent, canvas->columns, RF_NORMAL,
						    line + indent);
		text += length + (text[length] == '\n');
	}
	rf_canvas_blank(canvas, 0, 0, 1, canvas->columns);
	rf_canvas_put(canvas, 0, 0, RF_STRONG, title);
	rf_canvas_blank(canvas, canvas->rows - 1, 0, 1, canvas->columns);
	rf_canvas_put(canvas, canvas->rows - 1, 0, RF_DIM, "Esc back   q quit");
}

void rf_paint_help(struct rf_canvas *canvas, int skipped)
{
	static const char keys[] =
		"up down     choose a source; Home goes on with the first row\n"
		"Enter       its window, cell by cell, its lists and events\n"
		"d a         deny or allow it for 1h\n"
		"r           raise its limit for 60 s, on trial; c keeps what is on trial\n"
		"w           what a raised limit would have dropped\n"
		"u           take the last change back\n"
		"s           sort by drops, rate or use\n"
		"/           show only a network, an address or a limit\n"
		"~           take samples, which show sources without a window\n"
		"p           pause\n"
		"left right  10 s back or forth in the history; < > 10 minutes; Esc: now\n"
		"e           export what is shown, as CSV or JSON\n"
		"Tab         the next fence\n"
		"q           quit\n"
		"\n"
		"A change is of the source that was under the cursor when the key was pressed. It "
		"is shown as a command first; Enter runs it as you, Esc does not.\n"
		"A limit in [brackets] drops now. In (brackets): a shadow limit, and what it would "
		"drop.\n"
		"~: a source that is denied, over the newcomers rate or of no limit has no window; "
		"its rate is estimated from samples of packets.\n"
		"60 s: how much of the limit was used, in steps of 5 s. since: for how long its "
		"packets have been dropped, or how long its ban still lasts.\n";

	rf_paint_text(canvas, "top: keys", keys, skipped);
}
