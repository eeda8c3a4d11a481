// SPDX-License-Identifier: GPL-2.0
/* From the first scan to the last. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "rules/grammar_table.h"
#include "screen/session.h"

int rf_session_open(struct rf_session *session, const struct rf_screen *asked,
		    struct rf_error *error)
{
	static const char *const try[] = {"limit", "try"};
	struct rf_words words = {.word = try, .count = 2};

	*session = (struct rf_session){.asked = asked, .child = RF_RUN_NONE, .own = RF_FENCE_NONE};
	rf_model_start(&session->live, asked->top);
	rf_model_start(&session->past, asked->top);
	session->model = &session->live;
	session->view = (struct rf_view){
		.model = &session->live,
		.message = session->message,
		.has_try = rf_command_find(&words) >= 0,
	};
	return rf_session_open_first(session, error);
}

void rf_session_close(struct rf_session *session)
{
	/* A change that was agreed to is made; what only looks is not awaited. */
	rf_run_finish(&session->child, session->shows_output);
	for (int i = 0; i < session->undos; i++)
		free(session->undo[i].command);
	rf_act_free(&session->act);
	rf_act_free(&session->running);
	json_decref(session->shown);
	free(session->events);
	free(session->output);
	free(session->output_title);
	rf_travel_close(session);
	rf_model_free(&session->live);
	rf_model_free(&session->past);
	rf_session_close_fence(session);
	rf_fences_free(&session->fences);
}

void rf_session_read(struct rf_session *session)
{
	if (session->view.is_paused)
		return;
	session->live.head.standing = rf_fence_standing(&session->own);
	session->is_sampled = rf_unseen_is_sampled(&session->own);
	if (session->page == RF_PAGE_SOURCE)
		rf_source_read(session);
}

int rf_session_scan(struct rf_session *session, struct rf_error *error)
{
	if (session->view.is_paused || session->scanning.job || rf_time_awake() < session->due_ns)
		return 0;
	if (session->gone_ns)
		return rf_session_wait(session, error);
	return rf_scanning_begin(&session->scanning, &session->live, error);
}

bool rf_session_take(struct rf_session *session, int *err, struct rf_error *error)
{
	uint64_t cost_ns;

	if (session->view.is_paused || !rf_scanning_is_done(&session->scanning))
		return false;
	*err = rf_scanning_take(&session->scanning, &session->live, &cost_ns, error);
	if (*err == -ENODEV)
		*err = rf_session_wait(session, error);
	rf_pace_note(&session->pace, cost_ns);
	session->view.interval_ns = session->pace.interval_ns;
	session->due_ns = rf_time_awake() + session->pace.interval_ns;
	return true;
}
