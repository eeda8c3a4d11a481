// SPDX-License-Identifier: GPL-2.0
/* Paints the list of sources, with its head and its keys. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "base/time.h"
#include "base/units.h"
#include "rules/grammar.h"
#include "schema/reasons.h"
#include "screen/paint.h"

/* ---- titles and messages ---- */

/* The lines that every page has. */

/* 14:02:11, of local time. */
static void format_clock(uint64_t time_ns, char text[16])
{
	const time_t seconds = time_ns / RF_NS_PER_S;
	struct tm tm = {};

	localtime_r(&seconds, &tm);
	strftime(text, 16, "%H:%M:%S", &tm);
}

/* "UNCONFIRMED 52s", that the fence is paused, that the attach was not confirmed, or "". */
static const char *standing_text(const struct rf_standing *standing, char text[64])
{
	char left[RF_DURATION_TEXT_SIZE];

	*text = '\0';
	rf_format_left(standing->paused_ns ?: standing->confirm_ns, left);
	if (standing->paused_ns)
		snprintf(text, 64, "  FENCE PAUSED %.20s", left);
	else if (standing->state == RF_PENDING)
		snprintf(text, 64, "  UNCONFIRMED %.20s", left);
	else if (standing->state == RF_EXPIRED)
		snprintf(text, 64, "  NOT CONFIRMED: all passes");
	return text;
}

/* The complete text or nothing. Returns the column for the next one. */
static int put_whole(struct rf_canvas *canvas, int column, int style, const char *text)
{
	if (column + rf_text_columns(text) > canvas->columns)
		return canvas->columns;
	return rf_canvas_put(canvas, 0, column, style, text) + 2;
}

static void put_newcomers(struct rf_canvas *canvas, int column, const struct rf_head *head)
{
	const bool acts = head->reason[RF_NEWCOMER_DROP].rate > 0 ||
			  head->reason[RF_NEWCOMER_PASS].rate > 0 ||
			  head->reason[RF_CHALLENGED].rate > 0;
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
		/* The typed text is ASCII: its last part is shown. */
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

/* ---- keys ---- */

/* The last lines: the keys. Keys without permission are dim. */

struct key {
	const char *text;
	bool is_dim;
};

/* Puts keys in as few lines as they need, at most `lines`; the last one is always there. */
static void put_keys(struct rf_canvas *canvas, int row, int lines, const struct key *keys,
		     int count)
{
	const int last_width = rf_text_columns(keys[count - 1].text);
	int column = 0, line = 0;

	for (int i = 0; i < count; i++) {
		const int width = rf_text_columns(keys[i].text);
		const bool is_last_line = line == lines - 1, is_last = i == count - 1;
		const int room = canvas->columns -
				 (is_last_line && !is_last && i < count - 1 ? last_width + 2 : 0);

		if (column + width > room && !is_last_line) {
			line++;
			column = 0;
		} else if (column + width > room && !is_last) {
			continue;
		}
		column = rf_canvas_put(canvas, row + line, column,
				       keys[i].is_dim ? RF_DIM : RF_NORMAL, keys[i].text) +
			 2;
	}
}

/* The keys of the list in this many lines, and those of a source in one. */
static void paint_keys(struct rf_canvas *canvas, const struct rf_view *view, int row, int lines)
{
	const bool is_dim = !view->can_change;
	const struct key keys[] = {
		{"Enter window", false},   {"d deny", is_dim},
		{"a allow", is_dim},	   {"r raise", is_dim},
		{"w try", !view->has_try}, {"s sort", false},
		{"/ filter", false},	   {"p pause", false},
		{"~ sample", is_dim},	   {canvas->is_utf8 ? "←→ time" : "<- -> time", false},
		{"e export", false},	   {"u undo", is_dim},
		{"q quit", false},	   {"? help", false},
	};

	put_keys(canvas, row, lines, keys, ARRAY_SIZE(keys));
}

void rf_paint_source_keys(struct rf_canvas *canvas, const struct rf_view *view, int row)
{
	const bool is_dim = !view->can_change;
	const struct key keys[] = {
		{"Esc back", false}, {"d deny", is_dim}, {"a allow", is_dim},
		{"r raise", is_dim}, {"u undo", is_dim}, {"q quit", false},
	};

	put_keys(canvas, row, 1, keys, ARRAY_SIZE(keys));
}

/* ---- nothing to show ---- */

/* A list without a row states the reason. */

static void write_reason(const struct rf_view *view, char text[RF_LINE_SIZE])
{
	const struct rf_model *model = view->model;

	if (!model->head.time_ns)
		snprintf(text, RF_LINE_SIZE, "the first scan is under way");
	else if (!view->is_past && !model->head.limits)
		snprintf(text, RF_LINE_SIZE,
			 "no source has a window, since there is no limit; " RF_PROBE_ADVICE "%s",
			 view->can_change && !view->is_sampling
				 ? "; until then ~ shows them by samples"
				 : "");
	else if (*model->filter)
		snprintf(text, RF_LINE_SIZE,
			 "no source matches the filter '%s'; / changes it, and an empty one shows "
			 "all sources",
			 model->filter);
	else if (view->is_past)
		snprintf(text, RF_LINE_SIZE, "no source was recorded at that time");
	else
		snprintf(text, RF_LINE_SIZE, "no source %shas sent a packet in the last minute",
			 model->limit || model->is_within ? "of these " : "under a limit ");
}

/* Prints from `row` on why there is no row. */
static void paint_empty(struct rf_canvas *canvas, const struct rf_view *view, int row)
{
	char text[RF_LINE_SIZE];

	write_reason(view, text);
	rf_canvas_put_wrapped(canvas, row, 2, canvas->columns, RF_YELLOW, text);
}

/* ---- the list ---- */

/* The list of sources. */

#define SPARK_WIDTH 12 /* slots of 5 s */
#define BAR_WIDTH 6
#define PERCENT_WIDTH 4
#define NUMBER_WIDTH 7
#define SINCE_WIDTH 7
#define SOURCE_LEAST 15
#define TALL 16		/* rows from which on all lines of the head are shown */
#define UNSEEN_LEAST 10 /* packets a second that are dropped, from which on a hint is shown */
#define FLAT 8		/* maximum rows for which only the first line and sources are shown */

/* ---- columns ---- */

/*
 * The columns that fit, in the order in which they are dropped: since, sparkline, bar, limit, pass.
 */
static int count_fitting(int width, int source_width, int limit_width)
{
	const int wanted[] = {
		2 + source_width + 2 + PERCENT_WIDTH + 1 + NUMBER_WIDTH,
		1 + NUMBER_WIDTH,
		2 + limit_width,
		BAR_WIDTH + 1,
		2 + SPARK_WIDTH,
		2 + SINCE_WIDTH,
	};
	int used = 0, fitting = 0;

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		used += wanted[i];
		if (used <= width)
			fitting = i;
	}
	return fitting;
}

struct rf_columns rf_columns_for(int width, int source_width, int limit_width)
{
	const int fitting = count_fitting(width, source_width, limit_width);
	struct rf_columns columns = {.source = 2, .source_width = source_width};
	int at = 2 + source_width;

	if (fitting >= 2) {
		columns.limit = at + 2;
		columns.limit_width = limit_width;
		at += 2 + limit_width;
	}
	if (fitting >= 3) {
		columns.bar = at + 2;
		at += 2 + BAR_WIDTH - 1;
	}
	columns.percent = at + 2;
	columns.drop = columns.percent + PERCENT_WIDTH + 1;
	at = columns.drop + NUMBER_WIDTH;
	if (fitting >= 1) {
		columns.pass = at + 1;
		at += 1 + NUMBER_WIDTH;
	}
	if (fitting >= 4) {
		columns.spark = at + 2;
		at += 2 + SPARK_WIDTH;
	}
	if (fitting >= 5)
		columns.since = at + 2;
	return columns;
}

static struct rf_columns lay_out(const struct rf_canvas *canvas, const struct rf_view *view,
				 int rows)
{
	int source_width = SOURCE_LEAST, limit_width = strlen("limit");

	for (int i = view->top; i < view->top + rows && i < view->model->shown; i++) {
		const struct rf_row *row = rf_model_shown(view->model, i);
		char text[RF_PREFIX_TEXT_SIZE];
		const int limit = strlen(row->limit) + 2 * row->is_shadow;

		rf_format_prefix(&row->key.source, text);
		if ((int)strlen(text) > source_width)
			source_width = strlen(text);
		limit_width = limit > limit_width ? limit : limit_width;
	}
	return rf_columns_for(canvas->columns, source_width, limit_width);
}

/* ---- head ---- */

static void put_flow(struct rf_canvas *canvas, int row, int column, const char *name,
		     const struct rf_flow *flow, const struct rf_head *head)
{
	char rate[RF_SHORT_TEXT_SIZE];
	const uint64_t slot = head->awake_ns / RF_SLOT_NS;

	rf_format_short(flow->rate, rate);
	column = rf_canvas_putf(canvas, row, column, RF_NORMAL, "%s %s/s", name, rate);
	rf_put_spark(canvas, row, column + 1, SPARK_WIDTH, RF_NORMAL, &flow->ring, slot,
		     rf_ring_most(&flow->ring, slot));
}

static void paint_flows(struct rf_canvas *canvas, const struct rf_view *view)
{
	const struct rf_head *head = &view->model->head;
	const double share = head->in.rate > 0 ? head->dropped.rate / head->in.rate * 100 : 0;
	char rate[RF_SHORT_TEXT_SIZE];

	put_flow(canvas, 1, 0, "in", &head->in, head);
	rf_format_short(head->dropped.rate, rate);
	rf_canvas_putf(canvas, 1, 30 < canvas->columns - 20 ? 30 : 24,
		       head->dropped.rate > 0 ? RF_RED | RF_STRONG : RF_NORMAL,
		       canvas->columns >= 50 ? "dropped %s/s %.*f%%" : "drop %s/s %.*f%%", rate,
		       share > 0 && share < 99.95 && canvas->columns >= 50 ? 1 : 0, share);
}

/* The reasons to drop, the worst of the last minute first, as far as there is room. */
static void paint_reasons(struct rf_canvas *canvas, const struct rf_view *view, int row)
{
	const struct rf_head *head = &view->model->head;
	const uint64_t slot = head->awake_ns / RF_SLOT_NS;
	bool is_shown[RF_REASON_COUNT] = {};

	for (int column = 0; column + 34 <= canvas->columns; column += 38) {
		double most = 0;
		int worst = -1;

		for (int i = 0; i < RF_REASON_COUNT; i++) {
			const double one = rf_ring_most(&head->reason[i].ring, slot);

			if (!rf_reason_is_drop(i) || is_shown[i] || one <= most)
				continue;
			most = one;
			worst = i;
		}
		if (worst < 0)
			return;
		is_shown[worst] = true;
		put_flow(canvas, row, column, rf_reason_name(worst), &head->reason[worst], head);
	}
}

/* Packets over the newcomers rate, by what examining them resulted in. */
static void paint_examined(struct rf_canvas *canvas, const struct rf_view *view, int row)
{
	static const struct {
		enum rf_reason reason;
		const char *text;
		int style; /* if there are any */
	} parts[] = {
		{RF_CHALLENGED, "challenged", RF_YELLOW | RF_STRONG},
		{RF_PROVEN, "proven", RF_GREEN},
		{RF_ESTABLISHED, "established", RF_GREEN},
		{RF_NEWCOMER_DROP, "dropped", RF_RED | RF_STRONG},
	};
	int column = rf_canvas_put(canvas, row, 0, RF_NORMAL, "newcomers");

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		const double rate = view->model->head.reason[parts[i].reason].rate;
		char number[RF_SHORT_TEXT_SIZE], text[32];

		rf_format_short(rate, number);
		snprintf(text, sizeof(text), "%s %s/s", parts[i].text, number);
		if (column + 2 + rf_text_columns(text) <= canvas->columns)
			column = rf_canvas_put(canvas, row, column + 2,
					       rate > 0 ? parts[i].style : RF_NORMAL, text);
	}
}

/* Limits that drop, or would drop, are in brackets. */
static void paint_limits(struct rf_canvas *canvas, const struct rf_view *view, int row)
{
	const struct rf_head *head = &view->model->head;
	int column = 0;

	for (int i = 0; i < head->limits; i++) {
		const struct rf_limit_head *limit = &head->limit[i];
		char text[128];

		snprintf(text, sizeof(text), "%s%s%s%s%s: %u%s", limit->over ? "[" : "",
			 limit->name, *limit->rate ? " " : "", limit->rate,
			 limit->is_shadow ? " shadow" : "", limit->over, limit->over ? "]" : "");
		if (column + rf_text_columns(text) > canvas->columns) {
			rf_canvas_put(canvas, row, column, RF_DIM, canvas->is_utf8 ? "…" : "...");
			return;
		}
		column = rf_canvas_put(canvas, row, column,
				       !limit->over	  ? RF_NORMAL
				       : limit->is_shadow ? RF_YELLOW
							  : RF_RED | RF_STRONG,
				       text) +
			 2;
	}
}

static void paint_heading(struct rf_canvas *canvas, const struct rf_columns *at, int row,
			  enum rf_order by)
{
	const struct {
		int column;
		const char *text;
		bool is_right, sorts;
	} headings[] = {
		{at->source, "source", false, false},
		{at->limit, "limit", false, false},
		{at->bar ? at->bar : at->percent + 1, "use", false, by == RF_BY_USED},
		{at->drop + NUMBER_WIDTH, "drop/s", true, by == RF_BY_DROPS},
		{at->pass ? at->pass + NUMBER_WIDTH : 0, "pass/s", true, by == RF_BY_RATE},
		{at->spark, "60 s", false, false},
		{at->since, "since", false, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(headings); i++) {
		const int style = headings[i].sorts ? RF_STRONG : RF_DIM;

		if (headings[i].column && headings[i].is_right)
			rf_canvas_put_right(canvas, row, headings[i].column, style,
					    headings[i].text);
		else if (headings[i].column)
			rf_canvas_put(canvas, row, headings[i].column, style, headings[i].text);
	}
}

/* ---- rows ---- */

#define RATE_TEXT_SIZE (RF_SHORT_TEXT_SIZE + 2)

/* Estimates have a ~. */
static void format_rate(const struct rf_row *row, double rate, char text[RATE_TEXT_SIZE])
{
	const char *about = row->key.is_estimate && rate > 0 ? "~" : "";
	char number[RF_SHORT_TEXT_SIZE];

	rf_format_short(rate, number);
	if (rate > 0 && rate < 9.95)
		snprintf(text, RATE_TEXT_SIZE, "%s%.1f", about, rate);
	else
		snprintf(text, RATE_TEXT_SIZE, "%s%s", about, number);
}

/* Packets that a shadow limit would drop are in brackets. */
static void put_drops(struct rf_canvas *canvas, int row, int column, const struct rf_row *one)
{
	const bool is_shadow = one->drop <= 0 && one->would_drop > 0;
	char rate[RATE_TEXT_SIZE], text[RATE_TEXT_SIZE + 2];

	format_rate(one, is_shadow ? one->would_drop : one->drop, rate);
	snprintf(text, sizeof(text), is_shadow ? "(%s)" : "%s", rate);
	rf_canvas_put_right(canvas, row, column + NUMBER_WIDTH, one->drop > 0 ? RF_RED : RF_NORMAL,
			    text);
}

static void put_use(struct rf_canvas *canvas, int row, const struct rf_columns *at,
		    const struct rf_row *one)
{
	const int style = one->share >= 0.995 ? RF_RED : one->share >= 0.8 ? RF_YELLOW : RF_NORMAL;
	char text[16];

	snprintf(text, sizeof(text), "%.0f%%", one->share * 100 < 999 ? one->share * 100 : 999);
	if (at->bar)
		rf_put_bar(canvas, row, at->bar, BAR_WIDTH, style, one->share);
	rf_canvas_put_right(canvas, row, at->percent + PERCENT_WIDTH, style, text);
}

/*
 * How long its packets have been dropped, or its ban still lasts. Samples can be later than
 * `now_ns`.
 */
static void put_since(struct rf_canvas *canvas, int row, int column, const struct rf_row *one,
		      uint64_t now_ns)
{
	char text[RF_DURATION_TEXT_SIZE];

	if (one->banned_ns == RF_FOREVER) { /* of the past: for how long is not known */
		rf_canvas_put(canvas, row, column, RF_RED, "banned");
	} else if (one->banned_ns) {
		rf_format_left(one->banned_ns, text);
		rf_canvas_putf(canvas, row, column, RF_RED, "ban %.*s", (int)strcspn(text, " "),
			       text);
	} else if (one->dropped_since_ns) {
		rf_format_left(now_ns > one->dropped_since_ns ? now_ns - one->dropped_since_ns : 0,
			       text);
		rf_canvas_put(canvas, row, column, RF_NORMAL, text);
	}
}

static void paint_row(struct rf_canvas *canvas, const struct rf_view *view,
		      const struct rf_columns *at, int row, int place)
{
	const struct rf_model *model = view->model;
	const struct rf_row *one = rf_model_shown(model, place);
	char text[RF_PREFIX_TEXT_SIZE], pass[RATE_TEXT_SIZE];

	rf_format_prefix(&one->key.source, text);
	if (place == model->at)
		rf_canvas_put(canvas, row, 0, RF_STRONG, ">");
	if (one->key.is_estimate)
		rf_canvas_put(canvas, row, 1, RF_DIM, "~");
	rf_canvas_put(canvas, row, at->source, RF_NORMAL, text);
	if (at->limit)
		rf_canvas_putf(canvas, row, at->limit, one->is_shadow ? RF_DIM : RF_NORMAL,
			       one->is_shadow ? "(%s)" : "%s", one->limit);
	if (!one->key.is_estimate)
		put_use(canvas, row, at, one);
	put_drops(canvas, row, at->drop, one);
	format_rate(one, one->pass, pass);
	if (at->pass)
		rf_canvas_put_right(canvas, row, at->pass + NUMBER_WIDTH, RF_NORMAL, pass);
	if (at->spark && !one->key.is_estimate)
		rf_put_spark(canvas, row, at->spark, SPARK_WIDTH, RF_NORMAL, &one->use,
			     model->head.awake_ns / RF_SLOT_NS, 1);
	if (at->since)
		put_since(canvas, row, at->since, one, model->head.awake_ns);
	if (place == model->at)
		rf_canvas_restyle(canvas, row, RF_REVERSED);
}

/* Scrolls the first row, to show the cursor among `rows`. */
static void follow_cursor(struct rf_view *view, int rows)
{
	const int at = view->model->at, last = view->model->shown - rows;

	if (view->top > at)
		view->top = at;
	if (view->top < at - rows + 1)
		view->top = at - rows + 1;
	if (view->top > last)
		view->top = last;
	if (view->top < 0)
		view->top = 0;
}

/* Packets a second that were dropped of sources without a window. */
static double unseen_drops(const struct rf_head *head)
{
	double rate = 0;

	for (int i = 0; i < RF_REASON_COUNT; i++)
		if (RF_UNSEEN_DROPPED >> i & 1)
			rate += head->reason[i].rate;
	return rate;
}

/*
 * The sampled packets; or, if many packets of sources without a row are dropped, the key that shows
 * them.
 */
static void put_samples(struct rf_canvas *canvas, const struct rf_view *view, int row, int column)
{
	const struct rf_head *head = &view->model->head;
	const double drops = unseen_drops(head);
	char rate[RF_SHORT_TEXT_SIZE];

	if (view->model->one_in > 1) {
		rf_canvas_putf(canvas, row, column, RF_DIM, "~: by one in %u packets",
			       view->model->one_in);
	} else if (view->model->one_in) {
		rf_canvas_put(canvas, row, column, RF_DIM, "~: by samples of each packet");
	} else if (view->is_sampling) {
		rf_canvas_put(canvas, row, column, RF_DIM, "sampling: rows marked ~ come soon");
	} else if (!view->is_past && !view->model->limit && drops >= UNSEEN_LEAST &&
		   drops >= head->dropped.rate / 10) {
		rf_format_short(drops, rate);
		rf_canvas_putf(canvas, row, column, RF_YELLOW,
			       "%s/s dropped of sources without a window; ~ shows them", rate);
	}
}

static void paint_rest(struct rf_canvas *canvas, const struct rf_view *view, int row, int rows)
{
	const struct rf_model *model = view->model;
	const size_t below = model->shown - view->top > rows ? model->shown - view->top - rows : 0;
	const size_t others = below + model->others + model->other_estimates;
	int column = 2;

	if (others)
		column = rf_canvas_putf(canvas, row, 2, RF_DIM, "%zu more", others);
	if (*model->filter)
		column = rf_canvas_putf(canvas, row, column + 2, RF_YELLOW, "filter: %s",
					model->filter);
	if (model->limit)
		column = rf_canvas_putf(canvas, row, column + 2, RF_YELLOW, "limit: %s",
					model->limit);
	put_samples(canvas, view, row, column > 2 ? column + 2 : column);
}

void rf_paint_list(struct rf_canvas *canvas, struct rf_view *view)
{
	const bool is_tall = canvas->rows >= TALL;
	const bool is_flat = canvas->rows < FLAT;
	const int key_lines = is_flat ? 0 : is_tall && canvas->columns < 110 ? 2 : 1;
	const bool has_examined = is_tall && view->model->head.is_examining;
	const int first = is_tall ? 5 + has_examined : is_flat ? 1 : 3;
	const int rest = canvas->rows - key_lines - 1;
	const int rows = rest - first > 0 ? rest - first : 0;
	struct rf_columns columns;

	rf_canvas_clear(canvas);
	rf_paint_title(canvas, view, NULL);
	if (!is_flat)
		paint_flows(canvas, view);
	if (is_tall) {
		paint_reasons(canvas, view, 2);
		if (has_examined)
			paint_examined(canvas, view, 3);
		paint_limits(canvas, view, first - 2);
	}
	follow_cursor(view, rows);
	columns = lay_out(canvas, view, rows);
	if (!is_flat)
		paint_heading(canvas, &columns, first - 1, view->model->by);
	for (int i = 0; i < rows && view->top + i < view->model->shown; i++)
		paint_row(canvas, view, &columns, first + i, view->top + i);
	if (!view->model->shown)
		paint_empty(canvas, view, first);
	if (key_lines)
		paint_keys(canvas, view, rest + 1, key_lines);
	if (*view->message || view->prompt)
		rf_paint_message(canvas, rest, view);
	else
		paint_rest(canvas, view, rest, rows);
}
