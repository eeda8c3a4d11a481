// SPDX-License-Identifier: GPL-2.0
/* The page of one source. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/time.h"
#include "screen/session.h"

#define EVENTS_MAX 50
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

/* The latest first. */
static int add_event(void *context, const struct rf_recorded_event *event)
{
	char **text = context;
	char time[RF_TIME_TEXT_SIZE], dropped[RF_SHORT_TEXT_SIZE], *longer;

	rf_format_local(event->time_ns, time);
	rf_format_short(event->dropped, dropped);
	if (asprintf(&longer, "%s  %s%s%s  %s dropped\n%s", time, event->type,
		     *event->limit ? "  " : "", event->limit, dropped, *text ? *text : "") < 0)
		return 0;
	free(*text);
	*text = longer;
	return 0;
}

/* The events of a source between two times, one a line; the caller frees it. NULL: none. */
static char *recall_events(struct rf_reader *reader, const struct rf_prefix *source,
			   uint64_t from_ns, uint64_t to_ns)
{
	const struct rf_asked asked = {
		.from_ns = from_ns,
		.to_ns = to_ns,
		.of = source,
		.most = EVENTS_MAX,
	};
	struct rf_error unused;
	char *text = NULL;

	rf_reader_events(reader, RF_ASK_EVENTS, &asked, add_event, &text, &unused);
	return text;
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
		recall_events(session->reader, &session->source, now_ns - EVENTS_NS, now_ns);
}

/* Known and unknown data of a source without a window. */
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
	/* The address: the length is how the limit of the row groups. */
	struct rf_prefix address = session->source;
	struct rf_error error;

	address.length = rf_prefix_length_max(address.version);
	rf_shown_free(session->shown);
	if (rf_shown_read(&session->own, &address, &session->shown, &error)) {
		rf_session_say(session, true, "%s", error.text);
		rf_shown_free(session->shown);
		session->shown = NULL;
	}
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
	rf_shown_free(session->shown);
	session->shown = NULL;
	free(session->events);
	session->events = NULL;
	session->events_ns = 0;
}
