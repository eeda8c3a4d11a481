// SPDX-License-Identifier: GPL-2.0
/*
 * Changes from the screen: the list of changes, the dialog that confirms, and the command that
 * makes them.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own_networks.h"
#include "base/time.h"
#include "rules/policy.h"
#include "screen/act.h"
#include "screen/session.h"
#include "snapshot/rules.h"

/* ---- possible changes ---- */

#define LISTED_FOR "1h"
#define CONFIRM_WITHIN "60s"

void rf_act_free(struct rf_act *act)
{
	free(act->command);
	free(act->undo);
	*act = (struct rf_act){};
}

static int fail_memory(struct rf_act *act, struct rf_error *error)
{
	rf_act_free(act);
	return rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
}

/* Of a limit that puts all sources together, a row is everybody. */
static int check_source(const struct rf_prefix *source, struct rf_error *error)
{
	if (source->length)
		return 0;
	return rf_error_failed(error, -EINVAL, "this row is of all sources together, not of one");
}

/* Is this very prefix on the list, not one around it? */
static bool is_listed_itself(const struct rf_list_answer *before, const char *text)
{
	return before->is_listed && !strcmp(before->prefix, text);
}

/* A list's previous entry: it is restored, or the prefix is deleted from the list. */
static int write_undo(struct rf_act *act, const char *word, const char *text,
		      const struct rf_list_answer *before, const char *dev)
{
	char left[RF_DURATION_TEXT_SIZE];

	if (!is_listed_itself(before, text))
		return asprintf(&act->undo, "%s del %s dev %s", word, text, dev);
	if (before->left_ns == RF_FOREVER)
		return asprintf(&act->undo, "%s add %s dev %s", word, text, dev);
	rf_format_for(before->left_ns, left);
	return asprintf(&act->undo, "%s add %s for %s dev %s", word, text, left, dev);
}

int rf_act_list(struct rf_act *act, enum rf_list list, const struct rf_prefix *source,
		const struct rf_list_answer *before, const char *dev, struct rf_error *error)
{
	const char *word = list == RF_DENY ? "deny" : "allow";
	char text[RF_PREFIX_TEXT_SIZE];
	const int err = check_source(source, error);

	*act = (struct rf_act){};
	if (err)
		return err;
	rf_format_prefix(source, text);
	snprintf(act->title, sizeof(act->title), "%s %s for " LISTED_FOR,
		 list == RF_DENY ? "Deny" : "Allow", text);
	if (is_listed_itself(before, text))
		snprintf(act->warning, sizeof(act->warning), "It is on the %s list already%s.",
			 word, before->left_ns == RF_FOREVER ? ", for good" : "");
	if (asprintf(&act->command, "%s add %s for " LISTED_FOR " dev %s", word, text, dev) < 0)
		act->command = NULL;
	if (!act->command || write_undo(act, word, text, before, dev) < 0)
		return fail_memory(act, error);
	return 0;
}

/* raise1, raise2, …: the first name that no limit has. */
static void find_name(const struct rf_bank *bank, char name[RF_NAME_SIZE])
{
	int number = 0;

	do
		snprintf(name, RF_NAME_SIZE, "raise%d", ++number);
	while (rf_bank_find(bank, name) >= 0);
}

/* "limit add raise1 …": the limit in `slot`, with another name and COUNT, and without `from`. */
static char *format_raised(struct rf_ruleset *rules, int slot, unsigned int times, const char *name)
{
	struct rf_limit *limit = &rules->bank.limit[slot];
	const struct rf_limit kept = *limit;
	char *text;

	snprintf(limit->name, sizeof(limit->name), "%s", name);
	limit->rate *= times;
	limit->burst *= times;
	if (limit->burst > RF_LIMIT_MAX)
		limit->burst = RF_LIMIT_MAX;
	limit->has_from = 0;
	text = rf_ruleset_format_limit(rules, slot);
	*limit = kept;
	return text;
}

int rf_act_raise(struct rf_act *act, struct rf_ruleset *rules, int slot,
		 const struct rf_prefix *source, unsigned int times, const char *dev,
		 struct rf_error *error)
{
	char name[RF_NAME_SIZE], text[RF_PREFIX_TEXT_SIZE];
	const int err = check_source(source, error);
	char *limit;

	*act = (struct rf_act){};
	if (err)
		return err;
	find_name(&rules->bank, name);
	memcpy(act->limit, name, sizeof(act->limit));
	rf_format_prefix(source, text);
	snprintf(act->title, sizeof(act->title), "Raise %s to %u times the limit '%s'", text, times,
		 rules->bank.limit[slot].name);
	limit = format_raised(rules, slot, times, name);
	if (!limit || asprintf(&act->command, "%s from %s confirm " CONFIRM_WITHIN " dev %s", limit,
			       text, dev) < 0)
		act->command = NULL;
	free(limit);
	if (!act->command || asprintf(&act->undo, "limit del %s dev %s", name, dev) < 0)
		return fail_memory(act, error);
	return 0;
}

/* `limit try` of twice the COUNT over the last ten minutes; the caller frees it. */
static int write_try(char **command, const struct rf_bank *bank, const char *limit, const char *dev,
		     struct rf_error *error)
{
	const int slot = rf_bank_find(bank, limit);
	char rate[RF_RATE_TEXT_SIZE];
	struct rf_limit raised;

	if (slot < 0)
		return rf_error_failed(error, slot, "limit '%s' is gone", limit);
	raised = bank->limit[slot];
	raised.rate *= 2;
	rf_format_limit_rate(&raised, rate);
	if (asprintf(command, "limit try %s rate %s since -10m dev %s", limit, rate, dev) < 0)
		return rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
	return 0;
}

static void add_force(struct rf_act *act)
{
	char *forced;

	if (!act->command || asprintf(&forced, "%s force", act->command) < 0)
		return; /* then the command refuses it */
	free(act->command);
	act->command = forced;
}

bool rf_act_warn(struct rf_act *act, const struct rf_prefix *source, const struct rf_prefix *peer)
{
	char text[RF_PREFIX_TEXT_SIZE];

	if (!peer || !rf_prefix_contains(source, peer))
		return false;
	rf_format_prefix(peer, text);
	snprintf(act->warning, sizeof(act->warning),
		 "%s is where your own SSH session comes from: it would end.", text);
	add_force(act);
	return true;
}

/* ---- the command that changes it ---- */

#define WORDS_MAX 512
#define OUTPUT_MAX 65536 /* text after it is dropped */
#define SELF "/proc/self/exe"

/* Splits in place. */
static void split(char *command, char *word[WORDS_MAX])
{
	int count = 1;

	word[0] = "ringfence";
	for (char *one = strtok(command, " "); one && count < WORDS_MAX - 1;
	     one = strtok(NULL, " "))
		word[count++] = one;
	word[count] = NULL;
}

static void become(char *command, int output)
{
	char *word[WORDS_MAX];
	sigset_t none;
	const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpgid(0, 0); /* Ctrl-C in the screen is not meant for it */
	if (input >= 0 && dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
	    dup2(output, STDERR_FILENO) >= 0) {
		split(command, word);
		execv(SELF, word);
	}
	_exit(127);
}

/* Drops its output. */
static void free_run(struct rf_run *child)
{
	free(child->text);
	child->text = NULL;
	child->length = 0;
}

/* Starts `ringfence COMMAND`, whose words are separated by one blank. Returns a negative errno. */
static int start_run(struct rf_run *child, const char *command)
{
	char *copy = strdup(command);
	int ends[2] = {-1, -1}, err = copy ? 0 : -ENOMEM;

	if (!err && pipe2(ends, O_CLOEXEC))
		err = -errno;
	if (!err) {
		child->pid = fork();
		if (!child->pid)
			become(copy, ends[1]);
		if (child->pid < 0)
			err = -errno;
	}
	free(copy);
	if (ends[1] >= 0)
		close(ends[1]);
	if (err) {
		if (ends[0] >= 0)
			close(ends[0]);
		child->pid = 0;
		return err;
	}
	free_run(child);
	child->output = ends[0];
	fcntl(child->output, F_SETFL, O_NONBLOCK);
	return 0;
}

static void keep(struct rf_run *child, const char *text, size_t length)
{
	char *longer;

	if (child->length + length > OUTPUT_MAX)
		return;
	longer = realloc(child->text, child->length + length + 1);
	if (!longer)
		return;
	memcpy(longer + child->length, text, length);
	child->text = longer;
	child->length += length;
	child->text[child->length] = '\0';
}

static int end(struct rf_run *child)
{
	int status = 0;

	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(child->output);
	child->output = -1;
	child->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Reads its pending output. True: it has exited, with `*status` as its exit status. */
static bool read_run(struct rf_run *child, int *status)
{
	char part[4096];
	ssize_t length;

	while ((length = read(child->output, part, sizeof(part))) > 0)
		keep(child, part, length);
	if (length < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	*status = end(child);
	return true;
}

void rf_run_finish(struct rf_run *child, bool at_once)
{
	if (child->pid && at_once)
		kill(child->pid, SIGKILL);
	if (child->pid)
		end(child);
	free_run(child);
}

/* ---- dialogs ---- */

/* The keys for changes: they ask for confirmation, show the exact command, and run it. */

#define TIMES_MOST 1024

/* False: a sentence explains why no change is possible now. */
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

/* The row under the cursor, as on the screen now; NULL: none, or no change is possible. */
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

void rf_change_list(struct rf_session *session, enum rf_list list)
{
	const struct rf_row *row = row_to_change(session);
	struct rf_shown *shown = NULL;
	struct rf_error error;
	struct rf_peer peer;
	int err;

	if (!row)
		return;
	err = rf_shown_read(&session->own, &row->key.source, &shown, &error);
	if (!err)
		err = rf_act_list(&session->act, list, &row->key.source, &shown->its.list[list],
				  session->dev, &error);
	rf_shown_free(shown);
	ask(session, err, &error);
	if (err || list != RF_DENY)
		return;
	session->is_grave = rf_act_warn(&session->act, &row->key.source,
					rf_own_peer(&peer) ? &peer.address : NULL);
}

static bool is_unconfirmed(struct rf_session *session, const char *what)
{
	const struct rf_standing standing = rf_fence_standing(&session->own);
	char left[RF_DURATION_TEXT_SIZE];

	if (standing.state != RF_PENDING)
		return false;
	rf_format_left(standing.confirm_ns, left);
	rf_session_say(session, true, "%s: rules are unconfirmed for another %s", what, left);
	return true;
}

/* False: a sentence reports that no limit applies to the source. */
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
	struct rf_fence_rules rules = RF_FENCE_RULES_NONE;
	int err = rf_fence_rules_read(&session->own, RF_RULES_IN_FORCE, &rules, error);
	const int slot = err ? -1 : rf_bank_find(&rules.set.bank, session->raised_limit);

	rf_act_free(&session->act);
	if (!err && slot < 0)
		err = rf_error_failed(error, slot, "limit '%s' is gone", session->raised_limit);
	if (!err)
		err = rf_act_raise(&session->act, &rules.set, slot, &session->raised,
				   session->times, session->dev, error);
	rf_fence_rules_free(&rules);
	return err;
}

void rf_change_raise(struct rf_session *session)
{
	const struct rf_row *row = row_to_change(session);
	struct rf_error error;

	if (!row || !has_limit(session, row) || is_unconfirmed(session, "raise"))
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
	if (rf_fence_standing(&session->own).state != RF_PENDING) {
		rf_session_say(session, true, "no rules are unconfirmed");
		return;
	}
	rf_act_free(&session->act);
	snprintf(session->act.title, sizeof(session->act.title), "Keep the unconfirmed rules");
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

static bool has_limit_in(const struct rf_session *session, const char *name,
			 enum rf_rules_which which)
{
	struct rf_fence_rules rules = RF_FENCE_RULES_NONE;
	struct rf_error unused;
	const bool has = !rf_fence_rules_read(&session->own, which, &rules, &unused) &&
			 rf_bank_find(&rules.set.bank, name) >= 0;

	rf_fence_rules_free(&rules);
	return has;
}

/* While the raise is unconfirmed its limit cannot be deleted: it is reverted. */
static char *undo_command(const struct rf_session *session, const struct rf_undo *last)
{
	char *command;

	if (!*last->limit || has_limit_in(session, last->limit, RF_RULES_CONFIRMED))
		return strdup(last->command);
	return asprintf(&command, "revert dev %s", session->dev) < 0 ? NULL : command;
}

/* A raised limit that was not confirmed in time was rolled back. */
static bool has_ended(const struct rf_session *session, const struct rf_undo *last)
{
	return *last->limit && !has_limit_in(session, last->limit, RF_RULES_IN_FORCE);
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
	const int err = start_run(&session->child, session->act.command);

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
	const int err = is_busy ? -EBUSY : start_run(&session->child, command);

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
	struct rf_fence_rules rules = RF_FENCE_RULES_NONE;
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
	err = rf_fence_rules_read(&session->own, RF_RULES_IN_FORCE, &rules, &error);
	if (!err)
		err = write_try(&command, &rules.set.bank, row->limit, session->dev, &error);
	if (err)
		rf_session_say(session, true, "%s", error.text);
	else
		rf_change_look(session, command);
	rf_fence_rules_free(&rules);
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

/* A page of the command's output. */
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

	if (!session->child.pid || !read_run(&session->child, &status))
		return;
	if (session->shows_output) {
		show_output(session);
	} else if (!status) {
		note_done(session);
		rf_session_say(session, false, "done: ringfence %s", session->running.command);
	} else {
		rf_session_say(session, true, "%s", first_line(session->child.text));
	}
	free_run(&session->child);
	rf_act_free(&session->running);
}
