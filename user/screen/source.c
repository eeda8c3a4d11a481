// SPDX-License-Identifier: GPL-2.0
/* The page of one source. */
#include <stdlib.h>
#include <string.h>

#include "screen/session.h"

void rf_source_read(struct rf_session *session)
{
	struct rf_address address = {.version = session->source.version};
	struct rf_error error;

	memcpy(address.word, session->source.word, sizeof(address.word));
	json_decref(session->shown);
	session->shown = NULL;
	if (session->asked->show(rf_session_fence(session), &address, &session->shown, &error))
		rf_session_say(session, true, "%s", error.text);
}

void rf_source_open(struct rf_session *session)
{
	const struct rf_row *row = rf_model_cursor(session->view.model);

	if (!row)
		return;
	session->source = row->key.source;
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
}
