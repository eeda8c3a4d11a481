// SPDX-License-Identifier: GPL-2.0
/* Which fence is shown; and what becomes of the screen when it is detached. */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "kernel/info.h"
#include "rules/advice.h"
#include "rules/grammar_table.h"
#include "rules/policy.h"
#include "screen/session.h"

#define WAIT_NS (10 * RF_NS_PER_S)   /* for a fence that was detached */
#define LOOK_NS (500 * RF_NS_PER_MS) /* so often it is looked for */

/* ---- open ---- */

/* An interface can have the name of another fence. */
static void name_fence(struct rf_session *session)
{
	const struct rf_fence *fence = &session->own;
	bool is_interface = false;

	for (int i = 0; i < fence->interfaces; i++)
		is_interface |= !strcmp(fence->interface[i].name, fence->name);
	snprintf(session->dev, sizeof(session->dev), "%s%s",
		 is_interface ? "" : "fence:", fence->name);
}

static bool may_change(const struct rf_fence *fence)
{
	return !fence->read_only &&
	       (rf_has_capability(CAP_BPF) || rf_has_capability(CAP_SYS_ADMIN));
}

static void close_fence(struct rf_session *session)
{
	rf_scanning_close(&session->scanning);
	rf_estimating_close(&session->estimating);
	rf_fence_close(&session->own);
	session->own = RF_FENCE_NONE;
}

static void show_fence(struct rf_session *session)
{
	const struct rf_fence *fence = &session->own;

	name_fence(session);
	session->pace = rf_pace_start(RF_NS_PER_S);
	session->due_ns = session->gone_ns = 0;
	session->is_sampled = false;
	session->view.fence = fence->name;
	session->view.mode = fence->interfaces ? rf_mode_name(fence->interface[0].mode) : "";
	session->view.can_change = may_change(fence);
	session->view.interval_ns = 0;
	session->view.is_gone = false;
	rf_model_forget(&session->live);
	rf_travel_close(session);
}

/* After an error the fence before is still open. */
static int open_fence(struct rf_session *session, struct rf_error *error)
{
	const char *interface = rf_session_interface(session);
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_scanning scanning;
	int err = rf_fence_open_on(&fence, interface, error);

	if (!err)
		err = rf_scanning_open(&scanning, interface, error);
	if (err) {
		rf_fence_close(&fence);
		return err;
	}
	close_fence(session);
	session->own = fence;
	session->scanning = scanning;
	show_fence(session);
	return 0;
}

/* ---- find ---- */

/* The only fence in the list is the one that `dev` names. */
static int find_dev(struct rf_fences *fences, const char *word, struct rf_error *error)
{
	struct rf_dev dev;
	int err = rf_dev_resolve(&dev, word, error);

	if (err)
		return err;
	fences->fence = calloc(1, sizeof(*fences->fence));
	if (!fences->fence)
		return rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
	fences->count = 1;
	snprintf(fences->fence->interface, IF_NAMESIZE, "%s", dev.interface);
	return 0;
}

/* The present fences. After an error, the list is unchanged. */
static int find_fences(struct rf_session *session, struct rf_error *error)
{
	const char *word = session->asked->dev;
	struct rf_fences found = {};
	int err = word ? find_dev(&found, word, error) : rf_fences_find(&found, error);

	if (err) {
		rf_fences_free(&found);
		return err;
	}
	rf_fences_free(&session->fences);
	session->fences = found;
	session->view.has_more_fences = found.count > 1;
	return 0;
}

/* -1: it is not in the list. The fence that `dev` names has no name there. */
static int index_of(const struct rf_session *session, const char *name)
{
	for (int i = 0; i < session->fences.count; i++)
		if (session->asked->dev || !strcmp(session->fences.fence[i].name, name))
			return i;
	return -1;
}

/* The limit of the words must be one of the fence. */
static int check_limit(struct rf_session *session, struct rf_error *error)
{
	const char *name = session->asked->top->limit;
	struct rf_bank *bank = name ? malloc(sizeof(*bank)) : NULL;
	int err = 0;

	if (bank)
		err = rf_fence_bank(&session->own, bank, error);
	if (bank && !err && rf_bank_find(bank, name) < 0)
		err = rf_fail_no_limit(bank, name, "", error);
	free(bank);
	return err;
}

/* The first fence that can be shown; without one, the error of the last. */
static int open_first(struct rf_session *session, struct rf_error *error)
{
	int err = find_fences(session, error);

	for (session->fence = 0; !err && session->fence < session->fences.count; session->fence++) {
		int failed = open_fence(session, error);

		if (!failed)
			failed = check_limit(session, error);
		if (!failed)
			return 0;
		if (session->fence == session->fences.count - 1)
			err = failed;
	}
	return err;
}

/* ---- another fence ---- */

/* The first one that can be opened, from that index on; the error of the last. */
static int open_from(struct rf_session *session, int index, struct rf_error *error)
{
	const int count = session->fences.count;
	int err = -ENODEV;

	for (int i = 0; i < count && err; i++) {
		session->fence = (index + i) % count;
		err = open_fence(session, error);
	}
	return err;
}

void rf_session_next_fence(struct rf_session *session)
{
	char name[RF_NAME_SIZE];
	struct rf_error error;
	int err;

	memcpy(name, session->own.name, sizeof(name));
	err = find_fences(session, &error);
	if (!err && session->fences.count == 1 && !index_of(session, name)) {
		rf_session_say(session, false, "there is one fence");
		return;
	}
	if (!err)
		err = open_from(session, index_of(session, name) + 1, &error);
	if (err)
		rf_session_say(session, true, "%s", error.text);
}

/* Opens the fence of that name again, or any one. */
static int follow(struct rf_session *session, const char *name, bool any)
{
	struct rf_error unused;
	int err = find_fences(session, &unused);
	const int index = err ? -1 : index_of(session, name);

	if (!err && index < 0 && !any)
		err = -ENODEV;
	return err ? err : open_from(session, index < 0 ? 0 : index, &unused);
}

/* When the fence changes, nothing of the previous one remains on the screen. */
static void say_followed(struct rf_session *session, const char *name)
{
	if (!strcmp(name, session->own.name)) {
		rf_session_say(session, false,
			       "fence '%s' was detached, and attached again: its counts begin at 0",
			       name);
		return;
	}
	rf_change_cancel(session);
	rf_source_close(session);
	rf_session_say(session, false, "fence '%s' was detached; this is another one", name);
}

/*
 * The fence was detached: shows it as soon as it is attached again. After 10 s shows another one,
 * or fails if there is none.
 */
static int wait_for_fence(struct rf_session *session, struct rf_error *error)
{
	const uint64_t now_ns = rf_time_awake();
	char name[RF_NAME_SIZE], left[RF_DURATION_TEXT_SIZE];
	bool is_over;

	if (!session->gone_ns)
		session->gone_ns = now_ns;
	session->view.is_gone = true;
	is_over = now_ns - session->gone_ns >= WAIT_NS;
	memcpy(name, session->own.name, sizeof(name));
	if (!follow(session, name, is_over)) {
		say_followed(session, name);
		return 0;
	}
	if (is_over)
		return rf_error_failed(error, -ENODEV, "fence '%s': it was detached", name);
	rf_format_left(WAIT_NS - (now_ns - session->gone_ns), left);
	rf_session_say(session, true,
		       "fence '%s' was detached; top waits for another %s until it is attached "
		       "again",
		       name, left);
	session->due_ns = now_ns + LOOK_NS;
	return 0;
}

/* ---- the session ---- */

/* From the first scan to the last. */

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
	return open_first(session, error);
}

void rf_session_close(struct rf_session *session)
{
	/* A change that was agreed to is made; what only looks is not awaited. */
	rf_run_finish(&session->child, session->shows_output);
	for (int i = 0; i < session->undos; i++)
		free(session->undo[i].command);
	rf_act_free(&session->act);
	rf_act_free(&session->running);
	rf_shown_free(session->shown);
	free(session->events);
	free(session->output);
	free(session->output_title);
	rf_travel_close(session);
	rf_model_free(&session->live);
	rf_model_free(&session->past);
	close_fence(session);
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
		return wait_for_fence(session, error);
	return rf_scanning_begin(&session->scanning, &session->live, error);
}

bool rf_session_take(struct rf_session *session, int *err, struct rf_error *error)
{
	uint64_t cost_ns;

	if (session->view.is_paused || !rf_scanning_is_done(&session->scanning))
		return false;
	*err = rf_scanning_take(&session->scanning, &session->live, &cost_ns, error);
	if (*err == -ENODEV)
		*err = wait_for_fence(session, error);
	rf_pace_note(&session->pace, cost_ns);
	session->view.interval_ns = session->pace.interval_ns;
	session->due_ns = rf_time_awake() + session->pace.interval_ns;
	return true;
}
