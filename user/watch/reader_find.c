// SPDX-License-Identifier: GPL-2.0
/* Where histories are. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sort.h"
#include "rules/file.h"
#include "rules/settings.h"
#include "schema/settings.h"
#include "watch/event_file.h"
#include "watch/history.h"
#include "watch/reader.h"

#define SUFFIX ".db"

int rf_watch_setting(const char *name, char value[PATH_MAX])
{
	struct rf_error unused;
	const char *found;
	char *text;
	int err;

	if (access(RF_SETTINGS_FILE, F_OK))
		return -errno;
	err = rf_file_read(RF_SETTINGS_FILE, &text, &unused);
	if (err)
		return err;
	found = rf_setting_find(text, name);
	if (found)
		snprintf(value, PATH_MAX, "%s", found);
	free(text);
	return found != NULL;
}

static bool is_given(const char *variable, char path[PATH_MAX])
{
	const char *given = getenv(variable);

	snprintf(path, PATH_MAX, "%s", given ?: "");
	return *path;
}

void rf_history_directory(char path[PATH_MAX])
{
	if (!is_given("RINGFENCE_HISTORY", path) &&
	    (rf_watch_setting("history", path) != 1 || !strcmp(path, RF_OFF)))
		strcpy(path, RF_HISTORY_DIRECTORY);
}

bool rf_history_is_off(void)
{
	char path[PATH_MAX];

	return !is_given("RINGFENCE_HISTORY", path) && rf_watch_setting("history", path) == 1 &&
	       !strcmp(path, RF_OFF);
}

void rf_event_file_path(char path[PATH_MAX])
{
	if (!is_given("RINGFENCE_EVENTS", path) && rf_watch_setting("events file", path) != 1)
		strcpy(path, RF_EVENTS_FILE);
	else if (!strcmp(path, RF_OFF))
		*path = '\0';
}

/* Takes the name of a fence from that of its file. */
static bool take_name(const char *file, char name[RF_NAME_SIZE])
{
	const size_t length = strlen(file);

	if (*file == '.' || length <= strlen(SUFFIX) || length - strlen(SUFFIX) >= RF_NAME_SIZE ||
	    strcmp(file + length - strlen(SUFFIX), SUFFIX) != 0)
		return false;
	snprintf(name, RF_NAME_SIZE, "%.*s", (int)(length - strlen(SUFFIX)), file);
	return true;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int fail_none(const char *directory, struct rf_error *error)
{
	return rf_error_failed(error, -ENOENT,
			       "no history in %.300s; ringfence-watch records one: 'systemctl "
			       "enable --now ringfence-watch'",
			       directory);
}

int rf_recorded_fences(struct rf_recorded_fences *fences, struct rf_error *error)
{
	struct dirent *entry;
	DIR *directory;

	fences->count = 0;
	rf_history_directory(fences->directory);
	directory = opendir(fences->directory);
	if (!directory && errno == ENOENT)
		return fail_none(fences->directory, error);
	if (!directory)
		return rf_error_failed(error, -errno,
				       "cannot read the histories in %.300s: %s; root and members "
				       "of the directory's group may",
				       fences->directory, strerror(errno));
	while ((entry = readdir(directory)) && fences->count < RF_FENCES_RECORDED_MAX)
		fences->count += take_name(entry->d_name, fences->name[fences->count]);
	closedir(directory);
	rf_sort(fences->name, fences->count, sizeof(fences->name[0]), compare_names);
	return fences->count ? 0 : fail_none(fences->directory, error);
}
