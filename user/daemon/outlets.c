// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/say.h"
#include "base/units.h"
#include "daemon/outlets.h"

void rf_outlets_open(struct rf_outlets *outlets, const struct rf_settings *settings)
{
	if (!outlets->exec.program) {
		outlets->file = RF_SINK_FILE_NONE;
		outlets->exec = RF_SINK_EXEC_NONE;
	}
	rf_sink_file_close(&outlets->file);
	snprintf(outlets->file.path, sizeof(outlets->file.path), "%s", settings->events_file);
	rf_sink_file_open(&outlets->file);
	snprintf(outlets->program, sizeof(outlets->program), "%s", settings->exec);
	outlets->exec.program = outlets->program;
	outlets->has_journal = settings->journal;
}

static void say_once(struct rf_error *said, const struct rf_error *error)
{
	if (strcmp(said->text, error->text) != 0)
		rf_warn("%s", error->text);
	*said = *error;
}

static void give_file(struct rf_outlets *outlets, const char *line)
{
	struct rf_error error = {};

	if (rf_sink_file_write(&outlets->file, line, &error))
		say_once(&outlets->said_file, &error);
	else
		outlets->said_file = (struct rf_error){};
}

/* Where no journal runs there is none to miss. */
static void give_journal(struct rf_outlets *outlets, const struct rf_event *event)
{
	struct rf_error error = {};
	const int err = rf_sink_journal_write(RF_JOURNAL_SOCKET, event, &error);

	if (!err)
		outlets->said_journal = (struct rf_error){};
	else if (err != -ENOENT && err != -ECONNREFUSED)
		say_once(&outlets->said_journal, &error);
}

void rf_outlets_give(struct rf_outlets *outlets, const struct rf_event *event)
{
	json_t *json = rf_event_json(event);
	char *text = rf_json_line(json);
	char *line = NULL;

	json_decref(json);
	if (outlets->has_journal)
		give_journal(outlets, event);
	if (text && asprintf(&line, "%s\n", text) > 0) {
		give_file(outlets, line);
		rf_sink_exec_put(&outlets->exec, line);
	}
	free(line);
	free(text);
}

void rf_outlets_turn(struct rf_outlets *outlets)
{
	struct rf_sink_exec *exec = &outlets->exec;
	struct rf_error error = {};

	if (rf_sink_exec_turn(exec, &error))
		say_once(&outlets->said_exec, &error);
	if (!exec->dropped)
		return;
	rf_error_failed(&error, -ENOBUFS, "exec: %d events wait already; events are left out",
			RF_EXEC_QUEUE);
	say_once(&outlets->said_exec, &error);
	exec->dropped = 0;
}

void rf_outlets_close(struct rf_outlets *outlets)
{
	if (!outlets->exec.program)
		return;
	rf_sink_file_close(&outlets->file);
	rf_sink_exec_close(&outlets->exec);
}
