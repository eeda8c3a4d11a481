// SPDX-License-Identifier: GPL-2.0
/* The keys that change something: they ask, show the very command, and run it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/peer.h"
#include "base/time.h"
#include "rules/policy.h"
#include "screen/session.h"

#define TIMES_MOST 1024

/* False: a sentence says why nothing may be changed now. */
static bool may_ask(struct rf_session *session)
{
	if (session->child.pid)
		rf_session_say(session, true, "the command before is still running");
	else if (!session->view.can_change)
		rf_session_say(session, true,
			       "this takes CAP_BPF and CAP_NET_ADMIN: 'sudo ringfence top'");
	else
		return true;
	return false;
}

/* The row under the cursor, as it is on the screen now; NULL: there is none, or nothing may be
 * changed. */
static const struct rf_row *row_to_change(struct rf_session *session)
{
	const struct rf_row *row;

	if (!may_ask(session))
		return NULL;
	row = rf_model_cursor(session->view.model);
	if (!row)
		rf_session_say(session, true, "there is no source under the cursor");
	return row;
}

static void ask(struct rf_session *session, int err, const struct rf_error *error)
{
	if (err) {
		rf_session_say(session, true, "%s", error->text);
		return;
	}
	session->is_asking = true;
	session->is_undo = false;
}

/* What the list says of this prefix itself. */
static struct rf_act_listed listed_before(const struct rf_fence *fence, enum rf_list list,
					  const struct rf_prefix *source)
{
	struct rf_address address = {.version = source->version};
	struct rf_act_listed listed = {};
	struct rf_prefix_value value;
	struct rf_prefix found;
	struct rf_error unused;
	uint64_t now, until;

	memcpy(address.word, source->word, sizeof(address.word));
	if (!rf_fence_tick_ns(fence) || rf_fence_prefix_value(fence, &address, &value, &unused))
		return listed;
	now = rf_fence_jiffies(fence);
	until = list == RF_DENY ? value.deny_until : value.allow_until;
	if (until <= now || rf_fence_listed_prefix(fence, &address, list, until, &found, &unused) ||
	    rf_prefix_compare(&found, source))
		return listed;
	listed.is_listed = true;
	listed.left_ns = until == RF_FOREVER ? RF_FOREVER : rf_fence_left_ns(fence, now, until);
	return listed;
}

void rf_change_list(struct rf_session *session, enum rf_list list)
{
	const struct rf_row *row = row_to_change(session);
	struct rf_act_listed before;
	struct rf_error error;
	struct rf_peer peer;
	int err;

	if (!row)
		return;
	before = listed_before(rf_session_fence(session), list, &row->key.source);
	err = rf_act_list(&session->act, list, &row->key.source, &before, session->dev, &error);
	ask(session, err, &error);
	if (err || list != RF_DENY)
		return;
	session->is_grave = rf_act_warn(&session->act, &row->key.source,
					rf_own_peer(&peer) ? &peer.address : NULL);
}

static bool is_on_trial(struct rf_session *session, const char *what)
{
	const struct rf_standing standing = rf_fence_standing(rf_session_fence(session));
	char left[RF_DURATION_TEXT_SIZE];

	if (standing.state != RF_ON_TRIAL)
		return false;
	rf_format_left(standing.trial_ns, left);
	rf_session_say(session, true, "%s: rules are on trial already, for another %s", what, left);
	return true;
}

/* False: a sentence says that no limit applies to the source. */
static bool has_limit(struct rf_session *session, const struct rf_row *row)
{
	if (!row->key.is_estimate)
		return true;
	rf_session_say(session, true, "this source has no window (%s), so no limit applies to it",
		       row->limit);
	return false;
}

/* Writes the act for `session->raised`. */
static int write_raise(struct rf_session *session, struct rf_error *error)
{
	struct rf_ruleset rules = RF_RULESET_NONE;
	int err = rf_fence_ruleset(rf_session_fence(session), &rules, error);
	const int slot = err ? -1 : rf_bank_find(&rules.bank, session->raised_limit);

	rf_act_free(&session->act);
	if (!err && slot < 0)
		err = rf_error_failed(error, slot, "limit '%s' is gone", session->raised_limit);
	if (!err)
		err = rf_act_raise(&session->act, &rules, slot, &session->raised, session->times,
				   session->dev, error);
	rf_ruleset_free(&rules);
	return err;
}

void rf_change_raise(struct rf_session *session)
{
	const struct rf_row *row = row_to_change(session);
	struct rf_error error;

	if (!row || !has_limit(session, row) || is_on_trial(session, "raise"))
		return;
	session->raised = row->key.source;
	memcpy(session->raised_limit, row->limit, sizeof(session->raised_limit));
	session->times = 2;
	ask(session, write_raise(session, &error), &error);
}

void rf_change_times(struct rf_session *session, bool more)
{
	struct rf_error error;
	int err;

	if (!*session->act.limit || session->is_undo)
		return;
	if (more ? session->times >= TIMES_MOST : session->times <= 2)
		return;
	session->times = more ? session->times * 2 : session->times / 2;
	err = write_raise(session, &error);
	if (err) {
		rf_change_cancel(session);
		rf_session_say(session, true, "%s", error.text);
	}
}

void rf_change_confirm(struct rf_session *session)
{
	if (!may_ask(session))
		return;
	if (rf_fence_standing(rf_session_fence(session)).state != RF_ON_TRIAL) {
		rf_session_say(session, true, "no rules are on trial");
		return;
	}
	rf_act_free(&session->act);
	snprintf(session->act.title, sizeof(session->act.title), "Keep the rules on trial");
	if (asprintf(&session->act.command, "confirm dev %s", session->dev) < 0)
		session->act.command = NULL;
	session->is_asking = session->act.command;
	session->is_undo = false;
}

static void forget_undo(struct rf_session *session, int at)
{
	free(session->undo[at].command);
	memmove(&session->undo[at], &session->undo[at + 1],
		(session->undos - at - 1) * sizeof(session->undo[0]));
	session->undos--;
}

typedef int (*read_rules)(const struct rf_fence *fence, struct rf_ruleset *rules,
			  struct rf_error *error);

static bool has_limit_in(const struct rf_session *session, const char *name, read_rules read)
{
	struct rf_ruleset rules = RF_RULESET_NONE;
	struct rf_error unused;
	const bool has = !read(rf_session_fence(session), &rules, &unused) &&
			 rf_bank_find(&rules.bank, name) >= 0;

	rf_ruleset_free(&rules);
	return has;
}

/* While the raise is on trial its limit cannot be deleted: its trial is ended. */
static char *undo_command(const struct rf_session *session, const struct rf_undo *last)
{
	char *command;

	if (!*last->limit || has_limit_in(session, last->limit, rf_fence_ruleset_confirmed))
		return strdup(last->command);
	return asprintf(&command, "revert dev %s", session->dev) < 0 ? NULL : command;
}

/* A raise that was not kept in time took itself back. */
static bool has_ended(const struct rf_session *session, const struct rf_undo *last)
{
	return *last->limit && !has_limit_in(session, last->limit, rf_fence_ruleset);
}

void rf_change_undo(struct rf_session *session)
{
	const struct rf_undo *last;

	if (!may_ask(session))
		return;
	if (!session->undos) {
		rf_session_say(session, true, "there is nothing to take back");
		return;
	}
	last = &session->undo[session->undos - 1];
	if (has_ended(session, last)) {
		rf_session_say(session, false, "limit '%s' is gone already: nothing to take back",
			       last->limit);
		forget_undo(session, session->undos - 1);
		return;
	}
	rf_act_free(&session->act);
	snprintf(session->act.title, sizeof(session->act.title), "Take the last change back");
	session->act.command = undo_command(session, last);
	session->is_asking = session->act.command;
	session->is_undo = true;
}

void rf_change_cancel(struct rf_session *session)
{
	rf_act_free(&session->act);
	session->is_asking = session->is_grave = false;
}

void rf_change_run(struct rf_session *session)
{
	const int err = rf_run_start(&session->child, session->act.command);

	if (err) {
		rf_session_say(session, true, "cannot run it: %s", strerror(-err));
		rf_change_cancel(session);
		return;
	}
	rf_session_say(session, false, "running: ringfence %s", session->act.command);
	rf_act_free(&session->running);
	session->running = session->act;
	session->runs_undo = session->is_undo;
	session->act = (struct rf_act){};
	session->is_asking = session->is_grave = false;
}

/* ---- commands that change nothing ---- */

void rf_change_look(struct rf_session *session, char *command)
{
	const bool is_busy = session->child.pid;
	const int err = is_busy ? -EBUSY : rf_run_start(&session->child, command);

	if (is_busy)
		rf_session_say(session, true, "the command before is still running");
	else if (err)
		rf_session_say(session, true, "cannot run it: %s", strerror(-err));
	if (err) {
		free(command);
		return;
	}
	free(session->output_title);
	session->output_title = command;
	session->shows_output = true;
	rf_session_say(session, false, "running: ringfence %s", command);
}

void rf_change_try(struct rf_session *session)
{
	const struct rf_row *row = rf_model_cursor(session->view.model);
	struct rf_ruleset rules = RF_RULESET_NONE;
	struct rf_error error;
	char *command = NULL;
	int err;

	if (!session->view.has_try || !row) {
		rf_session_say(session, true,
			       row ? "this build has no command 'limit try'"
				   : "there is no source under the cursor");
		return;
	}
	if (!has_limit(session, row))
		return;
	err = rf_fence_ruleset(rf_session_fence(session), &rules, &error);
	if (!err)
		err = rf_act_try(&command, &rules.bank, row->limit, session->dev, &error);
	if (err)
		rf_session_say(session, true, "%s", error.text);
	else
		rf_change_look(session, command);
	rf_ruleset_free(&rules);
}

/* ---- afterwards ---- */

static void note_done(struct rf_session *session)
{
	if (session->runs_undo && session->undos) {
		forget_undo(session, session->undos - 1);
	} else if (session->running.undo) {
		if (session->undos == RF_UNDO_MAX)
			forget_undo(session, 0);
		struct rf_undo *undo = &session->undo[session->undos++];

		undo->command = session->running.undo;
		memcpy(undo->limit, session->running.limit, sizeof(undo->limit));
		session->running.undo = NULL;
	}
}

/* The first line, without the name of the program. */
static const char *first_line(char *text)
{
	static const char name[] = "ringfence: ";

	if (!text)
		return "";
	text[strcspn(text, "\n")] = '\0';
	return strncmp(text, name, strlen(name)) ? text : text + strlen(name);
}

/* A page of what the command printed. */
static void show_output(struct rf_session *session)
{
	free(session->output);
	session->output = strdup(session->child.text ? session->child.text : "");
	session->shows_output = false;
	session->skipped = 0;
	*session->message = '\0';
	if (session->output)
		session->page = RF_PAGE_OUTPUT;
}

void rf_change_read(struct rf_session *session)
{
	int status;

	if (!session->child.pid || !rf_run_read(&session->child, &status))
		return;
	if (session->shows_output) {
		show_output(session);
	} else if (!status) {
		note_done(session);
		rf_session_say(session, false, "done: ringfence %s", session->running.command);
	} else {
		rf_session_say(session, true, "%s", first_line(session->child.text));
	}
	rf_run_free(&session->child);
	rf_act_free(&session->running);
}
