// SPDX-License-Identifier: GPL-2.0
/* The fence that is shown, and its scans. */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "kernel/privileges.h"
#include "rules/grammar_table.h"
#include "rules/near.h"
#include "rules/policy.h"
#include "screen/session.h"

/* An interface may have the name of another fence. */
static void name_fence(struct rf_session *session)
{
	const struct rf_fence *fence = rf_session_fence(session);
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

static int open_fence(struct rf_session *session, struct rf_error *error)
{
	const char *interface = rf_session_interface(session);
	const struct rf_fence *fence = &session->own;
	int err;

	close_fence(session);
	err = rf_fence_open_on(&session->own, interface, error);
	if (!err)
		err = rf_scanning_open(&session->scanning, interface, error);
	if (err)
		return err;
	name_fence(session);
	session->pace = rf_pace_start(RF_NS_PER_S);
	session->due_ns = 0;
	session->view.fence = fence->name;
	session->view.mode = fence->interfaces ? rf_mode_name(fence->interface[0].mode) : "";
	session->view.can_change = may_change(fence);
	rf_model_forget(&session->live);
	rf_travel_close(session);
	return 0;
}

/* The only fence in the list is the one that `dev` names. */
static int find_dev(struct rf_session *session, const char *word, struct rf_error *error)
{
	struct rf_dev dev;
	int err = rf_dev_resolve(&dev, word, error);

	if (err)
		return err;
	session->fences.fence = calloc(1, sizeof(*session->fences.fence));
	if (!session->fences.fence)
		return rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
	session->fences.count = 1;
	snprintf(session->fences.fence->interface, IF_NAMESIZE, "%s", dev.interface);
	return 0;
}

/* The limit of the words must be one of the fence. */
static int check_limit(struct rf_session *session, struct rf_error *error)
{
	const char *name = session->asked->top->limit;
	struct rf_bank *bank = name ? malloc(sizeof(*bank)) : NULL;
	int err = 0;

	if (bank)
		err = rf_fence_bank(rf_session_fence(session), bank, error);
	if (bank && !err && rf_bank_find(bank, name) < 0)
		err = rf_fail_no_limit(bank, name, "", error);
	free(bank);
	return err;
}

/* The first fence that can be shown; without one, the error of the last. */
static int open_first(struct rf_session *session, struct rf_error *error)
{
	int err = -ENODEV;

	for (session->fence = 0; session->fence < session->fences.count; session->fence++) {
		err = open_fence(session, error);
		if (!err)
			err = check_limit(session, error);
		if (!err)
			return 0;
	}
	return err;
}

int rf_session_open(struct rf_session *session, const struct rf_screen *asked,
		    struct rf_error *error)
{
	static const char *const try[] = {"limit", "try"};
	struct rf_words words = {.word = try, .count = 2};
	int err;

	*session = (struct rf_session){.asked = asked, .child = RF_RUN_NONE, .own = RF_FENCE_NONE};
	rf_model_start(&session->live, asked->top);
	rf_model_start(&session->past, asked->top);
	session->model = &session->live;
	session->view = (struct rf_view){
		.model = &session->live,
		.message = session->message,
		.has_try = rf_command_find(&words) >= 0,
	};
	err = asked->dev ? find_dev(session, asked->dev, error)
			 : rf_fences_find(&session->fences, error);
	session->view.has_more_fences = session->fences.count > 1;
	return err ? err : open_first(session, error);
}

void rf_session_close(struct rf_session *session)
{
	rf_run_finish(&session->child);
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
	close_fence(session);
	rf_fences_free(&session->fences);
}

int rf_session_next_fence(struct rf_session *session, int step, struct rf_error *error)
{
	const int count = session->fences.count;

	session->fence = (session->fence + count + step) % count;
	return open_fence(session, error);
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
	return rf_scanning_begin(&session->scanning, &session->live, error);
}

bool rf_session_take(struct rf_session *session, int *err, struct rf_error *error)
{
	uint64_t took_ns;

	if (session->view.is_paused || !rf_scanning_is_done(&session->scanning))
		return false;
	*err = rf_scanning_take(&session->scanning, &session->live, &took_ns, error);
	rf_pace_note(&session->pace, took_ns);
	session->view.interval_ns = session->pace.interval_ns;
	session->due_ns = rf_time_awake() + session->pace.interval_ns;
	return true;
}
