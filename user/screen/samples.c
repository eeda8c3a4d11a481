// SPDX-License-Identifier: GPL-2.0
/* The rows of sources without a window, which come from samples of packets. */
#include "base/time.h"
#include "screen/session.h"

static bool is_wanted(const struct rf_session *session)
{
	return (session->estimating.is_wanted || session->is_sampled) &&
	       !session->asked->top->limit;
}

static void begin(struct rf_session *session)
{
	const struct rf_top *top = session->asked->top;
	const bool was_wanted = session->estimating.is_wanted;
	struct rf_error error;

	if (!rf_estimating_begin(&session->estimating, rf_session_interface(session),
				 top->is_within ? &top->within : NULL, &error))
		return;
	rf_estimating_close(&session->estimating);
	if (was_wanted)
		rf_session_say(session, true, "%s", error.text);
}

/* Of others' samples, an error is that these have ended. */
static void take(struct rf_session *session)
{
	const bool was_wanted = session->estimating.is_wanted;
	struct rf_error error;

	if (rf_estimating_take(&session->estimating, &session->live, &error) && was_wanted)
		rf_session_say(session, true, "%s", error.text);
}

static void forget(struct rf_session *session)
{
	rf_model_forget_estimates(&session->live);
	rf_model_order(&session->live, rf_time_awake());
}

bool rf_samples_read(struct rf_session *session)
{
	bool has_news = false;

	if (session->view.is_paused)
		return false;
	if (rf_estimating_is_done(&session->estimating)) {
		take(session);
		has_news = true;
	}
	if (session->estimating.job)
		return has_news;
	if (is_wanted(session)) {
		begin(session);
	} else if (session->live.one_in) {
		forget(session);
		has_news = true;
	}
	session->view.is_sampling = session->estimating.job;
	return has_news;
}

void rf_samples_switch(struct rf_session *session)
{
	if (session->estimating.is_wanted) {
		rf_estimating_close(&session->estimating);
		forget(session);
		session->is_sampled = false;
		session->view.is_sampling = false;
		rf_session_say(session, false, "no more samples are taken");
	} else if (session->asked->top->limit) {
		rf_session_say(session, true,
			       "a source without a window is of no limit; 'ringfence top' without "
			       "'limit' shows it");
	} else if (!session->view.can_change) {
		rf_session_say(session, true,
			       "to take samples takes CAP_BPF and CAP_NET_ADMIN: 'sudo ringfence "
			       "top'");
	} else {
		session->estimating.is_wanted = true;
		session->view.is_sampling = true;
	}
}
