// SPDX-License-Identifier: GPL-2.0
/* Paints the other pages: a source, dialogs, help. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/time.h"
#include "rules/policy.h"
#include "screen/canvas.h"
#include "screen/paint.h"

/* ---- a source ---- */

/* The page of one source: how much of each limit it has used, cell by cell. */

#define CHART_HEIGHT 4
#define BAR_WIDTH 10

/* "passes again in 504 ms". */
static void format_wait(int64_t wait_ms, const char *verb, char text[64])
{
	char time[RF_DURATION_TEXT_SIZE];

	rf_format_ms(wait_ms, time);
	if (wait_ms == RF_WAIT_FOREVER)
		snprintf(text, 64, "never %s again", verb);
	else if (!wait_ms)
		snprintf(text, 64, "%s now", verb);
	else
		snprintf(text, 64, "%s again in %s", verb, time);
}

/* ---- lines of several parts ---- */

struct place {
	int row, column;
	int from; /* column where continuation rows start */
};

/* Puts a part of a line, on a new row if it would be clipped. */
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

static int put_verdict(struct rf_canvas *canvas, int row, const struct rf_decision *verdict)
{
	const bool drops = !strcmp(verdict->outcome, "dropped");
	struct place at = {row, 0, 0};
	char wait[64] = "";

	put_part(canvas, &at, drops ? RF_RED | RF_STRONG : RF_STRONG, "next packet: %s",
		 verdict->outcome);
	if (verdict->kind)
		put_part(canvas, &at, RF_NORMAL, ", by %s %s%s", verdict->kind,
			 verdict->limit ?: "", verdict->prefix ?: "");
	if (drops) {
		format_wait(verdict->wait_ms, "passes", wait);
		put_part(canvas, &at, RF_NORMAL, "; %s", wait);
	}
	return at.row + 1;
}

static int put_list(struct rf_canvas *canvas, int row, const struct rf_list_answer *entry,
		    const char *list)
{
	char time[RF_DURATION_TEXT_SIZE] = "", text[RF_LINE_SIZE];

	if (!entry->is_listed)
		return row;
	if (entry->left_ns != RF_FOREVER)
		rf_format_left(entry->left_ns, time);
	snprintf(text, sizeof(text), "on the %s list (%s)%s%s", list, entry->prefix,
		 *time ? ", for another " : "", time);
	return rf_canvas_put_wrapped(canvas, row, 0, canvas->columns, RF_YELLOW, text);
}

/* ---- a limit ---- */

static double count_of(const struct rf_limit *limit)
{
	return rf_has_burst(limit) ? limit->burst : limit->rate;
}

/* The first line of a limit: "all 20k/1s  ██████▌    65%  13000 of 20000". */
static int put_use(struct rf_canvas *canvas, int row, const struct rf_shown_limit *one)
{
	const struct rf_limit *limit = one->limit;
	const double count = count_of(limit), share = count > 0 ? one->used / count : 0;
	char rate[RF_RATE_TEXT_SIZE];
	struct place at;
	int column = rf_canvas_put(canvas, row, 0, RF_STRONG, limit->name);

	rf_format_limit_rate(limit, rate);
	column = rf_canvas_putf(canvas, row, column, RF_NORMAL, " %s%s", rate,
				limit->flags & RF_SHADOW ? " shadow" : "");
	if (one->newcomer) {
		rf_canvas_put(canvas, row, column + 2, RF_DIM, "no window");
		return row + 1;
	}
	column = column + 2 > 22 ? column + 2 : 22;
	rf_put_bar(canvas, row, column, BAR_WIDTH,
		   share >= 0.995 && !one->is_full_by_loans ? RF_RED : RF_NORMAL, share);
	at = (struct place){row, column + BAR_WIDTH + 1, 2};
	put_part(canvas, &at, RF_NORMAL, "%3.0f%%", share * 100);
	put_part(canvas, &at, RF_NORMAL, "  %" PRIu64 " of %.0f%s", one->used, count,
		 limit->unit == RF_BYTES ? " bytes" : "");
	if (one->lent)
		put_part(canvas, &at, RF_DIM, "  lent to CPUs: %" PRIu64, one->lent);
	return at.row + 1;
}

/* The cells, the oldest first, against COUNT. Returns the row after them. */
static int put_cells(struct rf_canvas *canvas, int row, int height,
		     const struct rf_shown_limit *one)
{
	const double count = count_of(one->limit);
	const int width = one->cells && (canvas->columns - 12) / one->cells >= 2 ? 2 : 1;

	if (one->cells < 2)
		return row;
	rf_canvas_put_right(canvas, row, 9, RF_DIM, height > 1 ? "COUNT" : "cells");
	if (height > 1)
		rf_canvas_put_right(canvas, row + height - 1, 9, RF_DIM, "cells");
	for (int i = 0; i < one->cells * width; i++)
		rf_put_column(canvas, row, 10 + i, height, RF_NORMAL,
			      count > 0 ? one->cell[i / width] / count : 0);
	return row + height;
}

/* Returns the row after them. */
static int put_counts(struct rf_canvas *canvas, int row, const struct rf_shown_limit *one)
{
	const bool is_shadow = one->limit->flags & RF_SHADOW;
	char passed[RF_SHORT_TEXT_SIZE], dropped[RF_SHORT_TEXT_SIZE], wait[64];
	char ban[RF_DURATION_TEXT_SIZE];
	struct place at = {row, 2, 2};

	rf_format_short(one->state.passed, passed);
	rf_format_short(is_shadow ? rf_shown_would_drop(one) : one->state.dropped, dropped);
	put_part(canvas, &at, RF_NORMAL, "passed %s  %s %s", passed,
		 is_shadow ? "would have dropped" : "dropped", dropped);
	format_wait(is_shadow ? one->passes_again_ms : one->wait_ms,
		    is_shadow ? "would pass" : "passes", wait);
	put_part(canvas, &at, RF_STRONG, "  %s", wait);
	if (one->banned_ns) {
		rf_format_left(one->banned_ns, ban);
		put_part(canvas, &at, RF_RED, "  banned for another %s", ban);
	}
	return at.row + 1;
}

static int put_limit(struct rf_canvas *canvas, int row, int height,
		     const struct rf_shown_limit *one)
{
	row = put_use(canvas, row, one);
	if (one->newcomer)
		return row;
	row = put_cells(canvas, row, height, one);
	return put_counts(canvas, row, one);
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
		     const char *note, const struct rf_shown *shown, const char *events)
{
	const int limits = shown ? shown->its.answers : 0;
	const int room = canvas->rows - 6, each = CHART_HEIGHT + 2;
	const int height = limits * each <= room ? CHART_HEIGHT : 1;
	int row = 1;

	rf_canvas_clear(canvas);
	rf_paint_title(canvas, view, source);
	if (shown) {
		row = put_verdict(canvas, row, &shown->decision);
		row = put_list(canvas, row, &shown->its.list[RF_ALLOW], "allow");
		row = put_list(canvas, row, &shown->its.list[RF_DENY], "deny");
	}
	if (note)
		row = rf_canvas_put_wrapped(canvas, row, 0, canvas->columns, RF_NORMAL, note);
	for (int i = 0; i < limits; i++)
		row = put_limit(canvas, row, height, &shown->limit[i]);
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

/* Lines unchanged, except that long ones are wrapped. */
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
		"r           raise its limit for 60 s; c confirms it\n"
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
		"newcomers: packets a second over the newcomers rate that were challenged, passed "
		"with a proof or on an open connection, or were dropped.\n"
		"A limit in [brackets] drops now. In (brackets): a shadow limit, and what it would "
		"drop.\n"
		"~: a source that is denied, over the newcomers rate or of no limit has no window; "
		"its rate is estimated from samples of packets.\n"
		"60 s: how much of the limit was used, in steps of 5 s. since: for how long its "
		"packets have been dropped, or how long its ban still lasts.\n";

	rf_paint_text(canvas, "top: keys", keys, skipped);
}
