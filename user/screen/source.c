// SPDX-License-Identifier: GPL-2.0
/* The page of one source. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/time.h"
#include "screen/recall.h"
#include "screen/session.h"

#define EVENTS_NS (3600 * RF_NS_PER_S)
#define EVENTS_EACH_NS (5 * RF_NS_PER_S)

/* The recorded source, as `show ADDRESS at TIME` prints it. */
static void look_back(struct rf_session *session)
{
	char source[RF_PREFIX_TEXT_SIZE], time[RF_TIME_TEXT_SIZE], *command;

	rf_format_prefix(&session->source, source);
	rf_format_local(session->past_ns, time);
	time[strcspn(time, " ")] = 'T';
	if (asprintf(&command, "show %s at %s dev %s", source, time, session->dev) >= 0)
		rf_change_look(session, command);
}

/* Events of the last hour, read again every few seconds. */
static void read_events(struct rf_session *session)
{
	const uint64_t now_ns = rf_time_wall();
	struct rf_error unused;

	if (now_ns - session->events_ns < EVENTS_EACH_NS || !rf_travel_reader(session, &unused))
		return;
	session->events_ns = now_ns;
	free(session->events);
	session->events =
		rf_recall_events(session->reader, &session->source, now_ns - EVENTS_NS, now_ns);
}

/* What is known of a source without a window, and what is not. */
static void write_note(struct rf_session *session)
{
	const struct rf_row *row = rf_model_estimate_of(&session->live, &session->source);
	char rate[RF_SHORT_TEXT_SIZE];

	if (!row) {
		snprintf(session->note, sizeof(session->note),
			 session->view.is_sampling
				 ? "no sample came from it in the last 10 s"
				 : "no samples are taken now; ~ in the list takes them");
		return;
	}
	rf_format_short(row->drop + row->pass, rate);
	snprintf(session->note, sizeof(session->note),
		 "~%s packets/s %s (%s), estimated: in the last second, %" PRIu64
		 " of the packets sampled, one in %u, were of it. It has no window: what it sent "
		 "before, and how much of a limit it uses, is not known.",
		 rate, row->drop > 0 ? "dropped" : "passed", row->limit, row->samples,
		 session->live.one_in);
}

void rf_source_read(struct rf_session *session)
{
	struct rf_address address = {.version = session->source.version};
	struct rf_error error;

	memcpy(address.word, session->source.word, sizeof(address.word));
	json_decref(session->shown);
	session->shown = NULL;
	if (session->asked->show(rf_session_fence(session), &address, &session->shown, &error))
		rf_session_say(session, true, "%s", error.text);
	if (session->is_estimate)
		write_note(session);
	read_events(session);
}

void rf_source_open(struct rf_session *session)
{
	const struct rf_row *row = rf_model_cursor(session->view.model);

	if (!row) {
		rf_session_say(session, true, "there is no source under the cursor");
		return;
	}
	session->source = row->key.source;
	session->is_estimate = row->key.is_estimate;
	if (session->view.is_past) {
		look_back(session);
		return;
	}
	session->page = RF_PAGE_SOURCE;
	rf_source_read(session);
}

void rf_source_close(struct rf_session *session)
{
	session->page = RF_PAGE_LIST;
	json_decref(session->shown);
	session->shown = NULL;
	free(session->events);
	session->events = NULL;
	session->events_ns = 0;
}
