// SPDX-License-Identifier: GPL-2.0
/* The lines that every page has. */
#include <stdio.h>
#include <time.h>

#include "base/number.h"
#include "base/time.h"
#include "screen/paint.h"

/* 14:02:11, of local time. */
static void format_clock(uint64_t time_ns, char text[16])
{
	const time_t seconds = time_ns / RF_NS_PER_S;
	struct tm tm = {};

	localtime_r(&seconds, &tm);
	strftime(text, 16, "%H:%M:%S", &tm);
}

/* "ON TRIAL 52s": that the fence is paused, what became of a trial, or "". */
static const char *standing_text(const struct rf_standing *standing, char text[64])
{
	char left[RF_DURATION_TEXT_SIZE];

	*text = '\0';
	rf_format_left(standing->paused_ns ?: standing->trial_ns, left);
	if (standing->paused_ns)
		snprintf(text, 64, "  FENCE PAUSED %.20s", left);
	else if (standing->state == RF_ON_TRIAL)
		snprintf(text, 64, "  ON TRIAL %.20s", left);
	else if (standing->state == RF_FELL_OPEN)
		snprintf(text, 64, "  NOT CONFIRMED: all passes");
	return text;
}

/* All of a text or nothing. Returns where the next one may begin. */
static int put_whole(struct rf_canvas *canvas, int column, int style, const char *text)
{
	if (column + rf_text_columns(text) > canvas->columns)
		return canvas->columns;
	return rf_canvas_put(canvas, 0, column, style, text) + 2;
}

static void put_newcomers(struct rf_canvas *canvas, int column, const struct rf_head *head)
{
	const bool acts = head->reason[RF_NEWCOMER_CLOSED].rate > 0 ||
			  head->reason[RF_NEWCOMER_OPEN].rate > 0;
	char text[64];

	if (head->then == RF_NEWCOMERS_OFF)
		return;
	snprintf(text, sizeof(text), "newcomers: %s", rf_newcomers_then_name(head->then));
	put_whole(canvas, column, acts ? RF_YELLOW | RF_STRONG : RF_DIM, text);
}

static int put_mode(struct rf_canvas *canvas, int column, const struct rf_view *view)
{
	if (view->is_past)
		return rf_canvas_put(canvas, 0, column, RF_STRONG | RF_YELLOW, "PAST");
	if (view->is_gone)
		return rf_canvas_put(canvas, 0, column, RF_STRONG | RF_RED, "DETACHED");
	if (view->is_paused)
		return rf_canvas_put(canvas, 0, column, RF_STRONG | RF_YELLOW, "PAUSED");
	return rf_canvas_put(canvas, 0, column, RF_STRONG | RF_GREEN, "LIVE");
}

static int put_clock(struct rf_canvas *canvas, int column, const struct rf_view *view)
{
	const uint64_t time_ns = view->model->head.time_ns;
	char clock[16] = "--:--:--";

	if (time_ns)
		format_clock(time_ns, clock);
	column = put_mode(canvas, column, view);
	column = rf_canvas_put(canvas, 0, column + 1, RF_STRONG, clock);
	if (!view->is_past && view->interval_ns >= 2 * RF_NS_PER_S)
		column = rf_canvas_putf(canvas, 0, column + 1, RF_YELLOW, "each %llus",
					(unsigned long long)(view->interval_ns / RF_NS_PER_S));
	return column;
}

void rf_paint_title(struct rf_canvas *canvas, const struct rf_view *view, const char *title)
{
	const struct rf_head *head = &view->model->head;
	char standing[64], text[64];
	int column = rf_canvas_put(canvas, 0, 0, RF_STRONG, title ? title : view->fence);

	if (!title) {
		column = rf_canvas_put(canvas, 0, column + 1, RF_NORMAL, view->mode);
		if (view->has_more_fences)
			column = rf_canvas_put(canvas, 0, column + 1, RF_DIM, "(Tab: next)");
	}
	column += canvas->columns >= 70 ? 5 : 2;
	column = put_clock(canvas, column, view);
	column = rf_canvas_put(canvas, 0, column, RF_YELLOW | RF_STRONG,
			       standing_text(&head->standing, standing));
	column += canvas->columns >= 70 ? 4 : 2;
	snprintf(text, sizeof(text), "%u over", head->over);
	column = put_whole(canvas, column, head->over ? RF_RED | RF_STRONG : RF_NORMAL, text);
	snprintf(text, sizeof(text), "%zu banned", head->banned);
	column = put_whole(canvas, column, head->banned ? RF_RED : RF_NORMAL, text);
	put_newcomers(canvas, column, head);
}

void rf_paint_message(struct rf_canvas *canvas, int row, const struct rf_view *view)
{
	if (view->prompt) {
		const int more = rf_text_columns(view->prompt) + 1 - canvas->columns;
		/* What is typed is ASCII: its end is shown. */
		const int column = rf_canvas_put(canvas, row, 0, RF_STRONG,
						 view->prompt + (more > 0 ? more : 0));

		rf_canvas_set(canvas, row, column, ' ', RF_REVERSED);
	} else if (*view->message) {
		const int style = view->is_failure ? RF_RED | RF_STRONG : RF_STRONG;
		struct rf_canvas nowhere = {.is_utf8 = canvas->is_utf8};
		const int lines = rf_canvas_put_wrapped(&nowhere, 0, 0, canvas->columns, style,
							view->message);

		rf_canvas_blank(canvas, row - lines + 1, 0, lines, canvas->columns);
		rf_canvas_put_wrapped(canvas, row - lines + 1, 0, canvas->columns, style,
				      view->message);
	}
}
