// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/help.h"
#include "daemon/load.h"
#include "rules/file.h"

int rf_settings_load(struct rf_settings *settings, const char *path, struct rf_error *error)
{
	struct rf_mistakes mistakes = {};
	char *text;
	int err = rf_file_read(path, &text, error);

	if (err)
		return err;
	err = rf_settings_text(settings, text, &mistakes, error);
	free(text);
	rf_warn_mistakes(rf_file_name(path), &mistakes);
	if (!err && mistakes.count)
		err = rf_error_failed(error, -EINVAL, "%s: %zu mistake%s", rf_file_name(path),
				      mistakes.count, mistakes.count == 1 ? "" : "s");
	rf_mistakes_free(&mistakes);
	return err;
}

/* The directories that systemd made for a unit are the place of its files. */
static void use_directories(struct rf_settings *settings)
{
	const char *run = getenv("RUNTIME_DIRECTORY"), *state = getenv("STATE_DIRECTORY");

	if (run && *run == '/' && strlen(run) < 64)
		snprintf(settings->socket, sizeof(settings->socket), "%.64s/http.sock", run);
	if (state && *state == '/' && strlen(state) < 64) {
		snprintf(settings->history, sizeof(settings->history), "%.64s", state);
		snprintf(settings->events_file, sizeof(settings->events_file), "%.64s/events.jsonl",
			 state);
	}
}

int rf_settings_make(struct rf_settings *settings, const struct rf_words *words,
		     struct rf_error *error)
{
	struct rf_settings made;
	struct rf_words rest = *words;
	const char *path = NULL;
	int err = 0;

	rf_settings_default(&made);
	use_directories(&made);
	if (rf_words_take(&rest, "config")) {
		path = rf_words_next(&rest);
		if (!path)
			return rf_error_usage(error, "'config': expects FILE");
	}
	if (path || !access(RF_SETTINGS_FILE, F_OK))
		err = rf_settings_load(&made, path ? path : RF_SETTINGS_FILE, error);
	if (!err)
		err = rf_settings_words(&made, &rest, error);
	if (!err)
		err = rf_settings_check(&made, error);
	if (!err)
		*settings = made;
	return err;
}
