// SPDX-License-Identifier: GPL-2.0
/* What every file of the session needs. */
#include <stdarg.h>
#include <stdio.h>

#include "screen/session.h"

const struct rf_fence *rf_session_fence(const struct rf_session *session)
{
	return &session->own;
}

const char *rf_session_interface(const struct rf_session *session)
{
	return session->fences.fence[session->fence].interface;
}

void rf_session_say(struct rf_session *session, bool is_failure, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(session->message, sizeof(session->message), format, args);
	va_end(args);
	session->view.is_failure = is_failure;
}
