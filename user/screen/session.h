/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of the screen while it is shown. */
#ifndef RINGFENCE_SESSION_H
#define RINGFENCE_SESSION_H

#include <stdarg.h>
#include <stdio.h>

#include "fence/find.h"
#include "screen/act.h"
#include "screen/paint.h"
#include "screen/scanning.h"
#include "screen/screen.h"
#include "watch/pace.h"
#include "watch/reader.h"

#define RF_TYPED_SIZE 256
#define RF_UNDO_MAX 32

enum rf_page {
	RF_PAGE_LIST,
	RF_PAGE_SOURCE,
	RF_PAGE_HELP,
	RF_PAGE_OUTPUT, /* a command's output */
};

/* The text being typed. */
enum rf_typing {
	RF_TYPING_NOTHING,
	RF_TYPING_FILTER,
	RF_TYPING_EXPORT,
};

struct rf_undo {
	char *command;
	char limit[RF_NAME_SIZE]; /* that a raise added; "": it was no raise */
};

struct rf_session {
	const struct rf_screen *asked;
	struct rf_fences fences; /* one, where `dev` names it */
	int fence;
	char dev[RF_NAME_SIZE + 8]; /* the fence, as commands name it */
	/* The same fence twice: what keys read must not wait for the thread that scans. */
	struct rf_fence own;
	struct rf_scanning scanning;
	struct rf_estimating estimating;
	bool is_sampled; /* by others, when that was read last */
	struct rf_pace pace;
	uint64_t gone_ns; /* when it was found to be detached; 0: it is not */
	uint64_t due_ns;  /* the next scan; by rf_time_awake() */

	struct rf_model live, past;
	struct rf_model *model;	  /* that is shown, one of the two */
	struct rf_reader *reader; /* of the fence's history; NULL: not opened */
	uint64_t past_ns;	  /* the displayed time, if it is in the past */
	struct rf_view view;
	enum rf_page page;
	char message[RF_LINE_SIZE];
	enum rf_typing typing;
	char typed[RF_TYPED_SIZE];
	char prompt[RF_TYPED_SIZE + 32];

	struct rf_prefix source; /* of RF_PAGE_SOURCE */
	bool is_estimate;	 /* it was opened from a row without a window */
	char note[RF_LINE_SIZE]; /* its data at that time */
	struct rf_shown *shown;	 /* NULL: could not be read */
	char *events;
	uint64_t events_ns; /* when they were read */

	/* The question, and its subject. */
	bool is_asking, is_undo;
	bool is_grave; /* Enter is not enough */
	struct rf_act act;
	struct rf_prefix raised;
	char raised_limit[RF_NAME_SIZE];
	unsigned int times;

	struct rf_run child;
	struct rf_act running; /* the act that the child carries out */
	bool runs_undo, shows_output;
	char *output, *output_title; /* of RF_PAGE_OUTPUT */
	int skipped;		     /* lines of it that are above the screen */
	struct rf_undo undo[RF_UNDO_MAX];
	int undos;
	bool quits;
};

static inline const char *rf_session_interface(const struct rf_session *session)
{
	return session->fences.fence[session->fence].interface;
}

/* Shows a message until the next key. */
__attribute__((format(printf, 3, 4))) static inline void
rf_session_say(struct rf_session *session, bool is_failure, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(session->message, sizeof(session->message), format, args);
	va_end(args);
	session->view.is_failure = is_failure;
}

/* ---- session.c ---- */

int rf_session_open(struct rf_session *session, const struct rf_screen *asked,
		    struct rf_error *error);
void rf_session_close(struct rf_session *session);
/* Reads what takes no scan. */
void rf_session_read(struct rf_session *session);
/* Starts a scan, if one is due and none is running. */
int rf_session_scan(struct rf_session *session, struct rf_error *error);
/* Takes the scan that is done, if there is one. True: the screen has news. */
bool rf_session_take(struct rf_session *session, int *err, struct rf_error *error);

/* Shows the next one of the present fences. */
void rf_session_next_fence(struct rf_session *session);

/* ---- scanning.c ---- */

/* Takes the available samples, and continues if sampling is on. True: there is news. */
bool rf_samples_read(struct rf_session *session);
/* Starts or stops sampling. */
void rf_samples_switch(struct rf_session *session);

/* ---- changes.c ---- */

/* Asks for confirmation of a change of the source under the cursor. */
void rf_change_list(struct rf_session *session, enum rf_list list);
void rf_change_raise(struct rf_session *session);
/* Twice the COUNT, or half of it. */
void rf_change_times(struct rf_session *session, bool more);
void rf_change_confirm(struct rf_session *session);
void rf_change_undo(struct rf_session *session);
/* The user agreed, or did not. */
void rf_change_run(struct rf_session *session);
void rf_change_cancel(struct rf_session *session);
/* Takes the output of the running command. */
void rf_change_read(struct rf_session *session);

/* Runs a command that changes nothing, and shows its output; takes ownership of the text. */
void rf_change_look(struct rf_session *session, char *command);
/* The packets that a raised limit would have dropped. */
void rf_change_try(struct rf_session *session);

/* ---- recall.c ---- */

/* Goes back or forth in the history; up to now, and the present is shown. */
void rf_travel_step(struct rf_session *session, int64_t step_ns);
void rf_travel_leave(struct rf_session *session);
/* The session shows another fence. */
void rf_travel_close(struct rf_session *session);
/* Opens the fence's history, if there is one. */
struct rf_reader *rf_travel_reader(struct rf_session *session, struct rf_error *error);

/* ---- source.c ---- */

void rf_source_open(struct rf_session *session);
void rf_source_close(struct rf_session *session);
/* Reads it again. */
void rf_source_read(struct rf_session *session);

#endif /* RINGFENCE_SESSION_H */
