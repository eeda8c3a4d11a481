// SPDX-License-Identifier: GPL-2.0
/* The keys that go back in time. */
#include "base/time.h"
#include "screen/recall.h"
#include "screen/session.h"

struct rf_reader *rf_travel_reader(struct rf_session *session, struct rf_error *error)
{
	if (!session->reader &&
	    rf_recall_open(&session->reader, rf_session_fence(session)->name, error))
		session->reader = NULL;
	return session->reader;
}

void rf_travel_leave(struct rf_session *session)
{
	session->model = &session->live;
	session->view.model = session->model;
	session->view.is_past = false;
	session->view.top = 0;
}

void rf_travel_close(struct rf_session *session)
{
	rf_travel_leave(session);
	rf_reader_close(session->reader);
	session->reader = NULL;
}

void rf_travel_step(struct rf_session *session, int64_t step_ns)
{
	const uint64_t from_ns =
		session->view.is_past ? session->past_ns : session->live.head.time_ns;
	const uint64_t to_ns = from_ns + step_ns;
	struct rf_error error;

	if (!session->view.is_past && step_ns > 0)
		return;
	if (to_ns + RF_NS_PER_S >= rf_time_wall()) {
		rf_travel_leave(session);
		return;
	}
	if (!rf_travel_reader(session, &error) ||
	    rf_recall_read(session->reader, to_ns, &session->past, &error)) {
		rf_session_say(session, true, "%s", error.text);
		if (!session->reader)
			return;
		rf_model_forget(&session->past); /* a gap: further keys go on past it */
		session->past.head.time_ns = session->past.head.awake_ns = to_ns;
	}
	session->past_ns = to_ns;
	session->model = &session->past;
	session->view.model = session->model;
	session->view.is_past = true;
}
