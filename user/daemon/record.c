// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/time.h"
#include "daemon/record.h"
#include "daemon/say.h"

#define AGAIN_NS (60 * RF_NS_PER_S)
#define DIRECTORY_MODE 0750

void rf_record_prepare(const struct rf_settings *settings)
{
	const struct group *group;

	if (!*settings->history || !access(settings->history, F_OK))
		return;
	if (mkdir(settings->history, DIRECTORY_MODE)) {
		rf_warn("history %s: %s; nothing is recorded: 'history DIRECTORY' names another "
			"one, 'history off' none",
			settings->history, strerror(errno));
		return;
	}
	group = getgrnam("ringfence"); /* they read it */
	if (group && chown(settings->history, -1, group->gr_gid) && errno != EPERM)
		rf_warn("history %s: %s", settings->history, strerror(errno));
}

static void say_once(struct rf_record *record, const struct rf_error *error)
{
	if (strcmp(record->said.text, error->text) != 0)
		rf_warn("%s", error->text);
	record->said = *error;
}

/* Tries again each minute: a disk is mounted late, or another daemon ends. */
static void open_history(struct rf_record *record, const struct rf_settings *settings,
			 const char *fence)
{
	const struct rf_history_settings wanted = {
		.directory = settings->history,
		.keep_ns = settings->keep_ns,
		.at_most = settings->most_bytes,
		.told = settings->sources,
	};
	const uint64_t now = rf_time_awake();
	struct rf_error error = {};

	if (now < record->open_at_ns || access(settings->history, F_OK))
		return;
	record->open_at_ns = now + AGAIN_NS;
	if (!rf_history_open(&record->history, &wanted, fence, &error))
		return;
	record->history = NULL;
	say_once(record, &error);
}

static int put_rules(struct rf_history *history, const struct rf_settings *settings,
		     const struct rf_fence *fence, const struct rf_snapshot *snapshot,
		     struct rf_error *error)
{
	char *rules;
	int err;

	if (!rf_history_wants_rules(history, snapshot))
		return 0;
	rules = rf_history_rules(fence, settings->sources, error);
	if (!rules)
		return 0; /* they may change at this very moment; the next scan asks again */
	err = rf_history_put_rules(history, rules, error);
	free(rules);
	return err;
}

static void say_notes(struct rf_history *history)
{
	char note[RF_HISTORY_NOTE_SIZE];

	while (rf_history_note(history, note))
		rf_say("%s", note);
}

void rf_record_scan(struct rf_record *record, const struct rf_settings *settings,
		    const struct rf_fence *fence, const struct rf_snapshot *snapshot)
{
	struct rf_error error = {}, ignored;
	int err;

	if (!record->history && *settings->history)
		open_history(record, settings, snapshot->fence);
	if (!record->history)
		return;
	err = rf_history_begin(record->history, snapshot, &error);
	if (!err)
		err = rf_history_add(record->history, snapshot, &error);
	if (!err)
		err = put_rules(record->history, settings, fence, snapshot, &error);
	if (err)
		rf_history_commit(record->history, &ignored); /* gives the scan up */
	else
		err = rf_history_commit(record->history, &error);
	if (err)
		say_once(record, &error);
	else
		record->said = (struct rf_error){};
	say_notes(record->history);
}

void rf_record_end(struct rf_record *record)
{
	rf_history_close(record->history);
	*record = (struct rf_record){};
}
