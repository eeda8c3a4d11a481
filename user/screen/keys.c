// SPDX-License-Identifier: GPL-2.0
/* Which key does what, on which page, and what each page looks like. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/time.h"
#include "screen/export.h"
#include "screen/session.h"
#include "screen/terminal.h"

/* ---- questions ---- */

static void answer(struct rf_session *session, int key)
{
	if (key == RF_PRESS_ESCAPE || key == 'q')
		rf_change_cancel(session);
	else if (key == '+' || key == '-')
		rf_change_times(session, key == '+');
	else if (key == (session->is_grave ? 'y' : RF_PRESS_ENTER))
		rf_change_run(session);
}

/* ---- typing ---- */

static void begin_typing(struct rf_session *session, enum rf_typing typing, const char *text)
{
	session->typing = typing;
	snprintf(session->typed, sizeof(session->typed), "%s", text);
}

static void write_export(struct rf_session *session)
{
	struct rf_error error;
	const int rows =
		rf_export(session->model, rf_session_fence(session)->name, session->typed, &error);

	if (rows < 0)
		rf_session_say(session, true, "%s", error.text);
	else
		rf_session_say(session, false, "exported %d rows to '%s'", rows, session->typed);
}

/* ringfence-top-20261122-140211.csv, of what is shown. */
static void begin_export(struct rf_session *session)
{
	const time_t seconds = session->model->head.time_ns / RF_NS_PER_S;
	char name[64] = "";
	struct tm tm = {};

	localtime_r(&seconds, &tm);
	strftime(name, sizeof(name), "ringfence-top-%Y%m%d-%H%M%S.csv", &tm);
	begin_typing(session, RF_TYPING_EXPORT, name);
}

static void end_typing(struct rf_session *session)
{
	if (session->typing == RF_TYPING_FILTER) {
		rf_model_filter(&session->live, session->typed);
		rf_model_filter(&session->past, session->typed);
		session->due_ns = 0; /* it may match others than the rows of the last scan */
	} else if (*session->typed) {
		write_export(session);
	}
	session->typing = RF_TYPING_NOTHING;
}

static void type(struct rf_session *session, int key)
{
	const size_t length = strlen(session->typed);
	const size_t most =
		session->typing == RF_TYPING_FILTER ? RF_FILTER_SIZE - 1 : RF_TYPED_SIZE - 1;

	if (key == RF_PRESS_ESCAPE) {
		session->typing = RF_TYPING_NOTHING;
	} else if (key == RF_PRESS_ENTER) {
		end_typing(session);
	} else if (key == RF_PRESS_ERASE && length) {
		session->typed[length - 1] = '\0';
	} else if (key > ' ' && key < 0x7f && length < most) {
		session->typed[length] = key;
		session->typed[length + 1] = '\0';
	}
}

/* ---- the list ---- */

static void sort(struct rf_session *session)
{
	static const char *const names[] = {
		[RF_BY_DROPS] = "drops", [RF_BY_RATE] = "rate", [RF_BY_USED] = "use"};
	const enum rf_order by = (session->view.model->by + 1) % ARRAY_SIZE(names);

	rf_model_sort(&session->live, by);
	rf_model_sort(&session->past, by);
	session->due_ns = 0;
	rf_session_say(session, false, "sorted by %s", names[by]);
}

static void pause_or_go_on(struct rf_session *session)
{
	session->view.is_paused = !session->view.is_paused;
	session->due_ns = 0;
}

/* True: it was a key that moves the cursor. */
static bool move(struct rf_session *session, int key)
{
	struct rf_model *model = session->model;
	int rows = 0;

	switch (key) {
	case RF_PRESS_UP:
	case 'k':
		rows = -1;
		break;
	case RF_PRESS_DOWN:
	case 'j':
		rows = 1;
		break;
	case RF_PRESS_PAGE_UP:
		rows = -10;
		break;
	case RF_PRESS_PAGE_DOWN:
	case ' ':
		rows = 10;
		break;
	case RF_PRESS_END:
	case 'G':
		rows = model->shown;
		break;
	case RF_PRESS_HOME:
	case 'g':
		rf_model_home(model);
		return true;
	default:
		return false;
	}
	rf_model_move(model, rows, session->view.is_past ? session->past_ns : rf_time_awake());
	return true;
}

/* Keys that change something. */
static bool change(struct rf_session *session, int key)
{
	switch (key) {
	case 'd':
		rf_change_list(session, RF_DENY);
		return true;
	case 'a':
		rf_change_list(session, RF_ALLOW);
		return true;
	case 'r':
		rf_change_raise(session);
		return true;
	case 'c':
		rf_change_confirm(session);
		return true;
	case 'u':
		rf_change_undo(session);
		return true;
	case 'w':
		rf_change_try(session);
		return true;
	default:
		return false;
	}
}

/* Keys that go through the history. */
static bool travel(struct rf_session *session, int key)
{
	static const struct {
		int key;
		int64_t seconds;
	} steps[] = {{RF_PRESS_LEFT, -10}, {RF_PRESS_RIGHT, 10}, {'<', -600}, {'>', 600}};

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		if (steps[i].key != key)
			continue;
		rf_travel_step(session, steps[i].seconds * (int64_t)RF_NS_PER_S);
		return true;
	}
	if (key == RF_PRESS_ESCAPE)
		rf_travel_leave(session);
	return key == RF_PRESS_ESCAPE;
}

static void press_on_list(struct rf_session *session, int key)
{
	if (move(session, key) || change(session, key) || travel(session, key))
		return;
	switch (key) {
	case RF_PRESS_ENTER:
		rf_source_open(session);
		break;
	case 's':
		sort(session);
		break;
	case '/':
		begin_typing(session, RF_TYPING_FILTER, session->live.filter);
		break;
	case 'e':
		begin_export(session);
		break;
	case '~':
		rf_samples_switch(session);
		break;
	case 'p':
		pause_or_go_on(session);
		break;
	case '\t':
		rf_session_next_fence(session);
		break;
	case 'q':
		session->quits = true;
		break;
	default:
		break;
	}
}

static void scroll(struct rf_session *session, int key)
{
	session->skipped += key == RF_PRESS_DOWN	? 1
			    : key == RF_PRESS_UP	? -1
			    : key == RF_PRESS_PAGE_DOWN ? 10
			    : key == RF_PRESS_PAGE_UP	? -10
							: 0;
	if (session->skipped < 0)
		session->skipped = 0;
}

static void press_on_page(struct rf_session *session, int key)
{
	if (key == 'q')
		session->quits = true;
	else if (key == RF_PRESS_ESCAPE || key == RF_PRESS_ENTER || key == RF_PRESS_LEFT)
		rf_source_close(session);
	else if (session->page == RF_PAGE_SOURCE)
		change(session, key);
	else
		scroll(session, key);
}

void rf_session_press(struct rf_session *session, int key)
{
	if (session->is_asking) {
		answer(session, key);
		return;
	}
	if (session->typing) {
		type(session, key);
		return;
	}
	*session->message = '\0';
	if (key == '?') {
		session->page = RF_PAGE_HELP;
		session->skipped = 0;
	} else if (session->page == RF_PAGE_LIST)
		press_on_list(session, key);
	else
		press_on_page(session, key);
}

/* ---- what it looks like ---- */

static void paint_question(struct rf_session *session, struct rf_canvas *canvas)
{
	const struct rf_dialog dialog = {
		.title = session->act.title,
		.command = session->act.command,
		.warning = session->act.warning,
		.keys = session->is_grave ? "y runs it, Esc cancels"
			: *session->act.limit && !session->is_undo
				? "Enter runs it, + and - change COUNT, Esc cancels"
				: "Enter runs it, Esc cancels",
	};

	rf_paint_dialog(canvas, &dialog);
}

static void write_prompt(struct rf_session *session)
{
	/* sparse: without typing there is no prompt. */
	static const char *const what[] = {
		[RF_TYPING_FILTER] = "filter: ", [RF_TYPING_EXPORT] = "export to: "};

	session->view.prompt = session->typing ? session->prompt : NULL;
	if (session->typing)
		snprintf(session->prompt, sizeof(session->prompt), "%s%s", what[session->typing],
			 session->typed);
}

void rf_session_paint(struct rf_session *session, struct rf_canvas *canvas)
{
	char source[RF_PREFIX_TEXT_SIZE];

	write_prompt(session);
	switch (session->page) {
	case RF_PAGE_LIST:
		rf_paint_list(canvas, &session->view);
		break;
	case RF_PAGE_SOURCE:
		rf_format_prefix(&session->source, source);
		rf_paint_source(canvas, &session->view, source,
				session->is_estimate ? session->note : NULL, session->shown,
				session->events);
		break;
	case RF_PAGE_HELP:
		rf_paint_help(canvas, session->skipped);
		break;
	case RF_PAGE_OUTPUT:
		rf_paint_text(canvas, session->output_title, session->output, session->skipped);
		break;
	}
	if (session->is_asking)
		paint_question(session, canvas);
}
