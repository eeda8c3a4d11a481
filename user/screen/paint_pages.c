// SPDX-License-Identifier: GPL-2.0
/* Paints the other pages: a source, dialogs, help. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/time.h"
#include "screen/canvas.h"
#include "screen/paint.h"

/* ---- a source ---- */

/* The page of one source: how much of each limit it has used, cell by cell. */

#define CHART_HEIGHT 4
#define BAR_WIDTH 10

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static double number_of(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

/* "passes again in 504 ms". */
static void format_wait(const json_t *wait, const char *verb, char text[64])
{
	char time[RF_DURATION_TEXT_SIZE];

	if (!wait || json_is_null(wait)) {
		snprintf(text, 64, "never %s again", verb);
	} else if (!json_integer_value(wait)) {
		snprintf(text, 64, "%s now", verb);
	} else {
		rf_format_ms(json_integer_value(wait), time);
		snprintf(text, 64, "%s again in %s", verb, time);
	}
}

/* ---- lines of several parts ---- */

struct place {
	int row, column;
	int from; /* where further rows begin */
};

/* Puts a part of a line, on a row of its own where it would be cut off. */
__attribute__((format(printf, 4, 5))) static void
put_part(struct rf_canvas *canvas, struct place *at, int style, const char *format, ...)
{
	char line[RF_LINE_SIZE];
	const char *text = line;
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (at->column > at->from && at->column + rf_text_columns(text) > canvas->columns) {
		at->row++;
		at->column = at->from;
		text += strspn(text, ",; "); /* what parts it from the one before */
	}
	at->column = rf_canvas_put(canvas, at->row, at->column, style, text);
}

/* ---- the verdict and the lists ---- */

static int put_verdict(struct rf_canvas *canvas, int row, const json_t *shown)
{
	const char *verdict = text_of(shown, "verdict");
	const json_t *by = json_object_get(shown, "by");
	const bool drops = !strcmp(verdict, "dropped");
	struct place at = {row, 0, 0};
	char wait[64] = "";

	put_part(canvas, &at, drops ? RF_RED | RF_STRONG : RF_STRONG, "next packet: %s", verdict);
	if (!json_is_null(by))
		put_part(canvas, &at, RF_NORMAL, ", by %s %s%s", text_of(by, "kind"),
			 text_of(by, "limit"), text_of(by, "prefix"));
	if (drops) {
		format_wait(json_object_get(shown, "passes_again_ms"), "passes", wait);
		put_part(canvas, &at, RF_NORMAL, "; %s", wait);
	}
	return at.row + 1;
}

static int put_list(struct rf_canvas *canvas, int row, const json_t *shown, const char *key,
		    const char *list)
{
	const json_t *entry = json_object_get(shown, key), *left;
	char time[RF_DURATION_TEXT_SIZE] = "", text[RF_LINE_SIZE];

	if (!json_is_object(entry))
		return row;
	left = json_object_get(entry, "left_ms");
	if (json_is_integer(left))
		rf_format_left(json_integer_value(left) * RF_NS_PER_MS, time);
	snprintf(text, sizeof(text), "on the %s list (%s)%s%s", list, text_of(entry, "prefix"),
		 *time ? ", for another " : "", time);
	return rf_canvas_put_wrapped(canvas, row, 0, canvas->columns, RF_YELLOW, text);
}

/* ---- a limit ---- */

static double count_of(const json_t *limit)
{
	const json_t *burst = json_object_get(limit, "burst");

	return json_is_integer(burst) ? json_number_value(burst) : number_of(limit, "rate");
}

static const char *rate_of(const struct rf_view *view, const char *name)
{
	const struct rf_head *head = &view->model->head;

	for (int i = 0; i < head->limits; i++)
		if (!strcmp(head->limit[i].name, name))
			return head->limit[i].rate;
	return "";
}

/* The first line of a limit: "all 20k/1s  ██████▌    65%  13000 of 20000". */
static int put_use(struct rf_canvas *canvas, const struct rf_view *view, int row,
		   const json_t *limit)
{
	const char *name = text_of(limit, "limit");
	const double used = number_of(limit, "used"), count = count_of(limit);
	const double share = count > 0 ? used / count : 0;
	struct place at;
	int column = rf_canvas_put(canvas, row, 0, RF_STRONG, name);

	column = rf_canvas_putf(canvas, row, column, RF_NORMAL, " %s%s", rate_of(view, name),
				json_is_true(json_object_get(limit, "shadow")) ? " shadow" : "");
	if (json_is_true(json_object_get(limit, "newcomer"))) {
		rf_canvas_put(canvas, row, column + 2, RF_DIM, "no window");
		return row + 1;
	}
	column = column + 2 > 22 ? column + 2 : 22;
	rf_put_bar(canvas, row, column, BAR_WIDTH, share >= 0.995 ? RF_RED : RF_NORMAL, share);
	at = (struct place){row, column + BAR_WIDTH + 1, 2};
	put_part(canvas, &at, RF_NORMAL, "%3.0f%%", share * 100);
	put_part(canvas, &at, RF_NORMAL, "  %.0f of %.0f%s", used, count,
		 !strcmp(text_of(limit, "unit"), "bytes") ? " bytes" : "");
	return at.row + 1;
}

/* The cells, the oldest first, against COUNT. Returns the row after them. */
static int put_cells(struct rf_canvas *canvas, int row, int height, const json_t *limit)
{
	const json_t *cells = json_object_get(limit, "cells");
	const double count = count_of(limit);
	const int number = json_array_size(cells);
	const int width = number && (canvas->columns - 12) / number >= 2 ? 2 : 1;

	if (number < 2)
		return row;
	rf_canvas_put_right(canvas, row, 9, RF_DIM, height > 1 ? "COUNT" : "cells");
	if (height > 1)
		rf_canvas_put_right(canvas, row + height - 1, 9, RF_DIM, "cells");
	for (int i = 0; i < number; i++) {
		const double share =
			count > 0 ? json_number_value(json_array_get(cells, i)) / count : 0;

		for (int k = 0; k < width; k++)
			rf_put_column(canvas, row, 10 + i * width + k, height, RF_NORMAL, share);
	}
	return row + height;
}

/* Returns the row after them. */
static int put_counts(struct rf_canvas *canvas, int row, const json_t *limit)
{
	const bool is_shadow = json_is_true(json_object_get(limit, "shadow"));
	const double banned_ms = number_of(limit, "banned_ms");
	char passed[RF_SHORT_TEXT_SIZE], dropped[RF_SHORT_TEXT_SIZE], wait[64];
	char ban[RF_DURATION_TEXT_SIZE];
	struct place at = {row, 2, 2};

	rf_format_short(number_of(limit, "passed"), passed);
	rf_format_short(number_of(limit, is_shadow ? "would_drop" : "dropped"), dropped);
	put_part(canvas, &at, RF_NORMAL, "passed %s  %s %s", passed,
		 is_shadow ? "would have dropped" : "dropped", dropped);
	format_wait(json_object_get(limit, is_shadow ? "would_pass_again_ms" : "passes_again_ms"),
		    is_shadow ? "would pass" : "passes", wait);
	put_part(canvas, &at, RF_STRONG, "  %s", wait);
	if (banned_ms > 0) {
		rf_format_left(banned_ms * RF_NS_PER_MS, ban);
		put_part(canvas, &at, RF_RED, "  banned for another %s", ban);
	}
	return at.row + 1;
}

static int put_limit(struct rf_canvas *canvas, const struct rf_view *view, int row, int height,
		     const json_t *limit)
{
	row = put_use(canvas, view, row, limit);
	if (json_is_true(json_object_get(limit, "newcomer")))
		return row;
	row = put_cells(canvas, row, height, limit);
	return put_counts(canvas, row, limit);
}

/* ---- events ---- */

static void put_events(struct rf_canvas *canvas, int row, const char *events)
{
	rf_canvas_put(canvas, row++, 0, RF_DIM, "events of the last hour, as recorded");
	while (*events && row < canvas->rows - 2) {
		const size_t length = strcspn(events, "\n");
		char line[RF_LINE_SIZE];

		snprintf(line, sizeof(line), "%.*s", (int)length, events);
		rf_canvas_put(canvas, row++, 2, RF_NORMAL, line);
		events += length + (events[length] == '\n');
	}
}

void rf_paint_source(struct rf_canvas *canvas, const struct rf_view *view, const char *source,
		     const char *note, const json_t *shown, const char *events)
{
	const json_t *limits = json_object_get(shown, "limits");
	const int room = canvas->rows - 6, each = CHART_HEIGHT + 2;
	const int height = (int)json_array_size(limits) * each <= room ? CHART_HEIGHT : 1;
	int row = 1;

	rf_canvas_clear(canvas);
	rf_paint_title(canvas, view, source);
	if (shown) {
		row = put_verdict(canvas, row, shown);
		row = put_list(canvas, row, shown, "allowed", "allow");
		row = put_list(canvas, row, shown, "denied", "deny");
	}
	if (note)
		row = rf_canvas_put_wrapped(canvas, row, 0, canvas->columns, RF_NORMAL, note);
	for (size_t i = 0; i < json_array_size(limits); i++)
		row = put_limit(canvas, view, row, height, json_array_get(limits, i));
	if (events)
		put_events(canvas, row + (row + 4 < canvas->rows), events);
	rf_canvas_blank(canvas, canvas->rows - 2, 0, 2, canvas->columns);
	rf_paint_message(canvas, canvas->rows - 2, view);
	rf_paint_source_keys(canvas, view, canvas->rows - 1);
}

/* ---- dialogs and texts ---- */

/* Questions, help, and what commands printed. */

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
